// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "engine/plan/placement/placement.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/run/gpu/check/kernels/kernel_check.h"
#include "engine/run/gpu/check/link_check.h"

namespace parallelarium {

namespace {

constexpr double kKernelShare = 0.5;  // of the progress

std::chrono::nanoseconds of_seconds(double seconds) {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)};
}

// What the working thread is at, for the one that reports.
class CheckStage {
 public:
  void set(double share, Message what) {
    const std::lock_guard lock(mutex_);
    share_ = share;
    what_ = std::move(what);
  }
  std::pair<double, Message> get() const {
    const std::lock_guard lock(mutex_);
    return {share_, what_};
  }

 private:
  mutable std::mutex mutex_;
  double share_ = 0;
  Message what_;
};

// `shape`: empty where it is all of them.
CheckFailure failure(FailureKind kind, const Message& what, const Message& shape,
                     const Message& found) {
  return {kind, what.text, shape.text, found.text,
          shape.text.empty()
              ? message("check-fault", "{}: {}.", what, clause(found))
              : message("check-fault.shape", "{} ({}): {}.", what, shape, clause(found))};
}

Message from_to(int from, int to) { return message("gpu-to-gpu", "GPU {} to GPU {}", from, to); }

class Check {
 public:
  Check(const GpuCheckRig& rig, const std::atomic<bool>* cancel, TimePoint deadline,
        CheckStage& doing)
      : rig_(rig), cancel_(cancel), deadline_(deadline), doing_(doing) {
    for (std::size_t i = 0; i < rig.gpus.size(); ++i) {
      numbers_.push_back(rig.numbers.empty() ? static_cast<int>(i) : rig.numbers[i]);
      check_.gpus.push_back({numbers_.back(), rig.gpus[i], {}, {}, {}});
    }
  }

  GpuCheck run() {
    check_kernels();
    if (rig_.gpus.size() > 1) {
      if (rig_.nccl == nullptr)
        check_.without_links = rig_.without_nccl;
      else
        check_links_between();
    }
    return std::move(check_);
  }

 private:
  void check_kernels() {
    std::vector<std::size_t> places;  // of those that are not known
    for (std::size_t place = 0; place < numbers_.size(); ++place)
      if (place >= rig_.right.size() || !rig_.right[place]) places.push_back(place);
    if (places.empty()) return;
    const auto count = static_cast<int>(places.size());
    const auto checked = [&](int gpu) -> CheckedGpu& {
      return check_.gpus[places[static_cast<std::size_t>(gpu)]];
    };
    const KernelBench::Limits limits{deadline_, of_seconds(rig_.trial_seconds), cancel_};
    KernelBench bench(
        count,
        [&](int gpu) {
          const std::size_t place = places[static_cast<std::size_t>(gpu)];
          return rig_.make_device(numbers_[place], static_cast<int>(place), Lane::kCompute);
        },
        limits);
    const std::span<const KernelFamily> families = kernel_families();
    double done = 0;
    const double total = 2 * static_cast<double>(families.size());
    for (const DataType type : {DataType::kF32, DataType::kBf16}) {
      for (const KernelFamily& family : families) {
        ++done;
        if (type == DataType::kBf16 && !family.half) continue;
        const Message name = message("kernel-in", "{} in {}", message(family.name), name_of(type));
        doing_.set(kKernelShare * done / total, name);
        bench.start_family(family.name, type);
        if (!bench.out_of_time()) family.check(bench);
        // The last of a family's trials may be the one that time forbade.
        for (int gpu = 0; gpu < count; ++gpu)
          if (bench.out_of_time() || bench.is_gone(gpu))
            checked(gpu).unreached.push_back(name.text);
      }
    }
    for (const KernelFault& fault : bench.faults()) {
      CheckedGpu& gpu = checked(fault.gpu);
      CheckFailure made =
          failure(FailureKind::kKernel, fault.family, plain(fault.shape), fault.found);
      // Libraries may have no bf16 for GPUs that are older than it; fp32 is right there.
      const bool older = gpu.facts.major > 0 && gpu.facts.major < 8;
      if (fault.refused && fault.type == DataType::kBf16 && older)
        gpu.notes.push_back(made.sentence.text);
      else
        gpu.failures.push_back(std::move(made));
    }
    for (int gpu = 0; gpu < count; ++gpu) {
      check_.stuck |= bench.hangs(gpu);
      if (const std::string& why = bench.without(gpu); !why.empty())
        checked(gpu).notes.push_back(why);
    }
  }

  // Between the GPUs whose kernels are right: what another sends says nothing of a link. All at
  // once; pairs alone where that does not connect; then the collectives of those that meet.
  void check_links_between() {
    std::vector<int> good;
    for (const CheckedGpu& gpu : check_.gpus)
      if (gpu.passed()) good.push_back(gpu.device);
    tried_ = rig_.tried;
    for (const std::vector<int>& pair : open_pairs(good, tried_)) {
      CheckedLink& link = check_.links.emplace_back();
      link.promise.from = pair[0];
      link.promise.to = pair[1];
      for (const LinkPromise& promise : rig_.promises)
        if (promise.from == pair[0] && promise.to == pair[1]) link.promise = promise;
    }
    for (CheckedLink& link : check_.links) compare_peers(link);
    const auto may_go_on = [&] {
      const bool cancelled = cancel_ != nullptr && cancel_->load();
      return !check_.stuck && !cancelled && Clock::now() < deadline_;
    };
    const auto meet = [&] { return that_meet(good, broken_sets(tried_)); };
    if (may_go_on() && meet() == good) try_together(good);
    for (const std::vector<int>& pair : open_pairs(good, tried_))
      if (may_go_on()) try_together(pair);
    while (may_go_on() && try_together(meet())) continue;
    for (const std::vector<int>& pair : open_pairs(good, tried_)) find_link(pair)->reached = false;
    for (std::vector<int>& group : open_groups(meet(), tried_))
      check_.groups.push_back({std::move(group), {}, false});
  }

  // Asks what is open among these. Whether anything was found out.
  bool try_together(const std::vector<int>& gpus) {
    const std::vector<std::vector<int>> pairs = open_pairs(gpus, tried_),
                                        groups = open_groups(gpus, tried_);
    const std::size_t before = tried_.size();
    LinkRig rig;
    rig.gpus = static_cast<int>(gpus.size());
    rig.nccl = rig_.nccl;
    rig.large_bytes = rig_.large_bytes;
    const auto number = [&](int place) { return gpus[static_cast<std::size_t>(place)]; };
    rig.make_device = [&](int place, int rank, Lane lane) {
      return rig_.make_device(number(place), rank, lane);
    };
    const auto members = [&](const LinkStep& step) { return members_of(step, gpus); };
    std::vector<LinkStep> steps = link_steps(rig);
    std::erase_if(steps, [&](const LinkStep& step) {
      const std::vector<std::vector<int>>& open = step.is_message() ? pairs : groups;
      return std::count(open.begin(), open.end(), members(step)) == 0;
    });
    if (steps.empty()) return false;
    const LinkLimits limits{deadline_, of_seconds(rig_.connect_seconds),
                            of_seconds(rig_.step_seconds), of_seconds(rig_.step_seconds), cancel_};
    const LinkFindings found =
        check_links(rig, steps, limits, number, [&](double share, const Message& what) {
          link_share_ = std::max(link_share_, share);
          doing_.set(kKernelShare + (1 - kKernelShare) * link_share_, what);
        });
    check_.stuck |= found.stuck;
    const auto is_open = [&](const std::vector<int>& set, bool collectives) {
      return std::any_of(found.unreached.begin(), found.unreached.end(), [&](const LinkStep& step) {
        return !step.timed && step.is_message() != collectives && members(step) == set;
      });
    };
    for (const LinkFault& fault : found.faults) note(fault, gpus);
    judge_speeds(found.speeds, gpus);
    // What is broken has been noted.
    const auto works = [&](const std::vector<int>& set, bool collectives) {
      const auto is_it = [&](const TriedSet& one) {
        return one.gpus == set && one.collectives == collectives;
      };
      if (is_open(set, collectives) || std::any_of(tried_.begin(), tried_.end(), is_it)) return;
      tried_.push_back({set, collectives, {}});
      if (collectives) check_.groups.push_back({set, {}, true});
    };
    for (const std::vector<int>& pair : pairs) works(pair, false);
    for (const std::vector<int>& group : groups) works(group, true);
    return tried_.size() > before;
  }

  static std::vector<int> members_of(const LinkStep& step, const std::vector<int>& gpus) {
    if (!step.is_message()) return {gpus.begin(), gpus.begin() + step.ranks};
    return {gpus[static_cast<std::size_t>(std::min(step.from, step.to))],
            gpus[static_cast<std::size_t>(std::max(step.from, step.to))]};
  }
  std::vector<CheckedLink>::iterator find_link(const std::vector<int>& pair) {
    return std::find_if(check_.links.begin(), check_.links.end(), [&](const CheckedLink& link) {
      return link.promise.from == pair[0] && link.promise.to == pair[1];
    });
  }

  void note(const LinkFault& fault, const std::vector<int>& gpus) {
    const LinkStep& step = fault.step;
    const auto number = [&](int place) { return gpus[static_cast<std::size_t>(place)]; };
    const std::vector<int> set = members_of(step, gpus);
    CheckFailure made;
    if (step.is_message())
      made = failure(FailureKind::kMessage, from_to(number(step.from), number(step.to)),
                     step.bytes > 0 ? message("check-bytes", "{} bytes", step.bytes) : Message{},
                     fault.found);
    else
      made = failure(FailureKind::kCollective, text_of(step, number),
                     step.bytes == 0 ? message("check-connecting", "connecting") : Message{},
                     fault.found);
    // Of a pair whose messages are known it is its collectives that were asked.
    const bool collectives = !step.is_message() || find_link(set) == check_.links.end();
    const auto is_it = [&](const TriedSet& one) {
      return one.gpus == set && one.collectives == collectives;
    };
    const bool first = std::none_of(tried_.begin(), tried_.end(), is_it);
    if (first) tried_.push_back({set, collectives, made.sentence});
    if (first && collectives) check_.groups.push_back({set, {}, true});
    const auto group = std::find_if(check_.groups.begin(), check_.groups.end(),
                                    [&](const CheckedGroup& one) { return one.devices == set; });
    (collectives ? group->failures : find_link(set)->failures).push_back(std::move(made));
  }

  // Where CUDA has no peer access, as a container or an IOMMU may forbid it, all that NCCL sends
  // goes through the memory of the host, and the driver's word is worth nothing.
  void compare_peers(CheckedLink& link) {
    const LinkPromise& promise = link.promise;
    const auto reaches = [&](int from, int to) {
      const auto gpu = std::find_if(check_.gpus.begin(), check_.gpus.end(),
                                    [&](const CheckedGpu& one) { return one.device == from; });
      return std::count(gpu->facts.peers.begin(), gpu->facts.peers.end(), to) > 0;
    };
    if (!promise.peer || (reaches(promise.from, promise.to) && reaches(promise.to, promise.from)))
      return;
    link.warnings.push_back(
        failure(FailureKind::kPeer, from_to(promise.from, promise.to), {},
                message("check-no-peer", "the driver promises peer access ({}) and CUDA has none",
                        promise.kind)));
  }

  // Of the two ways the slower one, each at its best.
  void judge_speeds(const std::vector<LinkSpeed>& speeds, const std::vector<int>& gpus) {
    std::map<std::pair<int, int>, double> best;
    for (const LinkSpeed& speed : speeds) {
      double& known = best[{gpus[static_cast<std::size_t>(speed.from)],
                            gpus[static_cast<std::size_t>(speed.to)]}];
      known = std::max(known, speed.bytes_per_second);
    }
    for (const auto& [pair, rate] : best) {
      CheckedLink& link =
          *find_link({std::min(pair.first, pair.second), std::max(pair.first, pair.second)});
      if (link.bytes_per_second == 0 || rate < link.bytes_per_second) link.bytes_per_second = rate;
      const double promised = link.promise.bytes_per_second;
      const double share = link.promise.peer ? kSlowShare : kSlowShareThroughHost;
      if (promised <= 0 || rate >= share * promised) continue;
      const std::string& kind = link.promise.kind;
      link.warnings.push_back(
          failure(FailureKind::kSlow, from_to(pair.first, pair.second), {},
                  message("check-slow", "{} where {} promises {}", figure(count_text(rate, "B/s")),
                          kind.empty() ? message("the-bus", "the bus") : plain(kind),
                          figure(count_text(promised, "B/s")))));
    }
  }

  const GpuCheckRig& rig_;
  const std::atomic<bool>* cancel_;
  const TimePoint deadline_;
  CheckStage& doing_;
  std::vector<int> numbers_;
  std::vector<TriedSet> tried_;  // what is known, more and more
  double link_share_ = 0;        // of the progress between GPUs
  GpuCheck check_;
};

}  // namespace

bool GpuCheck::complete() const {
  const auto is_reached = [](const auto& one) { return one.reached; };
  return std::all_of(gpus.begin(), gpus.end(),
                     [](const CheckedGpu& gpu) { return gpu.failed() || gpu.unreached.empty(); }) &&
         std::all_of(links.begin(), links.end(), is_reached) &&
         std::all_of(groups.begin(), groups.end(), is_reached);
}
bool GpuCheck::passed() const {
  const auto is_passed = [](const auto& one) { return one.passed(); };
  return std::all_of(gpus.begin(), gpus.end(), is_passed) &&
         std::all_of(links.begin(), links.end(), is_passed) &&
         std::all_of(groups.begin(), groups.end(), is_passed);
}

Result<GpuCheck> check_gpus(const GpuCheckRig& rig, const RunControl& control) {
  const TimePoint begin = Clock::now();
  CheckStage doing;
  GpuCheck check;
  std::atomic<bool> done{false};
  std::thread work([&] {
    check = Check(rig, control.cancel, begin + of_seconds(rig.limit_seconds), doing).run();
    done = true;
  });
  Message told;
  while (!done) {
    const auto [share, what] = doing.get();
    if (control.progress && what != told) control.progress(share, what);
    told = what;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  work.join();
  if (control.cancel != nullptr && control.cancel->load())
    return message("cancelled.check", "The check was cancelled.");
  check.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (control.progress) control.progress(1, message("doing-end", "done"));
  return check;
}

Message failed_check(const GpuFacts& gpu) {
  return message("gpu-check-failed",
                 "{} failed its check, {}; `parallelarium-engine devices --check` checks it again, "
                 "or choose other GPUs with --devices, or cpu.",
                 gpu.name, clause(*gpu.check_failure));
}

Message failed_together(const std::vector<int>& gpus, const Message& why) {
  return message("gpu-check-failed.together",
                 "{} failed their check together, {}; `parallelarium-engine devices --check` "
                 "checks them again, or choose other GPUs with --devices, or cpu.",
                 gpus_named(gpus), clause(why));
}

}  // namespace parallelarium
