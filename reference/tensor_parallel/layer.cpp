// SPDX-License-Identifier: Apache-2.0
#include "reference/tensor_parallel/layer.hpp"

#include <set>

#include "reference/tensor_parallel/naming.hpp"

namespace tpc {

void Saved::keep(const std::string& name, Tensor tensor) {
  const bool is_new = tensors_.emplace(name, std::move(tensor)).second;
  TPC_EXPECT(is_new, "'{}' is kept twice", name);
}

void Saved::keep(const std::string& name, Saved inner) {
  const bool is_new = inner_.emplace(name, std::move(inner)).second;
  TPC_EXPECT(is_new, "'{}' is kept twice", name);
}

const Tensor& Saved::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  TPC_EXPECT(found != tensors_.end(), "'{}' was not kept", name);
  return found->second;
}

Saved Saved::take(const std::string& name) {
  const auto found = inner_.find(name);
  TPC_EXPECT(found != inner_.end(), "'{}' was not kept, or is taken already", name);
  Saved inner = std::move(found->second);
  inner_.erase(found);
  return inner;
}

std::vector<Saved::Entry> Saved::entries() const {
  std::vector<Entry> all;
  for (const auto& [name, tensor] : tensors_) all.push_back({name, tensor});
  for (const auto& [name, inner] : inner_)
    for (Entry& entry : inner.entries()) all.push_back({join(name, entry.name), std::move(entry.tensor)});
  return all;
}

std::size_t Saved::bytes() const {
  std::set<const Storage*> seen;
  std::size_t sum = 0;
  for (const Entry& entry : entries())
    if (seen.insert(entry.tensor.storage().get()).second) sum += entry.tensor.storage()->bytes;
  return sum;
}

Tensor Layer::backward(Context& ctx, const Parameters& params, const Tensor& dy, Saved saved,
                       Gradients& gradients) const {
  InputGradient input = backward_input(ctx, params, dy, std::move(saved));
  backward_weight(ctx, std::move(input.rest), gradients);
  return std::move(input.dx);
}

}  // namespace tpc
