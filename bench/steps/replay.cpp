// SPDX-License-Identifier: Apache-2.0
#include "bench/steps/replay.hpp"

#include <memory>

#include "bench/measure/caches.hpp"

namespace tpc::bench {

namespace {

struct ReplayedCall {
  CollectiveKind kind;
  ReduceOp op;
  Tensor in;
  Tensor out;
};

ReplayedCall call_like(const TraceRow& row) {
  const auto full = static_cast<std::int64_t>(static_cast<std::size_t>(row.payload) / size_of(row.dtype));
  const std::int64_t shard = full / row.group_size;
  const bool gathers = row.kind == CollectiveKind::all_gather;
  const bool scatters = row.kind == CollectiveKind::reduce_scatter;
  return {row.kind, row.op, host_tensor(row.dtype, {gathers ? shard : full}),
          host_tensor(row.dtype, {scatters ? shard : full})};
}

void replay(Communicator& ranks, const ReplayedCall& call) {
  if (call.kind == CollectiveKind::all_reduce) ranks.all_reduce(call.out, call.in, call.op);
  if (call.kind == CollectiveKind::all_gather) ranks.all_gather(call.out, call.in);
  if (call.kind == CollectiveKind::reduce_scatter) ranks.reduce_scatter(call.out, call.in, call.op);
}

// Operands of one product, several sets of them.
class ProductSets {
 public:
  ProductSets(Compute& compute, const Product& shape, int sets) : compute_(compute), shape_(shape) {
    const auto matrix = [&](bool batched, std::int64_t rows, std::int64_t columns) {
      Shape extent = {rows, columns};
      if (batched && shape.batch > 1) extent.insert(extent.begin(), shape.batch);
      Tensor tensor = compute.allocate(shape.dtype, std::move(extent), "product");
      compute.fill(tensor, 0.5);
      return tensor;
    };
    for (int set = 0; set < sets; ++set)
      sets_.push_back(
          {matrix(true, shape.m, shape.n),
           shape.ta == Transpose::yes ? matrix(true, shape.k, shape.m) : matrix(true, shape.m, shape.k),
           shape.tb == Transpose::yes ? matrix(!shape.shared_b, shape.n, shape.k)
                                      : matrix(!shape.shared_b, shape.k, shape.n)});
  }

  int count() const { return static_cast<int>(sets_.size()); }
  void run(int set) const {
    const auto& [c, a, b] = sets_.at(static_cast<std::size_t>(set));
    compute_.gemm(c, a, shape_.ta, b, shape_.tb, false);
  }

 private:
  struct Set {
    Tensor c, a, b;
  };
  Compute& compute_;
  Product shape_;
  std::vector<Set> sets_;
};

std::size_t operand_bytes(const Product& s) {
  const std::int64_t elements = s.batch * (s.m * s.n + s.m * s.k) + (s.shared_b ? 1 : s.batch) * s.k * s.n;
  return static_cast<std::size_t>(elements) * size_of(s.dtype);
}

}  // namespace

Subject communication_subject(Communicator& ranks, const std::vector<TraceRow>& calls) {
  const auto replayed = std::make_shared<std::vector<ReplayedCall>>();
  for (const TraceRow& row : calls)
    if (row.group_size == ranks.size() && row.kind != CollectiveKind::point_to_point)
      replayed->push_back(call_like(row));
  Subject subject;
  subject.name = "communication_only";
  subject.run = [replayed, &ranks](int) {
    for (const ReplayedCall& call : *replayed) replay(ranks, call);
  };
  return subject;
}

Subject products_subject(Compute& compute, const std::map<Product, KernelUse>& products) {
  // Between two uses of one set the other shapes have been through the caches, so two sets are enough.
  constexpr int sets = 2;
  const auto all = std::make_shared<std::vector<std::pair<ProductSets, std::int64_t>>>();
  for (const auto& [shape, use] : products) all->emplace_back(ProductSets(compute, shape, sets), use.calls);
  Subject subject;
  subject.name = "products_only";
  subject.run = [all, &compute](int) {
    for (const auto& [product, calls] : *all)
      for (std::int64_t call = 0; call < calls; ++call) product.run(static_cast<int>(call % sets));
    compute.synchronize();
  };
  return subject;
}

Subject product_subject(Compute& compute, const Product& shape) {
  const auto product =
      std::make_shared<ProductSets>(compute, shape, slots_beyond_caches(operand_bytes(shape)));
  Subject subject;
  subject.name = "gemm/" + to_string(shape);
  subject.slots = product->count();
  subject.run = [product, &compute](int slot) {
    product->run(slot);
    compute.synchronize();
  };
  return subject;
}

}  // namespace tpc::bench
