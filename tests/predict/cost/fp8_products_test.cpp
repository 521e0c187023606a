// SPDX-License-Identifier: Apache-2.0
// What products in FP8 take on machines that are not here, and what experts take beside products.
#include <gtest/gtest.h>

#include <tuple>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/predict/cost/pieces/work_seconds.h"

namespace parallelarium {
namespace {

Work product_of(Piece piece, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t repeat) {
  Work work{piece, Phase::kForward, m, n, k};
  work.repeat = repeat;
  work.flops = 2.0 * static_cast<double>(m * n * k * repeat);
  work.bytes = 2 * (m * n + m * k + n * k) * repeat;
  return work;
}

// Linear layers have a rate of their own, and a pass makes FP8 of what goes in. Norms between the
// low ranks of latent attention are no products and take what they take in 16 bit.
TEST(ProductsInFp8, HaveARateOfTheirOwn) {
  const Machine machine = *find_machine("hgx-h800");
  Work work{Piece::kMlpIn, Phase::kForward, 8192, 8192, 8192};
  work.flops = 2.0 * 8192 * 8192 * 8192;
  work.bytes = 3 * 2 * std::int64_t{8192} * 8192;
  const double fp8 = work_seconds(work, {}, machine, DataType::kBf16, ProductType::kFp8);
  const double made =
      3.0 * 8192 * 8192 / (machine.memory_bytes_per_second.value * machine.memory_efficiency.value);
  const double rate = 1110e12 * machine.sustained.value;  // DeepGEMM's, of large products
  EXPECT_NEAR(fp8 / (machine.launch_seconds.value + made + work.flops / rate), 1, 1e-3);
  EXPECT_LT(fp8, work_seconds(work, {}, machine, DataType::kBf16));
  work.piece = Piece::kHead;
  EXPECT_EQ(work_seconds(work, {}, machine, DataType::kBf16, ProductType::kFp8),
            work_seconds(work, {}, machine, DataType::kBf16));
  Work norm{Piece::kQkv, Phase::kForward};
  norm.bytes = 4 * std::int64_t{8192} * 1536;
  for (const char* name : {"hgx-h800", "dgx-b200"})
    EXPECT_EQ(work_seconds(norm, {}, *find_machine(name), DataType::kBf16, ProductType::kFp8),
              work_seconds(norm, {}, *find_machine(name), DataType::kBf16));
}

// Milliseconds of a linear layer in FP8, and of the two passes in it that scale and cast its input,
// which ai-dynamo/aiconfigurator 095f58a measured with TensorRT-LLM 1.3.0rc20.
TEST(ProductsInFp8, TakeWhatWasMeasured) {
  struct Call {
    const char* machine;
    std::int64_t m, n, k;
    double layer, passes;
  };
  const Call calls[] = {{"dgx-h100", 1024, 6144, 4096, 0.0579, 0.0140},
                        {"dgx-h100", 4096, 12288, 4096, 0.3247, 0.0447},
                        {"dgx-h200", 4096, 12288, 4096, 0.3250, 0.0382},
                        {"dgx-h200", 8192, 8192, 8192, 0.8842, 0.1563},
                        {"dgx-b200", 4096, 12288, 4096, 0.1686, 0.0267},
                        {"dgx-b200", 8192, 8192, 8192, 0.4709, 0.0985},
                        {"gb200-nvl72", 4096, 12288, 4096, 0.1710, 0.0260},
                        {"gb200-nvl72", 16384, 2048, 7168, 0.3092, 0.1572},
                        {"dgx-b300", 4096, 12288, 4096, 0.1485, 0.0264},
                        {"gb300-nvl72", 4096, 12288, 4096, 0.1459, 0.0250},
                        {"gb300-nvl72", 8192, 8192, 8192, 0.4031, 0.0944},
                        {"2x-l40s", 4096, 12288, 4096, 1.0707, 0.0316}};
  for (const Call& call : calls) {
    Machine machine = *find_machine(call.machine);
    machine.launch_seconds.value = 0;
    machine.sustained.value = 1;
    Work work{Piece::kMlpIn, Phase::kForward, call.m, call.n, call.k};
    work.flops = 2.0 * static_cast<double>(call.m * call.n * call.k);
    work.bytes = 2 * (call.m * call.n + call.m * call.k + call.n * call.k);
    const double cast = 3.0 * static_cast<double>(call.m * call.k) /
                        (machine.memory_bytes_per_second.value * machine.memory_efficiency.value);
    const double alone = work_seconds(work, {}, machine, DataType::kBf16, ProductType::kFp8) - cast;
    EXPECT_NEAR(1000 * alone / (call.layer - call.passes), 1, 0.12)
        << call.machine << " " << call.m << " " << call.n << " " << call.k;
  }
}

// Experts' products are one grouped call: faster than one call for each expert, and no faster than
// one product of all their rows, which has fewer weights to read.
TEST(ProductsInFp8, OfExpertsAreOneCall) {
  Machine machine = *find_machine("dgx-h100");
  machine.launch_seconds.value = 0;
  Shape shape;
  shape.C = 4096;
  const auto seconds = [&](const Work& work) {
    return work_seconds(work, shape, machine, DataType::kBf16, ProductType::kFp8);
  };
  for (const std::int64_t rows : {64, 256, 1000, 4096}) {
    const double grouped = seconds(product_of(Piece::kExpert, rows, 4096, 4096, 8));
    const double alone = seconds(product_of(Piece::kMlpIn, rows, 4096, 4096, 1));
    const double joined = seconds(product_of(Piece::kMlpIn, 8 * rows, 4096, 4096, 1));
    EXPECT_LE(grouped, 8 * alone) << rows;
    EXPECT_GE(grouped, joined) << rows;
  }
  // Few rows take as long as their weights, of one byte each.
  const double few = seconds(product_of(Piece::kExpert, 1, 4096, 4096, 8));
  EXPECT_GT(few, 8.0 * 4096 * 4096 / machine.memory_bytes_per_second.value);
}

// Megatron-LM adds an expert's second bias in fp32: 28 bytes for each number forward, 40 backward
// (its file experts.py, TEGroupedMLP._apply_bias), and some kernels for each expert.
TEST(BiasesOfExperts, TakePassesOfTheirOwn) {
  Machine machine = *find_machine("dgx-h100");
  Shape plain, biased;
  plain.C = biased.C = 2880;
  plain.biases = false;
  biased.biases = true;
  const double bandwidth = machine.memory_bytes_per_second.value * machine.memory_efficiency.value;
  for (const auto& [phase, bytes, kernels] : {std::tuple{Phase::kForward, 28.0, 2 * 16 + 2},
                                              {Phase::kInputGrad, 40.0, 5 * 16 + 2},
                                              {Phase::kWeightGrad, 0.0, 0}}) {
    Work work = product_of(Piece::kExpert, 1024, 2880, 2880, 16);
    work.phase = phase;
    work.elements = std::int64_t{16} * 1024 * 2880;
    const double more = work_seconds(work, biased, machine, DataType::kBf16) -
                        work_seconds(work, plain, machine, DataType::kBf16);
    EXPECT_NEAR(more,
                bytes * static_cast<double>(work.elements) / bandwidth +
                    kernels * machine.launch_seconds.value,
                1e-9);
  }
}

}  // namespace
}  // namespace parallelarium
