// SPDX-License-Identifier: Apache-2.0
// What a search for a configuration looks at: every combination of the axes that makes the number
// of GPUs and the global batch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

enum class Objective : std::uint8_t { kTime, kGpus, kMemory, kTokensPerGpu };
inline constexpr Objective kObjectives[] = {Objective::kTime, Objective::kGpus, Objective::kMemory,
                                            Objective::kTokensPerGpu};
std::string_view name_of(Objective objective);  // "time" "gpus" "memory" "tokens-per-gpu"

// More GPUs, or more combinations, are refused.
inline constexpr std::int64_t kMostPlanGpus = 131'072;
inline constexpr std::int64_t kMostCandidates = 2'000'000;
inline constexpr int kMostPlanChunks = 8;  // where nobody says

// Those of a number of 1 or more, ascending.
std::vector<std::int64_t> divisors(std::int64_t number);

// Why a valid Setup is no plan all the same, such as that a framework cannot say it; none: it may
// be one. It looks at what a search chooses alone, and is called on any thread.
using PlanRefusal = std::function<std::optional<Message>(const Setup&)>;

struct PlanRequest {
  Setup base;  // resolved; what is no axis of the search stays as it is here
  Machine machine;
  std::int64_t least_gpus = 0, most_gpus = 0;
  std::int64_t global_batch = 0;  // sequences of a step
  // The values that an axis may take, by its option, as they are typed; an axis that is not here
  // takes all that plan_axes() says of it.
  std::map<std::string, std::vector<std::string>> allowed;
  PlanRefusal refuses;  // null: nothing that is valid
  PlanRefusal unusual;  // says what a framework needs for it beside the usual; null: nothing
  Objective objective = Objective::kTime;
  int top = 10;
  bool best_alone =
      false;  // no front and no reasons, which take most of the time of small searches
};
// The Setup without its mesh and the other axes, which are the search's.
Setup without_axes(Setup setup);

// An axis of the search and what it takes where nobody says.
struct PlanAxis {
  const char* option;
  std::string values;  // for people
};
const std::vector<PlanAxis>& plan_axes();
// "schedules" and "schedule", "tp" and "mesh.tp" are the same; empty: there is no such axis.
std::string axis_called(const std::string& name);

// One combination. Small, since there may be millions.
struct Candidate {
  std::int32_t dp = 1, tp = 1, pp = 1, cp = 1, ep = 1;
  std::int32_t micro_batch = 1, microbatches = 1;
  std::uint8_t schedule = 0, chunks = 1, recompute = 0;  // of Space's lists; chunks themselves
  std::uint8_t zero = 0, layers = 0;                     // the latter of Space's list, in
                                                         // which even stages come first
  std::int32_t zero_group = 0;                           // as the Setup has it
  RankOrder order = RankOrder::kTpCpEpDpPp;
  bool sequence_parallel = false, expert_tensor = true;
  std::int64_t gpus() const { return std::int64_t{dp} * tp * pp * cp; }
  // Whether it differs from another one in how replicas share their states, if at all.
  bool is_like(Candidate other) const {
    other.zero = zero;
    other.zero_group = zero_group;
    return *this == other;
  }
  bool operator==(const Candidate&) const = default;
  int axes() const {  // that are in use
    return (dp > 1) + (tp > 1) + (pp > 1) + (cp > 1) + (ep > 1) + (layers > 0);
  }
};

// How replicas share their states.
struct Sharding {
  std::uint8_t zero = 0;
  std::int32_t group = 0;
};

class Space {
 public:
  // Errors: a number out of range, a value that an axis cannot have.
  static Result<Space> of(const PlanRequest& request);

  // Visits every combination of all axes but ZeRO with its group and recompute, in a fixed order,
  // until `visit` says false. No rule of validate() looks at ZeRO and recompute, and one looks at
  // the group.
  void for_each(const std::function<bool(const Candidate&)>& visit) const;
  // The ways to share states that make a difference for it, the whole group first.
  std::vector<Sharding> shardings_of(const Candidate& candidate) const;
  const std::vector<Recompute>& recomputes() const { return recomputes_; }
  const std::vector<std::string>& schedules() const { return schedules_; }
  // The most CP that is tried on so many GPUs; none: all that divides them, or what the request
  // says.
  std::optional<std::int64_t> most_cp(std::int64_t gpus) const;
  // Says what of the axes that nobody fixed is tried where that is not all there is. Empty: all is.
  std::vector<Message> tried_said() const;

  // Whether the Setup, whose mesh has as many ranks and whose batch is the request's, is one of
  // them. Cost: a visit of all combinations of its mesh.
  bool covers(const Setup& setup) const;

  // Writes the candidate into a Setup that began as the request's base.
  void write(const Candidate& candidate, Setup& setup) const;
  Setup setup_of(const Candidate& candidate) const;
  int stages_of_candidate(const Candidate& candidate) const;  // stages_of() its Setup

 private:
  struct Wholes {  // the values of a numeric axis; empty: all
    std::vector<std::int64_t> values;
    bool has(std::int64_t value) const;
  };
  struct Cut {                // of the layers into stages
    bool balanced = false;    // by balanced_layers()
    std::vector<int> layers;  // else as they are typed; empty: even
  };
  std::int64_t largest_micro_batch() const;  // where nobody says
  // Whether its degrees of TP, PP, CP and DP are tried.
  bool takes_mesh(const Candidate& candidate) const;
  void for_mesh(Candidate candidate, const std::function<bool(const Candidate&)>& visit,
                bool& goes_on) const;
  void for_order(const Candidate& candidate, const std::function<bool(const Candidate&)>& visit,
                 bool& goes_on) const;
  void for_schedule(Candidate candidate, const std::function<bool(const Candidate&)>& visit,
                    bool& goes_on) const;
  // The first of the schedules that has the same Order on one stage. ZB-H2 lets 2p - 1 forwards of
  // the first rank pass before a backward, and ZB-H1 p of them: with p = 1 both let one pass.
  std::size_t first_alike_on_one_stage(std::size_t schedule) const;
  // Whether an interleaved plan on one stage comes to what 1F1B comes to, which is listed, too,
  // where replicas move nothing between actions. Each of its actions begins and ends in the compute
  // lane, so that they take as long together in any order, and the last backwards are the same. It
  // holds as much as 1F1B, or more. Offloaded activations and layers that are computed again by
  // their place in a stage make a difference, and so do rounds of several micro-batches.
  bool is_like_1f1b(const Candidate& candidate) const;
  void for_cuts(Candidate candidate, const std::function<bool(const Candidate&)>& visit,
                bool& goes_on) const;
  bool is_scheduled_as(const Setup& setup, const Candidate& candidate) const;
  std::vector<int> layers_of(const Candidate& candidate) const;
  std::vector<RankOrder> orders_of(const Candidate& candidate) const;
  std::vector<std::int32_t> groups_of(const Candidate& candidate) const;
  std::vector<int> chunks_of(const Candidate& candidate) const;
  // Whether it is tried with experts that TP cuts, or with whole ones.
  bool takes_experts(const Candidate& candidate) const;
  bool wanted_gpus(std::int64_t gpus) const;

  PlanRequest request_;
  Wholes tp_, pp_, cp_, ep_, dp_, zero_, zero_group_, chunks_, micro_batch_, microbatches_;
  std::vector<bool> sequence_parallel_, expert_tensor_;
  std::vector<RankOrder> orders_;  // empty: all that make a difference
  std::vector<Cut> cuts_;
  double head_layers_ = 0;  // the work of the head, in layers
  std::vector<std::string> schedules_;
  std::vector<Schedule> named_;  // the same, ready to be put into a Setup
  std::vector<Recompute> recomputes_;
  bool tries_1f1b_on_one_stage_ = false;
};

// The work of the head, in layers of average work.
double head_layers(const Model& model);
// The layers of so many stages such that the largest stage has the least work, where the last one's
// head counts as `head_layers` layers. What is left over goes to the stages before the last, which
// hold the fewest micro-batches, and least to the first one, which holds the embedding.
// There must be a layer and two stages or more.
std::vector<int> balanced_layers(int layers, int stages, double head_layers);

// The same as a Setup says it: nothing where that is even, or as the model is published, or where
// there are too few layers.
std::vector<int> balanced_cut(const Model& model, int stages, double head_layers);
// The group of ZeRO that is the replicas of the first node; 0: they are all, or one, or no group.
int node_group(const Mesh& mesh, const Machine& machine);

}  // namespace parallelarium
