// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "engine/plan/placement/stretch.h"
#include "engine/plan/text/phrases.h"
#include "engine/run/train/outcome.h"

namespace parallelarium {

namespace {

constexpr double kSlowestOp = 3;  // times its modelled duration, before it counts as hung
// As long for connecting: NCCL looks at the whole network first.
constexpr double kConnectingTimes = 3;
// Each leaves 0.1 s: of a cancel's half second, of a failure's second, in which NCCL aborts.
constexpr auto kLateCancel = std::chrono::milliseconds{400};
constexpr auto kLateEnd = std::chrono::milliseconds{900};
constexpr auto kFollowEvery = std::chrono::milliseconds{10};
constexpr auto kFirstHand = std::chrono::milliseconds{300};  // for who failed to say so

// How long one op may take before its silence counts towards the timeout.
double longest_op_seconds(const RunControl& control, std::size_t ranks, int cores) {
  Nanoseconds longest{0};
  for (const std::vector<Nanoseconds>& rank : control.modelled) {
    for (const Nanoseconds duration : rank) longest = std::max(longest, duration);
  }
  const double sharing = std::max(1.0, static_cast<double>(ranks) / std::max(cores, 1));
  return kSlowestOp * sharing * control.stretch * std::chrono::duration<double>(longest).count();
}

}  // namespace

RunWatch::RunWatch(const Setup& setup, const Program& program, const RunControl& control,
                   const RunProgress& progress, Stop& stop, std::vector<Transport*> transports,
                   bool paced, int cores, std::function<TimePoint()> now)
    : setup_(setup),
      program_(program),
      control_(control),
      progress_(progress),
      stop_(stop),
      transports_(std::move(transports)),
      paced_(paced),
      cores_(cores),
      warmup_(setup.run.warmup),
      steps_(setup.run.warmup + setup.run.steps),
      hang_seconds_(control.hang_timeout_seconds +
                    (control.hung ? 0 : longest_op_seconds(control, program.ranks.size(), cores))),
      now_(std::move(now)),
      changed_(now_()),
      aborted_(transports_.empty()),
      followed_(progress.size()) {
  for (std::size_t rank = 0; rank < transports_.size(); ++rank)
    if (transports_[rank] != nullptr) transports_[rank]->report_to(*progress_[rank]);
}

RunWatch::~RunWatch() {
  ended_ = true;
  for (std::thread& follower : followers_) follower.join();
  if (aborter_.joinable()) aborter_.join();
}

void RunWatch::look() {
  if (control_.cancel != nullptr && control_.cancel->load()) {
    stop_.raise(message("cancelled", "The run was cancelled."));
  }
  int done = steps_;
  for (const auto& rank : progress_) done = std::min(done, rank->steps_done.load());
  if (done != reported_) {
    tell_losses(reported_ + 1, done);
    reported_ = done;
    if (control_.progress)
      control_.progress(
          static_cast<double>(done) / std::max(steps_, 1),
          done < warmup_ ? message("doing-warm-up", "warm-up step {} of {}", done + 1, warmup_)
          : done < steps_
              ? message("doing-step", "step {} of {}", done + 1 - warmup_, steps_ - warmup_)
          : steps_ - warmup_ == 1 ? message("doing-done-one", "1 step done")
                                  : message("doing-done", "{} steps done", steps_ - warmup_));
  }
  // The first step also makes the kernels' code and touches their memory, so the second is judged.
  if (paced_ && !judged_ && done >= std::min(2, steps_)) judge_stretch();
  look_at_transports();
  begin_to_follow();
  look_for_hang();
  begin_to_abort();
  look_for_late_end();
}

void RunWatch::tell_losses(int first, int last) {
  if (!control_.loss) return;
  for (int step = std::max(first, 1); step <= last; ++step)
    if (const std::optional<double> loss = loss_of_step(program_, progress_, step))
      control_.loss(step, *loss);
}

// A rank that ends takes the others' connections with it, and says itself what happened.
void RunWatch::look_at_transports() {
  if (stop_.raised()) return;
  for (std::size_t rank = 0; rank < transports_.size(); ++rank) {
    if (transports_[rank] == nullptr) continue;
    const auto doing = [&] { return describe_now(program_.ranks[rank], *progress_[rank]).text; };
    const Result<void> good = transports_[rank]->look(doing);
    if (good) continue;
    if (!failed_) failed_ = now_();
    if (now_() - *failed_ >= kFirstHand) stop_.raise(good.error());
    return;
  }
  failed_.reset();
}

// A thread for each rank whose devices run behind: where one of them has to wait for its driver,
// its rank seems to stand still, and that is what it does.
void RunWatch::begin_to_follow() {
  for (std::size_t index = 0; index < progress_.size(); ++index) {
    if (followed_[index] || !progress_[index]->behind.load(std::memory_order_relaxed)) continue;
    followed_[index] = true;
    try {
      followers_.emplace_back([this, &rank = *progress_[index]] {
        while (!ended_) {
          {
            const std::lock_guard lock(rank.following);
            if (rank.follow) rank.follow();
          }
          std::this_thread::sleep_for(kFollowEvery);
        }
      });
    } catch (const std::system_error&) {
      stop_.raise(
          message("threads-short.engine", "This computer gives the engine no more threads."));
    }
  }
}

// On a thread of its own: an abort blocks until a device is free, and if that never comes, somebody
// has to see that ranks end late.
void RunWatch::begin_to_abort() {
  if (!aborts() || aborter_.joinable()) return;
  const auto abort_all = [this] {
    for (Transport* transport : transports_)
      if (transport != nullptr) transport->abort();
    aborted_ = true;
  };
  try {
    aborter_ = std::thread(abort_all);
  } catch (const std::system_error&) {
    abort_all();  // no more threads
  }
}

void RunWatch::look_for_late_end() {
  if (!stop_.raised() || abandoned_ || !control_.abandon) return;
  if (!stopped_) stopped_ = now_();
  const bool cancelled = stop_.why().kind == "cancelled";
  if (now_() - *stopped_ < (cancelled ? kLateCancel : kLateEnd)) return;
  abandoned_ = true;
  control_.abandon(stop_.why());
}

void RunWatch::look_for_hang() {
  std::uint64_t changes = 0;
  bool may_hang = false, connects = false;
  for (const auto& rank : progress_) {
    for (const LaneProgress& lane : rank->lanes) {
      changes += lane.changes.load();
      const Doing doing = lane.doing.load();
      if (doing == Doing::kPacing) changed_ = now_();  // it will wake up
      // Where a hang is waited for, no long op is taken for one.
      if (control_.hung && doing == Doing::kComputing) changed_ = now_();
      may_hang = may_hang || doing != Doing::kNothing;
      connects = connects || doing == Doing::kConnecting;
    }
  }
  if (changes != changes_ || !may_hang) {
    changes_ = changes;
    changed_ = now_();
  }
  const double still = std::chrono::duration<double>(now_() - changed_).count();
  const double limit = connects ? kConnectingTimes * hang_seconds_ : hang_seconds_;
  if (still > limit && !stop_.raised()) {
    if (control_.hung) control_.hung(stuck_ranks(program_, progress_));
    stop_.raise(describe_hang(program_, progress_, limit));
  }
}

void RunWatch::judge_stretch() {
  judged_ = true;
  const auto of_machine = [&](Nanoseconds clock) { return seconds_of(clock) / control_.stretch; };
  std::vector<RankWork> ranks;
  double step = 0;
  for (std::size_t index = 0; index < progress_.size(); ++index) {
    RankProgress& rank = *progress_[index];
    RankWork& work = ranks.emplace_back();
    const std::lock_guard lock(rank.telling);
    work.work = seconds_of(rank.cpu_time);
    step = std::max(step, of_machine(rank.modelled_end));
    const auto& ops = program_.ranks[index].ops;
    for (std::size_t op = 0; op < rank.slots.size(); ++op) {
      const OpSlot& slot = rank.slots[op];
      if (ops[op].kind != OpKind::kCompute) continue;
      // Who was late did not sleep, and will.
      if (slot.work >= slot.length) work.work += kSleepSeconds;
      if (ops[op].lane == Lane::kCompute)
        work.ops.push_back({of_machine(slot.length), seconds_of(slot.work)});
    }
  }
  const double least = least_stretch(ranks, step, cores_);
  if (least <= control_.stretch) return;
  const double chosen = chosen_stretch(least, setup_.run.stretch);
  Message why = message("stretch-short",
                        "The real work of these ranks does not fit a rehearsal of 1:{}; it needs "
                        "1:{}.",
                        figure(fmt::format("{:.4g}", control_.stretch)),
                        figure(fmt::format("{:.4g}", chosen)));
  why.alternatives = {fmt::format("{:.17g}", chosen)};
  stop_.raise(why);
}

}  // namespace parallelarium
