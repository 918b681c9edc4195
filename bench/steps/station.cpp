// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/station.hpp"

#include <chrono>

namespace tpc::bench {

namespace {

Tampering tampering_of(const Planted& planted, bool silent) {
  return {.silent = silent, .wrong = planted.wrong, .slow = planted.slow, .drag = planted.drag};
}

}  // namespace

Station::Station(const StackShape& shape, Pass pass, const CommunicatorPtr& ranks, Compute& compute,
                 const Planted& planted, bool silent, const std::vector<Signatures>* references)
    : pass_(pass),
      ranks_(ranks),
      shape_(shape),
      tampering_(tampering_of(planted, silent)),
      compute_(compute),
      drag_(planted.slow_rank == ranks->rank() ? planted.drag : 0),
      stack_(shape, make_logged_communicator(ranks, communication_, tampering_), compute),
      references_(references) {}

Subject Station::subject(const std::string& name) {
  Subject subject;
  subject.name = name;
  subject.slots = LayerStack::slots;
  if (pass_ == Pass::backward) subject.before = [this](int slot) { stack_.forward(slot); };
  subject.run = [this](int slot) { run(slot); };
  if (references_ != nullptr) subject.check = [this](int slot) { return check(slot); };
  return subject;
}

void Station::run(int slot) {
  kernels_ = {};
  communication_ = {};
  const std::size_t calls_before = stack_.trace().size();
  const LogScope log(compute_, kernels_, drag_);
  const auto start = std::chrono::steady_clock::now();
  if (pass_ != Pass::backward) stack_.forward(slot);
  saved_bytes_ = stack_.saved_bytes();
  if (pass_ != Pass::forward) stack_.backward(slot);
  if (pass_ != Pass::forward) stack_.finalise();
  compute_.synchronize();
  const double total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  splits_.push_back({total, kernels_.product_s(), kernels_.other_s(), communication_.seconds});
  for (const auto& [kernel, use] : kernels_.others)
    if (use.bytes > 0) kernel_seconds_[kernel].push_back(use.seconds / use.bytes);
  calls_.assign(stack_.trace().begin() + static_cast<std::ptrdiff_t>(calls_before), stack_.trace().end());
  last_slot_ = slot;
}

std::string Station::check(int slot) {
  if (slot != last_slot_) return "";
  last_signatures_ = signatures_of(*ranks_, stack_.outputs());
  if (pass_ == Pass::forward) std::erase_if(last_signatures_, [](const auto& s) { return s.first != "y"; });
  if (references_->empty()) return "";
  return difference(last_signatures_, references_->at(static_cast<std::size_t>(slot)),
                    signature_tolerance(shape_));
}

}  // namespace tpc::bench
