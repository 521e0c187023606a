// SPDX-License-Identifier: Apache-2.0
// An Order is the picture in the papers. It says for each rank which micro-batch it computes after
// which. It is text that golden tests, students and papers share:
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
  // stage_of[rank][chunk]: the virtual stage of this chunk (0 = first layers).
  std::vector<std::vector<int>> stage_of;
  std::vector<std::vector<Action>> ranks;
  // Stages of the model. DualPipe holds each stage twice, so this is not always ranks * chunks.
  int stages = 0;
  bool operator==(const Order&) const = default;
};

// One line per rank, actions separated by one space. The chunk is written when chunks > 1.
std::vector<std::string> to_lines(const Order& order);
// The same. If reading would place chunks otherwise, a first line states how they are placed
// ("placement v 2"). PyTorch's notation can place chunks in ways that no such line states.
std::vector<std::string> to_file_lines(const Order& order);
std::string to_text(const Order& order);
// Writes an unfinished order. A rank without work is an idle cell. A first line always states how
// chunks are placed, since no fault tells yet.
std::vector<std::string> to_unfinished_lines(const Order& order);
// Reads what these wrote, and skips idle cells "..", "_" and blank lines. A line may say how chunks
// are placed ("interleaved", "v" or "mirrored", and how many). Without it they are interleaved:
// chunk c of rank r is stage c * ranks + r. If there are two chunks and the order is wrong like
// that, two other placements are tried: stages r and 2 ranks - 1 - r on rank r (folded like a V),
// and stages r and ranks - 1 - r (mirrored, as in DualPipe). One that makes the order less wrong is
// taken. Errors name line and word.
Result<Order> order_from_text(std::string_view text);

// order_from_pytorch() reads the same Order back if check_order finds nothing.
std::string to_pytorch(const Order& order);
Result<Order> order_from_pytorch(std::string_view text);
// Reads either notation; the first word tells them apart.
Result<Order> order_from_either(std::string_view text);

// The text of a file of orders. Errors: "order-file-unread" (there is no such file),
// "order-file-large" (above 16 MB).
Result<std::string> text_of_order_file(const std::string& path);

// Sentences that say why the Order is wrong: work is missing or done twice, work comes before what
// it needs on the same rank, ranks wait for each other in a circle, or a rank holds a stage and
// does nothing there. Empty if the Order is right.
std::vector<Message> check_order(const Order& order);

}  // namespace parallelarium
