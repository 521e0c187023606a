// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/proof/rank_state.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "engine/run/train/proof/fingerprint.h"
#include "engine/run/train/rank.h"
#include "engine/train/parameters.h"
#include "kernels/bf16_kernels.h"
#include "kernels/optimizer/sum_of_squares.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kBlockBytes = 1 << 18;  // read from a device at once

// A stretch of a slice that stands as one piece in the whole parameter.
struct SliceRun {
  std::int64_t slice = 0, whole = 0, length = 0;
};

std::vector<SliceRun> runs_of_slice(const Setup& setup, const RankProgram& rank,
                                    const ParameterSlice& slice) {
  std::vector<SliceRun> runs;
  for (const SliceStretches& part :
       slice_of(setup.model, slice.parameter, setup.mesh.tp, rank.at.tp, slice.layer,
                expert_share(setup, rank.at))) {
    for (std::int64_t i = 0; i < part.times; ++i)
      runs.push_back(
          {part.slice + i * part.slice_step, part.whole + i * part.whole_step, part.length});
  }
  std::sort(runs.begin(), runs.end(),
            [](const SliceRun& a, const SliceRun& b) { return a.slice < b.slice; });
  return runs;
}

// What of elements [first, first + count) of the slice stands in the model, run by run.
template <class Visit>
void for_runs(const std::vector<SliceRun>& runs, std::int64_t first, std::int64_t count,
              const Visit& visit) {
  auto run = std::lower_bound(
      runs.begin(), runs.end(), first,
      [](const SliceRun& at, std::int64_t from) { return at.slice + at.length <= from; });
  for (; run != runs.end() && run->slice < first + count; ++run) {
    const std::int64_t from = std::max(run->slice, first);
    const std::int64_t to = std::min(run->slice + run->length, first + count);
    if (from < to) visit(from, run->whole + (from - run->slice), to - from);
  }
}

// Which elements of a buffer were seen.
class Seen {
 public:
  // Adds [begin, end) and calls visit(begin, end) for each part of it that is new.
  template <class Visit>
  void add(std::int64_t begin, std::int64_t end, const Visit& visit) {
    if (begin >= end) return;
    auto next = ends_.lower_bound(begin);
    if (next != ends_.begin() && std::prev(next)->second > begin) --next;
    std::int64_t at = begin, low = begin, high = end;
    while (next != ends_.end() && next->first < end) {
      if (at < next->first) visit(at, next->first);
      at = std::max(at, next->second);
      low = std::min(low, next->first);
      high = std::max(high, next->second);
      next = ends_.erase(next);
    }
    if (at < end) visit(at, end);
    ends_[low] = high;
  }

 private:
  std::map<std::int64_t, std::int64_t> ends_;  // by begin; apart from each other
};

std::int64_t elements_of(const RankProgram& rank) {
  return rank.parameters.empty() ? 0 : rank.parameters.back().offset + rank.parameters.back().count;
}

// Whether the op takes part in adding up gradients over data parallel ranks or over stages that
// hold the same parameters (DualPipe's copies, a tied table), or changes their type for that.
bool adds_up_gradients(const Program& program, const Op& op) {
  if (op.lane != Lane::kData) return false;
  if (op.kind == OpKind::kCompute)
    return op.piece == Piece::kCombine &&
           (op.purpose == Purpose::kNone || op.purpose == Purpose::kGradients);
  if (op.group < 0) return false;
  const Axis axis = program.groups[static_cast<std::size_t>(op.group)].axis;
  return (op.purpose == Purpose::kGradients && (axis == Axis::kDp || axis == Axis::kPp)) ||
         op.purpose == Purpose::kEmbedding;
}

template <class T>
Result<double> squares_in_blocks(const std::byte* address, std::int64_t count, Device& device) {
  constexpr std::int64_t kEach = sizeof(T), kMost = kBlockBytes / kEach;
  std::vector<T> block(static_cast<std::size_t>(std::min(count, kMost)));
  double sum = 0;
  for (std::int64_t first = 0; first < count; first += kMost) {
    const std::int64_t here = std::min(kMost, count - first);
    device.copy_to_host(block.data(), address + first * kEach, here * kEach);
    if (Result<void> done = device.finish(); !done) return done.error();
    sum_of_squares_cpu(&sum, block.data(), static_cast<std::size_t>(here));
  }
  return sum;
}

Result<double> squares_of(const std::byte* address, std::int64_t count, DataType type,
                          Device& device) {
  if (type == DataType::kBf16) return squares_in_blocks<Bf16>(address, count, device);
  return squares_in_blocks<float>(address, count, device);
}

std::string hex_of(std::uint64_t number) { return fmt::format("{:016x}", number); }

}  // namespace

std::vector<OwnedRun> owned_runs(const Setup& setup, const RankProgram& rank,
                                 const HeldParameters& held, bool whole) {
  const bool all = whole || !held.is_cut();
  std::vector<OwnedRun> owned;
  for (const ParameterSlice& slice : rank.parameters) {
    const std::vector<SliceRun> runs = runs_of_slice(setup, rank, slice);
    const auto begun = owned.size();
    for (const HeldParameters::Part& part : held.parts(Tensor::kParameters, slice, all)) {
      for_runs(runs, part.first, part.count,
               [&](std::int64_t, std::int64_t begin, std::int64_t count) {
                 const bool goes_on =
                     owned.size() > begun && owned.back().begin + owned.back().count == begin;
                 if (goes_on)
                   owned.back().count += count;
                 else
                   owned.push_back({slice.parameter, slice.layer, begin, count});
               });
    }
  }
  return owned;
}

RankStateReader::RankStateReader(const Setup& setup, const Program& program,
                                 const RankProgram& rank, const Arena& arena, Device& device)
    : setup_(setup),
      program_(program),
      rank_(rank),
      arena_(arena),
      device_(device),
      held_(setup, rank, arena) {
  const auto number_of = [](const std::vector<OwnedRun>& runs) {
    Fingerprint print;
    for (const OwnedRun& run : runs) {
      print.add(static_cast<std::int64_t>(run.parameter));
      print.add(run.layer);
      print.add(run.begin);
      print.add(run.count);
    }
    return print.value();
  };
  owned_ = number_of(owned_runs(setup, rank, held_));
  if (has_copy()) whole_ = number_of(owned_runs(setup, rank, held_, true));
  watch_gradients();
  watch_loss();
}

void RankStateReader::watch_gradients() {
  // ZeRO 2 and 3 hold no whole gradients: what is added up are buckets of their own.
  const bool buckets = !held_.keeps_all(Tensor::kGradients);
  const Tensor wanted = buckets ? Tensor::kBucketGradients : Tensor::kGradients;
  std::map<std::int32_t, Seen> seen;  // by buffer
  for (std::size_t i = 0; i < rank_.ops.size(); ++i) {
    const Op& op = rank_.ops[i];
    if (!adds_up_gradients(program_, op)) continue;
    // An op reads before it writes. What is first written was never the rank's own.
    for (const bool writes : {false, true}) {
      for (const Operand& operand : rank_.operands_of(op)) {
        const Tensor tensor = rank_.buffers[static_cast<std::size_t>(operand.buffer)].tensor;
        if (tensor != wanted || (operand.access == Access::kWrite) != writes) continue;
        seen[operand.buffer].add(
            operand.offset, operand.offset + operand.count,
            [&](std::int64_t begin, std::int64_t end) {
              if (writes) return;
              gradients_.push_back(
                  {static_cast<std::int32_t>(i),
                   arena_.address(operand) + (begin - operand.offset) * size_of(operand.type),
                   end - begin, operand.type, 0});
              watched_elements_ += end - begin;
            });
      }
    }
  }
  const DataType type = held_.type_of(Tensor::kGradients);
  Seen none;
  Seen* whole = &none;
  for (std::size_t buffer = 0; !buckets && buffer < rank_.buffers.size(); ++buffer)
    if (rank_.buffers[buffer].tensor == Tensor::kGradients)
      whole = &seen[static_cast<std::int32_t>(buffer)];
  const auto add_unshared = [&](std::int64_t first, std::int64_t last) {
    whole->add(first, last, [&](std::int64_t begin, std::int64_t end) {
      unshared_.push_back(
          {-1, arena_.held(Tensor::kGradients) + begin * size_of(type), end - begin, type, 0});
      watched_elements_ += end - begin;
    });
  };
  if (!buckets) return add_unshared(0, elements_of(rank_));
  for (const Bucket& bucket : rank_.buckets)
    if (bucket.own_count == bucket.count) add_unshared(bucket.held, bucket.held + bucket.count);
}

void RankStateReader::watch_loss() {
  for (std::size_t i = 0; i < rank_.ops.size(); ++i) {
    if (rank_.ops[i].purpose != Purpose::kLoss) continue;
    for (const Operand& operand : rank_.operands_of(rank_.ops[i])) {
      if (rank_.buffers[static_cast<std::size_t>(operand.buffer)].tensor != Tensor::kLossSum)
        continue;
      loss_op_ = static_cast<std::int32_t>(i);
      return;
    }
  }
}

Result<void> RankStateReader::before(std::int32_t op, Device& device) {
  if (op == loss_op_) {
    double sum = 0;
    device.copy_to_host(&sum, arena_.held(Tensor::kLossSum), sizeof sum);
    if (Result<void> done = device.finish(); !done) return done;
    loss_sum_ = sum;
  }
  auto watched = std::lower_bound(gradients_.begin(), gradients_.end(), op,
                                  [](const Watched& at, std::int32_t of) { return at.op < of; });
  for (; watched != gradients_.end() && watched->op == op; ++watched) {
    const Result<double> squares =
        squares_of(watched->address, watched->count, watched->type, device);
    if (!squares) return squares.error();
    watched->squares = *squares;
  }
  return {};
}

Result<std::string> RankStateReader::print(std::uint64_t of, bool whole) {
  const std::int64_t each = size_of(held_.type_of(Tensor::kParameters)), most = kBlockBytes / each;
  std::vector<std::byte> block(static_cast<std::size_t>(kBlockBytes));
  Fingerprint print;
  print.add(static_cast<std::int64_t>(of));
  for (const ParameterSlice& slice : rank_.parameters) {
    const std::vector<SliceRun> runs = runs_of_slice(setup_, rank_, slice);
    for (const HeldParameters::Part& part :
         held_.parts(Tensor::kParameters, slice, whole || !held_.is_cut())) {
      for (std::int64_t first = 0; first < part.count; first += most) {
        const std::int64_t here = std::min(most, part.count - first);
        device_.copy_to_host(block.data(), part.address + first * each, here * each);
        if (Result<void> done = device_.finish(); !done) return done.error();
        const std::int64_t from = part.first + first;
        for_runs(runs, from, here, [&](std::int64_t at, std::int64_t, std::int64_t count) {
          print.add(block.data() + (at - from) * each, static_cast<std::size_t>(count * each));
        });
      }
    }
  }
  return hex_of(print.value());
}

Result<void> RankStateReader::read_step(RankState& state) {
  std::int64_t losses = 0;
  for (const Op& op : rank_.ops)
    losses += op.kind == OpKind::kCompute && op.piece == Piece::kLoss && op.phase == Phase::kForward
                  ? 1
                  : 0;
  if (losses > 0) {
    if (!loss_sum_) {
      double sum = 0;
      device_.copy_to_host(&sum, arena_.held(Tensor::kLossSum), sizeof sum);
      if (Result<void> done = device_.finish(); !done) return done;
      loss_sum_ = sum;
    }
    state.loss = *loss_sum_ / static_cast<double>(losses * program_.shape.B * program_.shape.T);
  }
  double own = 0, reduced = 0;
  for (const Watched& watched : gradients_) own += watched.squares;
  for (const Watched& part : unshared_) {
    const Result<double> squares = squares_of(part.address, part.count, part.type, device_);
    if (!squares) return squares.error();
    own += *squares;
  }
  // More elements than there are: they were added up several times in the step.
  if (watched_elements_ == elements_of(rank_)) state.gradient_norm = std::sqrt(own);
  for (const ParameterSlice& slice : rank_.parameters) {
    for (const HeldParameters::Part& part : held_.owned(Tensor::kGradients, slice)) {
      const Result<double> squares =
          squares_of(part.address, part.count, held_.type_of(Tensor::kGradients), device_);
      if (!squares) return squares.error();
      reduced += *squares;
    }
  }
  state.gradient_norm_reduced = std::sqrt(reduced);
  return {};
}

}  // namespace parallelarium
