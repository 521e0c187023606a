// SPDX-License-Identifier: Apache-2.0
// The event walk: a Program and a duration for every op give a Timeline. The span of a transfer or
// collective begins when all of its participants are there. Waiting for them is idle time.
#pragma once

#include <functional>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/machine/nodes.h"
#include "engine/plan/machine/torus.h"
#include "engine/plan/program/mesh.h"
#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/cost/links.h"
#include "engine/predict/cost/pieces/expert_rows.h"
#include "engine/predict/cost/pieces/work_seconds.h"

namespace parallelarium {

// What lanes take from each other.
enum class Sharing {
  kNone,     // every lane goes at its own speed
  kCore,     // CPU ranks: a rank's lanes compete for its core
  kGpu,      // all ranks on one GPU take turns
  kOverlap,  // a rank computes more slowly while it communicates
};
Sharing sharing_of(const Setup& setup, const Machine& machine);

// The seconds that one op takes on the machine if nothing delays it. For a Send, Recv or Collective
// they count from the moment when all participants are there.
class CostModel {
 public:
  // Precomputes the duration of every work list of the Program. `rows` says how experts are routed
  // (null: evenly), and must outlive this object. In a Program of representatives, the one of the
  // slow rank's stage is slow: representatives stand for the ranks of its replica, for which the
  // others wait.
  CostModel(const Program& program, const Machine& machine, const Setup& setup,
            const ExpertRows* rows = nullptr);
  // For a fold it is the time that its parts take. `rank` is global.
  double seconds(const Op& op, int rank) const;
  // To the nearest nanosecond, part by part and call by call, so that a folded Program takes as
  // long as one of pieces.
  std::int64_t nanoseconds(const Op& op, int rank) const;
  Sharing sharing() const { return sharing_; }
  double overlap_slowdown() const { return overlap_slowdown_; }  // of kOverlap
  // The time that the host at either end needs to launch a transfer that hides behind computing. It
  // launches both one after the other, so this part does not hide. 0 if no table of transfers tells
  // it.
  std::int64_t launch_nanoseconds(const Op& op, int rank) const;
  // The part of seconds() in which the op's bytes keep its rank's links busy. It is 0 for
  // computing. On this computer it is not known: a measured rate of a pair does not say who shares
  // it.
  LinkSeconds link_seconds(const Op& op, int rank) const;
  bool shares_links() const { return shares_links_; }
  // The kind of rate that seconds() of a Send, Recv or Collective depends on.
  RateKind rate_kind_of_message(const Op& op, int rank) const;

 private:
  struct GroupCost {
    double latency = 0, bytes_per_second = 0;  // those of its slowest link
    int size = 1;
    int on_node = 1;        // its ranks on the node that has the fewest of them
    NicsOfGroup nics = {};  // set if it has several nodes
    // For an EP group: messages that leave a node, for each copy of a token that leaves it.
    double leaving = 1;
    double inside = 0;      // bytes per second of its links inside a node
    TorusReach torus = {};  // of the ranks that share a node; unset if that is no torus
    bool of_stages = false;
  };
  static double leaving_of(const Setup& setup, const Group& group, int on_node);
  const Link& link_between(int a, int b) const;
  const Link& slowest_link(const std::vector<int>& ranks) const;
  // The measured link for that many ranks, or for the next number of ranks. Null: it was never
  // measured.
  const Link* measured(CollectiveKind kind, int ranks) const;
  // `of_stages`: it is a transfer that a framework makes, as between stages, and no step of a
  // collective.
  double message_seconds(const Link& link, double bytes, bool of_stages) const;
  // The table for a single collective within a node; null: there is none.
  const CollectiveTimes* timed(CollectiveKind kind, const GroupCost& group) const;
  double timed_seconds(const CollectiveTimes& times, CollectiveKind kind, double bytes,
                       const GroupCost& group) const;
  double messages_of(CollectiveKind kind, int ranks) const;
  TorusReach torus_of(const std::vector<int>& ranks) const;
  int hops_between(int a, int b) const;
  // Network cards of a rank that carry its message; 1 within a node.
  double nics_between(const Op& op, int rank) const;
  LinkSeconds use_of(CollectiveKind kind, Purpose purpose, double bytes,
                     const GroupCost& group) const;
  // Whether switches add up what the collective sends between nodes.
  bool is_reduced(CollectiveKind kind, const GroupCost& group) const;
  double latency_of(CollectiveKind kind, const GroupCost& group) const;
  double collective_seconds(const Op& op) const;
  double within_gpu_seconds(const Op& op, int ranks) const;

  double even_seconds(const Op& op, int rank) const;
  double slowness(int rank) const { return rank == slow_rank_ ? slow_factor_ : 1; }
  const ExpertRows* rows_;
  const std::vector<Fold>& folds_;
  std::vector<double> work_seconds_;
  std::vector<std::int64_t> even_nanoseconds_;  // by fold, for experts that are routed evenly
  double host_message_seconds_ = 0;             // no message or collective takes less
  std::vector<GroupCost> groups_;
  Nodes nodes_;
  int swaps_at_once_ = 1;  // messages of an all-to-all that are under way together
  bool on_cores_ = false;
  bool shares_links_ = false;
  bool one_ring_ = false;  // Setup::collectives
  bool in_network_reduction_ = false;
  Sharing sharing_ = Sharing::kNone;
  double overlap_slowdown_ = 1;
  int slow_rank_ = -1;  // among the built ranks; -1: none
  double slow_factor_ = 1;
  std::vector<PairLink> pairs_;
  std::vector<CollectiveRate> collectives_;
  std::vector<CollectiveTimes> times_;
  std::vector<int> gpus_;  // by rank, if the Setup says it
  double reduce_seconds(DataType type) const {
    return type == DataType::kBf16 ? reduce_half_seconds_ : reduce_seconds_;
  }
  // Seconds per element in a reduction, if measured: for fp32 and all other types, and for bf16.
  double reduce_seconds_ = 0, reduce_half_seconds_ = 0;
};

// simulate() calls this before it shares out links, if sharing makes a difference. It gives the
// duration of a Timeline in which nobody waits for links; that is no longer than the one in which
// they do. True: that Timeline is enough. It is not called if lanes share more than links.
using Enough = std::function<bool(Nanoseconds at_least)>;

// The times of the parts of folds of the compute lane, one by one, in issue order. If lanes share
// something, what slows them comes and goes within a fold. It must then meet the same pieces as in
// a Program of pieces.
struct FoldSteps {
  struct Step {
    std::int32_t op = 0;  // index in the rank's ops
    std::int64_t nanoseconds = 0;
  };
  std::vector<Step> steps;
  // By flat number, and one more: where the steps of an op, and of its fold's collectives behind
  // it, begin. Ops that go as a whole have none. Empty: all ops go as a whole.
  std::vector<std::int32_t> first;
};

// check(program) must be empty. Cost: a few hundred nanoseconds per op, and per part of a fold if
// lanes share something.
Timeline simulate(const Program& program, const CostModel& cost, const Enough& enough = {});
// The same with given durations: durations[r][i] for op i of rank r. Both ops of a transfer, and
// all of a collective, take the largest of theirs. `links`: what they ask for; empty: they ask for
// no link.
Timeline simulate(const Program& program, const std::vector<std::vector<Nanoseconds>>& durations,
                  Sharing sharing = Sharing::kNone, double overlap_slowdown = 1,
                  const LinkDemand& links = {});
// The same with the durations of all ranks in one list, one rank after another.
Timeline simulate(const Program& program, const std::vector<std::int64_t>& durations,
                  Sharing sharing, double overlap_slowdown, const LinkDemand& links,
                  const FoldSteps& folds = {}, const Enough& enough = {});

}  // namespace parallelarium
