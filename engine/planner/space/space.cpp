// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/space/space.h"

#include <algorithm>

#include "engine/collectives/algorithm_names.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

// Micro-batches that are tried go up to the first, or to the second if they hold no more tokens
// than that: short sequences leave a GPU too little to do at once.
constexpr std::int64_t kLargeMicroBatch = 16, kLargestMicroBatch = 64, kMostTokens = 65'536;
// On more GPUs than this CP leaves so many tokens on a rank, or half of them where the batch has
// fewer for each GPU.
constexpr std::int64_t kEveryCp = 16, kLeastTokens = 4096;
constexpr const char* kBalanced = "balanced";  // beside what the Setup's key takes

}  // namespace

std::vector<std::int64_t> divisors(std::int64_t number) {
  std::vector<std::int64_t> low, high;
  for (std::int64_t at = 1; at * at <= number; ++at) {
    if (number % at != 0) continue;
    low.push_back(at);
    if (at * at < number) high.push_back(number / at);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::kTime:
      return "time";
    case Objective::kGpus:
      return "gpus";
    case Objective::kMemory:
      return "memory";
    case Objective::kTokensPerGpu:
      return "tokens-per-gpu";
  }
  return "";
}

bool Space::Wholes::has(std::int64_t value) const {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

Result<Space> Space::of(const PlanRequest& request) {
  if (request.most_gpus < request.least_gpus && request.most_gpus > 0)
    return message("plan-gpus-order", "A range of GPUs goes up: {}..{}, not {}..{}.",
                   request.most_gpus, request.least_gpus, request.least_gpus, request.most_gpus);
  if (request.least_gpus < 1 || request.most_gpus > kMostPlanGpus)
    return message("plan-gpus", "A plan needs 1 to {} GPUs, as a number or a range such as 8..64.",
                   kMostPlanGpus);
  if (request.global_batch < 1 || request.global_batch > 1'000'000'000)
    return message("plan-batch", "A plan needs a global batch of 1 to 1000000000 sequences.");
  if (!request.machine.torus.empty())
    return refuse(message("plan-torus",
                          "A plan takes every group of ranks of a node to be joined alike, which a "
                          "torus does not do; sweep its settings, or choose another machine."),
                  "machine", {});
  if (request.base.context_parallel == ContextParallel::kLocal) {
    Message why = message("plan-local",
                          "A plan trains the model's own function, and local attention is another; "
                          "choose ring, all-gather or ulysses.");
    return refuse(std::move(why), "context_parallel", {"ring", "all-gather", "ulysses"});
  }
  if (by_steps(request.base.collectives))
    return refuse(message("plan-collectives",
                          "A plan leaves collectives to the transport; choose collectives direct "
                          "or one-ring."),
                  "collectives", {kDirect, kOneRing});
  Space space;
  space.request_ = request;
  if (const auto ep = request.allowed.find("ep");
      ep != request.allowed.end() && request.base.model.experts.count == 0)
    for (const std::string& value : ep->second)
      if (value != "1")
        return refuse(message("plan-ep-dense",
                              "EP is not for this model, which has no experts; leave EP {} out.",
                              shown(value)),
                      "mesh.ep", {"1"});
  const auto allowed = [&](const char* axis) -> const std::vector<std::string>* {
    const auto found = request.allowed.find(axis);
    return found == request.allowed.end() ? nullptr : &found->second;
  };
  // What is allowed must be what the table of settings takes.
  for (const auto& [axis, values] : request.allowed) {
    for (const std::string& value : values) {
      if (axis == "stage-layers" && value == kBalanced) continue;
      Setup tried = request.base;
      if (const Result<void> set = set_field(tried, axis, value); !set) return set.error();
    }
  }
  const auto wholes = [&](const char* axis, Wholes& into) {
    if (const auto* values = allowed(axis))
      for (const std::string& value : *values) into.values.push_back(std::atoll(value.c_str()));
  };
  wholes("tp", space.tp_);
  wholes("pp", space.pp_);
  wholes("cp", space.cp_);
  wholes("ep", space.ep_);
  wholes("dp", space.dp_);
  wholes("zero", space.zero_);
  wholes("zero-group", space.zero_group_);
  wholes("chunks", space.chunks_);
  wholes("micro-batch", space.micro_batch_);
  wholes("microbatches", space.microbatches_);
  space.sequence_parallel_ = {false, true};
  if (const auto* values = allowed("sequence-parallel")) {
    space.sequence_parallel_.clear();
    for (const std::string& value : *values) space.sequence_parallel_.push_back(value == "true");
  }
  space.expert_tensor_ = {true};
  if (request.base.model.experts.count > 0) space.expert_tensor_.push_back(false);
  if (const auto* values = allowed("expert-tensor")) {
    space.expert_tensor_.clear();
    for (const std::string& value : *values) space.expert_tensor_.push_back(value == "true");
  }
  if (const auto* values = allowed("order")) {
    for (const std::string& value : *values) {
      Setup tried = request.base;
      if (const Result<void> set = set_field(tried, "order", value); !set) return set.error();
      space.orders_.push_back(tried.mesh.order);
    }
  }
  space.cuts_ = {{false, {}}, {true, {}}};
  if (const auto* values = allowed("stage-layers")) {
    space.cuts_.clear();
    for (const std::string& value : *values) {
      Setup tried = request.base;
      const bool balanced = value == kBalanced;
      if (!balanced)
        if (const Result<void> set = set_field(tried, "stage-layers", value); !set)
          return set.error();
      space.cuts_.push_back({balanced, balanced ? std::vector<int>() : tried.stage_layers});
    }
  }
  std::stable_partition(space.cuts_.begin(), space.cuts_.end(),
                        [](const Cut& cut) { return !cut.balanced && cut.layers.empty(); });
  space.head_layers_ = head_layers(request.base.model);
  for (const ScheduleRule& rule : kScheduleRules)
    if (rule.in_search == InSearch::kAlways ||
        (rule.in_search == InSearch::kForMemory && request.objective == Objective::kMemory))
      space.schedules_.emplace_back(rule.name);
  if (const auto* values = allowed("schedule")) space.schedules_ = *values;
  for (const std::string& name : space.schedules_) {
    Setup tried = request.base;
    if (const Result<void> set = set_field(tried, "schedule", name); !set) return set.error();
    if (find_schedule_rule(tried.schedule) == nullptr) {
      std::vector<std::string> names;
      for (const ScheduleRule& rule : kScheduleRules) names.emplace_back(rule.name);
      return message("plan-schedule", "There is no schedule “{}” to search; there are {}.",
                     shown(name), join_and(names));
    }
    space.named_.push_back(tried.schedule);
  }
  space.tries_1f1b_on_one_stage_ =
      std::find(space.named_.begin(), space.named_.end(), Schedule("1f1b")) != space.named_.end() &&
      std::any_of(space.cuts_.begin(), space.cuts_.end(),
                  [](const Cut& cut) { return cut.balanced || cut.layers.empty(); });
  space.recomputes_ = {Recompute::kNone, Recompute::kFull};
  if (request.base.attention == Attention::kUnfused)
    space.recomputes_.insert(space.recomputes_.begin() + 1, Recompute::kSelective);
  if (const auto* values = allowed("recompute")) {
    space.recomputes_.clear();
    for (const std::string& value : *values) {
      Setup tried = request.base;
      if (const Result<void> set = set_field(tried, "recompute", value); !set) return set.error();
      space.recomputes_.push_back(tried.recompute);
    }
  }
  return space;
}

// Whole nodes, or a part of one that divides it.
bool Space::wanted_gpus(std::int64_t gpus) const {
  if (request_.least_gpus == request_.most_gpus) return true;
  const std::int64_t node = std::max(1, request_.machine.devices_per_node);
  return gpus >= node ? gpus % node == 0 : node % gpus == 0;
}

std::optional<std::int64_t> Space::most_cp(std::int64_t gpus) const {
  if (!cp_.values.empty() || gpus <= kEveryCp) return std::nullopt;
  const std::int64_t sequence = request_.base.model.sequence;
  const bool is_scarce =
      static_cast<double>(request_.global_batch) * static_cast<double>(sequence) <
      static_cast<double>(kLeastTokens) * static_cast<double>(gpus);
  const std::int64_t least = is_scarce ? kLeastTokens / 2 : kLeastTokens;
  const std::int64_t most = std::max<std::int64_t>(1, sequence / least);
  return most < gpus ? std::optional(most) : std::nullopt;
}

bool Space::takes_mesh(const Candidate& candidate) const {
  return tp_.has(candidate.tp) && pp_.has(candidate.pp) && cp_.has(candidate.cp) &&
         candidate.cp <= most_cp(candidate.gpus()).value_or(candidate.cp) && dp_.has(candidate.dp);
}

void Space::for_each(const std::function<bool(const Candidate&)>& visit) const {
  bool goes_on = true;
  for (std::int64_t gpus = request_.least_gpus; gpus <= request_.most_gpus && goes_on; ++gpus) {
    if (!wanted_gpus(gpus)) continue;
    for (const std::int64_t tp : divisors(gpus)) {
      if (!tp_.has(tp)) continue;
      for (const std::int64_t pp : divisors(gpus / tp)) {
        if (!pp_.has(pp)) continue;
        for (const std::int64_t cp : divisors(gpus / tp / pp)) {
          Candidate candidate;
          candidate.dp = static_cast<std::int32_t>(gpus / tp / pp / cp);
          candidate.tp = static_cast<std::int32_t>(tp);
          candidate.pp = static_cast<std::int32_t>(pp);
          candidate.cp = static_cast<std::int32_t>(cp);
          if (takes_mesh(candidate)) for_order(candidate, visit, goes_on);
          if (!goes_on) return;
        }
      }
    }
  }
}

void Space::for_order(const Candidate& candidate,
                      const std::function<bool(const Candidate&)>& visit, bool& goes_on) const {
  Candidate ordered = candidate;
  for (const RankOrder order : orders_of(candidate)) {
    ordered.order = order;
    if (goes_on) for_mesh(ordered, visit, goes_on);
  }
}

std::int64_t Space::largest_micro_batch() const {
  std::int64_t largest = kLargeMicroBatch;
  while (largest < kLargestMicroBatch && 2 * largest * request_.base.model.sequence <= kMostTokens)
    largest *= 2;
  return largest;
}

// Its EP, how TP cuts experts, micro-batches and sequence parallelism.
void Space::for_mesh(Candidate candidate, const std::function<bool(const Candidate&)>& visit,
                     bool& goes_on) const {
  if (request_.global_batch % candidate.dp != 0) return;
  const std::int64_t sequences = request_.global_batch / candidate.dp;
  std::vector<std::int64_t> sizes = micro_batch_.values;
  if (sizes.empty())
    for (std::int64_t size = 1; size <= largest_micro_batch(); size *= 2) sizes.push_back(size);
  for (const bool expert_tensor : expert_tensor_) {
    candidate.expert_tensor = expert_tensor;
    const std::int64_t row =
        expert_tensor ? candidate.dp : std::int64_t{candidate.tp} * candidate.cp * candidate.dp;
    const std::vector<std::int64_t> experts =
        request_.base.model.experts.count > 0 ? divisors(row) : std::vector<std::int64_t>{1};
    for (const std::int64_t ep : experts) {
      if (!ep_.has(ep)) continue;
      candidate.ep = static_cast<std::int32_t>(ep);
      for (const std::int64_t size : sizes) {
        if (sequences % size != 0 || !microbatches_.has(sequences / size)) continue;
        if (sequences / size > 100'000'000) continue;
        candidate.micro_batch = static_cast<std::int32_t>(size);
        candidate.microbatches = static_cast<std::int32_t>(sequences / size);
        for (const bool sequence_parallel : sequence_parallel_) {
          if (sequence_parallel && candidate.tp == 1) continue;
          candidate.sequence_parallel = sequence_parallel;
          if (!takes_experts(candidate)) continue;
          for_schedule(candidate, visit, goes_on);
          if (!goes_on) return;
        }
      }
    }
  }
}

bool Space::takes_experts(const Candidate& candidate) const {
  if (candidate.tp * candidate.cp == 1 || request_.base.model.experts.count == 0)
    return candidate.expert_tensor == expert_tensor_.front();  // they are alike
  // TP ranks send tokens of their own to whole experts.
  return candidate.expert_tensor ||
         (candidate.ep > 1 && (candidate.tp == 1 || candidate.sequence_parallel));
}

std::size_t Space::first_alike_on_one_stage(std::size_t schedule) const {
  const auto is_alike = [&](std::size_t at) {
    return find_schedule_rule(named_[at])->alike_on_one_stage;
  };
  if (!is_alike(schedule)) return schedule;
  std::size_t first = 0;
  while (!is_alike(first)) ++first;
  return first;
}

bool Space::is_like_1f1b(const Candidate& candidate) const {
  const Setup& base = request_.base;
  return tries_1f1b_on_one_stage_ && candidate.pp == 1 &&
         named_[candidate.schedule] == Schedule("interleaved") && !base.offload_activations &&
         base.recompute_layers == 0 && base.microbatch_group <= 1;
}

void Space::for_schedule(Candidate candidate, const std::function<bool(const Candidate&)>& visit,
                         bool& goes_on) const {
  for (std::size_t at = 0; at < schedules_.size() && goes_on; ++at) {
    if (candidate.pp == 1 && first_alike_on_one_stage(at) != at) continue;
    candidate.schedule = static_cast<std::uint8_t>(at);
    candidate.chunks = 1;
    if (find_schedule_rule(named_[at])->chunks != 0) {
      for_cuts(candidate, visit, goes_on);
      continue;
    }
    for (const int count : chunks_of(candidate)) {
      candidate.chunks = static_cast<std::uint8_t>(count);
      for_cuts(candidate, visit, goes_on);
    }
  }
}

void Space::write(const Candidate& candidate, Setup& setup) const {
  setup.mesh.dp = candidate.dp;
  setup.mesh.tp = candidate.tp;
  setup.mesh.pp = candidate.pp;
  setup.mesh.cp = candidate.cp;
  setup.mesh.ep = candidate.ep;
  setup.mesh.expert_tensor = candidate.expert_tensor;
  setup.micro_batch = candidate.micro_batch;
  setup.microbatches = candidate.microbatches;
  setup.schedule = named_[candidate.schedule];
  setup.chunks = candidate.chunks;
  setup.zero = candidate.zero;
  setup.zero_group = candidate.zero_group;
  setup.mesh.order = candidate.order;
  setup.stage_layers = layers_of(candidate);
  setup.recompute = recomputes_[candidate.recompute];
  setup.sequence_parallel = candidate.sequence_parallel;
  setup.ring_tensor = request_.base.ring_tensor && candidate.sequence_parallel;
}

Setup Space::setup_of(const Candidate& candidate) const {
  Setup setup = request_.base;
  write(candidate, setup);
  return setup;
}

}  // namespace parallelarium
