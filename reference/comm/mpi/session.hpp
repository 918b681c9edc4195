// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reference/comm/communicator.hpp"

namespace tpc {

// MPI_Init_thread to MPI_Finalize. Sets what Open MPI needs (yield when idle where ranks exceed cores) before
// the start. `finish` ends the process with `code`, after MPI_Finalize; where calls were abandoned and it
// hangs, without.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  CommunicatorPtr world(const std::string& name);   // collective; a new family each time
  int local_ranks() const { return local_ranks_; }  // on this host
  int local_rank() const { return local_rank_; }
  static std::string library();  // one line of MPI_Get_library_version; needs no session
  [[noreturn]] void finish(int code);

 private:
  int local_ranks_ = 1;
  int local_rank_ = 0;
};

}  // namespace tpc
