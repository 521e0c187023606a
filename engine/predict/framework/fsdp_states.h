// SPDX-License-Identifier: Apache-2.0
// What PyTorch's FSDP2 does with a rank's parameters, gradients and optimizer states in the memory
// of a CachingAllocator.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/setup/setup.h"
#include "engine/predict/framework/caching_allocator.h"

namespace parallelarium {

// The streams in which FSDP2 allocates: that of computing, that of what goes into and comes out of
// an all-gather, and that of what comes out of a reduce-scatter.
enum FsdpStream : int { kComputeStream, kGatherStream, kReduceStream };
inline constexpr int kFsdpStreams = 3;

// A parameter of a rank, as TP left it, and the ranks over which FSDP cuts it.
struct FsdpTensor {
  std::int64_t elements = 0;
  int shards = 1;
};

// Groups of parameters that are gathered and reduced together: each layer, and a root.
//
// A rank keeps its share of parameters in the type of the optimizer, no second one in the type of
// computing: what it gathers it casts before. Gradients have the type of computing until the group
// is reduced. Then they are copied to one input in the reduced type, which is there until the next
// group is reduced. Where micro-batches add up gradients, the first ones are cast to the reduced
// type. Adam makes its states in its first update, and holds a share as large as the parameters
// while it updates all at once.
//
// Counts are of elements on one rank; what they take in bytes follows from the Setup's precision.
// It has no offload to the host, no optimizer but Adam, and no update tensor by tensor.
//
// Source: pytorch/pytorch 1963fc8, torch/distributed/_composable/fsdp (_fsdp_collectives.py,
// foreach_all_gather, foreach_reduce; _fsdp_param_group.py, wait_for_unshard, post_backward;
// _fsdp_param.py, to_accumulated_grad_if_needed); torch/optim/adam.py, _multi_tensor_adam.
class FsdpStates {
 public:
  FsdpStates(const Setup& setup, CachingAllocator& allocator);

  // Allocates the rank's own share. Returns the number of the group.
  int add_group(std::vector<FsdpTensor> tensors);

  void gather(int group);   // does nothing if it is gathered
  void release(int group);  // does nothing if it is not gathered
  // The backward has the gradient of one tensor of one micro-batch. A second call in the same
  // backward counts nothing.
  void add_gradient(int group, int tensor);
  void accumulate(int group);  // adds those of a micro-batch to those before
  void reduce(int group);      // those of one micro-batch, or all that were added up
  void end_action();           // frees what the last collectives left behind
  void update();               // Adam
  void clear_gradients();      // before the next step

 private:
  using Block = CachingAllocator::Block;
  struct Group {
    std::vector<FsdpTensor> tensors;
    std::vector<Block> gathered;          // empty: not gathered
    std::vector<Block> gradients, added;  // by tensor; -1: none
    std::vector<Block> reduced;
    std::int64_t elements = 0, own = 0;
  };

  void free(std::vector<Block>& blocks);
  static std::int64_t own_of(const FsdpTensor& tensor) {
    return (tensor.elements + tensor.shards - 1) / tensor.shards;
  }

  CachingAllocator& allocator_;
  std::int64_t share_bytes_, compute_bytes_, reduced_bytes_, moment_bytes_;  // of an element
  std::vector<Group> groups_;
  std::vector<Block> gather_output_, reduce_input_;  // of the last group; at most one block
  bool updated_ = false;
};

}  // namespace parallelarium
