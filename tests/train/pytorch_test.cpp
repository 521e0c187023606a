// SPDX-License-Identifier: Apache-2.0
// The pieces against PyTorch: values in data/, made once by make_reference.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/kernels/reference.h"
#include "tests/train/one_rank.h"

namespace parallelarium {
namespace {

std::string key_of(const ParameterSlice& slice) {
  static const std::map<Parameter, std::string> kNames{
      {Parameter::kTokenTable, "token table"},
      {Parameter::kPositionTable, "position table"},
      {Parameter::kNorm1Gain, "norm1 gain"},
      {Parameter::kNorm1Bias, "norm1 bias"},
      {Parameter::kQkvWeight, "qkv weight"},
      {Parameter::kQkvBias, "qkv bias"},
      {Parameter::kProjectionWeight, "projection weight"},
      {Parameter::kProjectionBias, "projection bias"},
      {Parameter::kNorm2Gain, "norm2 gain"},
      {Parameter::kNorm2Bias, "norm2 bias"},
      {Parameter::kMlpInWeight, "mlp in weight"},
      {Parameter::kMlpInBias, "mlp in bias"},
      {Parameter::kMlpOutWeight, "mlp out weight"},
      {Parameter::kMlpOutBias, "mlp out bias"},
      {Parameter::kFinalNormGain, "final norm gain"},
      {Parameter::kFinalNormBias, "final norm bias"},
      {Parameter::kHeadWeight, "head weight"}};
  const std::string prefix = slice.layer < 0 ? "" : std::to_string(slice.layer) + " ";
  return prefix + kNames.at(slice.parameter);
}

class PyTorch : public testing::TestWithParam<std::string> {
 protected:
  nlohmann::json data;
  Shape shape;
  void SetUp() override {
    std::ifstream file(std::string(PARALLELARIUM_SOURCE_DIR) + "/tests/train/data/" + GetParam());
    ASSERT_TRUE(file) << "missing data file";
    data = nlohmann::json::parse(file);
    const auto& s = data["shape"];
    shape.B = s["B"];
    shape.T = s["T"];
    shape.C = s["C"];
    shape.H = s["H"];
    shape.K = s["K"];
    shape.D = s["D"];
    shape.F = s["F"];
    shape.V = shape.vocab = s["V"];
    shape.layers = s["layers"];
    if (s["llama"]) {
      shape.mlp = Mlp::kSwiglu;
      shape.norm = Norm::kRms;
      shape.biases = shape.learned_positions = shape.tied = false;
    }
  }
  std::unique_ptr<OneRank> make() const {
    auto rank = std::make_unique<OneRank>(shape, 1);
    for (const ParameterSlice& slice : rank->program().rank().parameters)
      rank->set_parameter(slice, data["parameters"][key_of(slice)]);
    rank->set_text(data["tokens"], data["targets"]);
    return rank;
  }
  // Our whole array in the order of the slices, as the file has it.
  std::vector<double> expected(const std::string& what, const OneRank& rank) const {
    std::vector<double> values;
    for (const ParameterSlice& slice : rank.program().rank().parameters)
      for (const double value : data[what][key_of(slice)]) values.push_back(value);
    return values;
  }
};

TEST_P(PyTorch, FindsTheSameLossAndTheSameGradientOfEveryParameter) {
  const auto rank = make();
  EXPECT_NEAR(rank->step({}, false), data["losses"][0], 1e-6);
  EXPECT_NEAR(std::sqrt(rank->square_sum()), data["norms"][0], 1e-5);
  const std::vector<float> gradients = rank->read(Tensor::kGradients);
  EXPECT_LE(reference::relative_difference(gradients, expected("gradients", *rank)), 2e-6);
  for (const ParameterSlice& slice : rank->program().rank().parameters) {
    const std::vector<float> ours(gradients.begin() + slice.offset,
                                  gradients.begin() + slice.offset + slice.count);
    const std::vector<double> theirs = data["gradients"][key_of(slice)];
    ASSERT_EQ(ours.size(), theirs.size());
    // Part of a bias on keys has no effect (a softmax ignores what is added to all its inputs), so
    // each parameter is measured against its own size or, where that is nothing, the whole's.
    double size = 0;
    double difference = 0;
    for (std::size_t at = 0; at < ours.size(); ++at) {
      size += theirs[at] * theirs[at];
      difference += std::pow(double{ours[at]} - theirs[at], 2);
    }
    EXPECT_LE(std::sqrt(difference), 1e-5 * std::sqrt(size) + 1e-7) << key_of(slice);
  }
}

TEST_P(PyTorch, TakesTheSameTwoClippedAdamWSteps) {
  const auto rank = make();
  StepScalars scalars;
  scalars.learning_rate = 1e-3;
  scalars.clip = data["clip"];
  for (int step = 1; step <= 2; ++step) {
    scalars.step = step;
    EXPECT_NEAR(rank->step(scalars, true), data["losses"][static_cast<std::size_t>(step - 1)],
                2e-6);
  }
  // Where a gradient is nothing but rounding, AdamW still takes a full step in its direction, so
  // the comparison leaves out the numbers whose gradient has no correct digit.
  const std::vector<double> gradients = expected("gradients", *rank);
  const std::vector<double> updated = expected("updated", *rank);
  const std::vector<double> start = expected("parameters", *rank);
  const std::vector<float> ours = rank->read(Tensor::kParameters);
  std::size_t compared = 0;
  for (std::size_t at = 0; at < ours.size(); ++at) {
    if (std::abs(gradients[at]) < 1e-5) continue;
    ++compared;
    EXPECT_NEAR(double{ours[at]} - start[at], updated[at] - start[at], 2e-6) << at;
  }
  EXPECT_GT(compared, ours.size() * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Models, PyTorch, testing::Values("gpt.json", "llama.json"));

}  // namespace
}  // namespace parallelarium
