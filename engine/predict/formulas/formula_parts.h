// SPDX-License-Identifier: Apache-2.0
// Helpers that the functions of the formula column share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/predict/predict.h"

namespace parallelarium {

using Formulas = std::vector<Formula>;

inline constexpr const char* kNarayanan = "Narayanan et al. 2021 (arXiv 2104.04473)";
inline constexpr const char* kKorthikanti = "Korthikanti et al. 2022 (arXiv 2205.05198)";
inline constexpr const char* kZeroPaper = "Rajbhandari et al. 2019, ZeRO (arXiv 1910.02054)";

// A place in a work, as a source cites it: "…, section 2.2", "…, table 2", "…, appendix A",
// "…, eq. (7)". The work is a name, or a place in it.
template <class Work>
Message section_of(Work&& work, const char* number) {
  return message("cited-section", "{}, section {}", std::forward<Work>(work), number);
}
template <class Work>
Message table_of(Work&& work, const char* number) {
  return message("cited-table", "{}, table {}", std::forward<Work>(work), number);
}
template <class Work>
Message appendix_of(Work&& work, const char* letter) {
  return message("cited-appendix", "{}, appendix {}", std::forward<Work>(work), letter);
}
template <class Work>
Message equation_of(Work&& work, const char* number) {
  return message("cited-equation", "{}, eq. ({})", std::forward<Work>(work), number);
}

// A product of symbols times the bytes of an element: "{} · bytes".
Message in_bytes(std::string product);

// Writes 424576 as "424,576", and fractions with six digits.
std::string number(double value);
// Writes four digits. It adds a power of ten if there are more digits before the point, or zeros
// behind it: "3.322·10⁹".
std::string four_digits(double value);

// A part of the parameters of a first-stage rank that the same ranks keep in step. Routed experts
// have fewer replicas than everything else.
struct ModelPart {
  Message of;  // ends the formula's name, or empty
  double parameters = 0;
  // The parameters among them that the actions of one micro-batch use, on average, each counted as
  // often as chunks use it: of DualPipe's two copies one; in a V the tied table at both ends.
  double used = 0;
  int replicas = 1, shards = 1;
};
// Empty for a file of orders with several chunks, since these may hold any stages.
std::vector<ModelPart> parts_of(const Setup& setup);

// A formula's name with the part that it is about.
Message of_part(Message name, const ModelPart& part);
// "a; b", or the one note that is not empty.
Message both_notes(const Message& first, const Message& second);
inline constexpr Sentence kUnequalStages{
    "note-unequal", "transfers and unequal stages make the simulated one larger"};

// Adds the bytes that a rank sends over each axis that the Setup uses.
void add_traffic(const Setup& setup, Formulas& out);

}  // namespace parallelarium
