// SPDX-License-Identifier: Apache-2.0
// A run that is cancelled, fails or hangs ends on all ranks, soon, with one sentence, and leaves no
// thread behind.
#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <thread>

#include "engine/run/cores.h"
#include "engine/run/stop.h"
#include "tests/ranks/harness.h"
#include "tests/ranks/transport/wrapped_device.h"
#include "tests/ranks/transport/wrapped_transport.h"

namespace parallelarium {
namespace {

using Seconds = std::chrono::duration<double>;

int threads_of_process() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

struct Ended {
  Message why;
  double seconds = 0;
};

// Runs and expects an error; nothing of the run may be left.
Ended run_into_error(const parallelarium::Setup& setup, const Program& program,
                     const RunControl& control, const LaunchOptions& options = {},
                     const BackendChoice& choice = on_cpu()) {
  std::thread([] {}).join();  // a sanitizer starts a thread of its own with the first one
  const int threads = threads_of_process();
  const TimePoint begin = Clock::now();
  const Result<RunResult> result = launch(setup, program, choice, control, {}, options);
  Ended ended;
  ended.seconds = Seconds(Clock::now() - begin).count();
  EXPECT_FALSE(result.ok());
  if (!result.ok()) ended.why = result.error();
  // A joined thread may stay in /proc for a moment.
  for (int i = 0; i < 50 && threads_of_process() > threads; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  EXPECT_LE(threads_of_process(), threads);
  return ended;
}

LaunchOptions wrapping(int rank, std::function<void(int)> before_linear) {
  LaunchOptions options;
  options.make_device = [rank, before_linear](int at, Lane) -> std::unique_ptr<Device> {
    if (at != rank) return make_cpu_device();
    return std::make_unique<WrappedDevice>(before_linear);
  };
  return options;
}

TEST(Failure, ThrowingRankEndsTheRunAndIsNamed) {
  const parallelarium::Setup setup = small_setup(4, 2, 4);
  const Program program = built(setup);
  for (const int rank : {0, 2, 7}) {
    const Ended ended = run_into_error(setup, program, {}, wrapping(rank, [](int calls) {
                                         if (calls == 5) throw std::runtime_error("out of luck");
                                       }));
    EXPECT_EQ(ended.why.text.rfind(fmt::format("Rank {} failed in ", rank), 0), 0u)
        << ended.why.text;
    EXPECT_NE(ended.why.text.find("micro-batch 0"), std::string::npos) << ended.why.text;
    EXPECT_NE(ended.why.text.find("out of luck"), std::string::npos) << ended.why.text;
    EXPECT_LT(ended.seconds, 2);
  }
}

// Messages go from a thread of their own, where memory can run out, too.
TEST(Failure, ThrowingTransportEndsTheRunAndItsRankIsNamed) {
  const parallelarium::Setup setup = small_setup(3, 1, 4);
  LaunchOptions options;
  options.make_transport = [](TransportParts parts) -> std::unique_ptr<Transport> {
    if (parts.host->rank() != 1) return std::move(parts.host);
    return std::make_unique<WrappedTransport>(std::move(parts.host), [](int calls) {
      if (calls == 7) throw std::bad_alloc();
    });
  };
  const Ended ended = run_into_error(setup, built(setup), {}, options);
  EXPECT_EQ(ended.why.text.rfind("Rank 1 failed in ", 0), 0u) << ended.why.text;
  EXPECT_LT(ended.seconds, 2);
}

TEST(Failure, StuckRankIsNamedWithTheOpThatItDidNotReach) {
  const parallelarium::Setup setup = small_setup(4, 1, 6);
  RunControl control;
  control.hang_timeout_seconds = 0.3;
  const Ended ended = run_into_error(setup, built(setup), control, wrapping(2, [](int calls) {
                                       if (calls == 30)
                                         std::this_thread::sleep_for(std::chrono::seconds{1});
                                     }));
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_EQ(ended.why.text.rfind("Rank 2 did not arrive at ", 0), 0u) << ended.why.text;
  EXPECT_NE(ended.why.text.find("within 0.3 s; it is still at layer"), std::string::npos)
      << ended.why.text;
}

TEST(Failure, LongOpIsNoHang) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  RunControl control;
  control.hang_timeout_seconds = 0.1;
  for (const RankProgram& rank : program.ranks)
    control.modelled.emplace_back(rank.ops.size(), std::chrono::milliseconds{300});
  const Result<RunResult> run =
      launch(setup, program, on_cpu(), control, {}, wrapping(1, [](int calls) {
               if (calls == 7) std::this_thread::sleep_for(std::chrono::milliseconds{500});
             }));
  EXPECT_TRUE(run.ok()) << run.error().text;
}

// Removes op `index`: what comes after it no longer waits for it.
void drop_op(RankProgram& rank, std::int32_t index) {
  std::vector<std::int32_t> after;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    Op& op = rank.ops[i];
    const auto first = static_cast<std::int32_t>(after.size());
    for (const std::int32_t earlier : rank.after_of(op)) {
      if (earlier != index) after.push_back(earlier > index ? earlier - 1 : earlier);
    }
    op.after_first = first;
    op.after_count = static_cast<std::int32_t>(after.size()) - first;
  }
  rank.after = std::move(after);
  rank.ops.erase(rank.ops.begin() + index);
  for (Buffer& buffer : rank.buffers) {
    buffer.opened_by -= buffer.opened_by > index;
    buffer.closed_by -= buffer.closed_by >= index && buffer.closed_by > 0;
  }
}

TEST(Failure, MissingSendIsNamed) {
  const parallelarium::Setup setup = small_setup(3, 1, 4);
  Program program = built(setup);
  RankProgram& rank = program.ranks[1];
  // The last send of activations: earlier ones would pair off with the wrong receives.
  std::int32_t last = -1;
  for (std::size_t i = 0; i < rank.ops.size(); ++i) {
    if (rank.ops[i].kind == OpKind::kSend && rank.ops[i].purpose == Purpose::kActivations)
      last = static_cast<std::int32_t>(i);
  }
  ASSERT_GE(last, 0);
  drop_op(rank, last);
  EXPECT_FALSE(check(program).empty()) << "check must refuse it before it is run";
  RunControl control;
  control.hang_timeout_seconds = 0.3;
  LaunchOptions options;
  EXPECT_NE(run_now(setup, program).error().kind, "hang") << "refused before anything runs";
  options.unchecked = true;
  const Ended ended = run_into_error(setup, program, control, options);
  EXPECT_EQ(ended.why.kind, "hang");
  EXPECT_NE(ended.why.text.find("within 0.3 s"), std::string::npos) << ended.why.text;
  EXPECT_LT(ended.seconds, 2);
}

TEST(Cancel, EndsWithinHalfASecondFromAnyState) {
  parallelarium::Setup setup = small_setup(4, 2, 4);
  setup.run.steps = 1'000'000;
  const Program program = built(setup);
  for (const int after_milliseconds : {0, 1, 20, 100, 300}) {
    std::atomic<bool> cancel{false};
    RunControl control;
    control.cancel = &cancel;
    TimePoint asked;
    std::thread user([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds{after_milliseconds});
      asked = Clock::now();
      cancel = true;
    });
    const Ended ended = run_into_error(setup, program, control);
    user.join();
    EXPECT_EQ(ended.why.kind, "cancelled");
    EXPECT_LT(Seconds(Clock::now() - asked).count(), 0.5);
  }
}

// A kernel under way cannot be interrupted; whoever owns the process hears of it in time.
TEST(Cancel, TellsWithinHalfASecondThatAnOpDoesNotEnd) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  std::atomic<bool> cancel{false};
  std::atomic<int> told{0};
  TimePoint asked, heard;
  RunControl control;
  control.cancel = &cancel;
  control.abandon = [&](const Message& why) {
    EXPECT_EQ(why.kind, "cancelled");
    heard = Clock::now();
    ++told;
  };
  const Ended ended = run_into_error(setup, built(setup), control, wrapping(0, [&](int calls) {
                                       if (calls != 5) return;
                                       asked = Clock::now();
                                       cancel = true;
                                       std::this_thread::sleep_for(std::chrono::milliseconds{900});
                                     }));
  EXPECT_EQ(ended.why.kind, "cancelled");
  ASSERT_EQ(told, 1);
  EXPECT_LT(Seconds(heard - asked).count(), 0.5);
}

TEST(Cancel, WakesRanksThatSleepForThePace) {
  const parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  RunControl control;
  for (const RankProgram& rank : program.ranks)
    control.modelled.emplace_back(rank.ops.size(), std::chrono::seconds{100});
  std::atomic<bool> cancel{false};
  control.cancel = &cancel;
  control.hang_timeout_seconds = 0.2;  // sleeping for the pace is no hang
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{600});
    cancel = true;
  });
  const Ended ended =
      run_into_error(setup, program, control, {}, {Backend::kPaced, Source::kPaced, {}});
  user.join();
  EXPECT_EQ(ended.why.kind, "cancelled");
  EXPECT_LT(ended.seconds, 1.1);
  EXPECT_GE(ended.seconds, 0.6);
}

TEST(Refusal, IsOneSentenceBeforeAnythingRuns) {
  parallelarium::Setup setup = small_setup(2, 1, 2);
  const Program program = built(setup);
  setup.run.text = "/does/not/exist";
  EXPECT_EQ(run_now(setup, program).error().id, "text-unreadable");
  setup = small_setup(2, 1, 2);
  Program part = program;
  part.ranks.pop_back();
  EXPECT_EQ(run_now(setup, part).error().id, "program-partial");
  const Result<RunResult> unpaced =
      run(setup, program, {Backend::kPaced, Source::kPaced, {}}, {}, {});
  EXPECT_EQ(unpaced.error().id, "durations-missing");
  setup.mesh.cp = 2;
  EXPECT_EQ(run_now(setup, program).error().id, "run-cp-attention");
  setup.attention = Attention::kFused;
  setup.model.experts.count = 4;
  EXPECT_EQ(run_now(setup, program).error().id, "run-experts-cp");
}

TEST(Backend, AutoPacesWhereCoresAreFewerThanRanks) {
  parallelarium::Setup setup = small_setup(1, 1, 1);
  const auto cores = static_cast<int>(available_cores().size());
  setup.run.backend = Backend::kAuto;
  Result<BackendChoice> one = choose_backend(setup);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->backend, Backend::kCpu);
  EXPECT_EQ(one->source, Source::kMeasured);
  setup.mesh.dp = 16;
  const Result<BackendChoice> many = choose_backend(setup);
  ASSERT_TRUE(many.ok());
  if (cores < 16) {
    EXPECT_EQ(many->backend, Backend::kPaced);
    EXPECT_EQ(many->why.text,
              fmt::format("16 ranks on {} core{}: rehearsed", cores, cores == 1 ? "" : "s"));
    setup.run.backend = Backend::kCpu;
    EXPECT_EQ(choose_backend(setup)->source, Source::kOversubscribed);
  }
  setup.run.backend = Backend::kCuda;
  const Result<BackendChoice> cuda = choose_backend(setup);
  ASSERT_FALSE(cuda.ok());
  EXPECT_EQ(cuda.error().field, "run.backend");
}

}  // namespace
}  // namespace parallelarium
