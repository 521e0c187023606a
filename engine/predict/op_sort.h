// SPDX-License-Identifier: Apache-2.0
// A sort of ops that texts treat as one. Their words are written once, not for each of thousands of
// ops.
#pragma once

#include <string>

#include "engine/plan/program/program.h"

namespace parallelarium {

struct OpSort {
  OpKind kind;  // kSend for sends and receives
  Piece piece = {};
  Phase phase = {};
  CollectiveKind collective = {};
  Purpose purpose = {};
  auto operator<=>(const OpSort&) const = default;
};
inline OpSort sort_of(const Op& op) {
  if (op.kind == OpKind::kCompute) return {.kind = op.kind, .piece = op.piece, .phase = op.phase};
  if (op.kind == OpKind::kCollective)
    return {.kind = op.kind, .collective = op.collective, .purpose = op.purpose};
  return {.kind = OpKind::kSend, .purpose = op.purpose};
}
inline std::string what_is(const OpSort& op) {
  if (op.kind == OpKind::kCompute)
    return fmt::format("{}, {}", name_of(op.piece), name_of(op.phase));
  if (op.kind == OpKind::kCollective)
    return fmt::format("{} of {}", name_of(op.collective), name_of(op.purpose));
  return fmt::format("send and receive of {}", name_of(op.purpose));
}

}  // namespace parallelarium
