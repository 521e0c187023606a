// SPDX-License-Identifier: Apache-2.0
// A training step allocates nothing once the first ones have warmed up: every operator new of the
// threads that execute it is counted, from a rank's first launch to its last update. What the
// step's report copies afterwards does not count, nor does what oneDNN's products of bf16
// allocate, in the library and for the descriptions of their operands.
#include <dlfcn.h>
#include <execinfo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include "engine/plan/machine/presets.h"
#include "tests/ranks/harness.h"
#include "tests/ranks/proof.h"
#include "tests/ranks/transport/wrapped_device.h"

namespace {

std::atomic<bool> warm{false};
std::atomic<int> allocations{0};
thread_local bool in_step = false;
std::atomic<int> frames_kept{0};
void* first_frames[16];  // where the first one came from, to name the culprit

bool is_in_product_of_bf16(void* const* frames, int count) {
  return std::any_of(frames, frames + count, [](void* frame) {
    Dl_info found{};
    if (dladdr(frame, &found) == 0 || found.dli_sname == nullptr) return false;
    const std::string_view symbol = found.dli_sname;
    return symbol.find("matmul_cpu") != symbol.npos && symbol.find("Bf16") != symbol.npos;
  });
}

void count() {
  if (!in_step || !warm.load(std::memory_order_relaxed)) return;
  in_step = false;
  void* frames[16];
  const int kept = backtrace(frames, 16);
  if (!is_in_product_of_bf16(frames, kept) && allocations.fetch_add(1) == 0) {
    std::copy_n(frames, kept, first_frames);
    frames_kept = kept;
  }
  in_step = true;
}

void* counted(std::size_t bytes) {
  count();
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  count();
  const auto line = static_cast<std::size_t>(alignment);
  if (void* memory = std::aligned_alloc(line, (bytes + line - 1) / line * line)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace parallelarium {
namespace {

// The compute lane's thread is in a step from the barrier before it to the update; other lanes'
// threads from their first transfer on, since they do nothing between steps.
class Watched final : public WrappedDevice {
 public:
  Watched() : WrappedDevice([](int) {}) {}
  void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
             Values second_moment, const double* square_sum, float clip, const AdamW& settings,
             const Runs& decayed) override {
    in_step = true;
    WrappedDevice::adamw(parameters, master, gradients, first_moment, second_moment, square_sum,
                         clip, settings, decayed);
    in_step = false;
    if (settings.step >= 2) warm = true;
  }
};

class WatchedTransport final : public Transport {
 public:
  explicit WatchedTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  int rank() const override { return inner_->rank(); }
  Result<void> connect() override { return inner_->connect(); }
  Result<void> close() override { return inner_->close(); }
  void abort() override { inner_->abort(); }
  bool does_steps() const override { return inner_->does_steps(); }
  Result<void> transfer(std::span<TransferPart> parts) override {
    in_step = true;
    return inner_->transfer(parts);
  }
  Result<void> collective(CollectiveCall& call) override {
    in_step = true;
    return inner_->collective(call);
  }
  Result<TimePoint> barrier() override {
    Result<TimePoint> start = inner_->barrier();
    in_step = true;
    return start;
  }

 private:
  std::unique_ptr<Transport> inner_;
};

class Step : public testing::TestWithParam<const char*> {};

TEST_P(Step, AllocatesNothingOnceWarm) {
  std::string words = GetParam();
  parallelarium::Setup setup = small_model("");
  if (words.starts_with("moe ")) {
    setup.model = *find_model("moe-tiny");
    setup.model.layers = 4;
    words = words.substr(4);
  }
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    ASSERT_TRUE(set_field(setup, word.substr(0, equals), word.substr(equals + 1)).ok()) << word;
  }
  setup.run.warmup = 2;
  setup.run.steps = 3;
  LaunchOptions options;
  options.make_device = [](int, Lane lane) -> std::unique_ptr<Device> {
    if (lane != Lane::kCompute) return make_cpu_device();
    return std::make_unique<Watched>();
  };
  options.make_transport = [](TransportParts parts) -> std::unique_ptr<Transport> {
    return std::make_unique<WatchedTransport>(std::move(parts.host));
  };
  const Program program = built(setup);
  warm = false;
  allocations = frames_kept = 0;
  const Result<RunResult> result = run_now(setup, program, {}, options);
  warm = false;
  ASSERT_TRUE(result.ok()) << result.error().text;
  EXPECT_EQ(allocations, 0) << "the first from the function below";
  if (frames_kept > 0) backtrace_symbols_fd(first_frames, frames_kept, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Setups, Step,
    testing::Values("pp=1", "pp=4", "pp=2 schedule=interleaved chunks=2",
                    "pp=2 microbatches=4 schedule=zb-v", "pp=2 microbatches=4 schedule=dualpipe",
                    "dp=2", "dp=2 zero=2", "dp=4 zero=3 zero-group=2", "tp=2",
                    "tp=2 sequence-parallel=true", "cp=2 attention=fused",
                    "cp=2 attention=fused context-parallel=all-gather",
                    "cp=2 context-parallel=ulysses", "pp=2 recompute=full dropout=0.1",
                    "dp=2 precision=mixed-16", "dp=4 collectives=ring", "clip=0.1 dp=2 pp=2",
                    "moe pp=1", "moe dp=2 ep=2", "moe dp=2 ep=2 bias-rate=0.01 precision=mixed-16"),
    [](const auto& c) { return test_name(c.param); });

}  // namespace
}  // namespace parallelarium
