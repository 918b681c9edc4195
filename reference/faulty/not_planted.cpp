// SPDX-License-Identifier: Apache-2.0
#include "reference/faulty/fault.hpp"

namespace tpc {

const std::vector<NotPlanted>& faults_not_planted() {
  static const std::vector<NotPlanted> rows = {
      {"TP-02", "needs experts: the defect is one of two representations of their weights"},
      {"TP-12", "needs routers"},
      {"TP-13", "needs routers"},
      {"TP-17", "needs adapters"},
      {"TP-29", "needs routers"},
      {"TP-33", "needs a rotary key that all heads share"},
      {"TP-36", "a collective never meets strided tensors: they are dense by contract"},
      {"TP-38", "needs routers"},
      {"TP-49", "needs a second reader of the logits: here they belong to the loss alone"},
      {"TP-69", "needs constants per head, such as ALiBi"},
      {"TP-71", "needs process-wide state: head counts are passed by value here"},
      {"TP-78", "a norm over a sharded dim cannot be asked for: norms are whole on every rank"},
      {"TP-79", "needs a norm over sharded heads"},
      {"TP-80", "needs a norm over a sharded dim"},
      {"TP-81", "needs group norms"},
      {"TP-89", "needs context parallelism"},
      {"TP-100", "needs loss scaling: f16 is no dtype here"},
      {"TP-101", "needs a matrix optimizer"},
      {"TP-111", "needs fully sharded parameters"},
      {"TP-112", "needs FP8"},
      {"COMM-04", "needs FP8"},
      {"COMM-05", "the communicator has no average: nothing averages silently"},
      {"COMM-15", "needs a narrow integer type: i64 sums stay within its range"},
      {"COMM-17", "needs a GPU"},
      {"COMM-18", "the communicator has no rooted reduce"},
      {"COMM-19", "needs f16: bf16 has the range of f32"},
      {"COMM-21", "needs two messages between the same ranks, as pipelines send"},
      {"COMM-23", "needs batches of messages, as pipelines send"},
      {"COMM-24", "a collective never meets strided tensors: they are dense by contract"},
      {"COMM-25", "needs attention that exchanges heads for tokens"},
      {"COMM-26", "needs streams of a device"},
  };
  return rows;
}

}  // namespace tpc
