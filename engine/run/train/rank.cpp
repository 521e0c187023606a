// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/rank.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <optional>

#include "engine/run/train/probe/prober.h"
#include "engine/run/train/proof/rank_state.h"
#include "engine/train/parameters.h"
#include "kernels/base/bf16.h"

namespace parallelarium {

namespace {

class RankRun {
 public:
  RankRun(const RankJob& job, RankOutcome& outcome)
      : job_(job),
        outcome_(outcome),
        setup_(job.setup),
        device_(*job.devices[static_cast<std::size_t>(Lane::kCompute)]),
        here_(coordinates_of(job.setup.mesh, job.rank.rank)),
        executor_(job.program, job.rank, job.transport, job.devices, job.arena, job.stop,
                  job.progress, job.durations,
                  job.durations.empty() ? setup_.run.slow_rank.factor_of(job.rank.rank) : 1),
        held_(setup_, job.rank, job.arena) {
    if (job.wishes.ranks_state) state_.emplace(setup_, job.program, job.rank, job.arena, device_);
    if (!job.wishes.probes.empty())
      prober_.emplace(setup_, job.program.shape, job.rank, job.arena, job.wishes.probes);
  }

  Result<void> load() { return executor_.load(); }

  Result<void> run() {
    if (Result<void> done = initialise(); !done) return done;
    if (Result<void> done = print_weights(outcome_.state.weights_before); !done) return done;
    const int steps = setup_.run.warmup + setup_.run.steps;
    for (int step = 1; step <= steps; ++step) {
      look_at(step);
      if (Result<void> done = one_step(step); !done) return done;
      if (step == 1 && job_.wishes.gradients) {
        if (Result<void> done = copy_out(Tensor::kGradients, outcome_.gradients); !done)
          return done;
      }
    }
    executor_.set_probes({});
    if (prober_) {
      outcome_.probe_bytes = prober_->bytes();
      outcome_.probed = prober_->take();
    }
    if (state_) {
      if (Result<void> done = state_->read_step(outcome_.state); !done) return done;
    }
    if (Result<void> done = print_weights(outcome_.state.weights_after); !done) return done;
    if (Result<void> done = print_copy(); !done) return done;
    if (job_.wishes.last_gradients) {
      if (Result<void> done = copy_out(Tensor::kGradients, outcome_.last_gradients); !done)
        return done;
    }
    if (job_.wishes.parameters) {
      if (Result<void> done = copy_out(Tensor::kParameters, outcome_.parameters); !done)
        return done;
    }
    return job_.wishes.held_out_loss ? held_out() : Result<void>{};
  }

 private:
  Result<void> initialise() {
    const Model& model = setup_.model;
    std::vector<float> values;
    for (const ParameterSlice& slice : job_.rank.parameters) {
      if (job_.stop.raised()) return stopped();
      tell_life();
      const std::vector<float> whole =
          initial_values(setup_.run.seed, slice.parameter, slice.layer,
                         whole_count(model, slice.parameter, slice.layer), model.layers);
      values.assign(static_cast<std::size_t>(slice.count), 0.0F);
      for (const SliceStretches& part : slice_of(model, slice.parameter, setup_.mesh.tp, here_.tp,
                                                 slice.layer, expert_share(setup_, here_))) {
        for (std::int64_t i = 0; i < part.times; ++i) {
          std::copy_n(whole.begin() + part.whole + i * part.whole_step, part.length,
                      values.begin() + part.slice + i * part.slice_step);
        }
      }
      for (const Tensor tensor : {Tensor::kParameters, Tensor::kMaster})
        if (Result<void> done = fill(tensor, slice, values); !done) return done;
    }
    if (std::byte* record = job_.arena.held(Tensor::kRouterRecord))
      device_.zero(record, static_cast<std::int64_t>(routers().size()) * setup_.microbatches *
                               record_elements(model.experts.count) * 4);
    if (std::byte* bias = job_.arena.held(Tensor::kRouterBias))
      device_.zero(bias, static_cast<std::int64_t>(routers().size()) * model.experts.count * 4);
    return {};
  }

  // Who looks at the step that begins now.
  void look_at(int step) {
    std::vector<OpProbe*> probes;
    if (state_ && step == setup_.run.warmup + setup_.run.steps) probes.push_back(&*state_);
    if (prober_ && prober_->looks_at(step)) {
      prober_->begin_step(step);
      probes.push_back(&*prober_);
    }
    executor_.set_probes(std::move(probes));
  }

  // The weights as they are now, where somebody asked.
  Result<void> print_weights(std::string& into) {
    if (!state_) return {};
    tell_life();
    Result<std::string> weights = state_->weights();
    if (!weights) return weights.error();
    into = std::move(*weights);
    outcome_.state.rank = job_.rank.rank;
    outcome_.owned = state_->owned();
    tell_life();
    return {};
  }

  // All that it computes with, where somebody asked and it holds that.
  Result<void> print_copy() {
    if (!state_ || !state_->has_copy()) return {};
    if (setup_.overlap_parameters) {  // gathers what the last step updated
      if (Result<TimePoint> all = executor_.meet(); !all) return all.error();
      if (Result<void> done = executor_.forward(0); !done) return done;
    }
    Result<std::string> copy = state_->copy();
    if (!copy) return copy.error();
    outcome_.state.copy_after = std::move(*copy);
    outcome_.whole = state_->whole();
    tell_life();
    return {};
  }

  // To who watches: others may wait long for this rank.
  void tell_life() { job_.progress.lanes.front().set(-1, Doing::kNothing); }

  Result<void> fill(Tensor tensor, const ParameterSlice& slice, const std::vector<float>& values) {
    if (job_.arena.held(tensor) == nullptr) return {};
    const DataType type = held_.type_of(tensor);
    std::vector<Bf16> rounded(type == DataType::kBf16 ? values.size() : 0);
    std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rounded.size()),
                   rounded.begin(), round_to_bf16);
    for (const HeldParameters::Part& part : held_.parts(tensor, slice, held_.keeps_all(tensor))) {
      const void* from = rounded.empty() ? static_cast<const void*>(values.data() + part.first)
                                         : rounded.data() + part.first;
      device_.copy_to_device(part.address, from, part.count * size_of(type));
    }
    return device_.finish();  // the values go now
  }

  // Layers whose routers this rank holds, as their records stand.
  std::vector<int> routers() const {
    std::vector<int> layers;
    for (const ParameterSlice& slice : job_.rank.parameters)
      if (slice.parameter == Parameter::kRouterWeight) layers.push_back(slice.layer);
    return layers;
  }

  // What the routers of the step did, from one rank of those that route alike.
  Result<void> read_routing() {
    const std::byte* record = job_.arena.held(Tensor::kRouterRecord);
    if (record == nullptr || (here_.tp != 0 && !has_whole_experts(setup_))) return {};
    const int home = place_in_row(setup_.mesh, here_);
    const auto E = static_cast<std::size_t>(setup_.model.experts.count);
    const auto each = static_cast<std::size_t>(record_elements(setup_.model.experts.count));
    const std::vector<int> layers = routers();
    std::vector<float> values(layers.size() * static_cast<std::size_t>(setup_.microbatches) * each);
    device_.copy_to_host(values.data(), record, static_cast<std::int64_t>(values.size()) * 4);
    if (Result<void> done = device_.finish(); !done) return done;
    std::vector<RoutedMicrobatch>& step = outcome_.routing.emplace_back();
    for (std::size_t i = 0; i * each < values.size(); ++i) {
      const float* from = values.data() + i * each;
      double choices = 0;
      for (std::size_t e = 0; e < E; ++e) choices += static_cast<double>(from[e]);
      // DualPipe: this rank holds the layer, and another one had the micro-batch.
      if (choices == 0) continue;
      RoutedMicrobatch& entry = step.emplace_back();
      entry.layer = layers[i / static_cast<std::size_t>(setup_.microbatches)];
      entry.microbatch = static_cast<int>(i % static_cast<std::size_t>(setup_.microbatches));
      entry.replica = home;
      for (std::size_t e = 0; e < E; ++e) {
        entry.load.chosen.push_back(std::llround(from[e]));
        entry.load.kept.push_back(std::llround(from[E + e]));
        entry.load.balance += static_cast<double>(E) * static_cast<double>(from[e]) / choices *
                              static_cast<double>(from[2 * E + e]);
      }
      entry.load.z = static_cast<double>(from[3 * E]);
    }
    return {};
  }

  // Clears the sums of a step and fills kTokens and kTargets: micro-batch j, row r of this replica
  // is sequence first + (d * microbatches + j) * micro_batch + r.
  Result<void> load(int microbatches, const std::function<Text::Sequence(std::int64_t)>& sequence) {
    std::byte* tokens = job_.arena.held(Tensor::kTokens);
    std::byte* targets = job_.arena.held(Tensor::kTargets);
    zero_scalar(Tensor::kLossSum);
    zero_scalar(Tensor::kSquareSum);
    if (tokens == nullptr && targets == nullptr) return device_.finish();
    token_values_.clear();
    target_values_.clear();
    const std::int64_t rows = std::int64_t{microbatches} * setup_.micro_batch;
    for (std::int64_t row = 0; row < rows; ++row) {
      const Text::Sequence one = sequence(here_.dp * rows + row);
      const PositionRuns own = positions_of(job_.program.shape, here_.cp);
      for (int run = 0; run < own.runs; ++run) {
        for (std::int64_t i = 0; i < own.length; ++i) {
          const auto at = static_cast<std::size_t>(own.begin[run] + i);
          token_values_.push_back(own_token(one.tokens[at]));
          target_values_.push_back(own_token(one.targets[at]));
        }
      }
    }
    const auto bytes = static_cast<std::int64_t>(token_values_.size() * sizeof(std::int32_t));
    if (tokens != nullptr) device_.copy_to_device(tokens, token_values_.data(), bytes);
    if (targets != nullptr) device_.copy_to_device(targets, target_values_.data(), bytes);
    // The values have been taken; what a device does with them stands before the step.
    return device_.runs_behind() ? device_.launched() : device_.finish();
  }

  // The token's row in this rank's part of the vocabulary; negative where another rank has it.
  std::int32_t own_token(std::int32_t token) const {
    const auto rows = static_cast<std::int32_t>(job_.program.shape.V);
    const std::int32_t row = token - rows * here_.tp;
    return row < rows ? row : -1;
  }

  void zero_scalar(Tensor tensor) {
    if (std::byte* address = job_.arena.held(tensor)) device_.zero(address, sizeof(double));
  }
  Result<double> scalar(Tensor tensor) {
    double value = 0;
    std::byte* address = job_.arena.held(tensor);
    if (address == nullptr) return value;
    device_.copy_to_host(&value, address, sizeof(double));
    if (Result<void> done = device_.finish(); !done) return done.error();
    return value;
  }

  Result<void> one_step(int step) {
    const auto sequence = [&](std::int64_t index) {
      return job_.text.sequence(setup_.run.seed, step, index);
    };
    const TimePoint begin = Clock::now();
    if (Result<void> done = load(setup_.microbatches, sequence); !done) return done;
    StepScalars scalars;
    scalars.step = step;
    scalars.learning_rate = setup_.learning_rate;
    scalars.clip = setup_.clip;
    scalars.seed = setup_.run.seed;
    scalars.first_sample = std::int64_t{here_.dp} * setup_.microbatches * setup_.micro_batch;
    if (Result<void> done = executor_.align(); !done) return done;
    const Result<TimePoint> start = executor_.meet();
    if (!start) return start.error();
    StepRecord record;
    if (Result<void> done = executor_.step(*start, scalars, record); !done) return done;
    const Result<double> loss = scalar(Tensor::kLossSum), squares = scalar(Tensor::kSquareSum);
    if (!loss) return loss.error();
    if (!squares) return squares.error();
    if (Result<void> done = read_routing(); !done) return done;
    outcome_.loss_sums.push_back(*loss);
    outcome_.square_sums.push_back(*squares);
    if (step > setup_.run.warmup) {
      outcome_.spans.push_back(std::move(record.spans));
      outcome_.compute_cpu_time.push_back(record.compute_cpu_time);
      outcome_.modelled_end.push_back(record.modelled_end);
      outcome_.compute_given.push_back(record.compute_given);
      outcome_.host_time.push_back(record.host_time);
      outcome_.wall_time.push_back(Clock::now() - begin);
      outcome_.traffic.push_back(std::move(record.traffic));
      outcome_.sent_bytes.push_back(std::move(record.sent_bytes));
    }
    outcome_.clock_error = std::max(outcome_.clock_error, record.clock_error);
    outcome_.memory = record.memory;
    {
      const std::lock_guard lock(job_.progress.telling);
      job_.progress.loss_sums.push_back(*loss);
      job_.progress.cpu_time = record.cpu_time;
      job_.progress.modelled_end = record.modelled_end;
      job_.progress.slots = std::move(record.slots);
    }
    job_.progress.steps_done.store(step);
    return {};
  }

  // What this rank owns of the tensor, as it is now.
  Result<void> copy_out(Tensor tensor, std::vector<SlicePart>& out) {
    // Without ZeRO every EP group holds everything once (mark_copies leaves out what is a copy).
    const bool again = here_.dp >= setup_.mesh.ep || here_.cp != 0;
    if (!held_.is_cut() && !has_whole_experts(setup_) && again) return {};
    for (const ParameterSlice& slice : job_.rank.parameters) {
      if (slice.shared_copy) continue;
      tell_life();
      for (const HeldParameters::Part& held : held_.owned(tensor, slice)) {
        SlicePart& part = out.emplace_back();
        part.parameter = slice.parameter;
        part.layer = slice.layer;
        part.first = held.first;
        part.values.resize(static_cast<std::size_t>(held.count));
        if (Result<void> done = read(held_.type_of(tensor), held, part.values); !done) return done;
      }
    }
    return {};
  }
  Result<void> read(DataType type, const HeldParameters::Part& held, std::vector<float>& values) {
    if (type == DataType::kF32) {
      device_.copy_to_host(values.data(), held.address, held.count * size_of(type));
      return device_.finish();
    }
    std::vector<Bf16> stored(values.size());
    device_.copy_to_host(stored.data(), held.address, held.count * size_of(type));
    if (Result<void> done = device_.finish(); !done) return done;
    std::transform(stored.begin(), stored.end(), values.begin(), widen);
    return {};
  }

  // Whole micro-batches of the held-out part on every replica; a rest that does not fill one
  // micro-batch of each is left out.
  Result<void> held_out() {
    const std::int64_t per_microbatch = std::int64_t{setup_.mesh.dp} * setup_.micro_batch;
    std::int64_t left = job_.text.held_out_count() / per_microbatch;
    for (std::int64_t first = 0; left > 0;) {
      const int microbatches = static_cast<int>(std::min<std::int64_t>(left, setup_.microbatches));
      const auto sequence = [&](std::int64_t index) { return job_.text.held_out(first + index); };
      if (Result<void> done = load(microbatches, sequence); !done) return done;
      if (Result<TimePoint> all = executor_.meet(); !all) return all.error();
      if (Result<void> done = executor_.forward(microbatches); !done) return done;
      const Result<double> loss = scalar(Tensor::kLossSum);
      if (!loss) return loss.error();
      outcome_.held_out_sum += *loss;
      outcome_.held_out_tokens +=
          losses_of(microbatches) * job_.program.shape.B * job_.program.shape.T;
      first += microbatches * per_microbatch;
      left -= microbatches;
    }
    return {};
  }

  // Micro-batches below `count` whose loss this rank computes: DualPipe has two last stages.
  std::int64_t losses_of(int count) const {
    return std::count_if(job_.rank.ops.begin(), job_.rank.ops.end(), [&](const Op& op) {
      return op.piece == Piece::kLoss && op.phase == Phase::kForward && op.microbatch < count;
    });
  }

  const RankJob& job_;
  RankOutcome& outcome_;
  const Setup& setup_;
  Device& device_;
  Coordinates here_;
  Executor executor_;
  const HeldParameters held_;
  std::optional<RankStateReader> state_;
  std::optional<Prober> prober_;
  std::vector<std::int32_t> token_values_, target_values_;
};

}  // namespace

Result<void> run_rank(const RankJob& job, RankOutcome& outcome) {
  const auto fail = [&](const Message& why) {
    job.stop.raise(passed_on(
        message("rank-failed.outside", "Rank {} failed outside of its ops: {}", job.rank.rank, why),
        why));
    return stopped();
  };
  try {
    ask_for_precise_sleep();
    RankRun run(job, outcome);
    Result<void> met = run.load();
    if (met) met = job.transport.connect();
    if (!met) {
      if (!job.stop.raised()) return fail(met.error());
      return met;
    }
    Result<void> done = run.run();
    if (done && job.before_close) job.before_close();
    if (done) done = job.transport.close();
    if (!done && !job.stop.raised()) return fail(done.error());
    return done;
  } catch (const std::exception& error) {
    return fail(plain(error.what()));
  }
}

ExpertShare expert_share(const Setup& setup, const Coordinates& at) {
  return {setup.mesh.ep, expert_place(setup.mesh, at).part, setup.expert_placement,
          has_whole_experts(setup)};
}

}  // namespace parallelarium
