// SPDX-License-Identifier: Apache-2.0
// What models are made of. The context has one Parts, so that layers which go wrong can stand in for the
// right ones (reference/faulty) without any line about them here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reference/parameters/gradients.hpp"
#include "reference/parameters/loading.hpp"
#include "reference/random/random_streams.hpp"
#include "reference/tensor_parallel/column_linear.hpp"
#include "reference/tensor_parallel/dropout.hpp"
#include "reference/tensor_parallel/row_linear.hpp"
#include "reference/tensor_parallel/transformer_layer.hpp"
#include "reference/tensor_parallel/vocab_cross_entropy.hpp"
#include "reference/tensor_parallel/vocab_embedding.hpp"

namespace tpc {

// All that a layer is built from.
struct LayerPlan {
  const ModelConfig& config;
  const Sharding& sharding;
  Position at;
  const Parts& parts;
};

class Parts {
 public:
  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  virtual ~Parts() = default;

  // Layers. Each ColumnLinears is the first part of whatever it belongs to; names are prefixes of parameters.
  virtual std::unique_ptr<ColumnLinears> column_linears(std::vector<ColumnPart> parts,
                                                        ColumnLinears::Options options) const;
  virtual std::unique_ptr<ColumnLinear> column_linear(const ColumnPart& part,
                                                      const ColumnLinears::Options& options,
                                                      ColumnLinear::Result result) const;
  virtual std::unique_ptr<RowLinear> row_linear(const std::string& name, const Position& at,
                                                const RowLinear::Options& options) const;
  virtual std::unique_ptr<Dropout> dropout(const std::string& layer, DropoutSite site, double rate) const;
  virtual std::unique_ptr<VocabEmbedding> vocab_embedding(const std::string& words,
                                                          const std::string& positions,
                                                          const LayerPlan& plan) const;
  virtual std::unique_ptr<VocabCrossEntropy> vocab_cross_entropy(const LossDefinition& definition,
                                                                 const VocabSlice& slice,
                                                                 const Position& at) const;
  virtual std::unique_ptr<TransformerLayer> transformer_layer(const std::string& name,
                                                              const LayerPlan& plan) const;

  // What they communicate and draw through.
  virtual CommunicatorPtr communicator(CommunicatorPtr ranks, const Site& site, Compute& compute) const;
  virtual std::unique_ptr<RandomStreams> streams(std::string_view profile, const StreamSetup& setup) const;

  // Throws Refusal, see requirements.hpp.
  virtual void require_splittable(Operation operation, const ModelConfig& config, const Sharding& sharding,
                                  std::int64_t sequence, int ranks) const;
  // How specifications are read when weights are loaded, and when shards are handed out; and the weights
  // themselves.
  virtual std::vector<ParameterSpec> as_loaded(const Position& at, std::vector<ParameterSpec> specs) const;
  virtual std::vector<ParameterSpec> as_reported(const Position& at, std::vector<ParameterSpec> specs) const;
  virtual WeightSource weights(const Position& at, const std::vector<ParameterSpec>& specs,
                               WeightSource source) const;
  // The features that reach an output of a linear, for which its weight's initial spread is made: those of
  // the whole weight, not of the shard.
  virtual std::int64_t fan_in(const ParameterPart& weight) const;

  // A batch [S,B] of tokens, on the host, as this rank reads it: the same on all ranks of tp.
  virtual Tensor as_read(const Position& at, const Tensor& tokens) const;
  // See gradient_finalisation.hpp; and what a training step does of it when its last backward has ended: all.
  virtual void finalise(Context& ctx, const Gradients& gradients) const;
  virtual void finish_step(Context& ctx, Gradients& gradients) const;
  // Shards do on every rank, what all ranks hold on the first alone, and of the copies of a kv head the
  // first: each element of the canonical parameter counts once.
  virtual bool counts_in_norm(const Position& at, const ParameterPart& part) const;
};

// The right ones.
std::shared_ptr<const Parts> right_parts();

}  // namespace tpc
