// SPDX-License-Identifier: Apache-2.0
// Whole tiny models: gradients against central differences of a forward written a second time, in
// double precision.
#include <gtest/gtest.h>

#include "tests/kernels/reference.h"
#include "tests/train/one_rank.h"

namespace parallelarium {
namespace {

using reference::Doubles;

Shape tiny(bool llama, bool tied, int layers, std::int64_t B, std::int64_t T) {
  Shape shape;
  shape.B = B;
  shape.T = T;
  shape.H = 2;
  shape.K = llama ? 1 : 2;
  shape.D = 2;
  shape.C = 4;
  shape.F = 6;
  shape.V = shape.vocab = 5;
  shape.layers = layers;
  shape.tied = tied;
  if (llama) {
    shape.mlp = Mlp::kSwiglu;
    shape.norm = Norm::kRms;
    shape.biases = shape.learned_positions = false;
  }
  return shape;
}

// The mean loss of the model as a function of all parameters, laid out as `rank` says.
class Model {
 public:
  Model(const Shape& shape, const RankProgram& rank, std::vector<std::int32_t> tokens,
        std::vector<std::int32_t> targets)
      : shape_(shape), rank_(rank), tokens_(std::move(tokens)), targets_(std::move(targets)) {}

  double loss(const Doubles& parameters) const {
    const auto N = static_cast<std::size_t>(tokens_.size());
    const auto C = static_cast<std::size_t>(shape_.C);
    const auto F = static_cast<std::size_t>(shape_.F);
    const auto heads = static_cast<std::size_t>(shape_.H * shape_.D);
    const auto A = static_cast<std::size_t>((shape_.H + 2 * shape_.K) * shape_.D);
    const auto V = static_cast<std::size_t>(shape_.V);
    const bool rms = shape_.norm == Norm::kRms;
    const AttentionShape attention{static_cast<std::int64_t>(N) / shape_.T, shape_.T, shape_.H,
                                   shape_.K, shape_.D};
    const auto get = [&](Parameter parameter, int layer) {
      for (const ParameterSlice& slice : rank_.parameters)
        if (slice.parameter == parameter && slice.layer == layer)
          return Doubles(parameters.begin() + slice.offset,
                         parameters.begin() + slice.offset + slice.count);
      return Doubles{};
    };
    const auto norm = [&](const Doubles& x, Parameter gain, Parameter bias, int layer) {
      return rms ? reference::rms_norm(x, get(gain, layer))
                 : reference::layer_norm(x, get(gain, layer), get(bias, layer));
    };
    const auto add = [](Doubles a, const Doubles& b) {
      for (std::size_t at = 0; at < a.size(); ++at) a[at] += b[at];
      return a;
    };
    Doubles x = reference::embedding(tokens_, get(Parameter::kTokenTable, -1),
                                     get(Parameter::kPositionTable, -1),
                                     static_cast<std::size_t>(shape_.T), C);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      Doubles y = norm(x, Parameter::kNorm1Gain, Parameter::kNorm1Bias, layer);
      y = reference::linear(y, get(Parameter::kQkvWeight, layer), get(Parameter::kQkvBias, layer),
                            N, A, C);
      if (!shape_.learned_positions) y = reference::rotary(y, attention);
      y = reference::attention(y, attention).context;
      x = add(x, reference::linear(y, get(Parameter::kProjectionWeight, layer),
                                   get(Parameter::kProjectionBias, layer), N, C, heads));
      y = norm(x, Parameter::kNorm2Gain, Parameter::kNorm2Bias, layer);
      const bool swiglu = shape_.mlp == Mlp::kSwiglu;
      y = reference::linear(y, get(Parameter::kMlpInWeight, layer),
                            get(Parameter::kMlpInBias, layer), N, swiglu ? 2 * F : F, C);
      y = swiglu ? reference::swiglu(y, F) : reference::gelu(y);
      x = add(x, reference::linear(y, get(Parameter::kMlpOutWeight, layer),
                                   get(Parameter::kMlpOutBias, layer), N, C, F));
    }
    const Doubles y = norm(x, Parameter::kFinalNormGain, Parameter::kFinalNormBias, -1);
    const Parameter head = shape_.tied ? Parameter::kTokenTable : Parameter::kHeadWeight;
    return reference::cross_entropy(reference::linear(y, get(head, -1), {}, N, V, C), targets_) /
           static_cast<double>(N);
  }

 private:
  Shape shape_;
  const RankProgram& rank_;
  std::vector<std::int32_t> tokens_, targets_;
};

struct Case {
  bool llama, tied;
  int layers;
  std::int64_t B, T;
  int microbatches;
};
class WholeModel : public testing::TestWithParam<Case> {};

TEST_P(WholeModel, GradientsAreTheSlopesOfTheLoss) {
  const Case c = GetParam();
  const Shape shape = tiny(c.llama, c.tied, c.layers, c.B, c.T);
  OneRank rank(shape, c.microbatches);
  const RankProgram& program = rank.program().rank();
  std::mt19937 bits(1);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(c.B * c.T * c.microbatches));
  std::vector<std::int32_t> targets(tokens.size());
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    tokens[at] = static_cast<std::int32_t>(bits() % 5);
    targets[at] = static_cast<std::int32_t>(bits() % 5);
  }
  rank.set_text(tokens, targets);
  // Larger than at the start of training, so that every nonlinearity is at work.
  for (const ParameterSlice& slice : program.parameters)
    rank.set_parameter(
        slice, reference::random_floats(slice.count, 100 + static_cast<unsigned>(slice.offset)));
  const Model model(shape, program, tokens, targets);
  const Doubles parameters = reference::doubles(rank.read(Tensor::kParameters));
  EXPECT_NEAR(rank.step({}, false), model.loss(parameters), 2e-6);
  const Doubles expected = reference::gradient(
      [&](const Doubles& at) { return Doubles{model.loss(at)}; }, parameters, {1.0});
  EXPECT_LE(reference::relative_difference(rank.read(Tensor::kGradients), expected), 5e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WholeModel,
    testing::Values(Case{false, true, 1, 1, 1, 1}, Case{false, true, 2, 2, 3, 1},
                    Case{false, false, 2, 1, 4, 3}, Case{true, false, 2, 2, 3, 1},
                    Case{true, true, 3, 1, 5, 2}, Case{false, true, 3, 3, 2, 2}));

TEST(Gradients, DoNotDependOnHowABatchIsCutIntoMicroBatches) {
  const auto gradients = [](std::int64_t B, int microbatches) {
    OneRank rank(tiny(false, true, 2, B, 6), microbatches);
    rank.initialise(3);
    std::vector<std::int32_t> tokens(36);
    std::vector<std::int32_t> targets(36);
    for (std::size_t at = 0; at < tokens.size(); ++at) {
      tokens[at] = static_cast<std::int32_t>(at * 7 % 5);
      targets[at] = static_cast<std::int32_t>(at * 3 % 5);
    }
    rank.set_text(tokens, targets);
    rank.step({}, false);
    return rank.read(Tensor::kGradients);
  };
  const auto whole = gradients(6, 1);
  EXPECT_LE(reference::relative_difference(gradients(2, 3), whole), 1e-6);
  EXPECT_LE(reference::relative_difference(gradients(1, 6), whole), 1e-6);
}

TEST(Steps, AreTheSameBitsEveryTime) {
  const auto run = [] {
    OneRank rank(tiny(false, true, 2, 2, 7), 2);
    rank.initialise(3);
    std::vector<std::int32_t> tokens(28);
    for (std::size_t at = 0; at < tokens.size(); ++at)
      tokens[at] = static_cast<std::int32_t>(at * 7 % 5);
    rank.set_text(tokens, tokens);
    StepScalars scalars;
    for (scalars.step = 1; scalars.step <= 3; ++scalars.step) rank.step(scalars, true);
    return rank.read(Tensor::kParameters);
  };
  EXPECT_EQ(run(), run());
}

TEST(Execute, RefusesWhatItHasNoFunctionFor) {
  OneRank rank(tiny(false, true, 1, 1, 2), 1);
  const auto device = make_cpu_device();
  Op op = rank.program().rank().ops.front();
  const auto error_of = [&](const Op& broken) {
    const auto result =
        execute_op(*device, rank.program().shape(), rank.program().rank(), broken, nullptr, {});
    return result.ok() ? "" : result.error().kind;
  };
  op.piece = Piece::kStage;
  EXPECT_EQ(error_of(op), "piece-unknown");
  op = rank.program().rank().ops.front();
  op.kind = OpKind::kSend;
  EXPECT_EQ(error_of(op), "piece-unknown");
  op = rank.program().rank().ops.back();
  op.operand_count = 2;
  EXPECT_EQ(error_of(op), "piece-unknown");
}

}  // namespace
}  // namespace parallelarium
