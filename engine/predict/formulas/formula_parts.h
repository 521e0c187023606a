// SPDX-License-Identifier: Apache-2.0
// What the functions of the formula column share.
#pragma once

#include <string>
#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

using Formulas = std::vector<Formula>;

inline constexpr const char* kNarayanan = "Narayanan et al. 2021 (arXiv 2104.04473)";
inline constexpr const char* kKorthikanti = "Korthikanti et al. 2022 (arXiv 2205.05198)";
inline constexpr const char* kZeroPaper = "Rajbhandari et al. 2019, ZeRO (arXiv 1910.02054)";

// 424576 as "424,576"; fractions with six digits.
std::string number(double value);
// Four digits, and a power of ten where there are more before the point or zeros behind it:
// "3.322·10⁹".
std::string four_digits(double value);

// Parameters of a first-stage rank that the same ranks keep in step: routed experts have fewer
// replicas than everything else.
struct ModelPart {
  Message of;  // ends the formula's name, or empty
  double parameters = 0;
  // Of them, on average, those that the actions of one micro-batch use, each as often as chunks
  // do: of DualPipe's two copies one; of a V the tied table at both ends.
  double used = 0;
  int replicas = 1, shards = 1;
};
// Empty for a file of orders with several chunks, which may hold any stages.
std::vector<ModelPart> parts_of(const Setup& setup);

// A formula's name, of the part.
Message of_part(Message name, const ModelPart& part);
// "a; b", or the one that is not empty.
Message both_notes(const Message& first, const Message& second);
inline constexpr Sentence kUnequalStages{
    "note-unequal", "transfers and unequal stages make the simulated one larger"};

// Bytes that a rank sends over each axis: what applies to the Setup.
void add_traffic(const Setup& setup, Formulas& out);

}  // namespace parallelarium
