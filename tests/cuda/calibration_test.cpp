// SPDX-License-Identifier: Apache-2.0
// From times on GPUs to a Machine and a prediction, with times made up by a formula; and the
// measuring itself, on stand-ins for devices and NCCL.
#include "engine/run/gpu/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/predict/cost/pieces/work_seconds.h"
#include "tests/cuda/nccl/thread_nccl.h"
#include "tests/ranks/harness.h"

namespace parallelarium {
namespace {

std::vector<GpuFacts> gpus(int count) {
  GpuFacts gpu;
  gpu.name = "H100";
  gpu.memory_bytes = 80'000'000'000;
  return std::vector<GpuFacts>(static_cast<std::size_t>(count), gpu);
}

// Two GPUs whose kernels take 3 us each and then so long as their rate says.
GpuMeasurements made_up() {
  constexpr double kEmpty = 3e-6, kProductRate = 5e13, kNormRate = 2e11;
  GpuMeasurements made;
  made.gpus = gpus(2);
  made.gpus[1].memory_bytes = 40'000'000'000;
  for (const std::int64_t n : {512, 1024, 2048}) {
    const auto size = static_cast<double>(n);
    made.products.push_back({n, n, n, kEmpty + 2 * size * size * size / kProductRate});
    made.kernels.push_back({"norm", size * 1e5, kEmpty + size * 1e5 / kNormRate});
  }
  made.copy_bytes_per_second = 3e12;
  made.empty.seconds = kEmpty;
  made.launch_seconds = 6e-6;
  made.host_seconds = 7e-6;
  made.host_message_seconds = 60e-6;
  for (const std::int64_t bytes : {1024, 1 << 20, 32 << 20}) {
    made.pairs.push_back({0, 1, bytes, 8e-6 + static_cast<double>(bytes) / 2e11});
    made.pairs.push_back({1, 0, bytes, 8e-6 + static_cast<double>(bytes) / 1e11});
    // What one of two ranks sends of an all-reduce is the array once.
    made.collectives.push_back(
        {CollectiveKind::kAllReduce, 2, bytes, 12e-6 + static_cast<double>(bytes) / 1.5e11});
  }
  return made;
}

TEST(GpuMachine, FindsTheRatesThatTheTimesWereMadeFrom) {
  const Result<Machine> made = machine_of(made_up(), "2026-11-22", "here");
  ASSERT_TRUE(made.ok()) << made.error().text;
  const Machine& machine = *made;
  EXPECT_EQ(machine.name, kLocalGpus);
  EXPECT_TRUE(machine.local);
  EXPECT_FALSE(machine.ranks_share_memory());
  EXPECT_EQ(machine.devices_per_node, 2);
  EXPECT_EQ(machine.memory_bytes.value, 4e10) << "of the smallest";
  EXPECT_EQ(machine.calibrated, "2026-11-22 on here");
  EXPECT_EQ(prediction_word(machine), "calibrated");
  ASSERT_EQ(machine.matmuls.size(), 3u);
  for (const MatmulPoint& point : machine.matmuls)
    EXPECT_NEAR(point.flops_per_second.value / 5e13, 1, 1e-9);
  EXPECT_NEAR(machine.matmul_efficiency.value, 1, 1e-9);
  ASSERT_EQ(machine.kernels.size(), 3u) << "one for each size";
  for (const KernelRate& rate : machine.kernels)
    EXPECT_NEAR(rate.elements_per_second.value / 2e11, 1, 1e-9) << rate.elements;
  ASSERT_EQ(machine.pairs.size(), 2u);
  EXPECT_NEAR(machine.pairs[0].link.latency_seconds.value, 8e-6, 1e-12);
  EXPECT_NEAR(machine.pairs[0].link.bytes_per_second.value / 2e11, 1, 1e-9);
  EXPECT_NEAR(machine.pairs[1].link.bytes_per_second.value / 1e11, 1, 1e-9);
  EXPECT_NEAR(machine.intra_node.bytes_per_second.value / 1e11, 1, 1e-9) << "the slowest pair";
  ASSERT_EQ(machine.collectives.size(), 1u);
  EXPECT_EQ(machine.collectives[0].collective, "all_reduce");
  EXPECT_NEAR(machine.collectives[0].link.latency_seconds.value, 12e-6, 1e-12);
  EXPECT_NEAR(machine.collectives[0].link.bytes_per_second.value / 1.5e11, 1, 1e-9);
  // It can be kept and read again.
  const Result<Machine> again = machine_from_json(to_json(machine));
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(*again, machine);
}

TEST(GpuMachine, SaysWhenNothingWasMeasured) {
  EXPECT_EQ(machine_of({}, "", "").error().id, "calibration-empty");
  GpuMeasurements failed = made_up();
  for (ProductTime& time : failed.products) time.seconds = INFINITY;
  EXPECT_EQ(machine_of(failed, "", "").error().id, "calibration-empty");
}

TEST(GpuMachine, OfOneGpuSaysThatItsLinksAreAssumed) {
  GpuMeasurements one = made_up();
  one.gpus.resize(1);
  one.pairs.clear();
  one.collectives.clear();
  const Result<Machine> machine = machine_of(one, "2026-11-22", "here");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->title, "This computer's H100");
  EXPECT_TRUE(is_assumed(machine->intra_node.bytes_per_second.origin));
}

TEST(GpuMachine, OfOtherGpusHasAnotherTitle) {
  EXPECT_EQ(machine_of(made_up(), "", "")->title, "This computer's 2 GPUs (H100)");
  GpuMeasurements four = made_up();
  four.gpus = gpus(4);
  EXPECT_EQ(machine_of(four, "", "")->title, "This computer's 4 GPUs (H100)");
}

TEST(GpuMachine, OfMixedGpusNamesAllKindsAndWhoseRatesItHas) {
  GpuMeasurements made = made_up();
  made.gpus[0].name = "A100";
  made.slowest = "A100";
  const Result<Machine> machine = machine_of(made, "2026-11-23", "");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->title, "This computer's 2 GPUs (A100, H100)");
  EXPECT_EQ(text_of(machine->matmuls.front().flops_per_second.origin),
            "measured on this computer on 2026-11-23 (A100, the slowest kind)");
  EXPECT_EQ(machine->launch_seconds.origin, measured_here("2026-11-23"));
  for (const char* name : {"A100", "H100"}) EXPECT_TRUE(is_among(*machine, name)) << name;
  for (const char* name : {"A10", "100", "H100 NVL", "2 GPUs"})
    EXPECT_FALSE(is_among(*machine, name)) << name;
  EXPECT_EQ(machine_from_json(to_json(*machine))->gpus, (std::vector<std::string>{"A100", "H100"}));
}

TEST(GpuMachine, AKernelThatDoesNothingAddsHardlyToTheCostOfItsOp) {
  GpuMeasurements made = made_up();
  made.kernels.push_back({"residual", 16, made.empty.seconds});
  const Result<Machine> machine = machine_of(made, "", "");
  ASSERT_TRUE(machine.ok());
  Work work;
  work.piece = Piece::kResidual1;
  work.elements = 16;
  const double seconds = work_seconds(work, {}, *machine, DataType::kF32);
  EXPECT_GE(seconds, made.launch_seconds);
  EXPECT_LE(seconds, made.launch_seconds + 0.11 * made.empty.seconds);
}

// A GPU that moves 3e12 bytes per second, 28 for each parameter, a microsecond after its launch.
TEST(GpuMachine, FindsHowLongUpdatesOfAllSizesTakeBetweenTheMeasuredOnes) {
  const auto update = [](double parameters) { return 1e-6 + 28 * parameters / 3e12; };
  GpuMeasurements made = made_up();
  for (const std::int64_t count : gpu_bench_sizes().updated) {
    const auto parameters = static_cast<double>(count);
    made.kernels.push_back({"adamw", parameters, made.empty.seconds + update(parameters)});
  }
  const Result<Machine> machine = machine_of(made, "", "");
  ASSERT_TRUE(machine.ok());
  const auto error = [&](std::int64_t parameters) {
    Work work;
    work.piece = Piece::kOptimizer;
    work.phase = Phase::kUpdate;
    work.elements = parameters;
    const double seconds = work_seconds(work, {}, *machine, DataType::kF32);
    return (seconds - made.launch_seconds) / update(static_cast<double>(parameters)) - 1;
  };
  EXPECT_NEAR(error(124'439'808), 0, 0.01) << "GPT-2";
  EXPECT_NEAR(error(124'439'808 / 8), 0, 0.05) << "an eighth of it";
  EXPECT_NEAR(error(7'087'872), 0, 0.05) << "a layer of it";
  for (std::int64_t parameters = 1 << 16; parameters < 1 << 30; parameters *= 2)
    EXPECT_NEAR(error(parameters), 0, 0.25) << parameters;
}

// A product in FP8 has its own rate, its copies included, and its host's time; one of 16 bit and a
// head keep theirs.
TEST(GpuMachine, ProductsInFp8StandOnWhatWasMeasuredOfThem) {
  GpuMeasurements made = made_up();
  const auto add = [&](const char* type, double seconds, double host) {
    made.products.push_back(
        {1024, 1024, 1024, made.empty.seconds + seconds, "forward", type, host});
  };
  add("bfloat16", 4e-6, 5e-6);
  add("fp8", 3e-6, 20e-6);
  const Result<Machine> machine = machine_of(made, "", "");
  ASSERT_TRUE(machine.ok());
  EXPECT_NEAR(machine->fp8_flops_per_second.value * 3e-6, 2.0 * 1024 * 1024 * 1024, 1e3);
  Work work{Piece::kMlpIn, Phase::kForward, 1024, 1024, 1024};
  work.flops = 2.0 * 1024 * 1024 * 1024;
  Shape shape;
  shape.fp8 = true;
  const auto seconds = [&](ProductType products) {
    return work_seconds(work, shape, *machine, DataType::kBf16, products) -
           machine->launch_seconds.value;
  };
  EXPECT_NEAR(seconds(ProductType::kFp8), 3e-6, 1e-9);
  EXPECT_NEAR(seconds(ProductType::kSame), 4e-6, 1e-9);
  const double launches = work_host_seconds(work, shape, *machine);
  shape.fp8 = false;
  EXPECT_NEAR(launches - work_host_seconds(work, shape, *machine), 15e-6, 1e-9);
  work.piece = Piece::kHead;
  EXPECT_NEAR(seconds(ProductType::kFp8), 4e-6, 1e-9);
}

// Devices are queues of threads and NCCL moves bytes between them: what is measured is nothing, but
// every op, message and collective runs, and all of it ends up in the Machine.
TEST(GpuCalibration, MeasuresEverythingAPredictionNeeds) {
  ThreadNccl nccl;
  GpuRig rig;
  rig.gpus = gpus(3);
  rig.make_device = [](int, int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  rig.nccl = &nccl;
  rig.sizes = {{{16, {32}}}, {{32, 16, 2}}, 1 << 20};
  rig.large_bytes = 1 << 16;
  rig.lead = {1 << 18, 3};
  const Result<GpuMeasurements> measured = measure_gpus(rig, {});
  ASSERT_TRUE(measured.ok()) << measured.error().text;
  EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
  EXPECT_EQ(nccl.open(), 0);
  EXPECT_EQ(measured->pairs.size(), 12u) << "6 directions, 2 sizes";
  EXPECT_EQ(measured->collectives.size(), 20u) << "5 kinds, 2 sizes, among 2 and among 3";
  EXPECT_GT(measured->launch_seconds, 0);
  EXPECT_GT(measured->host_seconds, 0);
  EXPECT_GT(measured->host_message_seconds, 0);
  const Result<Machine> machine = machine_of(*measured, "2026-11-22", "here");
  ASSERT_TRUE(machine.ok()) << machine.error().text;
  const Result<Machine> read = machine_from_json(to_json(*machine));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->host_calls, machine->host_calls);
  EXPECT_EQ(read->matmuls, machine->matmuls);
  const auto is_known_to_hosts = [&](std::string_view call) {
    return call.empty() || std::any_of(machine->host_calls.begin(), machine->host_calls.end(),
                                       [&](const HostCall& known) { return known.call == call; });
  };
  for (const std::string_view call : {std::string_view(kHostLaunch), std::string_view(kHostRead),
                                      std::string_view(kWeightGradAlone), name_of(Phase::kForward),
                                      name_of(Phase::kInputGrad), name_of(Phase::kWeightGrad)})
    EXPECT_TRUE(is_known_to_hosts(call)) << call;
  const auto is_measured = [&](std::string_view kernel) {
    const auto in = [&](DataType type) {
      return std::any_of(machine->kernels.begin(), machine->kernels.end(),
                         [&](const KernelRate& rate) {
                           return rate.kernel == kernel && rate.type == name_of(type);
                         });
    };
    return kernel.empty() ||
           (in(DataType::kF32) && (is_always_fp32(kernel) || in(DataType::kBf16)));
  };
  EXPECT_GT(machine->fp8_flops_per_second.value, 0);
  for (const Phase phase : {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad})
    EXPECT_TRUE(is_known_to_hosts(fmt::format("{} {}", kFp8Product, name_of(phase))));
  Shape plain, other;  // two models that have every variant between them
  other.mlp = Mlp::kSwiglu;
  other.norm = Norm::kRms;
  other.learned_positions = false;
  other.B = other.T = other.C = other.H = other.D = 1;
  plain.C = 1;
  other.experts.model.router = Router::kSigmoid;
  Shape fused = plain, blocks = plain;
  fused.fused = blocks.fused = true;
  blocks.key_blocks = 2;
  for (int piece = 0; piece < kPieces; ++piece) {
    for (const Phase phase :
         {Phase::kForward, Phase::kInputGrad, Phase::kWeightGrad, Phase::kUpdate}) {
      for (const Shape& shape : {plain, other, fused, blocks}) {
        Work work;
        work.piece = static_cast<Piece>(piece);
        work.phase = phase;
        EXPECT_TRUE(is_measured(variant_of(kernel_of(work.piece, phase), shape)))
            << name_of(work.piece) << " " << name_of(phase);
        EXPECT_TRUE(is_known_to_hosts(variant_of(kernel_of(work.piece, phase), shape)))
            << name_of(work.piece) << " " << name_of(phase);
        EXPECT_TRUE(is_measured(variant_of(kernel_beside(work, shape, false).kernel, shape)))
            << name_of(work.piece) << " " << name_of(phase);
      }
    }
  }
  parallelarium::Setup setup = small_setup(1, 3, 1);
  const Result<Prediction> prediction = predict(setup, *machine);
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  EXPECT_GT(prediction->step.seconds, 0);
  EXPECT_EQ(prediction->word, "calibrated");
}

TEST(GpuMachine, IsMeasuredOfAllOfOneKindAndOfTheChosenOfSeveral) {
  std::vector<GpuFacts> alike = gpus(3);
  EXPECT_EQ(gpus_to_measure(alike, {1}), (std::vector<int>{0, 1, 2}));
  alike[1].check_failure = plain("GELU: wrong.");
  EXPECT_EQ(gpus_to_measure(alike, {0}), (std::vector<int>{0, 2})) << "what failed its check";
  alike[1].check_failure.reset();
  std::vector<GpuFacts> mixed = alike;
  mixed[2].name = "GTX 1050";
  mixed[2].major = 6;  // no code for it in any build
  EXPECT_EQ(gpus_to_measure(mixed, {1, 1, 0}), (std::vector<int>{0, 1}));
  EXPECT_EQ(gpus_to_measure(mixed, {2}), (std::vector<int>{2}));
  EXPECT_EQ(gpus_to_measure(mixed, {}), (std::vector<int>{0, 1}));
}

// Its host needs its time for a product.
class SlowDevice final : public QueuedDevice {
 public:
  SlowDevice() : QueuedDevice(std::chrono::microseconds{0}) {}
  bool has_fp8() const override { return false; }
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    std::this_thread::sleep_for(kLate);
    QueuedDevice::linear_forward(y, x, w, bias, N, M, K, y_pitch);
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N, std::int64_t M,
                         std::int64_t K, std::int64_t y_pitch) override {
    std::this_thread::sleep_for(kLate);
    QueuedDevice::linear_input_grad(dx, dy, w, N, M, K, y_pitch);
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                          std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    std::this_thread::sleep_for(kLate);
    QueuedDevice::linear_weight_grad(dw, db, dy, x, N, M, K, y_pitch);
  }

 private:
  static constexpr std::chrono::milliseconds kLate{2};
};

// Without NCCL nothing but kernels and the cost of an op is measured, the latter on the first GPU.
TEST(GpuCalibration, OfMixedGpusMeasuresOneOfEachKindAndKeepsTheSlowest) {
  GpuRig rig;
  rig.gpus = gpus(4);
  rig.gpus[1].name = rig.gpus[2].name = "T4";
  std::set<int> used;
  rig.make_device = [&](int gpu, int, Lane) -> std::unique_ptr<Device> {
    used.insert(gpu);
    if (gpu == 1) return std::make_unique<SlowDevice>();
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  rig.sizes = {{{16, {32}}}, {{32, 16, 2}}, 1 << 20};
  rig.lead = {1 << 18, 3};
  const Result<GpuMeasurements> measured = measure_gpus(rig, {});
  ASSERT_TRUE(measured.ok()) << measured.error().text;
  EXPECT_EQ(measured->slowest, "T4");
  EXPECT_EQ(used, (std::set<int>{0, 1}));
  EXPECT_EQ(measured->gpus.size(), 4u);
  ASSERT_FALSE(measured->products.empty());
  for (const ProductTime& time : measured->products) EXPECT_GE(time.seconds, 1e-3);
}

TEST(GpuCalibration, EndsWithinItsLimitWhereRanksDoNotMeet) {
  ThreadNccl nccl;
  nccl.stall_at(1, 3);
  GpuRig rig;
  rig.gpus = gpus(2);
  rig.make_device = [](int, int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  rig.nccl = &nccl;
  rig.sizes = {{{16, {32}}}, {{32, 16, 2}}, 1 << 20};
  rig.limit_seconds = 0.5;
  rig.lead = {1 << 18, 3};
  const Result<GpuMeasurements> measured = measure_gpus(rig, {});
  ASSERT_FALSE(measured.ok());
  EXPECT_EQ(measured.error().id, "calibration-hangs");
  EXPECT_EQ(nccl.open(), 0);
}

TEST(BenchTimes, KeepPhasesAndSizesApartAndTakeTheMiddleOfRounds) {
  std::vector<ProductTime> products;
  for (const double seconds : {3e-6, 1e-6, 2e-6}) {
    products.push_back({10, 20, 30, seconds, "forward"});
    products.push_back({10, 20, 30, 10 * seconds, "input gradient"});
    products.push_back({10, 20, 30, seconds / 2, "input gradient", "bfloat16"});
  }
  const std::vector<MatmulPoint> points = points_of(products, origin_of("test"));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].phase, "forward");
  EXPECT_NEAR(points[0].flops_per_second.value, 12'000 / 2e-6, 1);
  EXPECT_EQ(points[1].phase, "input gradient");
  EXPECT_NEAR(points[1].flops_per_second.value, 12'000 / 20e-6, 1);
  EXPECT_EQ(points[2].type, "bfloat16");
  EXPECT_NEAR(points[2].flops_per_second.value, 12'000 / 1e-6, 1);
  Machine peaks;
  peaks.matmuls = points;
  set_peaks(peaks, origin_of("test"));
  EXPECT_EQ(peaks.fp32_flops_per_second.value, points[0].flops_per_second.value);
  EXPECT_EQ(peaks.half_flops_per_second.value, points[2].flops_per_second.value);
  peaks.matmuls.pop_back();
  set_peaks(peaks, origin_of("test"));
  EXPECT_EQ(peaks.half_flops_per_second.value, points[0].flops_per_second.value);
  EXPECT_TRUE(is_assumed(peaks.half_flops_per_second.origin));

  std::vector<KernelTime> kernels;
  for (const double seconds : {1e-6, 9e-6, 2e-6}) {
    kernels.push_back({"norm", 8000, 10 * seconds});
    kernels.push_back({"norm", 1000, seconds});
    kernels.push_back({"norm", 500, seconds, "bfloat16"});
  }
  const std::vector<KernelRate> rates = rates_of(kernels, origin_of("test"));
  ASSERT_EQ(rates.size(), 3u);
  EXPECT_EQ(rates[0].elements, 1000);
  EXPECT_NEAR(rates[0].elements_per_second.value, 1000 / 2e-6, 1);
  EXPECT_EQ(rates[1].elements, 8000);
  EXPECT_NEAR(rates[1].elements_per_second.value, 8000 / 20e-6, 1);
  EXPECT_EQ(rates[2].type, "bfloat16");
  EXPECT_NEAR(rates[2].elements_per_second.value, 500 / 2e-6, 1);
}

// One rank moves nothing, and two points of equal bytes have no slope: a saved file must be
// readable.
TEST(CollectiveRates, AreFiniteWhateverWasTimed) {
  const std::vector<CollectiveTime> times = {{CollectiveKind::kAllReduce, 1, 64, 1e-6},
                                             {CollectiveKind::kAllReduce, 1, 4096, 2e-6},
                                             {CollectiveKind::kAllGather, 2, 4096, 2e-6},
                                             {CollectiveKind::kAllGather, 2, 4096, 1e-6}};
  for (const CollectiveRate& rate : rates_of(times, origin_of("test"))) {
    EXPECT_TRUE(std::isfinite(rate.link.latency_seconds.value)) << rate.collective;
    EXPECT_TRUE(std::isfinite(rate.link.bytes_per_second.value)) << rate.collective;
    EXPECT_GE(rate.link.latency_seconds.value, 0);
  }
}

}  // namespace
}  // namespace parallelarium
