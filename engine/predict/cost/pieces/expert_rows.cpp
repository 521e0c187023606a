// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/pieces/expert_rows.h"

#include <algorithm>
#include <numeric>

#include "engine/passes/pieces.h"

namespace parallelarium {

Result<ExpertRows> ExpertRows::make(const Setup& setup, const Routing* measured) {
  const Model& model = setup.model;
  ExpertRows rows;
  if (model.experts.count == 0 || model.experts.first_dense >= model.layers) return rows;
  // Below a capacity of 1, a router that spreads tokens evenly drops choices, too.
  const double capacity = model.experts.capacity;
  const bool drops = capacity > 0 && capacity < 1;
  if (measured == nullptr && setup.skew == 0 && !drops) return rows;
  rows.mesh_ = setup.mesh;
  rows.first_layer_ = model.experts.first_dense;
  rows.alike_ = measured == nullptr;
  rows.layers_ = rows.alike_ ? 1 : model.layers - rows.first_layer_;
  rows.microbatches_ = rows.alike_ ? 1 : setup.microbatches;
  const int ep = setup.mesh.ep, groups = setup.mesh.expert_groups();
  for (int layer = 0; layer < rows.layers_; ++layer) {
    for (int microbatch = 0; microbatch < rows.microbatches_; ++microbatch) {
      for (int group = 0; group < groups; ++group) {
        const Result<RoutedLayer> routed =
            route_layer(setup, rows.first_layer_ + layer, microbatch, group, measured);
        if (!routed) return routed.error();
        Exchange& exchange = rows.exchanges_.emplace_back();
        for (std::size_t rank = 0; rank < static_cast<std::size_t>(ep); ++rank) {
          std::int64_t load = 0;
          for (const auto& row : routed->rows) load += row[rank];
          exchange.load.push_back(load);
          const std::int64_t stays = routed->rows[rank][rank];
          exchange.leaves.push_back(std::accumulate(routed->rows[rank].begin(),
                                                    routed->rows[rank].end(), std::int64_t{0}) -
                                    stays);
          exchange.arrives.push_back(load - stays);
        }
      }
    }
  }
  const LocalSizes sizes = local_sizes(setup);
  rows.even_rows_ = static_cast<double>(std::max<std::int64_t>(1, sizes.even_rows));
  rows.choices_ = home_tokens(setup) * model.experts.top_k;
  return rows;
}

const ExpertRows::Exchange& ExpertRows::exchange(const Op& op, const Coordinates& at) const {
  const int groups = mesh_.expert_groups();
  const int layer = alike_ ? 0 : std::max(0, op.layer - first_layer_);
  const int microbatch = alike_ ? 0 : std::max(0, op.microbatch);
  return exchanges_[static_cast<std::size_t>((layer * microbatches_ + microbatch) * groups +
                                             expert_place(mesh_, at).group)];
}

Volume ExpertRows::volume(const Op& op, int rank) const {
  const Coordinates at = coordinates_of(mesh_, rank);
  const Exchange& of = exchange(op, at);
  const auto me = static_cast<std::size_t>(expert_place(mesh_, at).part);
  const std::int64_t row_bytes = op.bytes / choices_;  // in FP8, with its gate, or as it is
  Volume volume{of.leaves[me] * row_bytes, of.arrives[me] * row_bytes};
  if (op.block == 1) std::swap(volume.sent, volume.received);
  return volume;
}

double ExpertRows::share(const Op& op, int rank) const {
  if (even()) return 1;
  if (op.kind == OpKind::kCompute) {
    if (op.piece != Piece::kExpert) return 1;
    const Coordinates at = coordinates_of(mesh_, rank);
    const Exchange& of = exchange(op, at);
    return static_cast<double>(of.load[static_cast<std::size_t>(expert_place(mesh_, at).part)]) /
           even_rows_;
  }
  if (op.purpose != Purpose::kTokens) return 1;
  const Volume of = volume(op, rank);
  const double even = static_cast<double>(op.bytes) * std::max(1, mesh_.ep - 1) / mesh_.ep;
  return static_cast<double>(std::max(of.sent, of.received)) / even;
}

}  // namespace parallelarium
