// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of orders, in both notations: read, check, time, and write again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/plan/order/order.h"
#include "engine/schedules/timing.h"

using namespace parallelarium;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool pytorch = (data[0] & 1) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Result<Order> order = pytorch ? order_from_pytorch(text) : order_from_text(text);
  if (!order.ok()) {
    must(!order.error().text.empty());
    return 0;
  }
  const std::vector<Message> wrong = check_order(*order);
  if (!wrong.empty()) {
    must(!wrong.front().text.empty());
    return 0;
  }
  const TimedOrder timed = time_order(*order, Durations{});
  must(timed.makespan > 0 && timed.bubble_of_total >= 0 && timed.bubble_of_total < 1);
  // What is written is read as the same.
  const Result<Order> again = order_from_pytorch(to_pytorch(*order));
  must(again.ok() && again->ranks == order->ranks && again->stage_of == order->stage_of);
  if (pytorch) return 0;
  const Result<Order> ours = order_from_text(to_text(*order));
  must(ours.ok() && *ours == *order);
  return 0;
}
