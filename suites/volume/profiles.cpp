// SPDX-License-Identifier: Apache-2.0
#include "suites/volume/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/compute/compute.hpp"

namespace tpc {

namespace {

// Writes rows down; knows payload and ring wire bytes of each kind of call, and nothing of layers.
class CallList {
 public:
  CallList(int ranks, DType dtype) : ranks_(ranks), dtype_(dtype) {}

  void set_phase(Phase phase) { phase_ = phase; }

  // elements: of the full tensor, the call's payload.
  void all_reduce(const std::string& layer, const char* operation, std::int64_t elements) {
    add(CollectiveKind::all_reduce, {layer, operation, elements, dtype_, "tp", ranks_});
  }
  void all_gather(const std::string& layer, const char* operation, std::int64_t elements) {
    add(CollectiveKind::all_gather, {layer, operation, elements, dtype_, "tp", ranks_});
  }
  void reduce_scatter(const std::string& layer, const char* operation, std::int64_t elements) {
    add(CollectiveKind::reduce_scatter, {layer, operation, elements, dtype_, "tp", ranks_});
  }
  void reduce_statistics(const char* operation, std::int64_t elements, ReduceOp op) {
    add(CollectiveKind::all_reduce,
        {"cross_entropy", operation, elements, statistics_dtype(dtype_), "tp", ranks_}, op);
  }
  void finalise(const std::string& axis, int group, std::int64_t elements) {
    if (elements > 0)
      add(CollectiveKind::all_reduce, {"", "finalise_gradients", elements, dtype_, axis, group});
  }

  Trace take() { return std::move(rows_); }

 private:
  struct CallCase {
    std::string layer;
    std::string operation;
    std::int64_t elements;
    DType dtype;
    std::string axis;
    int group;
  };

  void add(CollectiveKind kind, const CallCase& call, ReduceOp op = ReduceOp::sum) {
    if (call.group == 1) return;
    const std::int64_t payload = call.elements * static_cast<std::int64_t>(size_of(call.dtype));
    TraceRow row;
    row.kind = kind;
    row.op = op;
    row.axis = call.axis;
    row.group_size = call.group;
    row.layer = call.layer;
    row.operation = call.operation;
    row.phase = phase_;
    row.count = kind == CollectiveKind::all_reduce ? call.elements : call.elements / call.group;
    row.dtype = call.dtype;
    row.payload = payload;
    row.ring_wire = ring_wire(kind, payload, call.group);
    rows_.push_back(std::move(row));
  }

  int ranks_;
  DType dtype_;
  Phase phase_ = Phase::forward;
  Trace rows_;
};

class Profile {
 public:
  explicit Profile(const Request& request)
      : config_(request.problem.model),
        sharding_(request.sharding),
        sp_(request.sharding.sequence_parallel),
        operation_(request.problem.operation()),
        ranks_(request.mesh.ranks()),
        tokens_(request.problem.batch * request.problem.sequence),
        shard_tokens_(request.problem.sequence / request.mesh.ranks()),
        calls_(ranks_, request.problem.dtype) {}

  Trace whole() {
    calls_.set_phase(Phase::forward);
    forward();
    calls_.set_phase(Phase::backward);
    backward();
    calls_.set_phase(Phase::finalise);
    finalise();
    return calls_.take();
  }

 private:
  using SP = SequenceParallel;
  std::int64_t activation() const { return tokens_ * config_.hidden; }  // elements of P

  // Overlapped with the product beside it, a call of P is several that make up P: from each rank's shard of
  // the sequence an equal share of whole tokens at a time.
  enum class Beside { nothing, product };
  std::vector<std::int64_t> pieces(Beside beside) const {
    const std::int64_t chunks =
        beside == Beside::nothing ? 1 : std::min<std::int64_t>(sharding_.overlap_chunks, shard_tokens_);
    std::vector<std::int64_t> elements;
    for (std::int64_t c = 0; c < chunks; ++c) {
      const std::int64_t tokens = shard_tokens_ * (c + 1) / chunks - shard_tokens_ * c / chunks;
      elements.push_back(activation() / shard_tokens_ * tokens);
    }
    return elements;
  }
  void gather(const std::string& layer, const char* operation, Beside beside) {
    for (const std::int64_t elements : pieces(beside)) calls_.all_gather(layer, operation, elements);
  }
  void scatter(const std::string& layer, const char* operation, Beside beside) {
    for (const std::int64_t elements : pieces(beside)) calls_.reduce_scatter(layer, operation, elements);
  }

  void enter(const std::string& layer, Beside beside = Beside::product) {
    if (sp_ != SP::off) gather(layer, "gather_from_sp", beside);
  }
  void leave(const std::string& layer, Beside beside = Beside::product) {
    if (sp_ == SP::off)
      calls_.all_reduce(layer, "reduce_from_tp", activation());
    else
      scatter(layer, "reduce_scatter_to_sp", beside);
  }
  void leave_backward(const std::string& layer, Beside beside = Beside::product) {
    if (sp_ != SP::off) gather(layer, "reduce_scatter_to_sp", beside);
  }
  void enter_backward(const std::string& layer, Beside beside = Beside::product) {
    if (sp_ == SP::regathered) calls_.all_gather(layer, "gather_from_sp", activation());
    if (sp_ != SP::off) scatter(layer, "gather_from_sp", beside);
    const int entries = sharding_.own_entries ? parts_of(layer) : 1;
    for (int i = 0; sp_ == SP::off && i < entries; ++i) calls_.all_reduce(layer, "copy_to_tp", activation());
  }
  // Column linears that read the same input: q, k, v, or gate and up.
  int parts_of(const std::string& layer) const {
    const bool is_attention = layer.ends_with("attention") || operation_ == Operation::attention;
    if (is_attention) return 3;
    const bool is_mlp = layer.ends_with("mlp") || operation_ == Operation::mlp;
    return is_mlp && config_.mlp == MlpKind::swiglu ? 2 : 1;
  }

  std::string row_of(const std::string& prefix, bool is_attention) const {
    const std::string row = is_attention ? "out" : config_.mlp == MlpKind::gelu ? "fc2" : "down";
    return prefix.empty() ? row : prefix + "." + row;
  }
  void half_forward(const std::string& layer, bool is_attention) {
    enter(layer);
    leave(row_of(layer, is_attention));
  }
  void half_backward(const std::string& layer, bool is_attention) {
    leave_backward(row_of(layer, is_attention));
    enter_backward(layer);
  }
  // The sum over S·B·F must be whole before the activation, and the output S·B·H be gathered; backward
  // mirrors both.
  void row_first_forward() {
    calls_.all_reduce("fc1", "reduce_from_tp", tokens_ * config_.ffn);
    calls_.all_gather("fc2", "gather_from_tp", activation());
  }
  void row_first_backward() {
    calls_.all_reduce("fc2", "copy_to_tp", tokens_ * config_.ffn);
    calls_.all_gather("fc1", "scatter_to_tp", activation());
  }
  static std::string in_block(const std::string& block, const char* half) {
    return block.empty() ? half : block + "." + half;
  }
  void block_forward(const std::string& block) {
    half_forward(in_block(block, "attention"), true);
    half_forward(in_block(block, "mlp"), false);
  }
  void block_backward(const std::string& block) {
    if (sharding_.recompute == Recompute::full) block_forward(block);
    half_backward(in_block(block, "mlp"), false);
    half_backward(in_block(block, "attention"), true);
  }
  static std::string block_name(std::int64_t i) { return "blocks." + std::to_string(i); }
  std::string head() const { return config_.tied_head ? "embedding" : "head"; }

  void cross_entropy() {
    calls_.reduce_statistics("max", tokens_, ReduceOp::max);
    calls_.reduce_statistics("sum_exp", tokens_, ReduceOp::sum);
    calls_.reduce_statistics("target_logit", tokens_, ReduceOp::sum);
    if (config_.loss.label_smoothing != 0) calls_.reduce_statistics("sum_logit", tokens_, ReduceOp::sum);
  }

  void forward() {
    switch (operation_) {
      case Operation::column_linear:
        enter("");
        if (sharding_.gather_output) calls_.all_gather("", "gather_from_tp", tokens_ * config_.ffn);
        return;
      case Operation::row_linear:
        return leave("");
      case Operation::vocab_embedding:
        return leave("", Beside::nothing);
      case Operation::mlp:
        if (sharding_.mlp_order == MlpOrder::row_first) return row_first_forward();
        return half_forward("", false);
      case Operation::attention:
        return half_forward("", true);
      case Operation::transformer_layer:
        return block_forward("");
      case Operation::vocab_cross_entropy:
        return cross_entropy();
      case Operation::model:
        leave("embedding", Beside::nothing);
        for (std::int64_t i = 0; i < config_.layers; ++i) block_forward(block_name(i));
        enter(head(), Beside::nothing);
        return cross_entropy();
      default:
        return;  // single norms send nothing
    }
  }

  void backward() {
    switch (operation_) {
      case Operation::column_linear:
        return enter_backward("");
      case Operation::row_linear:
        leave_backward("");
        if (!sharding_.input_is_split) calls_.all_gather("", "scatter_to_tp", tokens_ * config_.ffn);
        return;
      case Operation::vocab_embedding:
        return leave_backward("", Beside::nothing);
      case Operation::mlp:
        if (sharding_.mlp_order == MlpOrder::row_first) return row_first_backward();
        return half_backward("", false);
      case Operation::attention:
        return half_backward("", true);
      case Operation::transformer_layer:
        return block_backward("");
      case Operation::model:
        enter_backward(head(), Beside::nothing);
        for (std::int64_t i = config_.layers - 1; i >= 0; --i) block_backward(block_name(i));
        return leave_backward("embedding", Beside::nothing);
      default:
        return;
    }
  }

  // Elements whose gradients are sums over tp when backward ends: only under sequence parallelism.
  std::int64_t norm_elements() const {
    return (config_.norm == NormKind::layer_norm ? 2 : 1) * config_.hidden;
  }
  std::int64_t half_elements(bool is_attention) const {
    return (is_attention ? config_.out_bias : config_.mlp_bias) ? config_.hidden : 0;
  }
  std::int64_t block_elements() const {
    return 2 * norm_elements() + half_elements(true) + half_elements(false);
  }
  std::int64_t position_elements() const {
    return config_.position == PositionKind::learned ? config_.positions * config_.hidden : 0;
  }
  std::int64_t pending_over_tp() const {
    if (sp_ == SP::off) return 0;
    switch (operation_) {
      case Operation::row_linear:
        return config_.mlp_bias ? config_.hidden : 0;
      case Operation::mlp:
        return half_elements(false);
      case Operation::attention:
        return half_elements(true);
      case Operation::layer_norm:
        return 2 * config_.hidden;
      case Operation::rms_norm:
        return config_.hidden;
      case Operation::vocab_embedding:
        return position_elements();
      case Operation::transformer_layer:
        return block_elements();
      case Operation::model:
        return position_elements() + config_.layers * block_elements() + norm_elements();
      default:
        return 0;
    }
  }
  // With fewer kv heads than ranks: the k and v projections of the one head a rank holds a copy of.
  std::int64_t pending_over_copies() const {
    if (config_.kv_heads >= ranks_) return 0;
    const std::int64_t attention = 2 * config_.head_dim * (config_.hidden + (config_.qkv_bias ? 1 : 0));
    if (operation_ == Operation::model) return config_.layers * attention;
    return operation_ == Operation::attention || operation_ == Operation::transformer_layer ? attention : 0;
  }
  // The group that a parameter met first is pending over comes first: q,k,v before out in an attention on its
  // own, a norm before them in a block.
  void finalise() {
    const int copies = config_.kv_heads >= ranks_ ? 1 : ranks_ / static_cast<int>(config_.kv_heads);
    const bool copies_first = operation_ == Operation::attention;
    if (copies_first) calls_.finalise("kv_copies", copies, pending_over_copies());
    calls_.finalise("tp", ranks_, pending_over_tp());
    if (!copies_first) calls_.finalise("kv_copies", copies, pending_over_copies());
  }

  const ModelConfig& config_;
  const Sharding& sharding_;
  SP sp_;
  Operation operation_;
  int ranks_;
  std::int64_t tokens_;
  std::int64_t shard_tokens_;  // of one sequence, on a rank, under sequence parallelism
  CallList calls_;
};

}  // namespace

std::string profile_name(const Sharding& sharding) {
  const std::string base = sharding.sequence_parallel == SequenceParallel::off    ? "tp"
                           : sharding.sequence_parallel == SequenceParallel::kept ? "tp-sp-kept"
                                                                                  : "tp-sp-regather";
  if (sharding.recompute == Recompute::full) return base + "-full-recompute";
  if (sharding.mlp_order == MlpOrder::row_first) return base + "-row-first";
  if (sharding.overlap_chunks > 1) return fmt::format("{}-overlap{}", base, sharding.overlap_chunks);
  if (sharding.own_entries) return base + "-own-entries";
  return sharding.fused ? base : base + "-unfused";
}

Trace volume_profile(const Request& request) { return Profile(request).whole(); }

}  // namespace tpc
