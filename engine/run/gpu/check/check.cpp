// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "engine/plan/text/units.h"
#include "engine/run/gpu/check/kernel_check.h"
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
  void set(double share, std::string what) {
    const std::lock_guard lock(mutex_);
    share_ = share;
    what_ = std::move(what);
  }
  std::pair<double, std::string> get() const {
    const std::lock_guard lock(mutex_);
    return {share_, what_};
  }

 private:
  mutable std::mutex mutex_;
  double share_ = 0;
  std::string what_;
};

CheckFailure failure(FailureKind kind, std::string what, std::string shape, std::string found) {
  CheckFailure made{kind, std::move(what), std::move(shape), std::move(found), {}};
  made.sentence = fmt::format("{}{}: {}{}", made.what,
                              made.shape.empty() ? "" : fmt::format(" ({})", made.shape),
                              made.found, made.found.ends_with('.') ? "" : ".");
  return made;
}

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
    const auto count = static_cast<int>(rig_.gpus.size());
    const KernelBench::Limits limits{deadline_, of_seconds(rig_.trial_seconds), cancel_};
    KernelBench bench(
        count,
        [&](int place) {
          return rig_.make_device(numbers_[static_cast<std::size_t>(place)], place, Lane::kCompute);
        },
        limits);
    const std::span<const KernelFamily> families = kernel_families();
    double done = 0;
    const double total = 2 * static_cast<double>(families.size());
    for (const DataType type : {DataType::kF32, DataType::kBf16}) {
      for (const KernelFamily& family : families) {
        ++done;
        if (type == DataType::kBf16 && !family.half) continue;
        const std::string name = fmt::format("{} in {}", family.name, name_of(type));
        doing_.set(kKernelShare * done / total, name);
        bench.start_family(family.name, type);
        if (!bench.out_of_time()) family.check(bench);
        // The last of a family's trials may be the one that time forbade.
        for (int place = 0; place < count; ++place)
          if (bench.out_of_time() || bench.is_gone(place))
            check_.gpus[static_cast<std::size_t>(place)].unreached.push_back(name);
      }
    }
    for (const KernelFault& fault : bench.faults()) {
      CheckedGpu& gpu = check_.gpus[static_cast<std::size_t>(fault.gpu)];
      CheckFailure made = failure(FailureKind::kKernel, fault.family, fault.shape, fault.found);
      // Libraries may have no bf16 for GPUs that are older than it; fp32 is right there.
      const bool older = gpu.facts.major > 0 && gpu.facts.major < 8;
      if (fault.refused && fault.type == DataType::kBf16 && older)
        gpu.notes.push_back(std::move(made.sentence));
      else
        gpu.failures.push_back(std::move(made));
    }
    for (int place = 0; place < count; ++place) {
      check_.stuck |= bench.hangs(place);
      if (const std::string& why = bench.without(place); !why.empty())
        check_.gpus[static_cast<std::size_t>(place)].notes.push_back(why);
    }
  }

  // Between the GPUs whose kernels are right: what another sends says nothing of a link.
  void check_links_between() {
    std::vector<int> places;
    for (std::size_t i = 0; i < check_.gpus.size(); ++i)
      if (check_.gpus[i].passed()) places.push_back(static_cast<int>(i));
    const auto number = [&](int place) {
      return numbers_[static_cast<std::size_t>(places[static_cast<std::size_t>(place)])];
    };
    make_links();
    if (places.size() < 2) return;
    LinkRig rig;
    rig.gpus = static_cast<int>(places.size());
    rig.nccl = rig_.nccl;
    rig.large_bytes = rig_.large_bytes;
    rig.make_device = [&](int place, int rank, Lane lane) {
      return rig_.make_device(number(place), rank, lane);
    };
    const LinkLimits limits{deadline_, of_seconds(rig_.connect_seconds),
                            of_seconds(rig_.step_seconds), of_seconds(rig_.step_seconds), cancel_};
    const LinkFindings found =
        check_links(rig, limits, number, [&](double share, const std::string& what) {
          doing_.set(kKernelShare + (1 - kKernelShare) * share, what);
        });
    check_.stuck |= found.stuck;
    for (const LinkStep& step : found.unreached) reached(step, number);
    for (const LinkFault& fault : found.faults) note(fault, number);
    judge_speeds(found.speeds, number);
    blame(found.faults, places);
  }

  void make_links() {
    for (std::size_t a = 0; a < numbers_.size(); ++a) {
      for (std::size_t b = a + 1; b < numbers_.size(); ++b) {
        CheckedLink link;
        link.promise.from = numbers_[a];
        link.promise.to = numbers_[b];
        for (const LinkPromise& promise : rig_.promises)
          if (promise.from == numbers_[a] && promise.to == numbers_[b]) link.promise = promise;
        link.reached = check_.gpus[a].passed() && check_.gpus[b].passed();
        check_.links.push_back(std::move(link));
      }
    }
    for (std::size_t size = 2; size <= numbers_.size(); ++size) {
      std::vector<int> devices;
      for (const CheckedGpu& gpu : check_.gpus)
        if (gpu.passed() && devices.size() < size) devices.push_back(gpu.device);
      if (devices.size() == size) check_.groups.push_back({std::move(devices), {}, true});
    }
  }
  CheckedLink& link_of(int a, int b) {
    return *std::find_if(check_.links.begin(), check_.links.end(), [&](const CheckedLink& link) {
      return link.promise.from == std::min(a, b) && link.promise.to == std::max(a, b);
    });
  }

  template <class Number>
  void reached(const LinkStep& step, const Number& number) {
    if (step.is_message())
      link_of(number(step.from), number(step.to)).reached = false;
    else
      check_.groups[static_cast<std::size_t>(step.ranks - 2)].reached = false;
  }

  template <class Number>
  void note(const LinkFault& fault, const Number& number) {
    const LinkStep& step = fault.step;
    if (step.is_message()) {
      const std::string pair = fmt::format("GPU {} to GPU {}", number(step.from), number(step.to));
      const std::string bytes = step.bytes > 0 ? fmt::format("{} bytes", step.bytes) : "";
      link_of(number(step.from), number(step.to))
          .failures.push_back(failure(FailureKind::kMessage, pair, bytes, fault.found));
      return;
    }
    const bool all = step.bytes == 0;
    check_.groups[static_cast<std::size_t>(step.ranks - 2)].failures.push_back(failure(
        FailureKind::kCollective, text_of(step, number), all ? "connecting" : "", fault.found));
  }

  // Of the two ways the slower one, each at its best.
  template <class Number>
  void judge_speeds(const std::vector<LinkSpeed>& speeds, const Number& number) {
    std::map<std::pair<int, int>, double> best;
    for (const LinkSpeed& speed : speeds) {
      double& known = best[{number(speed.from), number(speed.to)}];
      known = std::max(known, speed.bytes_per_second);
    }
    for (const auto& [pair, rate] : best) {
      CheckedLink& link = link_of(pair.first, pair.second);
      if (link.bytes_per_second == 0 || rate < link.bytes_per_second) link.bytes_per_second = rate;
      const double promised = link.promise.bytes_per_second;
      if (promised <= 0 || rate >= kSlowShare * promised) continue;
      link.failures.push_back(
          failure(FailureKind::kSlow, fmt::format("GPU {} to GPU {}", pair.first, pair.second), "",
                  fmt::format("{} where {} promises {}", count_text(rate, "B/s"),
                              link.promise.kind.empty() ? "the bus" : link.promise.kind,
                              count_text(promised, "B/s"))));
    }
  }

  // GPUs leave, the one with most broken links first and of equal ones the last, until what is left
  // works with each other. A group works no more from the GPU on that first broke it.
  void blame(std::vector<LinkFault> faults, const std::vector<int>& places) {
    while (!faults.empty()) {
      std::map<int, int> count;
      for (const LinkFault& fault : faults) {
        if (fault.step.is_message())
          for (const int place : fault.gpus) ++count[place];
        else
          ++count[fault.gpus.back()];
      }
      int worst = count.begin()->first;
      for (const auto& [place, broken] : count)
        if (broken >= count[worst]) worst = place;
      std::vector<LinkFault> left;
      for (LinkFault& fault : faults) {
        const bool its = std::count(fault.gpus.begin(), fault.gpus.end(), worst) > 0;
        if (!its) left.push_back(std::move(fault));
        if (!its) continue;
        CheckedGpu& gpu =
            check_.gpus[static_cast<std::size_t>(places[static_cast<std::size_t>(worst)])];
        const auto number = [&](int place) {
          return numbers_[static_cast<std::size_t>(places[static_cast<std::size_t>(place)])];
        };
        gpu.failures.push_back(
            failure(fault.step.is_message() ? FailureKind::kMessage : FailureKind::kCollective,
                    text_of(fault.step, number), "", fault.found));
      }
      faults = std::move(left);
    }
  }

  const GpuCheckRig& rig_;
  const std::atomic<bool>* cancel_;
  const TimePoint deadline_;
  CheckStage& doing_;
  std::vector<int> numbers_;
  GpuCheck check_;
};

}  // namespace

bool GpuCheck::complete() const {
  const auto is_reached = [](const auto& one) { return one.reached; };
  return std::all_of(gpus.begin(), gpus.end(),
                     [](const CheckedGpu& gpu) { return gpu.unreached.empty(); }) &&
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
  std::string told;
  while (!done) {
    const auto [share, what] = doing.get();
    if (control.progress && what != told) control.progress(share, plain(what));
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
  std::string why = gpu.check_failure;
  while (why.ends_with('.')) why.pop_back();
  return message("gpu-check-failed",
                 "{} failed its check, {}; `parallelarium-engine devices --check` checks it again, "
                 "or choose other GPUs with --devices, or cpu.",
                 gpu.name, why);
}

}  // namespace parallelarium
