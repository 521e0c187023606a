// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/describe_op.h"

namespace parallelarium {

std::string describe(const Op& op) {
  const std::string of_microbatch =
      op.microbatch >= 0 ? fmt::format(" of micro-batch {}", op.microbatch) : "";
  switch (op.kind) {
    case OpKind::kSend:
      return fmt::format("sending {}{} to rank {}", name_of(op.purpose), of_microbatch, op.peer);
    case OpKind::kRecv:
      return fmt::format("receiving {}{} from rank {}", name_of(op.purpose), of_microbatch,
                         op.peer);
    case OpKind::kCollective:
      return fmt::format("the {} of {}{}{}", name_of(op.collective), name_of(op.purpose),
                         op.layer >= 0 ? fmt::format(" in layer {}", op.layer) : "", of_microbatch);
    case OpKind::kCompute:
      break;
  }
  if (op.piece == Piece::kStage) {
    const bool forward = op.phase == Phase::kForward;
    return fmt::format("the {}{}", forward ? "forward" : "backward", of_microbatch);
  }
  if (op.phase == Phase::kUpdate) return fmt::format("the {}", name_of(op.piece));
  if (op.layer < 0) {
    return fmt::format("{} ({}){}", name_of(op.piece), name_of(op.phase), of_microbatch);
  }
  return fmt::format("layer {} {} ({}){}", op.layer, name_of(op.piece), name_of(op.phase),
                     of_microbatch);
}

}  // namespace parallelarium
