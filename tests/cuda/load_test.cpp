// SPDX-License-Identifier: Apache-2.0
// Before communicators connect, a rank has done once what each of its ops does: afterwards no
// kernel and no size of a product is new to its devices. On stand-ins that write down what is
// launched.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "engine/run/gpu/nccl/nccl_launch.h"
#include "tests/cuda/nccl/thread_nccl.h"
#include "tests/ranks/proof.h"

namespace parallelarium {
namespace {

// What one rank's devices were asked for, before and after its transport was connected.
struct Asked {
  std::mutex mutex;
  std::atomic<bool> connected{false};
  std::vector<std::string> before;  // in order, each once
  std::set<std::string> late;       // new afterwards
  void note(const std::string& what) {
    const std::lock_guard lock(mutex);
    const bool known = std::find(before.begin(), before.end(), what) != before.end();
    if (known) return;
    if (connected)
      late.insert(what);
    else
      before.push_back(what);
  }
};

class NotedDevice final : public QueuedDevice {
 public:
  NotedDevice(Asked& asked, Lane lane)
      : QueuedDevice(std::chrono::microseconds{0}), asked_(asked), lane_(lane) {}

  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t pitch) override {
    note("y = x w", {N, M, K, pitch, bias ? 1 : 0, type(y), type(x), at(y), at(x), at(w)});
    QueuedDevice::linear_forward(y, x, w, bias, N, M, K, pitch);
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N, std::int64_t M,
                         std::int64_t K, std::int64_t pitch) override {
    note("dx", {N, M, K, pitch, type(dx), type(dy), at(dx), at(dy), at(w)});
    QueuedDevice::linear_input_grad(dx, dy, w, N, M, K, pitch);
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                          std::int64_t M, std::int64_t K, std::int64_t pitch) override {
    note("dw", {N, M, K, pitch, db ? 1 : 0, type(dw), type(x), at(dw), at(dy), at(x)});
    QueuedDevice::linear_weight_grad(dw, db, dy, x, N, M, K, pitch);
  }
  void attention_forward(Values context, Values probabilities, ConstValues qkv,
                         const AttentionShape& shape, const DroppedValues& dropout) override {
    note("attention", {shape.B, shape.T, shape.H, shape.K, shape.D, type(qkv), at(qkv)});
    QueuedDevice::attention_forward(context, probabilities, qkv, shape, dropout);
  }
  void fused_attention_forward(Values context, float* lse, float* scratch, ConstValues qkv,
                               const AttentionShape& shape) override {
    note("fused attention", {shape.B, shape.T, shape.H, shape.K, shape.D, type(qkv), at(qkv)});
    QueuedDevice::fused_attention_forward(context, lse, scratch, qkv, shape);
  }
  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    note("combine", {static_cast<int>(type), static_cast<int>(reduction)});
    QueuedDevice::combine(type, reduction, target, parts, divisor, count);
  }
  void cast(Values to, ConstValues from, std::int64_t count) override {
    note("cast", {type(to)});
    QueuedDevice::cast(to, from, count);
  }
  void accumulate(Values sum, ConstValues part, std::int64_t count) override {
    note("accumulate", {type(sum)});
    QueuedDevice::accumulate(sum, part, count);
  }
  void adamw(Values parameters, float* master, ConstValues gradients, Values first, Values second,
             const double* square_sum, float clip, const AdamW& settings,
             const Runs& decayed) override {
    note("adamw", {type(parameters), type(gradients), type(first)});
    QueuedDevice::adamw(parameters, master, gradients, first, second, square_sum, clip, settings,
                        decayed);
  }
  void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override {
    note("dispatch", {N, k, C, type(rows)});
    QueuedDevice::dispatch_rows(rows, y, routes, N, k, C);
  }

 private:
  template <class V>
  static std::int64_t type(const V& values) {
    return static_cast<std::int64_t>(values.type());
  }
  template <class V>
  static std::int64_t at(const V& values) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(values.address()) % 16);
  }
  void note(const std::string& what, std::vector<std::int64_t> sizes) {
    std::string text = fmt::format("{} on lane {}:", what, static_cast<int>(lane_));
    for (const std::int64_t size : sizes) text += fmt::format(" {}", size);
    asked_.note(text);
  }
  Asked& asked_;
  const Lane lane_;
};

// Tells when the rank connects.
class ToldTransport final : public Transport {
 public:
  ToldTransport(std::unique_ptr<Transport> inner, Asked& asked)
      : inner_(std::move(inner)), asked_(asked) {}
  int rank() const override { return inner_->rank(); }
  Result<void> connect() override {
    asked_.connected = true;
    return inner_->connect();
  }
  Result<void> close() override { return inner_->close(); }
  void report_to(RankProgress& progress) override { inner_->report_to(progress); }
  Result<void> look(const std::function<std::string()>& doing) override {
    return inner_->look(doing);
  }
  void abort() override { inner_->abort(); }
  bool waits_on_devices() const override { return true; }
  bool joins_collectives() const override { return inner_->joins_collectives(); }
  Result<void> collectives(std::span<CollectiveCall> calls) override {
    return inner_->collectives(calls);
  }
  bool does_steps() const override { return inner_->does_steps(); }
  Result<void> transfer(std::span<TransferPart> parts) override { return inner_->transfer(parts); }
  Result<void> collective(CollectiveCall& call) override { return inner_->collective(call); }
  Result<TimePoint> barrier() override { return inner_->barrier(); }

 private:
  const std::unique_ptr<Transport> inner_;
  Asked& asked_;
};

std::map<int, Asked> run_noted(const std::string& settings) {
  const parallelarium::Setup setup = small_model(settings);
  const Program program = built(setup);
  std::map<int, Asked> asked;
  for (const RankProgram& rank : program.ranks) asked[rank.rank];
  ThreadNccl nccl;
  LaunchOptions options;
  options.make_device = [&](int rank, Lane lane) -> std::unique_ptr<Device> {
    return std::make_unique<NotedDevice>(asked.at(rank), lane);
  };
  options.make_transport = [&, inner = nccl_between_threads(nccl)](TransportParts parts) {
    const int rank = parts.rank.rank;
    return std::make_unique<ToldTransport>(inner(std::move(parts)), asked.at(rank));
  };
  const Result<RunResult> run = launch(setup, program, {Backend::kCuda, Source::kMeasured, {}}, {},
                                       {.gradients = true}, options);
  EXPECT_TRUE(run.ok()) << run.error().text;
  if (run) {
    const Proof proof = proof_of(*run, setup);
    EXPECT_TRUE(proof.holds()) << "the zeros of loading are gone: " << proof.loss_difference;
  }
  return asked;
}

class Loaded : public testing::TestWithParam<const char*> {};

TEST_P(Loaded, IsEverythingThatARankLaunchesLater) {
  for (auto& [rank, asked] : run_noted(GetParam())) {
    EXPECT_GT(asked.before.size(), 5u) << "rank " << rank;
    EXPECT_EQ(asked.late, std::set<std::string>{}) << "rank " << rank;
  }
}
INSTANTIATE_TEST_SUITE_P(Meshes, Loaded,
                         testing::Values("dp=2", "tp=2 sequence_parallel=true",
                                         "pp=4 microbatches=4", "tp=2 pp=2 dp=2 zero=2",
                                         "llama cp=2 attention=fused", "dropout=0.1 dp=2",
                                         "precision=mixed-16 dp=3 zero=3 clip=0.05",
                                         "dp=3 zero=2 collectives=ring microbatches=4",
                                         "tp=2 pp=2 dp=2 collectives=halving-doubling"),
                         [](const auto& one) { return test_name(one.param); });

// Experts have other rows in each step; what does not depend on these is loaded.
TEST(LoadedExperts, AreTakenByPowersOfTwo) {
  for (auto& [rank, asked] : run_noted("experts=8 top-k=2 expert-ffn=12 dp=2 ep=2")) {
    std::set<std::string> kinds;
    for (const std::string& what : asked.before) kinds.insert(what.substr(0, what.find(':')));
    for (const std::string& what : asked.late)
      EXPECT_EQ(kinds.count(what.substr(0, what.find(':'))), 1u) << what;
    EXPECT_EQ(kinds.count("dispatch on lane 0"), 1u);
    const auto rows = [&](int count) {
      return std::any_of(asked.before.begin(), asked.before.end(), [&](const std::string& what) {
        return what.rfind(fmt::format("y = x w on lane 0: {} 12 ", count), 0) == 0;
      });
    };
    EXPECT_TRUE(rows(1) && rows(2) && rows(4) && rows(8)) << "rank " << rank;
  }
}

// Each time in the order of the ops.
TEST(LoadedKernels, GoInOneOrder) {
  const auto first = run_noted("tp=2 pp=2"), second = run_noted("tp=2 pp=2");
  for (const auto& [rank, asked] : first) EXPECT_EQ(asked.before, second.at(rank).before);
}

}  // namespace
}  // namespace parallelarium
