// SPDX-License-Identifier: Apache-2.0
// The eight steps of deepseek-ai/DualPipe (dualpipe/dualpipe.py and dualpipev.py, method step).
// Both schedules have them in common: a rank works on two streams of micro-batches, the near one,
// which reaches it first, and the far one. In DualPipe the streams come from the two ends of the
// pipeline, in DualPipe-V they are the two arms of one V.
#include <deque>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

struct Stream {
  int chunk = 0;
  int first_microbatch = 0;
};

class DualPipeLine {
 public:
  DualPipeLine(Stream near_stream, Stream far_stream) : streams_{near_stream, far_stream} {}

  void forward(int stream) { add(ActionKind::kForward, stream, forwards_[stream]++); }
  void backward(int stream) { add(ActionKind::kBackward, stream, backwards_[stream]++); }
  void input(int stream) {
    waiting_.push_back({ActionKind::kWeightGrad,
                        streams_[stream].first_microbatch + backwards_[stream],
                        streams_[stream].chunk});
    add(ActionKind::kInputGrad, stream, backwards_[stream]++);
  }
  // The weight gradient that has waited longest.
  void weight() {
    actions_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  void pair(int forward_stream, int backward_stream) {
    forward(forward_stream);
    actions_.back().overlapped_with_next = true;
    backward(backward_stream);
  }
  std::vector<Action> take() { return std::move(actions_); }

 private:
  void add(ActionKind kind, int stream, int index) {
    actions_.push_back({kind, streams_[stream].first_microbatch + index, streams_[stream].chunk});
  }

  Stream streams_[2];
  int forwards_[2] = {}, backwards_[2] = {};
  std::deque<Action> waiting_;
  std::vector<Action> actions_;
};

// `depth` ranks from the end where the streams enter (0) to where they meet, `at` of this rank;
// `count` micro-batches in each stream.
std::vector<Action> eight_steps(int depth, int at, int count, Stream near_stream,
                                Stream far_stream) {
  constexpr int kNear = 0, kFar = 1;
  DualPipeLine line(near_stream, far_stream);
  const int beyond = depth - at - 1;  // ranks between this one and where the streams meet
  for (int i = 0; i < 2 * beyond; ++i) line.forward(kNear);
  for (int i = 0; i <= at; ++i) {
    line.forward(kNear);
    line.forward(kFar);
  }
  for (int i = 0; i < beyond; ++i) {
    line.input(kFar);
    line.weight();
    line.forward(kFar);
  }
  for (int i = 0; i < count - 2 * depth + at + 1; ++i) {
    if (i == 0 && beyond == 0) {
      line.forward(kNear);  // not overlapped: its backward is awaited
      line.backward(kFar);
    } else {
      line.pair(kNear, kFar);
    }
    line.pair(kFar, kNear);
  }
  for (int i = 0; i < beyond; ++i) {
    line.backward(kFar);
    line.pair(kFar, kNear);
  }
  // The second half of these leave their weight gradients for the steps that wait.
  for (int i = 0; i < 2 * (at + 1); ++i) {
    const int stream = i % 2 == 0 ? kFar : kNear;
    if (i < at + 1) {
      line.backward(stream);
    } else {
      line.input(stream);
    }
  }
  for (int i = 0; i < beyond; ++i) {
    line.weight();
    line.input(kNear);
  }
  for (int i = 0; i <= at; ++i) line.weight();
  return line.take();
}

}  // namespace

Order dualpipe_order(int ranks, int microbatches) {
  Order order = pipeline("dualpipe", ranks, microbatches);
  order.chunks = 2;
  const int each = microbatches / 2;
  const Stream down{0, 0}, up{1, each};
  for (int rank = 0; rank < ranks; ++rank) {
    const int mirrored = ranks - 1 - rank;
    order.stage_of[static_cast<std::size_t>(rank)] = {rank, mirrored};
    const bool first_half = rank < mirrored;
    order.ranks[static_cast<std::size_t>(rank)] =
        eight_steps(ranks / 2, first_half ? rank : mirrored, each, first_half ? down : up,
                    first_half ? up : down);
  }
  return order;
}

Order dualpipe_v_order(int ranks, int microbatches) {
  Order order = v_pipeline("dualpipe-v", ranks, microbatches);
  for (int rank = 0; rank < ranks; ++rank) {
    order.ranks[static_cast<std::size_t>(rank)] =
        eight_steps(ranks, rank, microbatches, {0, 0}, {1, 0});
  }
  return order;
}

}  // namespace parallelarium
