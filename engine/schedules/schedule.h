// SPDX-License-Identifier: Apache-2.0
// Generators of Orders, one .cpp each, and the list of them.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/order/order.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// One batch at a time through all stages: microbatch j starts when j-1 has come back.
Order naive_order(int ranks, int microbatches);
// All forwards, then all backwards, last micro-batch first. Source: Huang et al. 2019, section 2.
Order gpipe_order(int ranks, int microbatches);
// ranks-1-r warm-up forwards, then one forward, one backward, then the remaining backwards.
// Source: Narayanan et al. 2021, section 2.2.1 (PipeDream-Flush).
Order one_f_one_b_order(int ranks, int microbatches);
// 1F1B over ranks * chunks stages; chunk c of rank r is stage c * ranks + r. It works in rounds: a
// chunk takes a round's micro-batches before the next chunk does. A round has `group`
// micro-batches; 0: `ranks`, or as many more as leave no short round. Fewer micro-batches than
// ranks are one round. There must be 2 chunks or more, and check_microbatch_group must accept the
// group. Source: Narayanan et al. 2021, section 2.2.2; Megatron-LM's schedule table
// (microbatch_group_size_per_vp_stage).
Order interleaved_order(int ranks, int microbatches, int chunks, int group = 0);
int interleaved_round(int ranks, int microbatches, int group = 0);  // its micro-batches
// 1F1B with the backward split into I and W. H1: rank r keeps r weight gradients waiting, so that
// it holds no more activations than 1F1B; bubble (p-1)(F+I-W). H2: twice as many warm-up forwards
// and waiting weight gradients, no bubble between a rank's first and last action where F = I = W
// and m >= 2p. Source: Qi et al. 2024 (arXiv 2401.10241), section 2, figures 2 and 3.
Order zb_h1_order(int ranks, int microbatches);
Order zb_h2_order(int ranks, int microbatches);
// How long actions of one rank take, in any unit, and a transfer.
struct ActionTimes {
  double forward = 1, input_grad = 1, weight_grad = 1, transfer = 0;
};
// Of the Setup's layers, by their FLOPs: attention's core has an input part twice its forward and
// no weight part, and what is computed again counts to the input part.
ActionTimes action_times_of(const Setup& setup);
// The paper's automatic schedule: for the given times as few bubbles as a greedy rule leaves with
// at most `limit` micro-batches held on a rank from forward to weight gradient; ZB-1p has p of them
// and ZB-2p 2p. `limit` must be `ranks` or more. Source: Qi et al. 2024 (arXiv 2401.10241), section
// 3.1.
Order zb_automatic_order(const char* name, int ranks, int microbatches, int limit,
                         const ActionTimes& times);
// Two chunks folded like a V. It holds what 1F1B holds and has no bubble between a rank's first and
// last action if F = I = W. The order is made for those equal times; nothing searches for others.
// Source: Qi et al. 2024, section 6, and Qi et al. 2024 (arXiv 2405.15362), as in PyTorch's
// ScheduleZBVZeroBubble.
Order zb_v_order(int ranks, int microbatches);
// V shapes that hold about half and a third of what 1F1B holds, for some bubble: one block of a
// micro-batch's six actions is repeated every six slots, and what it leaves empty at the ends of
// the step is closed up as far as memory stays within that of the middle. Source: Qi et al. 2024
// (arXiv 2405.15362), section 3 and appendix.
Order v_half_order(int ranks, int microbatches);
Order v_min_order(int ranks, int microbatches);
// Micro-batches enter at both ends: 0 to m/2 - 1 go down (chunk 0 of rank r is stage r), the others
// up (chunk 1 of rank r is stage ranks - 1 - r); every stage is held twice. A forward and a
// backward of opposite directions overlap. Bubble (p/2 - 1)(F&B + B - 3W). Ranks and micro-batches
// must be even, with twice as many micro-batches as ranks, or more. Source: deepseek-ai/DualPipe.
Order dualpipe_order(int ranks, int microbatches);
// DualPipe's steps on half as many ranks: 2 ranks stages folded like a V, and no stage is held
// twice.
// There must be twice as many micro-batches as ranks, or more. Source: deepseek-ai/DualPipe,
// dualpipev.py.
Order dualpipe_v_order(int ranks, int microbatches);

struct ScheduleInfo {
  std::string name;   // "1f1b"
  std::string title;  // "1F1B"
  Message summary;
  bool splits_backward = false;
  int chunks = 1;  // 0: the user chooses
};
// Every schedule, in teaching order.
const std::vector<ScheduleInfo>& schedules();

// The Order of a schedule. Of an order of one's own, 0 ranks, microbatches or chunks take what it
// says; other numbers must agree with it.
// Errors: unknown name (lists the names), sizes that check_schedule_sizes refuses, an order that
// check_order refuses.
Result<Order> make_order(const Schedule& schedule, int ranks, int microbatches, int chunks,
                         int group = 0, const ActionTimes& times = {}, bool may_wait = false);
// `may_wait`: also one that waits for ever, in a circle or for its own later work (only_waits).
Result<Order> make_order(const Setup& setup, bool may_wait = false);

}  // namespace parallelarium
