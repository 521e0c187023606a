// SPDX-License-Identifier: Apache-2.0
// The proof that a parallel plan is real: it trains exactly as one rank does, counts exactly the
// bytes and the memory that its Program says, and reads nothing that was closed.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/ranks/harness.h"

namespace parallelarium {

// A small GPT or Llama (grouped-query attention, untied head) of four layers, changed by words such
// as "tp=2 zero=3".
inline Setup small_model(const std::string& words) {
  Setup setup = small_setup(1, 1, 2);
  setup.run.steps = 5;  // and one of warm-up: the last loss has seen five updates
  Model& model = setup.model;
  model.layers = 4;
  model.heads = model.kv_heads = 4;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (word == "llama") {
      model.norm = Norm::kRms;
      model.mlp = Mlp::kSwiglu;
      model.biases = model.learned_positions = model.tied = false;
      model.kv_heads = 2;
      continue;
    }
    const std::size_t equals = word.find('=');
    const Result<void> set = set_field(setup, word.substr(0, equals), word.substr(equals + 1));
    EXPECT_TRUE(set.ok()) << set.error().text;
  }
  return setup;
}

// One rank's training of the same global batch; many meshes share it.
inline const RunResult& one_rank(const Setup& setup) {
  static std::map<std::string, RunResult> results;
  Setup alone = one_rank_setup(setup);
  alone.run.warmup = 1;
  const std::string key = to_json(alone).dump();
  const auto found = results.find(key);
  if (found != results.end()) return found->second;
  Result<RunResult> result =
      run_now(alone, built(alone), {.gradients = true, .last_gradients = true, .parameters = true});
  EXPECT_TRUE(result.ok()) << result.error().text;
  return results.emplace(key, std::move(*result)).first->second;
}

inline Setup in_fp32(Setup setup) {
  setup.precision = {};
  setup.products = ProductType::kSame;
  return setup;
}

// Against one rank; in 16 bit within its rounding.
inline Proof proof_of(const RunResult& many, const Setup& setup) {
  if (setup.precision.parameter_bytes == 4) return compare(many, one_rank(setup));
  return compare(setup, many, one_rank(setup), one_rank(in_fp32(setup)));
}

// What a Program alone says: how many expert tokens travel, only the step knows.
inline std::vector<TrafficRow> without_tokens(std::vector<TrafficRow> rows) {
  std::erase_if(rows, [](const TrafficRow& row) { return row.purpose == Purpose::kTokens; });
  return rows;
}

// The ledger and the memory of the Program, to the byte.
inline void expect_counted(const Program& program, const Observation& seen) {
  const std::vector<MemoryRow> memory = memory_of(program);
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank) {
    EXPECT_EQ(without_tokens(seen.traffic[rank]),
              without_tokens(traffic_of(program, static_cast<int>(rank))))
        << "rank " << rank;
    EXPECT_EQ(std::memcmp(seen.memory[rank].bytes, memory[rank].bytes, sizeof memory[rank].bytes),
              0)
        << "rank " << rank;
    EXPECT_EQ(seen.memory[rank].peak_bytes, memory[rank].peak_bytes) << "rank " << rank;
  }
}

// The largest difference over the norm, of all tensors together.
inline double relative_difference(const std::vector<NamedTensor>& a,
                                  const std::vector<NamedTensor>& b) {
  double squares = 0, norm = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    EXPECT_EQ(a[i].values.size(), b[i].values.size());
    for (std::size_t j = 0; j < std::min(a[i].values.size(), b[i].values.size()); ++j) {
      const double d = static_cast<double>(a[i].values[j]) - static_cast<double>(b[i].values[j]);
      squares += d * d;
      norm += static_cast<double>(b[i].values[j]) * static_cast<double>(b[i].values[j]);
    }
  }
  return norm > 0 ? std::sqrt(squares / norm) : 0;
}

// Loss and gradients of one rank, ledger and memory of the Program.
inline void expect_real(const Setup& setup, Observation* observation = nullptr) {
  const Program program = built(setup);
  for (const Message& wrong : check(program)) ADD_FAILURE() << wrong.text;
  if (testing::Test::HasFailure()) return;
  LaunchOptions options;
  options.poison = true;
  const Result<RunResult> result =
      run_now(setup, program, {.gradients = true, .last_gradients = true}, options);
  ASSERT_TRUE(result.ok()) << result.error().text;
  const RunResult& one = one_rank(setup);

  const Proof proof = compare(*result, one);
  EXPECT_LE(proof.loss_difference, 1e-6);
  EXPECT_LE(proof.gradient_difference, 5e-6) << proof.worst_parameter.text;
  EXPECT_TRUE(proof.holds());
  ASSERT_FALSE(one.last_gradients.empty());
  // Five updates later. Adam divides by the root of squares, so that the tiny gradients of experts
  // that few tokens reach keep little of their precision.
  const double bound = setup.model.experts.count > 0 ? 1e-4 : 5e-6;
  EXPECT_LE(relative_difference(result->last_gradients, one.last_gradients), bound);
  const Observation& seen = result->observation;
  if (observation != nullptr) *observation = seen;
  const auto steps = static_cast<std::size_t>(setup.run.warmup + setup.run.steps);
  ASSERT_EQ(seen.losses.size(), steps);
  EXPECT_NEAR(seen.losses[0], std::log(256.0), 0.1);
  for (std::size_t step = 0; step < steps; ++step) {
    EXPECT_NEAR(seen.gradient_norms[step], one.observation.gradient_norms[step],
                1e-5 * one.observation.gradient_norms[step]);
  }
  expect_counted(program, seen);
}

// "tp=2 zero=3" as the name of a test.
inline std::string test_name(const std::string& words) {
  std::string name;
  for (const char c : words) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    if (c == ' ' || c == '-') name += '_';
  }
  return name.empty() ? "plain" : name;
}
inline std::string name_of_case(const testing::TestParamInfo<const char*>& info) {
  return test_name(info.param);
}

}  // namespace parallelarium
