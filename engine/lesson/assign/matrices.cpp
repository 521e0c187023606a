// SPDX-License-Identifier: Apache-2.0
// Cuts of the matrices of a layer, and f and g around them. Two ranks compute with them, and what
// they get is compared with what one rank gets; nothing else says which collectives are needed and
// which values are wrong.
#include <cmath>
#include <optional>
#include <string_view>

#include "engine/lesson/assign/assignment.h"
#include "engine/lesson/assign/rank_team.h"

namespace parallelarium {

namespace {

constexpr int kRanks = 2;
constexpr std::int64_t kTokens = 4, kWide = 8, kInner = 16, kHeadWidth = 2;

constexpr Sentence kQkvName{"assign-name.qkv", "QKV"};
constexpr Sentence kProjectionName{"assign-name.projection", "the projection"};
constexpr Sentence kMlpInName{"assign-name.mlp-in", "MLP in"};
constexpr Sentence kMlpOutName{"assign-name.mlp-out", "MLP out"};
constexpr Sentence kHeadsName{"assign-name.heads", "attention"};
constexpr Sentence kGeluName{"assign-name.gelu", "GELU"};

// x Phi(x), and its derivative.
double gelu_of(double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }
double gelu_slope(double x) {
  constexpr double kInverseRoot = 0.3989422804014327;  // 1 / sqrt(2 pi)
  return 0.5 * std::erfc(-x / std::sqrt(2.0)) + x * kInverseRoot * std::exp(-x * x / 2);
}
RankMatrix gelu_of_all(RankMatrix of) {
  for (double& cell : of.cells) cell = gelu_of(cell);
  return of;
}

// Causal attention of as many heads as there are: each has its queries, keys and values in columns
// that follow one another.
RankMatrix attention_of_all(const RankMatrix& qkv) {
  const std::int64_t heads = qkv.columns / (3 * kHeadWidth);
  RankMatrix out{qkv.rows, heads * kHeadWidth,
                 std::vector<double>(static_cast<std::size_t>(qkv.rows * heads * kHeadWidth))};
  for (std::int64_t head = 0; head < heads; ++head)
    for (std::int64_t query = 0; query < qkv.rows; ++query) {
      const std::int64_t first = head * 3 * kHeadWidth;
      double sum = 0;
      for (std::int64_t key = 0; key <= query; ++key) {
        double score = 0;
        for (std::int64_t at = 0; at < kHeadWidth; ++at)
          score += qkv.at(query, first + at) * qkv.at(key, first + kHeadWidth + at);
        const double weight = std::exp(score);
        sum += weight;
        for (std::int64_t at = 0; at < kHeadWidth; ++at)
          out.at(query, head * kHeadWidth + at) +=
              weight * qkv.at(key, first + 2 * kHeadWidth + at);
      }
      for (std::int64_t at = 0; at < kHeadWidth; ++at) out.at(query, head * kHeadWidth + at) /= sum;
    }
  return out;
}

// One half: two matrices with something between them that is not linear.
struct MatrixHalf {
  const char *first_slot, *second_slot;
  Sentence first, second, between;
  std::int64_t first_columns, second_rows;
  RankMatrix (*compute)(const RankMatrix&);
};
RankMatrix gelu_between(const RankMatrix& of) { return gelu_of_all(of); }
constexpr MatrixHalf kHalves[] = {
    {"qkv", "projection", kQkvName, kProjectionName, kHeadsName, 3 * kWide, kWide,
     attention_of_all},
    {"mlp-in", "mlp-out", kMlpInName, kMlpOutName, kGeluName, kInner, kInner, gelu_between}};

enum class Joins { kNothing, kAllReduce, kAllGather };
constexpr Joins kAllJoins[] = {Joins::kNothing, Joins::kAllReduce, Joins::kAllGather};

void join(RankTeam& team, int rank, Joins how, RankMatrix& held) {
  if (how == Joins::kAllReduce) team.all_reduce(rank, held);
  if (how == Joins::kAllGather) team.all_gather_columns(rank, held);
}

// With the rank's part of a matrix; by rows it takes the columns that it needs of a whole input.
// False: the rank has other columns than its part of the matrix has rows.
bool multiply(int rank, const RankMatrix& weight, bool by_rows, RankMatrix& held) {
  if (by_rows && held.columns == weight.rows) held = columns_of(held, rank, kRanks);
  const RankMatrix part =
      by_rows ? rows_of(weight, rank, kRanks) : columns_of(weight, rank, kRanks);
  if (held.columns != part.rows) return false;
  held = product(held, part);
  return true;
}

// What joins ranks between the two matrices and behind them, and what that sends.
struct JoinedHalf {
  Joins inside = Joins::kNothing, end = Joins::kNothing;
  int collectives = 0;
  std::int64_t sent_bytes = 0;
};

// Both ranks compute the half, joined so. Nothing: they do not get what one rank gets.
std::optional<JoinedHalf> computed_half(const MatrixHalf& half, bool first_by_rows,
                                        bool second_by_rows, Joins inside, Joins end) {
  const RankMatrix input = test_matrix(kTokens, kWide, 1);
  const RankMatrix first = test_matrix(kWide, half.first_columns, 2),
                   second = test_matrix(half.second_rows, kWide, 3);
  const RankMatrix wanted = product(half.compute(product(input, first)), second);
  std::vector<char> right(kRanks, 0);
  RankTeam team(kRanks);
  team.run([&](int rank) {
    RankMatrix held = input;
    bool fits = multiply(rank, first, first_by_rows, held);
    if (inside == Joins::kAllReduce) join(team, rank, inside, held);
    held = half.compute(held);
    if (inside == Joins::kAllGather) join(team, rank, inside, held);
    fits = multiply(rank, second, second_by_rows, held) && fits;
    join(team, rank, end, held);
    right[static_cast<std::size_t>(rank)] = fits && agree(held, wanted);
  });
  for (const char each : right)
    if (!each) return std::nullopt;
  return JoinedHalf{inside, end, team.collectives(), team.sent_bytes()};
}

// The way with the fewest collectives on which both ranks get what one rank gets: all are tried.
JoinedHalf fewest_joins(const MatrixHalf& half, bool first_by_rows, bool second_by_rows) {
  std::optional<JoinedHalf> best;
  for (const Joins inside : kAllJoins)
    for (const Joins end : kAllJoins) {
      const auto made = computed_half(half, first_by_rows, second_by_rows, inside, end);
      if (made && (!best || std::pair(made->collectives, made->sent_bytes) <
                                std::pair(best->collectives, best->sent_bytes)))
        best = made;
    }
  return best.value_or(JoinedHalf{});  // there is one for each of the four cuts
}

}  // namespace

AssignmentFacts matrix_facts(const Assignment& assignment) {
  AssignmentFacts out;
  int gathers = 0, sums = 0;
  std::int64_t sent = 0;
  for (const MatrixHalf& half : kHalves) {
    const JoinedHalf made = fewest_joins(half, assignment.at(half.first_slot) == "rows",
                                         assignment.at(half.second_slot) == "rows");
    for (const Joins each : {made.inside, made.end}) {
      sums += each == Joins::kAllReduce;
      gathers += each == Joins::kAllGather;
    }
    sent += made.sent_bytes;
    if (made.inside == Joins::kAllReduce)
      out.reasons.push_back(message("assign-matrices.sum",
                                    "{} is cut by rows and leaves partial sums, and {} cannot work "
                                    "on those: an all-reduce inside the half.",
                                    message(half.first), message(half.between)));
    if (made.inside == Joins::kAllGather)
      out.reasons.push_back(message("assign-matrices.input",
                                    "{} is cut by columns and needs its whole input, but {} leaves "
                                    "shards: an all-gather before it.",
                                    message(half.second), message(half.first)));
    if (made.end == Joins::kAllGather)
      out.reasons.push_back(message("assign-matrices.end",
                                    "{} is cut by columns and leaves shards, but the half ends "
                                    "with a copy on every rank: an all-gather at its end.",
                                    message(half.second)));
  }
  out.facts = {{"all_reduces", sums},
               {"all_gathers", gathers},
               {"collectives", sums + gathers},
               {"sent_bytes", sent}};
  return out;
}

namespace {

constexpr Sentence kBeforeIn{"assign-place.in", "before MLP in"};
constexpr Sentence kBeforeOut{"assign-place.out", "before MLP out"};
constexpr Sentence kBehindOut{"assign-place.end", "after MLP out"};
constexpr Sentence kForward{"assign-direction.forward", "Forward"};
constexpr Sentence kBackward{"assign-direction.backward", "Backward"};

struct ConjugatePlace {
  const char* slot;
  Sentence name;
};
constexpr int kPlaceCount = 3;
constexpr ConjugatePlace kPlaces[kPlaceCount] = {
    {"before-mlp-in", kBeforeIn}, {"before-mlp-out", kBeforeOut}, {"behind-mlp-out", kBehindOut}};

// One rank computes the MLP whole: its values at the three places on the way forward, and their
// gradients on the way back.
struct WholeMlp {
  RankMatrix input = test_matrix(kTokens, kWide, 1), first = test_matrix(kWide, kInner, 2),
             second = test_matrix(kInner, kWide, 3), above = test_matrix(kTokens, kWide, 4);
  RankMatrix inner = product(input, first);
  RankMatrix forward[kPlaceCount] = {input, gelu_of_all(inner),
                                     product(gelu_of_all(inner), second)};
  RankMatrix backward[kPlaceCount] = {
      product(through_gelu(product(above, transposed(second)), inner), transposed(first)),
      product(above, transposed(second)), above};

  static RankMatrix through_gelu(RankMatrix gradient, const RankMatrix& inner) {
    for (std::size_t cell = 0; cell < gradient.cells.size(); ++cell)
      gradient.cells[cell] *= gelu_slope(inner.cells[cell]);
    return gradient;
  }
};

// What a rank computes up to each place if nothing went wrong before it: the MLP is cut by columns,
// then rows.
RankMatrix arrives(const WholeMlp& whole, int place, bool forward, int rank) {
  const RankMatrix first = columns_of(whole.first, rank, kRanks),
                   second = rows_of(whole.second, rank, kRanks);
  const RankMatrix inner = product(whole.input, first);
  if (forward) {
    if (place == 0) return whole.input;
    return place == 1 ? gelu_of_all(inner) : product(gelu_of_all(inner), second);
  }
  if (place == 2) return whole.above;
  const RankMatrix before = product(whole.above, transposed(second));
  return place == 1 ? before : product(WholeMlp::through_gelu(before, inner), transposed(first));
}

// Whether ranks have there what one rank has, or their columns of it, once they were joined or not.
enum class Seen { kRight, kTooLarge, kOther };
Seen seen_at(RankTeam& team, const WholeMlp& whole, int place, bool forward, bool adds) {
  std::vector<Seen> seen(kRanks, Seen::kRight);
  team.run([&](int rank) {
    RankMatrix held = arrives(whole, place, forward, rank);
    if (adds) team.all_reduce(rank, held);
    RankMatrix wanted = forward ? whole.forward[place] : whole.backward[place];
    if (held.columns < wanted.columns) wanted = columns_of(wanted, rank, kRanks);
    Seen& here = seen[static_cast<std::size_t>(rank)];
    if (agree(held, wanted)) return;
    for (double& cell : wanted.cells) cell *= kRanks;
    here = agree(held, wanted) ? Seen::kTooLarge : Seen::kOther;
  });
  for (const Seen each : seen)
    if (each != Seen::kRight) return each;
  return Seen::kRight;
}

}  // namespace

AssignmentFacts conjugate_facts(const Assignment& assignment) {
  AssignmentFacts out;
  const WholeMlp whole;
  RankTeam team(kRanks);
  const auto look = [&](int place, bool forward) {
    const std::string_view summing = forward ? "g" : "f";
    const bool adds = assignment.at(kPlaces[place].slot) == summing;
    const Seen seen = seen_at(team, whole, place, forward, adds);
    if (seen == Seen::kRight) return;
    const Message direction = message(forward ? kForward : kBackward),
                  name = message(kPlaces[place].name);
    if (!adds)
      out.reasons.push_back(message("assign-conjugates.sums",
                                    "{}, {}: ranks have partial sums there, and nothing adds them "
                                    "up.",
                                    direction, name));
    else if (seen == Seen::kTooLarge)
      out.reasons.push_back(message("assign-conjugates.copies",
                                    "{}, {}: every rank has a copy there, and {} adds the copies "
                                    "up: too large by the number of ranks.",
                                    direction, name, summing));
    else
      out.reasons.push_back(message("assign-conjugates.shards",
                                    "{}, {}: ranks have other columns there, and {} adds them into "
                                    "each other.",
                                    direction, name, summing));
  };
  for (int place = 0; place < kPlaceCount; ++place) look(place, true);
  for (int place = 0; place < kPlaceCount; ++place) look(place, false);
  out.facts = {{"wrong", out.reasons.size()},
               {"collectives", team.collectives()},
               {"sent_bytes", team.sent_bytes()}};
  return out;
}

}  // namespace parallelarium
