// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "harness/values/implementation.hpp"

namespace tpc {

// What is judged, or for a while another in its place.
class Substitute : public Implementation {
 public:
  explicit Substitute(std::unique_ptr<Implementation> judged) : judged_(std::move(judged)) {}

  void put(Implementation* other) { other_ = other; }  // null: what is judged
  std::string name() const override { return judged_->name(); }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    Response response = now().run(request, ranks);
    if (other_ == nullptr) calls_ = response.reports_calls ? std::optional(response.trace) : std::nullopt;
    return response;
  }
  // Of what is judged, when it was last asked; nothing where it does not tell.
  const std::optional<Trace>& calls() const { return calls_; }
  std::string identity() const override { return judged_->identity(); }
  void make_ready() override { now().make_ready(); }
  Response stand_by(const Request& request, int members) override { return now().stand_by(request, members); }

 private:
  Implementation& now() { return other_ == nullptr ? *judged_ : *other_; }

  std::unique_ptr<Implementation> judged_;
  Implementation* other_ = nullptr;
  std::optional<Trace> calls_;
};

}  // namespace tpc
