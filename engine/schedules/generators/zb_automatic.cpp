// SPDX-License-Identifier: Apache-2.0
// The automatic schedule of Zero Bubble: it goes round by round, one forward and one input part of
// every rank in each, knows when each would begin, and puts weight gradients where a rank waits.
#include <algorithm>

#include "engine/schedules/generators/pipeline.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// The two choices that the paper leaves to a search over both values of each.
struct Choices {
  bool fill_before_first =
      false;                   // one more warm-up forward, though it delays the first input part
  bool skip_forwards = false;  // a rank that is two forwards ahead may leave one out
};

class Automatic {
 public:
  Automatic(int ranks, int microbatches, int limit, const ActionTimes& times, Choices choices)
      : ranks_(ranks),
        microbatches_(microbatches),
        limit_(limit),
        times_(times),
        choices_(choices),
        lines_(static_cast<std::size_t>(ranks)) {}

  void run() {
    for (int rank = 0; rank < ranks_; ++rank) forward(rank);
    warm_up();
    for (int rank = ranks_ - 1; rank >= 0; --rank) input(rank);
    for (int round = 1; round < microbatches_; ++round) {
      const std::vector<bool> skips = skipped(round);
      for (int rank = 0; rank < ranks_; ++rank)
        if (!skips[static_cast<std::size_t>(rank)]) forward(rank);
      for (int rank = ranks_ - 1; rank >= 0; --rank) input(rank);
    }
    for (Line& line : lines_)
      while (waits(line)) weight(line);
  }

  // Of the rank that is busy for longest from its first action to its last.
  double longest() const {
    double most = 0;
    for (const Line& line : lines_) most = std::max(most, line.clock - line.began);
    return most;
  }
  std::vector<Action> actions(int rank) const {
    return lines_[static_cast<std::size_t>(rank)].actions;
  }

 private:
  struct Line {
    std::vector<Action> actions;
    std::vector<double> forward_ends, input_ends;
    int weights = 0;
    double clock = 0, began = -1, idle = 0;
    int forwards() const { return static_cast<int>(forward_ends.size()); }
    int inputs() const { return static_cast<int>(input_ends.size()); }
    int held() const { return forwards() - weights; }
  };
  Line& line(int rank) { return lines_[static_cast<std::size_t>(rank)]; }
  static bool waits(const Line& line) { return line.weights < line.inputs(); }

  // When the next forward's input, or the next input part's gradient, is there.
  double forward_arrives(int rank) {
    if (rank == 0) return 0;
    const auto next = static_cast<std::size_t>(line(rank).forwards());
    return line(rank - 1).forward_ends[next] + times_.transfer;
  }
  double gradient_arrives(int rank) {
    const auto next = static_cast<std::size_t>(line(rank).inputs());
    if (rank + 1 == ranks_) return line(rank).forward_ends[next];
    return line(rank + 1).input_ends[next] + times_.transfer;
  }

  void put(Line& line, ActionKind kind, int microbatch, double arrives, double seconds) {
    const double begin = std::max(line.clock, arrives);
    if (line.began < 0)
      line.began = begin;
    else
      line.idle += begin - line.clock;
    line.clock = begin + seconds;
    line.actions.push_back({kind, microbatch});
  }
  void weight(Line& line) {
    put(line, ActionKind::kWeightGrad, line.weights, 0, times_.weight_grad);
    ++line.weights;
  }
  // Weight gradients while the rank would wait. One that is longer than the wait goes in where the
  // wait would make the longest of all ranks' longer.
  void fill(Line& line, double arrives) {
    while (waits(line) && line.clock + times_.weight_grad <= arrives) weight(line);
    if (!waits(line) || line.clock >= arrives) return;
    double most = 0;
    for (const Line& each : lines_) most = std::max(most, each.idle);
    if (line.idle + arrives - line.clock > most) weight(line);
  }

  void forward(int rank) {
    Line& own = line(rank);
    const bool has_input = rank == 0 || line(rank - 1).forwards() > own.forwards();
    if (own.forwards() == microbatches_ || !has_input) return;
    while (own.held() >= limit_ && waits(own)) weight(own);
    if (own.held() >= limit_) return;
    const double arrives = forward_arrives(rank);
    fill(own, arrives);
    put(own, ActionKind::kForward, own.forwards(), arrives, times_.forward);
    own.forward_ends.push_back(own.clock);
  }
  void input(int rank) {
    Line& own = line(rank);
    const double arrives = gradient_arrives(rank);
    fill(own, arrives);
    put(own, ActionKind::kInputGrad, own.inputs(), arrives, times_.input_grad);
    own.input_ends.push_back(own.clock);
  }

  // Forwards after the first, as many as fit in before the first gradient comes. A rank has more of
  // them than the next one, whose forwards they feed.
  void warm_up() {
    std::vector<int> more(lines_.size(), 0);
    double arrives = line(ranks_ - 1).clock;
    for (int rank = ranks_ - 1; rank >= 0; --rank) {
      int& count = more[static_cast<std::size_t>(rank)];
      double clock = line(rank).clock;
      const auto fits = [&] {
        return choices_.fill_before_first ? clock < arrives : clock + times_.forward <= arrives;
      };
      while (1 + count < std::min(limit_, microbatches_) && rank + 1 < ranks_ && fits()) {
        ++count;
        clock += times_.forward;
      }
      arrives = std::max(clock, arrives) + times_.input_grad + times_.transfer;
    }
    for (std::size_t rank = 1; rank < more.size(); ++rank)
      more[rank] = std::max(0, std::min(more[rank], more[rank - 1] - 1));
    for (int rank = 0; rank < ranks_; ++rank)
      for (int i = 0; i < more[static_cast<std::size_t>(rank)]; ++i) forward(rank);
  }

  // Ranks that leave out their forward of this round, since it would hold up an input part that is
  // about to come; those before them then do so too and stay as far ahead as they are.
  std::vector<bool> skipped(int round) {
    std::vector<bool> skips(lines_.size(), false);
    if (!choices_.skip_forwards) return skips;
    for (int rank = ranks_ - 2; rank >= 0; --rank) {
      const Line &own = line(rank), &next = line(rank + 1);
      if (own.forwards() < next.forwards() + 2 || own.forwards() <= round) continue;
      const double gradient = next.clock + times_.forward + times_.input_grad + times_.transfer;
      const bool late = own.clock + times_.forward > gradient;
      skips[static_cast<std::size_t>(rank)] = late || skips[static_cast<std::size_t>(rank) + 1];
    }
    return skips;
  }

  const int ranks_, microbatches_, limit_;
  const ActionTimes times_;
  const Choices choices_;
  std::vector<Line> lines_;
};

}  // namespace

ActionTimes action_times_of(const Setup& setup) {
  const double all = forward_flops_per_sequence(setup.model, ScoreFlops::kCausal);
  const double linear = forward_flops_per_sequence(setup.model, ScoreFlops::kNone);
  const double core = (all - linear) / all;
  ActionTimes times;
  times.forward = 1;
  times.input_grad = 1 + core;
  times.weight_grad = 1 - core;
  if (setup.recompute == Recompute::kFull) times.input_grad += 1;
  if (names(setup.recompute, Recompute::kSelective)) times.input_grad += core;
  return times;
}

Order zb_automatic_order(const char* name, int ranks, int microbatches, int limit,
                         const ActionTimes& times) {
  Order order = pipeline(name, ranks, microbatches);
  double least = -1;
  for (const bool fill : {false, true}) {
    for (const bool skip : {false, true}) {
      Automatic automatic(ranks, microbatches, limit, times, {fill, skip});
      automatic.run();
      if (least >= 0 && automatic.longest() >= least) continue;
      least = automatic.longest();
      for (int rank = 0; rank < ranks; ++rank)
        order.ranks[static_cast<std::size_t>(rank)] = automatic.actions(rank);
    }
  }
  return order;
}

}  // namespace parallelarium
