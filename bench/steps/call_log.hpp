// SPDX-License-Identifier: Apache-2.0
// A communicator that lets itself be watched, and tampered with.
#pragma once

#include <optional>

#include "reference/comm/communicator.hpp"

namespace tpc::bench {

struct CommunicationLog {
  std::int64_t calls = 0;
  double seconds = 0;  // spent inside of start and wait: what is not hidden behind computation
  double payload_bytes = 0;
};

// What happens instead of the call.
struct Tampering {
  bool silent = false;                  // nothing is sent: computation alone, with wrong results
  std::optional<CollectiveKind> wrong;  // a planted fault: every rank gets its own operand for the result
  // A planted fault: the call takes longer, by `drag` times its shortest time of that size so far (what it
  // takes otherwise may be the other ranks' drag).
  std::optional<CollectiveKind> slow;
  double drag = 0;
};

// Groups split from it are watched alike. Log and tampering must outlive it. Groups of one rank are not
// counted.
CommunicatorPtr make_logged_communicator(CommunicatorPtr inner, CommunicationLog& log,
                                         const Tampering& tampering);

}  // namespace tpc::bench
