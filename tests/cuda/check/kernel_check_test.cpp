// SPDX-License-Identifier: Apache-2.0
// The check of a GPU's kernels, on CPU devices that are right but for one thing.
#include "engine/run/gpu/check/kernels/kernel_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "engine/run/gpu/check/check.h"
#include "tests/cuda/faulty_device.h"
#include "tests/cuda/queued_device.h"

namespace parallelarium {
namespace {

using Output = std::pair<std::string, int>;  // a launch and which of its results

// Every family in every type on one device; `types` and `only` narrow it.
std::vector<KernelFault> check(const std::function<std::unique_ptr<Device>()>& make,
                               const std::set<std::string>& only = {}) {
  KernelBench bench(1, [&](int) { return make(); }, {});
  for (const DataType type : {DataType::kF32, DataType::kBf16}) {
    for (const KernelFamily& family : kernel_families()) {
      if (type == DataType::kBf16 && !family.half) continue;
      if (!only.empty() && only.count(std::string(family.name.english.text)) == 0) continue;
      bench.start_family(family.name, type);
      family.check(bench);
    }
  }
  return bench.faults();
}

std::map<Output, std::set<std::string>> outputs_by_family() {
  std::map<Output, std::set<std::string>> seen;
  for (const KernelFamily& family : kernel_families()) {
    const std::string name(family.name.english.text);
    const auto note = [&](const std::string& launch, int output, Values written) {
      if (written || launch.rfind("copy_to_", 0) == 0) seen[{launch, output}].insert(name);
    };
    EXPECT_TRUE(check([&] { return std::make_unique<FaultyDevice>(note); }, {name}).empty());
  }
  return seen;
}

// All that a Device has no body for, from its headers.
std::set<std::string> launches_of_device() {
  std::stringstream text;
  for (const char* header : {"/engine/train/device_stream.h", "/engine/train/device.h"}) {
    std::ifstream file(std::string(PARALLELARIUM_SOURCE_DIR) + header);
    text << file.rdbuf();
  }
  const std::string header = text.str();
  std::set<std::string> names;
  const std::regex pure(R"(virtual void (\w+)\([^;{]*= 0;)");
  for (std::sregex_iterator at(header.begin(), header.end(), pure), end; at != end; ++at)
    names.insert((*at)[1]);
  return names;
}

TEST(KernelCheck, HasAFamilyForEveryLaunchOfDevice) {
  std::set<std::string> covered;
  for (const auto& [output, families] : outputs_by_family()) covered.insert(output.first);
  std::set<std::string> all = launches_of_device();
  EXPECT_GT(all.size(), 45u) << "the header is not read as it is written";
  all.erase("release");  // gives back what was allocated
  for (const std::string& name : all) EXPECT_TRUE(covered.count(name)) << name;
}

void spoil(Values at) {
  const auto change = [&]<class T>(T* to) {
    if constexpr (std::is_same_v<T, Bf16>)
      *to = round_to_bf16(widen(*to) + 1 + std::abs(widen(*to)));
    else if constexpr (std::is_floating_point_v<T>)
      *to += 1 + std::abs(*to);
    else
      *to ^= 1;
  };
  switch (at.type()) {
    case DataType::kF32:
      return change(reinterpret_cast<float*>(at.address()));
    case DataType::kBf16:
      return change(reinterpret_cast<Bf16*>(at.address()));
    case DataType::kF64:
      return change(reinterpret_cast<double*>(at.address()));
    case DataType::kI32:
      return change(reinterpret_cast<std::int32_t*>(at.address()));
    case DataType::kU8:
      return change(reinterpret_cast<std::uint8_t*>(at.address()));
  }
}

TEST(KernelCheck, FindsOneWrongElementInAnyResultOfAnyLaunch) {
  for (const auto& [output, families] : outputs_by_family()) {
    if (output.first.rfind("copy_to_", 0) == 0) continue;
    const auto fault = [&, spoiled = output](const std::string& launch, int index, Values written) {
      if (launch == spoiled.first && index == spoiled.second && written) spoil(written);
    };
    const std::vector<KernelFault> found =
        check([&] { return std::make_unique<FaultyDevice>(fault); }, {*families.begin()});
    ASSERT_FALSE(found.empty()) << output.first << ", result " << output.second;
    EXPECT_EQ(found.front().family.text, *families.begin());
    EXPECT_FALSE(found.front().shape.empty());
    EXPECT_FALSE(found.front().found.text.empty());
  }
}

class Right : public FaultyDevice {
 public:
  Right() : FaultyDevice([](const std::string&, int, Values) {}) {}
};

struct ForgetsTheLast final : Right {
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    Right::gelu_forward(g, u, count - 1);
  }
};
struct WritesOneMore final : Right {
  void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    Right::fill_rows(to, stride, value, rows, width);
    Right::fill_rows(to + (rows * stride), stride, value, 1, 1);
  }
};
struct IsOneOff final : Right {
  void residual_add(Values out, ConstValues stream, ConstValues branch,
                    std::int64_t count) override {
    Right::residual_add(out, stream, branch, count);
    if (count > 1) Right::residual_add(out, stream + 1, branch, count - 1);
  }
};
// The products of odd leading dimensions in bf16 are those of K - 1.
struct IsWrongAtOddK final : Right {
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    Right::linear_forward(y, x, w, bias, N, M, K, y_pitch);
    if (x.type() == DataType::kBf16 && K % 2 == 1) spoil(y);
  }
};

KernelFault only_fault(const std::vector<KernelFault>& faults) {
  EXPECT_FALSE(faults.empty());
  return faults.empty() ? KernelFault{} : faults.front();
}

TEST(KernelCheck, NamesWhereAKernelIsOffByOneElement) {
  const KernelFault last =
      only_fault(check([] { return std::make_unique<ForgetsTheLast>(); }, {"GELU"}));
  EXPECT_EQ(last.shape, "1 float32");
  EXPECT_EQ(last.found.text.rfind("element 0 of g is 7 and should be ", 0), 0u) << last.found.text;
  const KernelFault more =
      only_fault(check([] { return std::make_unique<WritesOneMore>(); }, {"rows"}));
  EXPECT_NE(more.found.text.find("behind"), std::string::npos) << more.found.text;
  const std::vector<KernelFault> off =
      check([] { return std::make_unique<IsOneOff>(); }, {"residual"});
  ASSERT_EQ(off.size(), 2u) << "once for each type";
  EXPECT_EQ(off[1].shape, "3 bfloat16");
}

TEST(KernelCheck, FindsProductsThatAreWrongAtOddLeadingDimensions) {
  const std::vector<KernelFault> found =
      check([] { return std::make_unique<IsWrongAtOddK>(); }, {"matrix products"});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().family.text, "matrix products");
  EXPECT_EQ(found.front().shape, "1 x 1 x 1 bfloat16");
}

// As a library's kernel of large tiles, which small products never see.
struct IsWrongInLargeTiles final : Right {
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    Right::linear_forward(y, x, w, bias, N, M, K, y_pitch);
    if (N > 256 && M >= 256) spoil(y + (256 * M));
  }
};
TEST(KernelCheck, FindsProductsThatAreWrongInLargeTiles) {
  const std::vector<KernelFault> found =
      check([] { return std::make_unique<IsWrongInLargeTiles>(); }, {"matrix products"});
  ASSERT_EQ(found.size(), 2u) << "once for each type";
  EXPECT_EQ(found.front().shape, "257 x 768 x 1024 float32");
}

// A kernel that never ends; the bench keeps its device, so this one ends at the process's end.
class Hangs final : public QueuedDevice {
 public:
  Hangs() : QueuedDevice(std::chrono::microseconds{0}) {}
  void gelu_forward(Values, ConstValues, std::int64_t) override {
    enqueue([] { std::this_thread::sleep_for(std::chrono::hours{1}); });
  }
};

GpuCheckRig rig(std::function<std::unique_ptr<Device>()> make, int gpus = 1) {
  GpuCheckRig rig;
  GpuFacts facts;
  facts.name = "stand-in";
  rig.gpus.assign(static_cast<std::size_t>(gpus), facts);
  rig.make_device = [make](int, int, Lane) { return make(); };
  rig.without_nccl = "no NCCL here";
  return rig;
}

TEST(GpuCheck, OfAGpuThatIsRightPassesAndSaysWhatItDoes) {
  std::set<std::string> told;
  double last = 0;
  RunControl control;
  control.progress = [&](double share, const Message& what) {
    EXPECT_GE(share, last);
    last = share;
    told.insert(what.text);
  };
  const Result<GpuCheck> check = check_gpus(rig([] { return std::make_unique<Right>(); }), control);
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->passed());
  EXPECT_TRUE(check->complete());
  EXPECT_EQ(check->gpus.size(), 1u);
  EXPECT_TRUE(check->links.empty());
  EXPECT_LT(check->seconds, 15);
  EXPECT_EQ(last, 1);
  EXPECT_FALSE(told.empty());
}

TEST(GpuCheck, NamesAKernelThatNeverEndsAndGoesOnWithoutThatGpu) {
  int made = 0;
  GpuCheckRig two = rig({}, 2);
  two.make_device = [&](int gpu, int, Lane) -> std::unique_ptr<Device> {
    ++made;
    if (gpu == 1) return std::make_unique<Hangs>();
    return std::make_unique<Right>();
  };
  two.trial_seconds = 0.5;
  const Result<GpuCheck> check = check_gpus(two, {});
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->gpus[0].passed());
  ASSERT_EQ(check->gpus[1].failures.size(), 1u);
  EXPECT_EQ(check->gpus[1].failures[0].sentence.text,
            "GELU (1 float32): does not end within 0.5 s.");
  EXPECT_FALSE(check->gpus[1].unreached.empty());
  EXPECT_TRUE(check->stuck);
  EXPECT_FALSE(check->passed());
  EXPECT_EQ(check->without_links, "no NCCL here");
}

TEST(GpuCheck, OutOfTimeSaysWhatItDidNotReach) {
  GpuCheckRig slow = rig([] { return std::make_unique<Right>(); });
  slow.limit_seconds = 0;
  const Result<GpuCheck> check = check_gpus(slow, {});
  ASSERT_TRUE(check.ok());
  EXPECT_FALSE(check->passed());
  EXPECT_FALSE(check->complete());
  EXPECT_FALSE(check->gpus[0].failed()) << "nothing is known against it";
  EXPECT_GT(check->gpus[0].unreached.size(), 30u);
}

TEST(GpuCheck, CanBeCancelled) {
  const std::atomic<bool> cancel{true};
  RunControl control;
  control.cancel = &cancel;
  const Result<GpuCheck> check = check_gpus(rig([] { return std::make_unique<Right>(); }), control);
  ASSERT_FALSE(check.ok());
  EXPECT_EQ(check.error().kind, "cancelled");
}

// Another process has its memory: no verdict.
struct IsFull final : Right {
  Result<std::byte*> allocate(std::int64_t) override { return message("memory-short", "Full."); }
};
TEST(GpuCheck, OfAGpuWithoutRoomIsNotAFailure) {
  const Result<GpuCheck> check = check_gpus(rig([] { return std::make_unique<IsFull>(); }), {});
  ASSERT_TRUE(check.ok());
  EXPECT_FALSE(check->gpus[0].failed());
  EXPECT_FALSE(check->passed());
  EXPECT_EQ(check->gpus[0].notes, (std::vector<std::string>{"Full."}));
}

// A library without bf16 products, on a GPU that is older than them and on one that is not.
struct RefusesBf16 final : Right {
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    if (x.type() == DataType::kBf16) failed_ = true;
    Right::linear_forward(y, x, w, bias, N, M, K, y_pitch);
  }
  Result<void> finish() override {
    if (failed_) return message("cuda-failed", "cuBLASLt failed.");
    return {};
  }
  bool failed_ = false;
};
TEST(GpuCheck, ForgivesOlderGpusThatTheyRefuseBf16) {
  for (const int major : {7, 9}) {
    GpuCheckRig one = rig([] { return std::make_unique<RefusesBf16>(); });
    one.gpus[0].major = major;
    const Result<GpuCheck> check = check_gpus(one, {});
    ASSERT_TRUE(check.ok());
    EXPECT_EQ(check->gpus[0].failed(), major == 9);
    EXPECT_EQ(check->gpus[0].notes.size(), major == 9 ? 0u : 1u);
  }
}

}  // namespace
}  // namespace parallelarium
