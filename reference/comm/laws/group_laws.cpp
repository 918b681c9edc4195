// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "reference/comm/laws/laws.hpp"

namespace tpc {

namespace {

double sum_of_ones(Communicator& group) {
  const Tensor one = host_tensor(DType::f64, {1});
  set_element(one, 0, 1);
  group.all_reduce(one, one, ReduceOp::sum);
  return element(one, 0);
}

// The ranks of a group in the world, as the group itself tells them.
std::vector<int> members_by_gathering(Communicator& group, int world_rank) {
  const Tensor own = host_tensor(DType::i64, {1});
  set_element(own, 0, world_rank);
  const Tensor all = host_tensor(DType::i64, {group.size()});
  group.all_gather(all, own);
  std::vector<int> members;
  for (int r = 0; r < group.size(); ++r) members.push_back(static_cast<int>(element(all, r)));
  return members;
}

void split_law(const CommunicatorPtr& ranks) {
  const int parity = ranks->rank() % 2;
  const auto group = ranks->split(parity, -ranks->rank(), "parity");
  std::vector<int> expected;
  for (int r = ranks->size() - 1; r >= 0; --r)
    if (r % 2 == parity) expected.push_back(r);
  TPC_EXPECT(group->size() == static_cast<int>(expected.size()), "{} ranks, expected {}", group->size(),
             expected.size());
  TPC_EXPECT(expected[static_cast<std::size_t>(group->rank())] == ranks->rank(), "keys do not order ranks");
  TPC_EXPECT(members_by_gathering(*group, ranks->rank()) == expected, "other members than asked for");
  TPC_EXPECT(group->log().groups.at(group->name()).members == expected, "the log knows other members");
}

void negative_colour_law(const CommunicatorPtr& ranks) {
  const bool in = ranks->rank() > 0;
  const auto without_zero = ranks->split(in ? 3 : -1, 0, "without_zero");
  TPC_EXPECT((without_zero != nullptr) == in, "rank {} is on the wrong side of the split", ranks->rank());
  if (in) {
    TPC_EXPECT(without_zero->rank() == ranks->rank() - 1, "equal keys keep the order of ranks");
    TPC_EXPECT(sum_of_ones(*without_zero) == ranks->size() - 1, "the group has the wrong ranks");
  }
}

void subgroup_law(const CommunicatorPtr& ranks) {
  std::vector<int> members;  // halves, the upper one in falling order
  const int half = ranks->size() / 2;
  if (ranks->rank() < half)
    for (int r = 0; r < half; ++r) members.push_back(r);
  else
    for (int r = ranks->size() - 1; r >= half; --r) members.push_back(r);
  const auto group = ranks->subgroup(members, "half");
  TPC_EXPECT(members_by_gathering(*group, ranks->rank()) == members, "other members than listed");
  const bool last = ranks->rank() == ranks->size() - 1;
  const auto lonely = ranks->subgroup(last ? std::vector<int>{ranks->rank()} : std::vector<int>{}, "last");
  TPC_EXPECT((lonely != nullptr) == last, "an empty list joins no group");
  if (last) TPC_EXPECT(sum_of_ones(*lonely) == 1, "a group of one is more than one");
}

// A group of a group, used while the outer ones are alive.
void nested_split_law(const CommunicatorPtr& ranks) {
  const auto row = ranks->split(ranks->rank() / 4, ranks->rank(), "row");
  const auto pair = row->split(row->rank() / 2, row->rank(), "pair");
  const int row_size = std::min(4, ranks->size() - ranks->rank() / 4 * 4);
  const int pair_size = std::min(2, row_size - row->rank() / 2 * 2);
  TPC_EXPECT(sum_of_ones(*pair) == pair_size, "pair of {}", pair->size());
  TPC_EXPECT(sum_of_ones(*row) == row_size, "row of {}", row->size());
  TPC_EXPECT(sum_of_ones(*ranks) == ranks->size(), "world of {}", ranks->size());
}

void names_law(const CommunicatorPtr& ranks) {
  const auto first = ranks->split(0, 0, "tp");
  auto second = ranks->split(0, 0, "tp");
  TPC_EXPECT(first->name() == "tp" && second->name() == "tp#2", "names {} and {}", first->name(),
             second->name());
  sum_of_ones(*first);
  sum_of_ones(*first);
  sum_of_ones(*second);
  const CallLog& log = ranks->log();
  TPC_EXPECT(log.groups.at("tp").calls == 2 && log.groups.at("tp#2").calls == 1, "calls are miscounted");
  TPC_EXPECT(log.last == "all_reduce of 1 f64 on tp#2, call 1", "last call is '{}'", log.last);
  second.reset();
  TPC_EXPECT(!log.groups.contains("tp#2"), "a group that ended looks alive in the log");
  TPC_EXPECT(log.ended.find("tp#2")->second.calls == 1, "the calls of a group that ended are forgotten");
  TPC_EXPECT(ranks->split(0, 0, "tp")->name() == "tp#2", "a name is not free after its owner's end");
}

void renew_law(const CommunicatorPtr& ranks) {
  const auto fresh = ranks->renew("fresh");
  TPC_EXPECT(fresh->rank() == ranks->rank() && fresh->size() == ranks->size(), "renewed with other ranks");
  TPC_EXPECT(&fresh->log() != &ranks->log() && fresh->log().groups.size() == 1, "a renewed log is not new");
  TPC_EXPECT(sum_of_ones(*fresh) == ranks->size(), "renewed with missing ranks");
}

void misuse_law(const CommunicatorPtr& ranks) {
  const auto expect_refused = [](const auto& call) {
    bool refused = false;
    try {
      call();
    } catch (const ContractError&) {
      refused = true;
    }
    TPC_EXPECT(refused, "misuse was not noticed");
  };
  const Tensor a = host_tensor(DType::f64, {4});
  const Tensor b = host_tensor(DType::f32, {4});
  expect_refused([&] { ranks->all_reduce(a, b, ReduceOp::sum); });
  expect_refused([&] { ranks->all_reduce(a.rows(0, 3), a.rows(1, 3), ReduceOp::sum); });
  expect_refused([&] { ranks->all_gather(a, host_tensor(DType::f64, {5})); });
  expect_refused([&] { ranks->reduce_scatter(host_tensor(DType::f64, {5}), a, ReduceOp::sum); });
  expect_refused([&] { ranks->all_to_all(a, host_tensor(DType::f64, {ranks->size() * 8})); });
  expect_refused([&] { ranks->broadcast(a, ranks->size()); });
  expect_refused([&] { ranks->broadcast(a, -1); });
  const Message message{Message::Way::send, ranks->size(), a};
  expect_refused([&] { ranks->messages({message}); });
}

constexpr std::array laws_of_groups = {
    CommunicatorLaw{"split", split_law},       CommunicatorLaw{"group_without_rank_0", negative_colour_law},
    CommunicatorLaw{"subgroup", subgroup_law}, CommunicatorLaw{"nested_split", nested_split_law},
    CommunicatorLaw{"names", names_law},       CommunicatorLaw{"renew", renew_law},
    CommunicatorLaw{"misuse", misuse_law},
};

}  // namespace

std::span<const CommunicatorLaw> group_laws() { return laws_of_groups; }

}  // namespace tpc
