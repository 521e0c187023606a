// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/framework/fsdp_states.h"

namespace parallelarium {

FsdpStates::FsdpStates(const Setup& setup, CachingAllocator& allocator)
    : allocator_(allocator),
      share_bytes_(setup.precision.master_bytes > 0 ? setup.precision.master_bytes
                                                    : setup.precision.parameter_bytes),
      compute_bytes_(setup.precision.parameter_bytes),
      reduced_bytes_(reduced_bytes(setup)),
      moment_bytes_(setup.precision.moments_bytes / 2) {}

void FsdpStates::free(std::vector<Block>& blocks) {
  for (const Block block : blocks)
    if (block >= 0) allocator_.free(block);
  blocks.clear();
}

int FsdpStates::add_group(std::vector<FsdpTensor> tensors) {
  Group& group = groups_.emplace_back();
  group.tensors = std::move(tensors);
  for (const FsdpTensor& tensor : group.tensors) {
    allocator_.allocate(own_of(tensor) * share_bytes_, kComputeStream);
    group.elements += tensor.elements;
    group.own += own_of(tensor);
  }
  return static_cast<int>(groups_.size()) - 1;
}

void FsdpStates::gather(int number) {
  Group& group = groups_[number];
  if (!group.gathered.empty() || group.elements == 0) return;
  const Block input = allocator_.allocate(group.own * compute_bytes_, kGatherStream);
  const Block output = allocator_.allocate(group.elements * compute_bytes_, kGatherStream);
  allocator_.free(input);
  free(gather_output_);
  gather_output_ = {output};
  for (const FsdpTensor& tensor : group.tensors)
    group.gathered.push_back(allocator_.allocate(tensor.elements * compute_bytes_, kComputeStream));
}

void FsdpStates::release(int group) { free(groups_[group].gathered); }

void FsdpStates::add_gradient(int number, int tensor) {
  Group& group = groups_[number];
  group.gradients.resize(group.tensors.size(), -1);
  if (group.gradients[tensor] < 0)
    group.gradients[tensor] =
        allocator_.allocate(group.tensors[tensor].elements * compute_bytes_, kComputeStream);
}

void FsdpStates::accumulate(int number) {
  Group& group = groups_[number];
  group.added.resize(group.tensors.size(), -1);
  for (std::size_t tensor = 0; tensor < group.gradients.size(); ++tensor) {
    Block& gradient = group.gradients[tensor];
    if (gradient < 0) continue;
    if (group.added[tensor] < 0)
      group.added[tensor] =
          allocator_.allocate(group.tensors[tensor].elements * reduced_bytes_, kComputeStream);
    allocator_.free(gradient);
    gradient = -1;
  }
}

void FsdpStates::reduce(int number) {
  Group& group = groups_[number];
  if (group.elements == 0) return;
  free(reduce_input_);
  reduce_input_ = {allocator_.allocate(group.elements * reduced_bytes_, kComputeStream)};
  free(group.gradients);
  free(group.added);
  const Block output = allocator_.allocate(group.own * reduced_bytes_, kReduceStream);
  if (group.reduced.empty())
    group.reduced = {output};
  else
    allocator_.free(output);
}

void FsdpStates::end_action() {
  free(gather_output_);
  free(reduce_input_);
}

void FsdpStates::update() {
  std::vector<Block> temporary;
  for (const Group& group : groups_)
    for (const FsdpTensor& tensor : group.tensors)
      for (int moment = 0; moment < 2 && !updated_; ++moment)
        allocator_.allocate(own_of(tensor) * moment_bytes_, kComputeStream);
  for (const Group& group : groups_)
    for (const FsdpTensor& tensor : group.tensors)
      temporary.push_back(allocator_.allocate(own_of(tensor) * moment_bytes_, kComputeStream));
  free(temporary);
  updated_ = true;
}

void FsdpStates::clear_gradients() {
  for (Group& group : groups_) free(group.reduced);
}

}  // namespace parallelarium
