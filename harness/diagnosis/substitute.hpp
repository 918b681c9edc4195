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
    return (other_ == nullptr ? *judged_ : *other_).run(request, ranks);
  }

 private:
  std::unique_ptr<Implementation> judged_;
  Implementation* other_ = nullptr;
};

}  // namespace tpc
