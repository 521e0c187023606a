// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/framework/fsdp_memory.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "engine/passes/build.h"
#include "engine/passes/fold/lone_stages.h"
#include "engine/predict/framework/caching_allocator.h"
#include "engine/predict/framework/fsdp_actions.h"
#include "engine/predict/framework/fsdp_states.h"
#include "engine/predict/memory.h"

namespace parallelarium {

namespace {

using Block = CachingAllocator::Block;

// What a rank does in a step. Each of DualPipe's two copies of a stage has half of the
// micro-batches.
struct ReplayedLine {
  std::vector<Action> actions;
  std::vector<int> microbatches;  // by chunk
  int all() const { return std::accumulate(microbatches.begin(), microbatches.end(), 0); }
};

// Of each chunk at most `most` micro-batches, those whose forwards come first, numbered from 0.
ReplayedLine first_microbatches(const std::vector<Action>& actions, std::size_t chunks, int most) {
  ReplayedLine line;
  line.microbatches.resize(chunks);
  std::vector<std::unordered_map<int, int>> numbers(chunks);
  for (const Action& action : actions) {
    const auto chunk = static_cast<std::size_t>(action.chunk);
    if (action.kind == ActionKind::kForward && line.microbatches[chunk] < most)
      numbers[chunk][action.microbatch] = line.microbatches[chunk]++;
    const auto number = numbers[chunk].find(action.microbatch);
    if (number == numbers[chunk].end()) continue;
    line.actions.push_back(action);
    line.actions.back().microbatch = number->second;
  }
  return line;
}

// One rank trains.
class FsdpRank {
 public:
  FsdpRank(const Setup& setup, const Machine& machine, const std::vector<FsdpActions>& chunks,
           const ReplayedLine& line)
      : setup_(setup),
        chunks_(chunks),
        line_(line),
        allocator_(setup.mesh.ranks() <= machine.devices_per_node
                       ? CachingAllocator::Segments::kExpandable
                       : CachingAllocator::Segments::kFixed,
                   kFsdpStreams),
        states_(setup, allocator_) {
    for (const FsdpActions& chunk : chunks_) {
      groups_.emplace_back();
      for (const std::vector<FsdpTensor>& tensors : chunk.groups)
        groups_.back().push_back(states_.add_group(tensors));
    }
    allocate(cublas_workspace_bytes(machine));
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      slots_.emplace_back(static_cast<std::size_t>(line.microbatches[chunk]),
                          std::vector<Block>(chunks_[chunk].slot_bytes.size(), -1));
      for (const std::int64_t bytes : chunks_[chunk].held_bytes) allocate(bytes);
      for (int microbatch = 0; microbatch < line.microbatches[chunk]; ++microbatch)
        for (const std::int64_t bytes : chunks_[chunk].received_bytes) allocate(bytes);
    }
  }

  void step() {
    states_.clear_gradients();
    for (const Block block : std::exchange(held_, {})) allocator_.free(block);
    std::vector<int> backwards(chunks_.size());
    for (const Action& action : line_.actions) {
      const auto chunk = static_cast<std::size_t>(action.chunk);
      for (const FsdpEvent& event : chunks_[chunk].events[static_cast<std::size_t>(action.kind)])
        apply(event, chunk, action.microbatch);
      states_.end_action();
      if (!adds_up() || action.kind == ActionKind::kForward ||
          action.kind == ActionKind::kInputGrad || ++backwards[chunk] < line_.microbatches[chunk])
        continue;
      for (const int group : groups_[chunk]) {
        states_.release(group);
        states_.reduce(group);
      }
      states_.end_action();
    }
    join_outputs();
    states_.update();
  }

  std::int64_t reserved_bytes() const { return allocator_.reserved_bytes(); }

 private:
  // Whether gradients of micro-batches are added up before they are reduced.
  bool adds_up() const { return setup_.zero == 2 && setup_.zero_accumulate; }

  // A pipeline's last stage returns the logits of all micro-batches as one tensor.
  void join_outputs() {
    if (setup_.mesh.pp == 1) return;
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk)
      if (const std::int64_t bytes = chunks_[chunk].logits_bytes; bytes > 0)
        allocator_.free(allocate(bytes * line_.microbatches[chunk]));
  }

  Block allocate(std::int64_t bytes) { return allocator_.allocate(bytes, kComputeStream); }

  void apply(const FsdpEvent& event, std::size_t chunk, int microbatch) {
    const auto index = static_cast<std::size_t>(event.index);
    std::vector<Block>& slots = slots_[chunk][static_cast<std::size_t>(microbatch)];
    switch (event.what) {
      case FsdpEvent::What::kOpen:
        slots[index] = allocate(chunks_[chunk].slot_bytes[index]);
        return;
      case FsdpEvent::What::kClose:
        return allocator_.free(slots[index]);
      case FsdpEvent::What::kHold:
        return held_.push_back(slots[index]);
      case FsdpEvent::What::kGather:
        return states_.gather(groups_[chunk][index]);
      case FsdpEvent::What::kRelease:
        if (setup_.zero == 3 && setup_.zero_reshard) states_.release(groups_[chunk][index]);
        return;
      case FsdpEvent::What::kGradient:
        return states_.add_gradient(groups_[chunk][index], event.tensor);
      case FsdpEvent::What::kReduce:
        if (adds_up()) return states_.accumulate(groups_[chunk][index]);
        states_.release(groups_[chunk][index]);
        return states_.reduce(groups_[chunk][index]);
    }
  }

  const Setup& setup_;
  const std::vector<FsdpActions>& chunks_;
  const ReplayedLine& line_;
  CachingAllocator allocator_;
  FsdpStates states_;
  std::vector<std::vector<int>> groups_;                // of `states_`, by chunk and its group
  std::vector<std::vector<std::vector<Block>>> slots_;  // by chunk and micro-batch
  std::vector<Block> held_;                             // to the end of the step
};

// The Setup of which the stages alone are made: FsdpStates has what ZeRO does, and symmetric memory
// the parts of TP's rings.
Setup plain_setup(Setup setup) {
  setup.zero = setup.zero_group = 0;
  setup.zero_accumulate = setup.overlap_parameters = false;
  setup.ring_tensor = false;
  return setup;
}

bool has_split_backward(const std::vector<Action>& actions, int chunk) {
  for (const Action& action : actions)
    if (action.chunk == chunk && action.kind == ActionKind::kInputGrad) return true;
  return false;
}

std::int64_t forwards_of(const std::vector<Action>& actions) {
  return std::count_if(actions.begin(), actions.end(),
                       [](const Action& action) { return action.kind == ActionKind::kForward; });
}

std::int64_t reserved_by(const Setup& setup, const Machine& machine,
                         const std::vector<FsdpActions>& chunks, const ReplayedLine& line) {
  FsdpRank rank(setup, machine, chunks, line);
  constexpr int kSteps = 2;  // Adam's states come behind the first
  for (int step = 0; step < kSteps; ++step) rank.step();
  return rank.reserved_bytes();
}

}  // namespace

bool trains_by_fsdp(const Setup& setup, const Machine& machine) {
  return !machine.local && setup.loss_copies != LossCopies::kNone && setup.zero >= 2 &&
         !setup.offload_activations && !setup.offload_optimizer;
}

std::vector<std::int64_t> fsdp_reserved_bytes(const Setup& setup, const Machine& machine,
                                              const Order& order) {
  const std::vector<std::vector<Chunk>> chunks = placed_chunks(setup, order);
  const Setup plain = plain_setup(setup);
  const LocalSizes sizes = local_sizes(plain);
  std::vector<LoneStage> stages;
  for (std::size_t place = 0; place < chunks.size(); ++place)
    for (const Chunk& chunk : chunks[place]) stages.push_back({chunk, static_cast<int>(place)});
  const Program program = lone_stages(plain, sizes, stages);
  const int most = 4 * static_cast<int>(chunks.size()) + 16;
  std::vector<std::int64_t> reserved;
  std::size_t lone = 0;
  for (std::size_t place = 0; place < chunks.size(); ++place) {
    const std::vector<Action>& all = order.ranks[place];
    std::vector<FsdpActions> actions;
    for (std::size_t chunk = 0; chunk < chunks[place].size(); ++chunk, lone += 2)
      actions.push_back(fsdp_actions(
          setup, program, program.ranks[lone + has_split_backward(all, static_cast<int>(chunk))],
          chunks[place][chunk], machine.op_by_op));
    const ReplayedLine line = first_microbatches(all, actions.size(), most);
    reserved.push_back(reserved_by(setup, machine, actions, line));
    const std::int64_t left = forwards_of(all) - line.all();
    if (left == 0) continue;
    const ReplayedLine half = first_microbatches(all, actions.size(), most / 2);
    const std::int64_t grown = reserved.back() - reserved_by(setup, machine, actions, half);
    reserved.back() += grown * left / (line.all() - half.all());
  }
  return reserved;
}

}  // namespace parallelarium
