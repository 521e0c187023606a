// SPDX-License-Identifier: GPL-3.0-or-later
// What the memory pictures are made of: sums over the planned buffers of a Program, beside what a
// run counted. Knows no widget.
#pragma once

#include <QString>
#include <array>
#include <optional>
#include <vector>

#include "app/state/session.h"

namespace parallelarium {

// What a rank holds when it holds most, in issue order: `total` is MemoryRow::peak_bytes.
struct PeakParts {
  CategoryBytes parts{};
  std::int64_t total = 0;
  int op = -1;  // that opened the last buffer; -1: held for the whole step
};
PeakParts peak_parts(const Program& program, const RankProgram& rank);

// What the arena counted, cut into the parts of the plan where every category's peak equals the
// plan's to the byte. Else only the sum is known, and `unexplained` is what exceeds the plan.
struct CountedParts {
  CategoryBytes parts{};
  std::int64_t total = 0, unexplained = 0;
  bool equals_plan = false;
};
CountedParts counted_parts(const MemoryRow& counted, const MemoryRow& planned,
                           const PeakParts& plan);

// One ZeRO stage of the Setup on one rank.
struct ZeroColumn {
  int zero = 0;
  bool is_set = false;               // of the Setup itself
  std::optional<PeakParts> planned;  // none: not valid, or still being computed
  std::optional<CountedParts> counted;
  QString refusal;  // why this stage cannot be had
};

// The memory of the Setup under every ZeRO stage, from one Program each; kept until the Setup
// changes. `wait`: also of large Setups, which else are left to be computed by compute().
class ZeroPlans {
 public:
  // A plan of each rank built, or why there is none.
  struct Plan {
    int zero = 0;
    QString refusal;
    std::vector<PeakParts> peaks;
    std::vector<MemoryRow> rows;
  };
  // Whether all four stages of `setup` are there.
  bool holds(const Setup& setup) const;
  // Pure; safe on any thread.
  static std::vector<Plan> compute(const Setup& setup);
  void keep(const Setup& setup, std::vector<Plan> plans);
  // The four columns of a built rank; `session` gives the runs of exactly those Setups.
  std::vector<ZeroColumn> columns(const Session& session, int rank_index) const;

 private:
  std::optional<Setup> setup_;
  std::vector<Plan> plans_;
};

// The latest run of exactly `setup`, or null.
const RunRecord* run_of(const Session& session, const Setup& setup);

// One line of the table of bytes per parameter. `all`: without sharding.
struct ByteTerm {
  QString name;
  int bytes = 0;
  bool sharded = false;  // divided by the ranks that share model states
};
std::vector<ByteTerm> byte_terms(const Setup& setup);
// "2 + 14 / N", and its value with the Setup's N.
QString bytes_formula(const Setup& setup);
double bytes_per_parameter(const Setup& setup);

// One line of "sent per step and rank"; most bytes first.
struct TrafficTerm {
  QString name;       // "all-reduce of gradients, DP"
  QString formula;    // "2 Ψ (N−1)/N"
  QString explained;  // what the letters are, exactly
  std::int64_t sent = 0;
  std::optional<std::int64_t> counted;
  bool by_formula = false;  // of a run that counted others, but not these
};
std::vector<TrafficTerm> traffic_terms(const Prediction& prediction, const RunRecord* run,
                                       int rank_index);

// One tensor that a rank keeps for its backward.
struct TensorTerm {
  QString name;
  std::int64_t one = 0;             // of one layer and one micro-batch
  std::int64_t held = 0, most = 0;  // buffers, and bytes, held when the rank holds most
  QString paper;                    // "2 s b h"; empty: the paper has no such term
  double paper_bytes = 0;
};
struct TensorTable {
  std::vector<TensorTerm> terms;
  double paper_layer = 0;      // Korthikanti's sum for one layer; 0: another kind of model
  std::int64_t one_layer = 0;  // of the paper's terms, what is kept for the backward
  QStringList differences;     // why the two differ
};
TensorTable tensor_table(const Prediction& prediction, int rank_index);

// A part of the memory of one rank at one moment: what lies under a point of the picture.
struct HeldPart {
  QString what;    // "Optimizer state of layer 2"
  QString detail;  // "first and second moments"
  std::int64_t bytes = 0;
  QString how_long;  // "held from start to end"
  int opened_by = -1;
};
// `height`: bytes above the bottom of category `category` at `time`. None: nothing there.
std::optional<HeldPart> part_at(const Program& program, const Timeline& timeline, int rank_index,
                                Nanoseconds time, Category category, std::int64_t height);

QString category_text(Category category);
// "Rank 0 · stage 0"
QString rank_text(const Program& program, int rank_index);

}  // namespace parallelarium
