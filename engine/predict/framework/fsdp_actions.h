// SPDX-License-Identifier: Apache-2.0
// What PyTorch allocates and frees in each action of a chunk: the buffers of its ops, and what
// FSDP2 does with parameters and gradients around them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/passes/pieces.h"
#include "engine/plan/program/program.h"
#include "engine/predict/framework/fsdp_states.h"

namespace parallelarium {

struct FsdpEvent {
  enum class What : std::uint8_t {
    kOpen,      // a slot
    kClose,     // a slot
    kHold,      // a slot, to the end of the step
    kGather,    // a group
    kRelease,   // a group, behind a forward
    kGradient,  // of a tensor of a group
    kReduce,    // a group: a backward has all gradients of it
  };
  What what = What::kOpen;
  std::int32_t index = 0;   // of the slot or the group
  std::int32_t tensor = 0;  // of the group
};

// Group 0 is the root, which has what is in no layer, and may be empty. Group g is the chunk's g-th
// layer. Slots are places of tensors of one micro-batch.
struct FsdpActions {
  std::vector<std::vector<FsdpTensor>> groups;
  std::array<std::vector<FsdpEvent>, 4> events;  // by ActionKind
  std::vector<std::int64_t> slot_bytes;
  std::vector<std::int64_t> held_bytes;      // held for the whole run
  std::vector<std::int64_t> received_bytes;  // held for each micro-batch
  std::int64_t logits_bytes = 0;             // of a micro-batch; 0: the head is in another chunk
};

// `lone` has a forward and a backward of `chunk` (lone_stages()). Buffers live in PyTorch as long
// as they do there, except:
// - Every micro-batch has its own buffers for what comes from another stage. What goes to another
//   stage waits for the end of the step, and so do all logits of the last stage.
// - Logits are freed once the loss has its copy, which becomes their log-probabilities. Their
//   gradient comes after all temporaries of the loss's backward.
// - If the loss is computed op by op, so is the final norm: what is fp32 there is kept.
// - Keys and values are repeated for every head of queries before attention, or before CP gathers
//   them. What is computed again stays for the attention's backward.
// - A micro-batch is tensors of sequences, so TP gathers and scatters their second dimension. What
//   comes is copied into the order of tokens, and what goes into that of ranks. A ring of TP
//   (asynchronous TP) copies only where no single compiled product meets the collective: at table
//   and head, and of a layer's input gradients, which are sums of several products. The parts of
//   its rings are in symmetric memory, which is not the allocator's. So `lone` is without rings.
// - With FP8 products TP gathers what they read in FP8.
// - `op_by_op` (Machine::op_by_op): norms hold three copies in fp32 while they are computed, and
//   selective checkpoints keep the results of the MLP's second product for the layer's backward.
// Source: pytorch/pytorch 1963fc8, torch/distributed/pipelining/stage.py (args_recv_info,
// grad_recv_info, output_chunks, clear_runtime_states), torch/distributed/tensor/parallel/loss.py,
// torch/distributed/_functional_collectives.py (all_gather_tensor, reduce_scatter_tensor),
// torch/_inductor/fx_passes/micro_pipeline_tp.py (fuse_all_gather_matmul,
// fuse_matmul_reduce_scatter) and torch/distributed/_symmetric_memory (get_symm_mem_workspace);
// torchtitan 9dec370, docs/float8.md ("float8 all-gather ... for TP"), train.py, models/norms.py,
// models/llama/model.py (repeat_kv) and parallelisms/parallelize_llama.py (_save_list, apply_tp).
FsdpActions fsdp_actions(const Setup& setup, const Program& program, const RankProgram& lone,
                         const Chunk& chunk, bool op_by_op);

}  // namespace parallelarium
