// SPDX-License-Identifier: Apache-2.0
// The event walk: a Program and a duration for every op give a Timeline. The span of a transfer or
// collective begins when all of its participants are there: waiting for them is idle time.
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
#include "engine/predict/cost/expert_rows.h"
#include "engine/predict/cost/links.h"
#include "engine/predict/cost/work_seconds.h"

namespace parallelarium {

// What lanes take from each other.
enum class Sharing {
  kNone,     // every lane goes at its own speed
  kCore,     // CPU ranks: a rank's lanes compete for its core
  kGpu,      // all ranks on one GPU take turns
  kOverlap,  // a rank computes more slowly while it communicates
};
Sharing sharing_of(const Setup& setup, const Machine& machine);

// Seconds that one op takes on the machine when nothing delays it. For a Send or Recv and for a
// Collective: from the moment all participants are there.
class CostModel {
 public:
  // Precomputes the duration of every work list of the Program. `rows`: how experts are routed;
  // evenly if null. Outlives this object. Of a Program of representatives, the one of the slow
  // rank's stage is slow: they stand for the ranks of its replica, for which the others wait.
  CostModel(const Program& program, const Machine& machine, const Setup& setup,
            const ExpertRows* rows = nullptr);
  // Of a fold: what its parts take. `rank` is global.
  double seconds(const Op& op, int rank) const;
  // To the nearest nanosecond, part by part and call by call, so that a folded Program takes as
  // long as one of pieces.
  std::int64_t nanoseconds(const Op& op, int rank) const;
  Sharing sharing() const { return sharing_; }
  double overlap_slowdown() const { return overlap_slowdown_; }  // of kOverlap
  // What either end's host takes of a transfer that hides behind computing: it launches both in
  // turn, so that part does not hide. 0 where no table of transfers says it.
  std::int64_t launch_nanoseconds(const Op& op, int rank) const;
  // Seconds of seconds() in which the op's bytes keep its rank's links busy; none of computing. On
  // this computer none is known: what a pair was measured to reach does not say who shares it.
  LinkSeconds link_seconds(const Op& op, int rank) const;
  bool shares_links() const { return shares_links_; }
  // What seconds() of a Send, Recv or Collective stands on.
  RateKind rate_kind_of_message(const Op& op, int rank) const;

 private:
  struct GroupCost {
    double latency = 0, bytes_per_second = 0;  // of its slowest link
    int size = 1;
    int on_node = 1;        // its ranks on the node that has fewest of them
    NicsOfGroup nics = {};  // where it has several nodes
    // Of an EP group: messages that leave a node for each copy of a token that does.
    double leaving = 1;
    double inside = 0;      // bytes per second of its links inside a node
    TorusReach torus = {};  // of the ranks that share a node; none where that is no torus
    bool of_stages = false;
  };
  static double leaving_of(const Setup& setup, const Group& group, int on_node);
  const Link& link_between(int a, int b) const;
  const Link& slowest_link(const std::vector<int>& ranks) const;
  // As it was measured, among that many ranks or the next number of them; null: never.
  const Link* measured(CollectiveKind kind, int ranks) const;
  // `of_stages`: a transfer that a framework makes, as between stages, and no step of a collective.
  double message_seconds(const Link& link, double bytes, bool of_stages) const;
  // As a lone one takes within a node, from a table; null: there is none.
  const CollectiveTimes* timed(CollectiveKind kind, const GroupCost& group) const;
  double timed_seconds(const CollectiveTimes& times, CollectiveKind kind, double bytes,
                       const GroupCost& group) const;
  double messages_of(CollectiveKind kind, int ranks) const;
  TorusReach torus_of(const std::vector<int>& ranks) const;
  int hops_between(int a, int b) const;
  // Network cards of a rank that carry its message: 1 within a node.
  double nics_between(const Op& op, int rank) const;
  LinkSeconds use_of(CollectiveKind kind, Purpose purpose, double bytes,
                     const GroupCost& group) const;
  // Whether switches add up what it sends between nodes.
  bool is_reduced(CollectiveKind kind, const GroupCost& group) const;
  double latency_of(CollectiveKind kind, const GroupCost& group) const;
  double collective_seconds(const Op& op) const;
  double within_gpu_seconds(const Op& op, int ranks) const;

  double even_seconds(const Op& op, int rank) const;
  double slowness(int rank) const { return rank == slow_rank_ ? slow_factor_ : 1; }
  const ExpertRows* rows_;
  const std::vector<Fold>& folds_;
  std::vector<double> work_seconds_;
  std::vector<std::int64_t> even_nanoseconds_;  // of each fold, where experts are routed evenly
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
  int slow_rank_ = -1;  // of those built; -1: none
  double slow_factor_ = 1;
  std::vector<PairLink> pairs_;
  std::vector<CollectiveRate> collectives_;
  std::vector<CollectiveTimes> times_;
  std::vector<int> gpus_;  // of each rank, where the Setup says it
  double reduce_seconds(DataType type) const {
    return type == DataType::kBf16 ? reduce_half_seconds_ : reduce_seconds_;
  }
  // Per element added in a reduction, where it was measured; of fp32 and all others, and of bf16.
  double reduce_seconds_ = 0, reduce_half_seconds_ = 0;
};

// Asked before links are shared out, where that makes a difference, with the duration of a Timeline
// in which nobody waits for them, which is no longer than the one in which they do. True: that
// Timeline is enough. Where lanes share more than links, it is not asked.
using Enough = std::function<bool(Nanoseconds at_least)>;

// What folds of the compute lane take one by one, in issue order: where lanes share something, what
// slows them comes and goes within a fold, and has to meet the same pieces as in a Program of them.
struct FoldSteps {
  struct Step {
    std::int32_t op = 0;  // index in the rank's ops
    std::int64_t nanoseconds = 0;
  };
  std::vector<Step> steps;
  // Where in them those of an op, and of its fold's collectives behind it, begin: by flat number,
  // and one more. Ops that go as a whole have none. Empty: all do.
  std::vector<std::int32_t> first;
};

// check(program) must be empty. Cost: a few hundred nanoseconds per op, and per part of a fold
// where lanes share something.
Timeline simulate(const Program& program, const CostModel& cost, const Enough& enough = {});
// The same with the duration of op i of rank r given: durations[r][i]. Both ops of a transfer, and
// all of a collective, take the largest of theirs. `links`: what they ask for; empty: of no link.
Timeline simulate(const Program& program, const std::vector<std::vector<Nanoseconds>>& durations,
                  Sharing sharing = Sharing::kNone, double overlap_slowdown = 1,
                  const LinkDemand& links = {});
// The same of durations one rank after another.
Timeline simulate(const Program& program, const std::vector<std::int64_t>& durations,
                  Sharing sharing, double overlap_slowdown, const LinkDemand& links,
                  const FoldSteps& folds = {}, const Enough& enough = {});

}  // namespace parallelarium
