// SPDX-License-Identifier: Apache-2.0
// Device memory that PyTorch has reserved after training by FSDP2.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/order/order.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Whether the framework is PyTorch's FSDP2: the loss is PyTorch's own (Setup::loss_copies), and
// ZeRO cuts gradients. Never for this computer, whose ranks are this program's, nor with offloads:
// FSDP2 moves parameters, gradients and the optimizer to the host all together, or none.
bool trains_by_fsdp(const Setup& setup, const Machine& machine);

// Bytes that PyTorch has reserved on a rank of each place in the pipeline (max_reserved_gib of
// torchtitan, components/metrics.py): what a CachingAllocator reserves for two steps. It replays
// the buffers that the arena has, without ZeRO's, in the order of the ops, as fsdp_actions() says,
// and what FSDP2 has beside them (FsdpStates), each in its stream. A pipeline's last stage joins
// the logits of all micro-batches behind the last backward (pytorch/pytorch 1963fc8,
// torch/distributed/pipelining/schedules.py, _merge_outputs). cuBLAS's workspace counts, what the
// driver and NCCL hold does not, nor symmetric memory.
//
// Segments are expandable on one node and fixed on several, as torchtitan starts runs: its script
// for one node sets expandable_segments:True, its script for several does not (9dec370,
// run_llama_train.sh and multinode_trainer.slurm).
//
// With p ranks in the pipeline it replays at most 4 p + 16 micro-batches of each chunk, those whose
// forwards come first. If there are more, it also replays half of these, and assumes that the
// others add as much each as the second half did: nothing without a pipeline; with one, what a
// micro-batch holds to the end of the step. For 1,000 micro-batches of Llama 3 8B on 4 ranks, 1F1B
// and DualPipe, that is within 6 % of a replay of all. It is wrong for a user's order whose
// micro-batches in flight still change behind the first 2 p + 8.
//
// trains_by_fsdp(setup, machine) must be true, the Setup valid, and the order one of the Setup's
// schedule. The cost is that of 2 (6 p + 24) micro-batches' allocations of the whole model, and of
// a walk of the order.
std::vector<std::int64_t> fsdp_reserved_bytes(const Setup& setup, const Machine& machine,
                                              const Order& order);

}  // namespace parallelarium
