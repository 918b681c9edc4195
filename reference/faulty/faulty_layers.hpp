// SPDX-License-Identifier: Apache-2.0
// Layers of which a step goes wrong.
#pragma once

#include "reference/faulty/fault_set.hpp"
#include "reference/tensor_parallel/parts.hpp"

namespace tpc {

std::unique_ptr<ColumnLinears> faulty_column_linears(const FaultSet& faults, std::vector<ColumnPart> parts,
                                                     ColumnLinears::Options options);
std::unique_ptr<ColumnLinear> faulty_column_linear(const FaultSet& faults, const ColumnPart& part,
                                                   std::unique_ptr<ColumnLinears> linears,
                                                   ColumnLinear::Result result);
std::unique_ptr<RowLinear> faulty_row_linear(const FaultSet& faults, const std::string& name,
                                             const Position& at, const RowLinear::Options& options);
std::unique_ptr<Dropout> faulty_dropout(const FaultSet& faults, const std::string& layer, DropoutSite site,
                                        double rate);
std::unique_ptr<VocabEmbedding> faulty_embedding(const FaultSet& faults, const std::string& words,
                                                 const std::string& positions, const LayerPlan& plan);
std::unique_ptr<TransformerLayer> faulty_transformer_layer(const FaultSet& faults, const std::string& name,
                                                           const LayerPlan& plan);

}  // namespace tpc
