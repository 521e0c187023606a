// SPDX-License-Identifier: Apache-2.0
// Cuts of the matrices of a layer, and f and g around them. What ranks hold at each place is a
// copy, a shard (other columns on each), or a partial sum of the whole; a product or a collective
// turns one into another.
#include <string_view>

#include "engine/lesson/assign/assignment.h"

namespace parallelarium {

namespace {

enum class StateHeld { kCopies, kShards, kSums };

constexpr Sentence kQkvName{"assign-name.qkv", "QKV"};
constexpr Sentence kProjectionName{"assign-name.projection", "the projection"};
constexpr Sentence kMlpInName{"assign-name.mlp-in", "MLP in"};
constexpr Sentence kMlpOutName{"assign-name.mlp-out", "MLP out"};
constexpr Sentence kHeadsName{"assign-name.heads", "attention"};
constexpr Sentence kGeluName{"assign-name.gelu", "GELU"};

// One half: two matrices with something between them that is not linear.
struct MatrixHalf {
  const char *first_slot, *second_slot;
  Sentence first, second, between;
};
constexpr MatrixHalf kHalves[] = {{"qkv", "projection", kQkvName, kProjectionName, kHeadsName},
                                  {"mlp-in", "mlp-out", kMlpInName, kMlpOutName, kGeluName}};

}  // namespace

AssignmentFacts matrix_facts(const Assignment& assignment) {
  AssignmentFacts out;
  int gathers = 0, sums = 0;
  for (const MatrixHalf& half : kHalves) {
    const bool first_by_rows = assignment.at(half.first_slot) == "rows";
    const bool second_by_rows = assignment.at(half.second_slot) == "rows";
    // The half begins with copies, of which a cut by rows takes the columns that it needs.
    StateHeld held = first_by_rows ? StateHeld::kSums : StateHeld::kShards;
    if (held == StateHeld::kSums) {
      ++sums;
      held = StateHeld::kCopies;
      out.reasons.push_back(message("assign-matrices.sum",
                                    "{} is cut by rows and leaves partial sums, and {} cannot work "
                                    "on those: an all-reduce inside the half.",
                                    message(half.first), message(half.between)));
    }
    if (held == StateHeld::kShards && !second_by_rows) {
      ++gathers;
      out.reasons.push_back(message("assign-matrices.input",
                                    "{} is cut by columns and needs its whole input, but {} leaves "
                                    "shards: an all-gather before it.",
                                    message(half.second), message(half.first)));
    }
    if (second_by_rows) {
      ++sums;  // the one that no cut saves
    } else {
      ++gathers;
      out.reasons.push_back(message("assign-matrices.end",
                                    "{} is cut by columns and leaves shards, but the half ends "
                                    "with a copy on every rank: an all-gather at its end.",
                                    message(half.second)));
    }
  }
  out.facts = {{"all_reduces", sums}, {"all_gathers", gathers}, {"collectives", sums + gathers}};
  return out;
}

AssignmentFacts conjugate_facts(const Assignment& assignment) {
  static constexpr Sentence kBeforeIn{"assign-place.in", "before MLP in"};
  static constexpr Sentence kBeforeOut{"assign-place.out", "before MLP out"};
  static constexpr Sentence kBehindOut{"assign-place.end", "behind MLP out"};
  static constexpr Sentence kForward{"assign-direction.forward", "Forward"};
  static constexpr Sentence kBackward{"assign-direction.backward", "Backward"};
  // What ranks hold at each place on the way forward, and of the gradient on the way back, where
  // nothing has gone wrong before.
  struct Place {
    const char* slot;
    Sentence name;
    StateHeld forward, backward;
  };
  static constexpr Place kPlaces[] = {
      {"before-mlp-in", kBeforeIn, StateHeld::kCopies, StateHeld::kSums},
      {"before-mlp-out", kBeforeOut, StateHeld::kShards, StateHeld::kShards},
      {"behind-mlp-out", kBehindOut, StateHeld::kSums, StateHeld::kCopies}};
  AssignmentFacts out;
  int sums = 0;
  const auto look = [&](const Place& place, const Sentence& direction, std::string_view summing,
                        StateHeld held) {
    const bool adds = assignment.at(place.slot) == summing;
    sums += adds;
    if (adds && held == StateHeld::kCopies)
      out.reasons.push_back(message("assign-conjugates.copies",
                                    "{}, {}: every rank has a copy there, and {} adds the copies "
                                    "up: too large by the number of ranks.",
                                    message(direction), message(place.name), summing));
    if (adds && held == StateHeld::kShards)
      out.reasons.push_back(message("assign-conjugates.shards",
                                    "{}, {}: ranks have other columns there, and {} adds them into "
                                    "each other.",
                                    message(direction), message(place.name), summing));
    if (!adds && held == StateHeld::kSums)
      out.reasons.push_back(message("assign-conjugates.sums",
                                    "{}, {}: ranks have partial sums there, and nothing adds them "
                                    "up.",
                                    message(direction), message(place.name)));
  };
  for (const Place& place : kPlaces) look(place, kForward, "g", place.forward);
  for (const Place& place : kPlaces) look(place, kBackward, "f", place.backward);
  out.facts = {{"wrong", out.reasons.size()}, {"collectives", sums}};
  return out;
}

}  // namespace parallelarium
