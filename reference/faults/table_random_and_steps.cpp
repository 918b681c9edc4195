// SPDX-License-Identifier: Apache-2.0
// Dropout, initialisation, gradient norm and optimizer: rows J, K and L of the catalogue.
#include "reference/faults/table_parts.hpp"

namespace tpc {

std::vector<FaultRow> faults_of_random_numbers_and_steps() {
  using O = Operation;
  using C = Condition;
  using F = Fault;
  using K = FaultClass;
  return {
      {F::same_mask_on_every_shard,
       "TP-84",
       "",
       "the seed of a mask ignores the shard",
       "PaddlePaddle/PaddleFleetX #1005; PaddlePaddle/PaddleNLP #7515; Oneflow-Inc/oneflow #3974",
       K::rng,
       {O::dropout},
       {},
       {C::dropout}},
  };
}

}  // namespace tpc
