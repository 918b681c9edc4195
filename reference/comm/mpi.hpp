// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/comm/communicator.hpp"

namespace tpc {

// MPI_Init_thread to MPI_Finalize. Sets what Open MPI needs (yield when idle where ranks exceed cores) before
// the start. After a call was abandoned, finalising could hang: `finish` then flushes and ends the process
// with `code`.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  CommunicatorPtr world(const std::string& name);  // collective; a new family each time
  int local_ranks() const;                         // ranks on this host
  int local_rank() const;
  std::string library() const;  // one line of MPI_Get_library_version
  [[noreturn]] void finish(int code);
};

}  // namespace tpc
