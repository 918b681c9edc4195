// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tpc {

enum class Fault : std::uint8_t;  // fault.hpp; a new one concerns only those who ask for it

// Which faults are planted, at the cost of one bit test where it is asked.
class FaultSet {
 public:
  FaultSet() = default;
  explicit FaultSet(Fault fault) { plant(fault); }
  void plant(Fault fault) { planted_.set(static_cast<std::size_t>(fault)); }
  bool contains(Fault fault) const { return planted_.test(static_cast<std::size_t>(fault)); }
  bool empty() const { return planted_.none(); }
  std::vector<Fault> all() const;  // in the order of the table
  bool operator==(const FaultSet&) const = default;

 private:
  std::bitset<256> planted_;
};

// "TP-01", "TP-01+TP-09". Throws UsageError for an id that is unknown or not planted.
FaultSet faults_named(std::string_view ids);
std::string names_of(const FaultSet& faults);  // "TP-01+TP-09"

}  // namespace tpc
