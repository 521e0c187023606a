// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/probe_rows.h"

#include <algorithm>

#include "engine/plan/model/routing.h"

namespace parallelarium {

namespace {

// What the routers of one EP group chose for one micro-batch; the kernels' order of rows is that of
// plan/program/pieces.h.
class GroupRoutes {
 public:
  GroupRoutes(const Setup& setup, const std::vector<ProbedRank>& probes, const ProbedRank& of)
      : setup_(setup), top_k_(setup.model.experts.top_k) {
    for (const int rank : group_of(setup.mesh, Axis::kEp, of.rank)) {
      const auto found = std::find_if(probes.begin(), probes.end(), [&](const ProbedRank& probed) {
        return probed.rank == rank && probed.probe == of.probe && !probed.routes.empty();
      });
      if (found == probes.end()) continue;
      if (rank == of.rank) own_ = homes_.size();
      homes_.push_back(&found->routes);
    }
  }

  std::int64_t rows() const {
    std::int64_t rows = 0;
    for (std::size_t home = 0; home < homes_.size(); ++home)
      for (std::size_t choice = 0; choice < choices(home); ++choice) rows += row(home, choice) >= 0;
    return rows;
  }
  // Rows of the rank's own tokens, by the place of their expert.
  void sent(ProbedRank& rank) const {
    std::vector<std::size_t> by_row(choices(own_));
    std::size_t rows = 0;
    for (std::size_t choice = 0; choice < choices(own_); ++choice) {
      if (row(own_, choice) < 0) continue;
      by_row[static_cast<std::size_t>(row(own_, choice))] = choice;
      ++rows;
    }
    for (std::size_t row = 0; row < rows; ++row) add(rank, own_, by_row[row]);
  }
  // Rows of the rank's own experts: expert by expert, and by the rank that they came from.
  void taken(ProbedRank& rank) const {
    const int ep = setup_.mesh.ep, experts = static_cast<int>(setup_.model.experts.count);
    for (int place = 0; place < experts / ep; ++place) {
      const int expert =
          expert_at({static_cast<int>(own_), place}, experts, ep, setup_.expert_placement);
      for (std::size_t home = 0; home < homes_.size(); ++home)
        for (std::size_t choice = 0; choice < choices(home); ++choice)
          if ((*homes_[home])[choice] == expert && row(home, choice) >= 0) add(rank, home, choice);
    }
  }

 private:
  // The experts of all choices, then their rows.
  std::size_t choices(std::size_t home) const { return homes_[home]->size() / 2; }
  std::int32_t row(std::size_t home, std::size_t choice) const {
    return (*homes_[home])[choices(home) + choice];
  }
  void add(ProbedRank& rank, std::size_t home, std::size_t choice) const {
    const auto each = static_cast<std::int64_t>(choices(home)),
               at = static_cast<std::int64_t>(choice);
    rank.row_tokens.push_back(
        static_cast<std::int32_t>((static_cast<std::int64_t>(home) * each + at) / top_k_));
    rank.row_choices.push_back(static_cast<std::int32_t>(at % top_k_));
  }

  const Setup& setup_;
  const std::int64_t top_k_;
  std::vector<const std::vector<std::int32_t>*> homes_;  // by rank of the EP group
  std::size_t own_ = 0;
};

void cut(ProbedTensor& tensor, std::int64_t rows, std::int64_t whole) {
  TensorDimension& dimension = tensor.what.dimensions.front();
  const std::size_t row =
      dimension.size > 0 ? tensor.bytes.size() / static_cast<std::size_t>(dimension.size) : 0;
  tensor.bytes.resize(row * static_cast<std::size_t>(rows));
  dimension.size = rows;
  dimension.whole = whole;
  // Which rows these are, their tokens and choices say.
  for (TensorCut& of : dimension.cuts) of.ranges.clear();
}

}  // namespace

void name_rows(const Setup& setup, std::vector<ProbedRank>& probes) {
  for (ProbedRank& rank : probes) {
    if (rank.routes.empty()) continue;
    const GroupRoutes routes(setup, probes, rank);
    if (rank.probe.piece == Piece::kExpert)
      routes.taken(rank);
    else
      routes.sent(rank);
    const auto rows = static_cast<std::int64_t>(rank.row_tokens.size());
    for (ProbedTensor& tensor : rank.tensors)
      if (tensor.what.by_row()) cut(tensor, rows, routes.rows());
  }
  for (ProbedRank& rank : probes) rank.routes.clear();
}

}  // namespace parallelarium
