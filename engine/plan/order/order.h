// SPDX-License-Identifier: Apache-2.0
// An Order is the picture in the papers: for each rank, which micro-batch it computes after which.
// It is text, so that golden tests, students and papers share it:
//
//   F3 forward of micro-batch 3      F3.1 the same of chunk 1        B3 whole backward
//   I3 its input part                W3 its weight part              (F4.0+B1.1) an overlapped pair
//
// PyTorch's notation is `2F0` (stage, kind, micro-batch), `0I2`, `3W1`, `1B3`,
// `(0F1;1B0)OVERLAP_F_B`, one line per rank, commas between actions (torch/distributed/pipelining).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

enum class ActionKind : std::uint8_t { kForward, kBackward, kInputGrad, kWeightGrad };
char letter_of(ActionKind kind);  // F B I W

struct Action {
  ActionKind kind = ActionKind::kForward;
  int microbatch = 0;
  int chunk = 0;
  bool overlapped_with_next = false;  // first half of a pair
  bool operator==(const Action&) const = default;
};

struct Order {
  std::string name;  // schedule's name, or the file's
  int microbatches = 0;
  int chunks = 1;  // model chunks held by each rank
  // stage_of[rank][chunk]: the virtual stage (0 = first layers) that this chunk is.
  std::vector<std::vector<int>> stage_of;
  std::vector<std::vector<Action>> ranks;
  // Stages of the model. DualPipe holds each stage twice, so this is not always ranks * chunks.
  int stages = 0;
  bool operator==(const Order&) const = default;
};

// One line per rank, actions separated by one space. The chunk is written when chunks > 1.
std::vector<std::string> to_lines(const Order& order);
// The same; where they would be read with another placement of chunks, a first line states theirs
// ("placement v 2"). PyTorch's notation can place chunks in ways that no such line states.
std::vector<std::string> to_file_lines(const Order& order);
std::string to_text(const Order& order);
// Writes an order that is not finished: a rank without work is an idle cell, and a first line
// always states how chunks are placed, since no fault tells yet.
std::vector<std::string> to_unfinished_lines(const Order& order);
// Reads what these wrote (idle cells "..", "_" and blank lines are skipped). Where no line says how
// chunks are placed ("interleaved", "v" or "mirrored", and how many), they are placed as
// interleaved (chunk c of rank r is stage c * ranks + r); where there are two and the order is
// wrong like that, but less so with stages r and 2 ranks - 1 - r (folded like a V) or r and ranks -
// 1 - r (mirrored, as in DualPipe) on rank r, as that. Errors name line and word.
Result<Order> order_from_text(std::string_view text);

// Reads as the same Order where check_order finds nothing.
std::string to_pytorch(const Order& order);
Result<Order> order_from_pytorch(std::string_view text);
// In either notation, told apart by the first word.
Result<Order> order_from_either(std::string_view text);

// The text of a file of orders. Errors: "order-file-unread" where there is no such file,
// "order-file-large" above 16 MB.
Result<std::string> text_of_order_file(const std::string& path);

// Why the Order is wrong, as sentences: missing or doubled work, work before what it needs on the
// same rank, circles of ranks that wait for each other, and ranks that hold a stage and do nothing
// there. Empty if it is right.
std::vector<Message> check_order(const Order& order);

}  // namespace parallelarium
