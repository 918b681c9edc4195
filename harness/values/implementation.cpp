// SPDX-License-Identifier: Apache-2.0
#include "harness/values/implementation.hpp"

namespace tpc {

Response Implementation::stand_by(const Request&, int) {
  Response response;
  response.status = Response::Status::result;
  return response;
}

}  // namespace tpc
