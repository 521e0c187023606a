// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/holdings/holdings.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/plan/program/collective_steps.h"

namespace parallelarium {

namespace {

// What an op, or a collective done by steps, has in one buffer of one bucket.
struct Touch {
  std::int32_t op = -1, last = -1;  // the first and the last step
  Tensor tensor = Tensor::kParameters;
  std::int32_t buffer = -1;
  bool own = false;  // the rank's own part of the bucket alone
};

// A buffer of one bucket alone.
bool is_separate(Tensor tensor) {
  return tensor == Tensor::kGathered || tensor == Tensor::kBucketGradients;
}

bool is_state(Tensor tensor) {
  return tensor == Tensor::kParameters || tensor == Tensor::kGradients || is_separate(tensor);
}

}  // namespace

bool is_whole_on_every_tp_rank(Parameter parameter) {
  switch (parameter) {
    case Parameter::kPositionTable:
    case Parameter::kNorm1Gain:
    case Parameter::kNorm1Bias:
    case Parameter::kProjectionBias:
    case Parameter::kNorm2Gain:
    case Parameter::kNorm2Bias:
    case Parameter::kMlpOutBias:
    case Parameter::kRouterWeight:
    case Parameter::kFinalNormGain:
    case Parameter::kFinalNormBias:
      return true;
    default:
      return false;
  }
}

class Holdings::Index {
 public:
  Index(std::shared_ptr<const RankProgram> rank, const std::vector<Span>& spans, const Mesh& mesh)
      : kept_(std::move(rank)), rank_(*kept_), spans_(spans) {
    for (const Bucket& bucket : rank_.buckets) {
      owned_ += bucket.own_count;
      all_ += bucket.count;
    }
    for (const Buffer& buffer : rank_.buffers) {
      if (buffer.tensor == Tensor::kParameters) add(buffer, parameters_);
      if (buffer.tensor == Tensor::kGradients) add(buffer, gradients_);
      if (buffer.category == Category::kOptimizer) add(buffer, optimizer_);
    }
    note_places(mesh);
    note_touches();
  }

  std::vector<HeldBucket> at(Nanoseconds time) const {
    std::vector<HeldBucket> held = places_;
    for (std::size_t bucket = 0; bucket < held.size(); ++bucket) {
      HeldBucket& cell = held[bucket];
      fill_static(bucket, parameters_, cell.parameters);
      fill_static(bucket, optimizer_, cell.optimizer);
      gather(bucket, time, cell.parameters);
      fill_gradients(bucket, time, cell.gradients);
    }
    return held;
  }

  std::vector<Nanoseconds> changes() const {
    std::vector<Nanoseconds> times;
    for (const auto& touches : touches_)
      for (const Touch& touch : touches) {
        const Op& op = op_at(touch.op);
        if (!is_collective(op) && !writes_gradient(op)) continue;
        times.push_back(spans_[static_cast<std::size_t>(touch.op)].begin);
        times.push_back(spans_[static_cast<std::size_t>(touch.last)].end);
      }
    for (const Buffer& buffer : rank_.buffers)
      if (is_separate(buffer.tensor) && buffer.closed_by >= 0)
        times.push_back(spans_[static_cast<std::size_t>(buffer.closed_by)].end);
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    return times;
  }

  std::array<Nanoseconds, kHeldMoments> moments() const {
    std::array<Nanoseconds, kHeldMoments> times{};
    Nanoseconds update_begin(-1), update_end(0);
    bool backward = false;
    for (std::size_t at = 0; at < rank_.ops.size(); ++at) {
      const Op& op = rank_.ops[at];
      const Span& span = spans_[at];
      if (op.kind != OpKind::kCompute || is_collective(op)) continue;
      if (op.piece == Piece::kOptimizer) {
        if (update_begin < Nanoseconds(0)) update_begin = span.begin;
        update_end = std::max(update_end, span.end);
      }
      if (op.action < 0) continue;
      const bool forward =
          rank_.actions[static_cast<std::size_t>(op.action)].kind == ActionKind::kForward;
      backward = backward || !forward;
      Nanoseconds& time = times[forward ? 0 : 1];
      if (!forward || !backward) time = std::max(time, span.end);
    }
    times[2] = update_begin + (update_end - update_begin) / 2;
    return times;
  }

 private:
  // Buffers that have every bucket, whole or the rank's own part of each.
  struct Part {
    double bytes = 0;  // of one element
    bool owned = false, there = false;
  };
  void add(const Buffer& buffer, Part& part) const {
    const auto values = static_cast<double>(elements_of(buffer));
    part.there = true;
    part.owned = owned_ < all_ && std::abs(values - static_cast<double>(owned_)) <
                                      std::abs(values - static_cast<double>(all_));
    part.bytes += static_cast<double>(buffer.bytes) /
                  static_cast<double>(std::max<std::int64_t>(1, part.owned ? owned_ : all_));
  }
  // Of how many parameters the buffer has something; its end may be padded.
  std::int64_t elements_of(const Buffer& buffer) const {
    const auto index = static_cast<std::int32_t>(&buffer - rank_.buffers.data());
    const auto uses = std::find_if(rank_.operands.begin(), rank_.operands.end(),
                                   [&](const Operand& operand) { return operand.buffer == index; });
    const std::int64_t size = uses == rank_.operands.end() ? 4 : size_of(uses->type);
    return buffer.bytes / size / (buffer.tensor == Tensor::kMoments ? 2 : 1);
  }

  const Op& op_at(std::int32_t op) const { return rank_.ops[static_cast<std::size_t>(op)]; }

  static bool writes_gradient(const Op& op) {
    return op.kind == OpKind::kCompute && !is_collective(op) &&
           (op.fold >= 0 || op.phase == Phase::kWeightGrad);
  }

  // Which part of the model each bucket is, and which part of it TP and EP give the rank.
  void note_places(const Mesh& mesh) {
    places_.resize(rank_.buckets.size());
    bool only_tables = true;  // so far; a copy of the table for the head comes after other buckets
    for (std::size_t bucket = 0; bucket < places_.size(); ++bucket) {
      const Bucket& range = rank_.buckets[bucket];
      HeldBucket& place = places_[bucket];
      std::int64_t everywhere = 0, cut = 0;
      for (const ParameterSlice& slice : rank_.parameters) {
        if (slice.offset < range.begin || slice.offset >= range.begin + range.count) continue;
        place.layer = slice.layer;
        place.experts = slice.parameter == Parameter::kExpertWeights;
        only_tables = only_tables && (slice.parameter == Parameter::kTokenTable ||
                                      slice.parameter == Parameter::kPositionTable);
        (is_whole_on_every_tp_rank(slice.parameter) ? everywhere : cut) += slice.count;
      }
      place.tables = only_tables;
      const int tp = place.experts ? mesh.etp() : mesh.tp;
      const int ranks = cut == 0 ? 1 : place.experts ? mesh.ep * tp : tp;
      const int part = place.experts ? expert_place(mesh, rank_.at).part * tp : 0;
      const int own = ranks == 1 ? 0 : part + rank_.at.tp % tp;
      place.elements = everywhere + cut * ranks;
      place.from = double(own) / ranks;
      place.to = double(own + 1) / ranks;
    }
  }

  // The buckets that an operand in a buffer of all buckets touches.
  std::vector<std::size_t> buckets_of(const Operand& operand, Tensor tensor) const {
    if (operand.shard >= 0) return {static_cast<std::size_t>(operand.shard)};
    const bool owned = tensor == Tensor::kParameters ? parameters_.owned : gradients_.owned;
    const auto begin_of = [&](const Bucket& range) { return owned ? range.held : range.begin; };
    std::vector<std::size_t> found;
    const auto ends_before = [&](const Bucket& range, std::int64_t offset) {
      return begin_of(range) + (owned ? range.own_count : range.count) <= offset;
    };
    auto range =
        std::lower_bound(rank_.buckets.begin(), rank_.buckets.end(), operand.offset, ends_before);
    for (; range != rank_.buckets.end() && begin_of(*range) < operand.offset + operand.count;
         ++range)
      found.push_back(static_cast<std::size_t>(range - rank_.buckets.begin()));
    return found;
  }

  // Calls `visit` with every operand of an op, or of all steps of the collective that begins there.
  template <class Visit>
  void for_operands(std::int32_t first, std::int32_t end, const Visit& visit) const {
    for (std::int32_t at = first; at < end; ++at)
      for (const Operand& operand : rank_.operands_of(op_at(at)))
        visit(operand, rank_.buffers[static_cast<std::size_t>(operand.buffer)].tensor);
  }

  // Gathered parameters and gradients of a bucket lie in buffers of their own: what is gathered
  // from the rank's own part, or added to it, says which bucket that is.
  void note_touches() {
    own_buffer_.assign(rank_.buffers.size(), -1);
    touches_.resize(rank_.buckets.size());
    const auto ops = static_cast<std::int32_t>(rank_.ops.size());
    for (std::int32_t at = 0, end = 0; at < ops; at = end) {
      end = end_of_collective(rank_, at);
      if (!is_collective(op_at(at))) continue;
      std::int32_t own = -1;
      std::vector<std::size_t> buckets;
      for_operands(at, end, [&](const Operand& operand, Tensor tensor) {
        if (is_separate(tensor))
          own = operand.buffer;
        else if (is_state(tensor))
          buckets = buckets_of(operand, tensor);
      });
      if (own >= 0 && !buckets.empty())
        own_buffer_[static_cast<std::size_t>(own)] = static_cast<std::int32_t>(buckets.front());
    }
    bucket_gradients_.resize(rank_.buckets.size());
    for (std::size_t at = 0; at < own_buffer_.size(); ++at)
      if (own_buffer_[at] >= 0 && rank_.buffers[at].tensor == Tensor::kBucketGradients)
        bucket_gradients_[static_cast<std::size_t>(own_buffer_[at])].push_back(
            static_cast<std::int32_t>(at));
    for (std::int32_t at = 0; at < ops; at = end_of_collective(rank_, at)) note_op(at);
    for (const auto& touches : touches_)
      added_up_.push_back(std::any_of(touches.begin(), touches.end(), [&](const Touch& touch) {
        return adds_up(op_at(touch.op));
      }));
    for (const auto& touches : touches_)
      across_.push_back(std::any_of(touches.begin(), touches.end(),
                                    [&](const Touch& touch) { return adds_across(touch); }));
  }

  // Whether the operand lies in the rank's own part of the bucket; steps do not say so themselves.
  bool in_own_part(const Operand& operand, Tensor tensor, std::size_t bucket) const {
    if (operand.shard >= 0) return true;
    const Bucket& range = rank_.buckets[bucket];
    const bool owned = tensor == Tensor::kParameters ? parameters_.owned : gradients_.owned;
    const std::int64_t begin = owned ? range.held : range.own_begin;
    return !is_separate(tensor) && range.own_count < range.count && begin <= operand.offset &&
           operand.offset + operand.count <= begin + range.own_count;
  }

  void note_op(std::int32_t at) {
    const Op& op = op_at(at);
    const bool sets_up = op.phase == Phase::kUpdate || op.piece == Piece::kZeroGrad;
    if (sets_up && op.kind == OpKind::kCompute && !is_collective(op)) return;
    const std::int32_t end = end_of_collective(rank_, at);
    const auto note = [&](const Operand& operand, Tensor tensor, std::size_t bucket) {
      const bool own = is_collective(op) && in_own_part(operand, tensor, bucket);
      std::vector<Touch>& touches = touches_[bucket];
      for (auto same = touches.rbegin(); same != touches.rend() && same->op == at; ++same)
        if (same->buffer == operand.buffer) {
          same->own = same->own && own;
          return;
        }
      touches.push_back({at, end - 1, tensor, operand.buffer, own});
    };
    for_operands(at, end, [&](const Operand& operand, Tensor tensor) {
      if (!is_state(tensor)) return;
      const std::int32_t own = own_buffer_[static_cast<std::size_t>(operand.buffer)];
      if (!is_separate(tensor))
        for (const std::size_t bucket : buckets_of(operand, tensor)) note(operand, tensor, bucket);
      else if (own >= 0)
        note(operand, tensor, static_cast<std::size_t>(own));
    });
  }

  void fill_static(std::size_t bucket, const Part& part, HeldState& state) const {
    if (!part.there) return;
    const Bucket& range = rank_.buckets[bucket];
    const std::int64_t count = part.owned ? range.own_count : range.count;
    state.bytes = static_cast<std::int64_t>(part.bytes * static_cast<double>(count) + 0.5);
    state.whole = count > 0 && !part.owned;
    if (part.owned)
      hold_own(bucket, HeldAs::kShard, state);
    else
      hold_all(bucket, HeldAs::kCopy, state);
    if (count == 0) state.as = HeldAs::kAbsent;
  }

  // All that TP and EP give the rank: a shard where that is not the whole bucket.
  void hold_all(std::size_t bucket, HeldAs as, HeldState& state) const {
    state.begin = places_[bucket].from;
    state.end = places_[bucket].to;
    const bool whole = state.end - state.begin == 1;
    state.as = as == HeldAs::kCopy && !whole ? HeldAs::kShard : as;
  }

  // Its own part of that.
  void hold_own(std::size_t bucket, HeldAs as, HeldState& state) const {
    const Bucket& range = rank_.buckets[bucket];
    const HeldBucket& place = places_[bucket];
    const double share = (place.to - place.from) / static_cast<double>(range.count);
    state.begin = place.from + share * static_cast<double>(range.own_begin - range.begin);
    state.end = state.begin + share * static_cast<double>(range.own_count);
    const bool whole = range.own_count == range.count && place.to - place.from == 1;
    state.as = as == HeldAs::kShard && whole ? HeldAs::kCopy : as;
  }

  bool runs(const Touch& touch, Nanoseconds time) const {
    return begun(touch.op, time) && !ended(touch.last, time);
  }
  bool ended(std::int32_t op, Nanoseconds time) const {
    return spans_[static_cast<std::size_t>(op)].end <= time;
  }
  bool begun(std::int32_t op, Nanoseconds time) const {
    return spans_[static_cast<std::size_t>(op)].begin <= time;
  }
  bool open(const Buffer& buffer, Nanoseconds time) const {
    return buffer.opened_by < 0 ||
           (begun(buffer.opened_by, time) && !ended(buffer.closed_by, time));
  }

  void under_way(const Touch& touch, Nanoseconds time, HeldState& state) const {
    const Nanoseconds begin = spans_[static_cast<std::size_t>(touch.op)].begin;
    state.op = touch.op;
    const auto length =
        static_cast<double>((spans_[static_cast<std::size_t>(touch.last)].end - begin).count());
    state.done = length > 0 ? static_cast<double>((time - begin).count()) / length : 0;
  }

  // ZeRO-3 borrows whole buckets; ZeRO-1 and 2 gather what ranks updated.
  void gather(std::size_t bucket, Nanoseconds time, HeldState& state) const {
    for (const Touch& touch : touches_[bucket]) {
      const Op& op = op_at(touch.op);
      if (!is_collective(op) || op.purpose != Purpose::kParameters) continue;
      if (runs(touch, time)) under_way(touch, time, state);
      if (touch.tensor != Tensor::kGathered) continue;
      const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(touch.buffer)];
      if (!open(buffer, time)) continue;
      state.bytes += buffer.bytes;
      state.passing_bytes += buffer.bytes;
      state.whole = true;
      if (ended(touch.last, time)) hold_all(bucket, HeldAs::kCopy, state);
    }
  }

  static bool adds_up(const Op& op) {
    return is_collective(op) && op.purpose == Purpose::kGradients;
  }

  // An all-reduce of own parts: across the groups of hybrid sharding.
  bool adds_across(const Touch& touch) const {
    const Op& op = op_at(touch.op);
    return adds_up(op) && op.collective == CollectiveKind::kAllReduce && touch.own;
  }

  void fill_gradients(std::size_t bucket, Nanoseconds time, HeldState& state) const {
    fill_static(bucket, gradients_, state);
    state.as = HeldAs::kAbsent;
    // Touches come in issue order: the last that says something counts.
    for (const Touch& touch : touches_[bucket]) {
      if (!begun(touch.op, time)) continue;
      const Op& op = op_at(touch.op);
      const bool gradient =
          touch.tensor == Tensor::kGradients || touch.tensor == Tensor::kBucketGradients;
      if (gradient && writes_gradient(op)) {
        hold_all(bucket, added_up_[bucket] ? HeldAs::kPartialSum : HeldAs::kCopy, state);
      } else if (gradient && adds_up(op)) {
        if (runs(touch, time))
          under_way(touch, time, state);
        else if (adds_across(touch))
          hold_own(bucket, HeldAs::kShard, state);
        else if (op.collective == CollectiveKind::kReduceScatter)
          hold_own(bucket, across_[bucket] ? HeldAs::kPartialSum : HeldAs::kShard, state);
        else
          hold_all(bucket, HeldAs::kCopy, state);
      }
    }
    for (const std::int32_t at : bucket_gradients_[bucket]) {
      const Buffer& buffer = rank_.buffers[static_cast<std::size_t>(at)];
      if (!open(buffer, time)) continue;
      state.bytes += buffer.bytes;
      state.passing_bytes += buffer.bytes;
      state.whole = true;
    }
  }

  std::shared_ptr<const RankProgram> kept_;
  const RankProgram& rank_;
  const std::vector<Span>& spans_;
  std::int64_t owned_ = 0, all_ = 0;  // elements
  Part parameters_, gradients_, optimizer_;
  std::vector<HeldBucket> places_;           // what does not change over the step
  std::vector<std::int32_t> own_buffer_;     // the bucket of a buffer that holds only one, or -1
  std::vector<std::vector<Touch>> touches_;  // by bucket, in issue order
  // By bucket: the buffers that hold its gradients alone, and whether ranks ever add them up, and
  // their own parts of them across the groups of hybrid sharding.
  std::vector<std::vector<std::int32_t>> bucket_gradients_;
  std::vector<bool> added_up_, across_;
};

Holdings::Holdings(const Program& program, const Timeline& timeline, const Mesh& mesh,
                   int rank_index)
    : Holdings({std::shared_ptr<void>(), &program.ranks[static_cast<std::size_t>(rank_index)]},
               timeline.ranks[static_cast<std::size_t>(rank_index)].spans, mesh) {}

Holdings::Holdings(std::shared_ptr<const RankProgram> rank, const std::vector<Span>& spans,
                   const Mesh& mesh)
    : index_(std::make_shared<const Index>(std::move(rank), spans, mesh)) {}

std::vector<HeldBucket> Holdings::at(Nanoseconds time) const { return index_->at(time); }

std::vector<Nanoseconds> Holdings::changes() const { return index_->changes(); }

std::array<Nanoseconds, kHeldMoments> Holdings::moments() const { return index_->moments(); }

}  // namespace parallelarium
