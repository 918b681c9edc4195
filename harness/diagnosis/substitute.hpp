// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "harness/implementation.hpp"

namespace tpc {

// What is judged, or for a while another in its place.
class Substitute : public Implementation {
 public:
  explicit Substitute(std::unique_ptr<Implementation> judged) : judged_(std::move(judged)) {}

  void put(Implementation* other) { other_ = other; }  // null: what is judged
  std::string name() const override { return judged_->name(); }
  Response run(const Request& request, const CommunicatorPtr& ranks) override {
    return now().run(request, ranks);
  }
  std::string identity() const override { return judged_->identity(); }
  void make_ready() override { now().make_ready(); }
  Response stand_by(const Request& request, int members) override { return now().stand_by(request, members); }

 private:
  Implementation& now() { return other_ == nullptr ? *judged_ : *other_; }

  std::unique_ptr<Implementation> judged_;
  Implementation* other_ = nullptr;
};

}  // namespace tpc
