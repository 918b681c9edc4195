// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "bench/measure/texts.hpp"
#include "harness/run/implementations.hpp"

namespace tpc::bench {

namespace {

std::string content_of(const char* file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string own_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// What a message from `sender` to the next rank travelled over; known to the sender. Counters are read once
// the answer is there: until then bytes may wait in a queue.
std::string carrier_from(Communicator& ranks, int sender) {
  constexpr std::int64_t bytes = 4 << 20;
  const int receiver = (sender + 1) % ranks.size();
  if (ranks.rank() != sender && ranks.rank() != receiver) return "";
  const bool sends = ranks.rank() == sender;
  const int peer = sends ? receiver : sender;
  const Message there{sends ? Message::Way::send : Message::Way::receive, peer,
                      host_tensor(DType::u8, {bytes})};
  const Message back{sends ? Message::Way::receive : Message::Way::send, peer, host_tensor(DType::u8, {1})};
  const auto before = sent_bytes();
  ranks.messages({there});
  ranks.messages({back});
  return sends ? carrier(before, sent_bytes(), bytes) : "";
}

}  // namespace

std::map<std::string, std::uint64_t> sent_bytes(const std::string& table) {
  std::map<std::string, std::uint64_t> sent;
  std::istringstream lines(table);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;  // the two lines of headings
    std::istringstream name(line.substr(0, colon));
    std::istringstream numbers(line.substr(colon + 1));
    std::string interface;
    name >> interface;
    constexpr int sent_column = 9;
    std::uint64_t value = 0;
    for (int column = 0; column < sent_column; ++column) numbers >> value;
    sent[interface] = value;
  }
  return sent;
}

std::map<std::string, std::uint64_t> sent_bytes() { return sent_bytes(content_of("/proc/self/net/dev")); }

std::string carrier(const std::map<std::string, std::uint64_t>& before,
                    const std::map<std::string, std::uint64_t>& after, std::uint64_t bytes) {
  std::string interfaces;
  for (const auto& [interface, sent] : after) {
    const auto earlier = before.find(interface);
    const std::uint64_t more = sent - (earlier == before.end() ? 0 : earlier->second);
    if (more >= bytes / 2) interfaces += (interfaces.empty() ? "" : ",") + interface;
  }
  return interfaces.empty() ? "shm" : "tcp(" + interfaces + ")";
}

RankPlaces places_of(Communicator& ranks) {
  RankPlaces places;
  places.host_names = all_texts(ranks, own_host());
  places.hosts = static_cast<int>(std::set(places.host_names.begin(), places.host_names.end()).size());
  const auto machines = all_texts(ranks, content_of("/proc/sys/kernel/random/boot_id"));
  for (const std::string& machine : machines)
    places.most_on_a_machine = std::max(
        places.most_on_a_machine, static_cast<int>(std::count(machines.begin(), machines.end(), machine)));
  std::set<std::string> carriers;
  for (int sender = 0; ranks.size() > 1 && sender < ranks.size(); ++sender)
    for (const std::string& seen : all_texts(ranks, carrier_from(ranks, sender)))
      if (!seen.empty()) carriers.insert(seen);
  if (carriers.empty()) carriers.insert("none");
  for (const std::string& seen : carriers) places.transport += (places.transport.empty() ? "" : "+") + seen;
  return places;
}

}  // namespace tpc::bench
