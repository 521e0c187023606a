// SPDX-License-Identifier: Apache-2.0
// What transformers' model classes hold that a config.json does not say, by model_type.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace parallelarium {

// Which expert's width a family's experts have: none, intermediate_size, moe_intermediate_size.
enum class ExpertWidth : std::uint8_t { kNone, kMlp, kOwn };

// What a family's layers have that Model has not, as bits.
enum Beyond : unsigned {
  kQkvBiases = 1 << 0,
  kOutputBiases = 1 << 1,   // of the projection after attention
  kHeadNorms = 1 << 2,      // of queries and keys, as wide as a head
  kWideNorms = 1 << 3,      // the same, as wide as all heads
  kOuterNorms = 1 << 4,     // after attention and after the MLP
  kExpertBiases = 1 << 5,   // of experts and router, and the sinks of attention
  kSharedGates = 1 << 6,    // of shared experts
  kPositionRows = 1 << 7,   // two rows more than positions
  kEmbeddingNorm = 1 << 8,  // after the token table
  kHeadBias = 1 << 9,       // of the output head
  kMlpBiases = 1 << 10,
  kIndexer = 1 << 11,        // of sparse attention
  kOneNorm = 1 << 12,        // a layer has one norm alone
  kBareNorms = 1 << 13,      // norms without parameters
  kUnbiasedNorms = 1 << 14,  // layer norms with a gain alone
  kSideBySide = 1 << 15      // attention and MLP read the same input
};

struct Family {
  std::string type;
  bool gated = true;  // an MLP of three matrices; else of two
  bool layer_norm = false, biases = false, learned_positions = false, tied = false;
  ExpertWidth experts = ExpertWidth::kNone;
  bool latent = false;
  bool known = true;  // false: read by the common keys alone
  unsigned beyond = 0;
  std::string_view activation = {};  // where the file says none, and it is not SiLU or GELU
  std::string_view defaults = "{}";  // of its configuration class, of keys that files leave out
};

// Null for a type that no table here has.
const Family* known_family(std::string_view type);

}  // namespace parallelarium
