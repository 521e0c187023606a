// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/link_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "engine/run/gpu/check/link_session.h"
#include "engine/run/gpu/check/tried_sets.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

constexpr std::array kKinds = {CollectiveKind::kAllReduce, CollectiveKind::kBroadcast,
                               CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                               CollectiveKind::kAllToAll};

void add_pair(std::vector<LinkStep>& steps, int from, int to, std::int64_t bytes, bool timed) {
  LinkStep step;
  step.from = from;
  step.to = to;
  step.type = DataType::kU8;
  step.bytes = bytes;
  step.timed = timed;
  steps.push_back(step);
}

// A number or so for each rank; chunks of unequal size, but where that is not possible; a buffer
// that NCCL cuts into many pieces. Sums, and the largest, which a loss over a cut vocabulary takes.
void add_collectives(std::vector<LinkStep>& steps, int ranks) {
  for (const CollectiveKind kind : kKinds) {
    const bool even = kind == CollectiveKind::kAllToAll;
    for (const DataType type : {DataType::kF32, DataType::kBf16}) {
      for (const std::int64_t count : {ranks + (even ? 0 : 1), 1001, 100'003}) {
        if (type == DataType::kBf16 && count != 1001) continue;
        LinkStep step;
        step.ranks = ranks;
        step.kind = kind;
        step.type = type;
        if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter)
          step.reduction = Reduction::kSum;
        step.bytes = (even ? count / ranks * ranks : count) * size_of(type);
        if (even && count >= ranks) steps.push_back(step);
        if (!even) steps.push_back(step);
      }
    }
  }
  LinkStep largest;
  largest.ranks = ranks;
  largest.reduction = Reduction::kMax;
  largest.bytes = 1001 * size_of(largest.type);
  steps.push_back(largest);
}

// Sets of ranks and what they go through together.
struct Session {
  std::vector<int> gpus;
  std::vector<LinkStep> steps;
};

// One session, where NCCL has communicators for several groups at once; else one for each size.
std::vector<Session> sessions_of(const LinkRig& rig, const std::vector<LinkStep>& steps) {
  std::vector<int> all(static_cast<std::size_t>(rig.gpus));
  std::iota(all.begin(), all.end(), 0);
  if (check_nccl(rig.nccl->version(), std::max(1, rig.gpus - 1))) return {{all, steps}};
  std::vector<Session> sessions;
  for (int ranks = rig.gpus; ranks >= 2; --ranks) {
    Session session{{all.begin(), all.begin() + ranks}, {}};
    for (const LinkStep& step : steps)
      if (step.is_message() ? ranks == rig.gpus : step.ranks == ranks)
        session.steps.push_back(step);
    sessions.push_back(std::move(session));
  }
  return sessions;
}

std::vector<int> concerned(const LinkStep& step) {
  if (step.is_message()) return {step.from, step.to};
  std::vector<int> gpus(static_cast<std::size_t>(step.ranks));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

// What cannot work once a step has broken: the same between the same GPUs.
bool needs_what_broke(const LinkStep& step, const LinkStep& broken) {
  if (!broken.is_message()) return !step.is_message() && step.ranks >= broken.ranks;
  return step.takes(broken.from) && step.takes(broken.to);
}

class LinkCheck {
 public:
  LinkCheck(const LinkRig& rig, const LinkLimits& limits,
            const std::function<int(int place)>& number,
            const std::function<void(double share, const Message& what)>& tell)
      : rig_(rig), limits_(limits), number_(number), tell_(tell) {}

  LinkFindings run(const std::vector<LinkStep>& steps) {
    total_ = static_cast<double>(steps.size());
    for (Session& session : sessions_of(rig_, steps)) go_through(std::move(session));
    return std::move(findings_);
  }

 private:
  void go_through(Session session) {
    while (!session.steps.empty()) {
      if (findings_.stuck) return leave(session, 0);
      const auto made = std::make_shared<LinkSession>(rig_, session.gpus, session.steps);
      const LinkSession::End end = LinkSession::run(made, limits_, [&](int step) {
        const Message what = step < 0 ? message("doing-connecting", "connecting the GPUs")
                                      : text_of(of_all(session, step), number_);
        tell_((done_ + std::max(step, 0)) / total_, what);
      });
      const std::vector<LinkStepResult> results = made->results();
      note(session, results);
      findings_.stuck = end.stuck;
      if (end.whole) return;
      const auto at = static_cast<std::size_t>(std::max(end.step, 0));
      if (!end.in_time) return leave(session, at);
      if (end.why.kind == "memory-short") return leave(session, at);  // no fault of a link
      if (end.step < 0) return does_not_connect(session, end);
      break_off(session, at, end);
    }
  }

  // Steps speak of ranks of their session.
  LinkStep of_all(const Session& session, int index) const {
    LinkStep step = session.steps[static_cast<std::size_t>(index)];
    if (!step.is_message()) return step;
    step.from = session.gpus[static_cast<std::size_t>(step.from)];
    step.to = session.gpus[static_cast<std::size_t>(step.to)];
    return step;
  }

  void note(const Session& session, const std::vector<LinkStepResult>& results) {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].done) break;
      ++done_;
      const LinkStep step = of_all(session, static_cast<int>(i));
      if (step.timed && results[i].seconds > 0)
        findings_.speeds.push_back(
            {step.from, step.to, static_cast<double>(step.bytes) / results[i].seconds});
      if (results[i].found.text.empty()) continue;
      const int on = session.gpus[static_cast<std::size_t>(results[i].at)];
      findings_.faults.push_back({step, concerned(step),
                                  message("link-on", "{} on GPU {}", results[i].found, number_(on)),
                                  false});
    }
  }

  void leave(const Session& session, std::size_t from) {
    for (std::size_t i = from; i < session.steps.size(); ++i)
      findings_.unreached.push_back(of_all(session, static_cast<int>(i)));
  }

  // The steps after `at` that do not need what broke are left to the next session.
  void break_off(Session& session, std::size_t at, const LinkSession::End& end) {
    const LinkStep broken = session.steps[at];
    const LinkStep told = of_all(session, static_cast<int>(at));
    findings_.faults.push_back({told, concerned(told),
                                end.hung ? message("link-no-end", "it does not end") : end.why,
                                end.hung});
    std::vector<LinkStep> left;
    for (std::size_t i = at + 1; i < session.steps.size(); ++i) {
      if (needs_what_broke(session.steps[i], broken))
        findings_.unreached.push_back(of_all(session, static_cast<int>(i)));
      else
        left.push_back(session.steps[i]);
    }
    session.steps = std::move(left);
  }

  void does_not_connect(const Session& session, const LinkSession::End& end) {
    LinkStep all;
    all.ranks = static_cast<int>(session.gpus.size());
    if (session.gpus.size() == 2) {
      all = {};
      all.from = session.gpus[0];
      all.to = session.gpus[1];
    }
    findings_.faults.push_back(
        {all, session.gpus,
         end.hung ? message("link-connects", "NCCL does not connect them in time") : end.why,
         end.hung});
    leave(session, 0);
  }

  const LinkRig& rig_;
  const LinkLimits& limits_;
  const std::function<int(int place)>& number_;
  const std::function<void(double share, const Message& what)>& tell_;
  LinkFindings findings_;
  double done_ = 0, total_ = 1;
};

}  // namespace

std::vector<LinkStep> link_steps(const LinkRig& rig) {
  std::vector<LinkStep> steps;
  const auto each_pair = [&](const auto& visit) {
    for (int from = 0; from < rig.gpus; ++from)
      for (int to = 0; to < rig.gpus; ++to)
        if (from != to) visit(from, to);
  };
  each_pair([&](int from, int to) {
    for (const std::int64_t bytes : {1, 4099, (1 << 20) + 3})
      add_pair(steps, from, to, bytes, false);
  });
  for (int ranks = 2; ranks <= rig.gpus; ++ranks) add_collectives(steps, ranks);
  for (int times = 0; times < 2; ++times)  // the better counts
    each_pair([&](int from, int to) { add_pair(steps, from, to, rig.large_bytes, true); });
  return steps;
}

LinkFindings check_links(const LinkRig& rig, const std::vector<LinkStep>& steps,
                         const LinkLimits& limits, const std::function<int(int place)>& number,
                         const std::function<void(double share, const Message& what)>& tell) {
  return LinkCheck(rig, limits, number, tell).run(steps);
}

Message text_of(const LinkStep& step, const std::function<int(int place)>& number) {
  if (step.is_message()) {
    const Message pair =
        message("gpu-to-gpu", "GPU {} to GPU {}", number(step.from), number(step.to));
    return step.bytes > 0 ? message("gpu-to-gpu.bytes", "{}, {} bytes", pair, step.bytes) : pair;
  }
  std::vector<int> numbers;
  for (int rank = 0; rank < step.ranks; ++rank) numbers.push_back(number(rank));
  const Message gpus = gpus_named(numbers);
  if (step.bytes == 0) return gpus;
  const std::int64_t count = step.bytes / size_of(step.type);
  return step.reduction == Reduction::kMax
             ? message("link-collective.max", "{} by max of {} {} among {}", name_of(step.kind),
                       count, name_of(step.type), gpus)
             : message("link-collective", "{} of {} {} among {}", name_of(step.kind), count,
                       name_of(step.type), gpus);
}

}  // namespace parallelarium
