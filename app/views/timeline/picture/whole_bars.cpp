// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/picture/whole_bars.h"

#include <algorithm>

namespace parallelarium {
namespace {

// Whether two bars, one after the other, belong to one. What is no action (the update with its
// all-reduce) stays in parts: merged, its waiting would look like work.
bool belong_together(const Bar& before, const Bar& after, Zoom zoom) {
  if (before.microbatch < 0 || after.microbatch < 0) return false;
  return before.action == after.action && before.microbatch == after.microbatch &&
         before.chunk == after.chunk && (zoom == Zoom::kActions || before.layer == after.layer);
}

Phase phase_of(ActionKind action) {
  switch (action) {
    case ActionKind::kForward:
      return Phase::kForward;
    case ActionKind::kWeightGrad:
      return Phase::kWeightGrad;
    case ActionKind::kBackward:
    case ActionKind::kInputGrad:
      break;
  }
  return Phase::kInputGrad;
}

// Of a layer's bar the layer says what it is; what belongs to none is the embedding, or else the
// head with its norm and loss.
Piece piece_of(const Bar& whole, Zoom zoom) {
  if (zoom == Zoom::kActions || whole.layer >= 0 || whole.piece == Piece::kStage)
    return Piece::kStage;
  return whole.piece == Piece::kEmbedding ? Piece::kEmbedding : Piece::kHead;
}

}  // namespace

WholeBars whole_bars(const std::vector<Bar>& pieces, Zoom zoom) {
  WholeBars wholes;
  for (std::size_t part = 0; part < pieces.size(); ++part) {
    const Bar& bar = pieces[part];
    if (part == 0 || !belong_together(pieces[part - 1], bar, zoom)) {
      wholes.bars.push_back(bar);
      wholes.parts.push_back(part);
      continue;
    }
    Bar& whole = wholes.bars.back();
    if (whole.kind != OpKind::kCompute && bar.kind == OpKind::kCompute) {
      const Bar front = whole;
      whole = bar;
      whole.first_op = front.first_op;
      whole.span.begin = front.span.begin;
    }
    whole.last_op = bar.last_op;
    whole.span.end = std::max(whole.span.end, bar.span.end);
  }
  wholes.parts.push_back(pieces.size());
  for (Bar& whole : wholes.bars) {
    if (whole.microbatch < 0 || whole.kind != OpKind::kCompute) continue;
    whole.piece = piece_of(whole, zoom);
    whole.phase = phase_of(whole.action);
    if (zoom == Zoom::kActions) whole.layer = -1;
  }
  return wholes;
}

}  // namespace parallelarium
