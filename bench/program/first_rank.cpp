// SPDX-License-Identifier: Apache-2.0
#include "bench/program/first_rank.hpp"

#include "bench/measure/texts.hpp"

namespace tpc::bench {

void on_first_rank(Communicator& ranks, const std::function<void()>& work) {
  std::string outcome;
  if (ranks.rank() == 0) try {
      work();
    } catch (const UsageError& error) {
      outcome = std::string("u") + error.what();
    } catch (const std::exception& error) {
      outcome = std::string("e") + error.what();
    }
  const std::string agreed = all_texts(ranks, outcome).front();
  if (agreed.empty()) return;
  if (agreed.front() == 'u') throw UsageError(agreed.substr(1));
  throw AgreedFailure(agreed.substr(1));
}

}  // namespace tpc::bench
