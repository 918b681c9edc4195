// SPDX-License-Identifier: Apache-2.0
#include "harness/run/runner/agreement.hpp"

#include <cstring>

#include "harness/values/wire.hpp"

namespace tpc {

namespace {

// A text of unknown length travels as its length and its bytes; one more byte, so that none is empty.
struct Envelope {
  Tensor length;
  Tensor bytes;
};

Envelope sealed(const std::string& text) {
  Envelope envelope{host_tensor(DType::i64, {1}, "length"),
                    host_tensor(DType::u8, {static_cast<std::int64_t>(text.size()) + 1}, "text")};
  *envelope.length.data<std::int64_t>() = static_cast<std::int64_t>(text.size());
  std::memcpy(envelope.bytes.raw(), text.data(), text.size());
  return envelope;
}

Tensor room_for(std::int64_t length) { return host_tensor(DType::u8, {length + 1}, "text"); }

std::string opened(const Tensor& bytes) {
  return {reinterpret_cast<const char*>(bytes.raw()), static_cast<std::size_t>(bytes.count() - 1)};
}

void send(Communicator& ranks, int to, const std::string& text) {
  const Envelope envelope = sealed(text);
  ranks.messages({{Message::Way::send, to, envelope.length}, {Message::Way::send, to, envelope.bytes}});
}

bool came(Pending& pending) {
  try {
    pending.wait();
    return true;
  } catch (const DeadlineExceeded&) {
    return false;
  }
}

}  // namespace

std::optional<std::string> Agreement::reach(const std::string& mine, const Decide& decide,
                                            const Patience& patience) {
  if (ranks_->rank() != 0) {
    ranks_->set_deadline(patience.decision);
    send(*ranks_, 0, mine);
    return receive(0, patience.decision);
  }
  const Reports reports = gather(mine, patience.reports);
  std::string decision = decide(reports);
  tell(reports, decision, patience.decision);
  return decision;
}

// All receives are in flight at once, each waited for by itself: a rank that is late hides no other.
Agreement::Reports Agreement::gather(const std::string& mine, Clock::time_point deadline) {
  const auto size = static_cast<std::size_t>(ranks_->size());
  ranks_->set_deadline(deadline);
  std::vector<Tensor> lengths;
  std::vector<Pending> pending;
  for (std::size_t r = 1; r < size; ++r) {
    lengths.push_back(host_tensor(DType::i64, {1}, "length"));
    pending.push_back(
        ranks_->start(Call::point_to_point({{Message::Way::receive, static_cast<int>(r), lengths.back()}})));
  }
  Reports reports(size);
  reports[0] = mine;
  for (std::size_t r = 1; r < size; ++r) {
    if (!came(pending[r - 1])) continue;
    const Tensor text = room_for(*lengths[r - 1].data<std::int64_t>());
    Pending rest = ranks_->start(Call::point_to_point({{Message::Way::receive, static_cast<int>(r), text}}));
    if (came(rest)) reports[r] = opened(text);
  }
  return reports;
}

void Agreement::tell(const Reports& arrived, const std::string& decision, Clock::time_point deadline) {
  ranks_->set_deadline(deadline);
  const Envelope envelope = sealed(decision);
  std::vector<Message> messages;
  for (std::size_t r = 1; r < arrived.size(); ++r) {
    if (!arrived[r]) continue;
    messages.push_back({Message::Way::send, static_cast<int>(r), envelope.length});
    messages.push_back({Message::Way::send, static_cast<int>(r), envelope.bytes});
  }
  if (!messages.empty()) ranks_->messages(messages);
}

std::optional<std::string> Agreement::receive(int from, Clock::time_point deadline) {
  ranks_->set_deadline(deadline);
  const Tensor length = host_tensor(DType::i64, {1}, "length");
  Pending pending = ranks_->start(Call::point_to_point({{Message::Way::receive, from, length}}));
  if (!came(pending)) return std::nullopt;
  const Tensor text = room_for(*length.data<std::int64_t>());
  Pending rest = ranks_->start(Call::point_to_point({{Message::Way::receive, from, text}}));
  if (!came(rest)) return std::nullopt;
  return opened(text);
}

void together(Agreement& agreement, const std::function<void()>& work) {
  constexpr std::chrono::minutes patience{10};  // reading a model, making the cases
  int code = 0;
  std::string reason;
  const auto failed = [&](int with, const std::exception& error) {
    code = with;
    reason = error.what();
  };
  try {
    work();
  } catch (const UsageError& error) {
    failed(2, error);
  } catch (const Refusal& error) {
    failed(2, error);
  } catch (const std::exception& error) {
    failed(3, error);
  }
  const auto now = Agreement::Clock::now();
  const auto decision = agreement.reach(
      Packer().put(code).put(reason).bytes(),
      [](const Agreement::Reports& reports) {
        for (const auto& report : reports) {
          if (!report) return Packer().put(5).put("a rank did not arrive at the start of the run").bytes();
          if (Unpacker(*report).get<int>() != 0) return *report;
        }
        return *reports.front();
      },
      {now + patience, now + 2 * patience});
  if (!decision) throw RunEnds(5, "rank 0 did not arrive at the start of the run");
  Unpacker unpacker(*decision);
  if (const int agreed = unpacker.get<int>(); agreed != 0) throw RunEnds(agreed, unpacker.text());
}

}  // namespace tpc
