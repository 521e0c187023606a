// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/describe_op.h"

#include <algorithm>
#include <string>

#include "engine/plan/text/phrases.h"

namespace parallelarium {

Message of_microbatch(Message what, int microbatch) {
  if (microbatch < 0) return what;
  return message("of-microbatch", "{} of micro-batch {}", std::move(what), microbatch);
}

Message describe(const Op& op) {
  const Message purpose = word("purpose", name_of(op.purpose));
  const Message piece = word("piece", name_of(op.piece));
  switch (op.kind) {
    case OpKind::kSend:
      return message("op-send", "sending {} to rank {}", of_microbatch(purpose, op.microbatch),
                     op.peer);
    case OpKind::kRecv:
      return message("op-receive", "receiving {} from rank {}",
                     of_microbatch(purpose, op.microbatch), op.peer);
    case OpKind::kCollective: {
      std::string name(name_of(op.collective));
      std::replace(name.begin(), name.end(), '_', '-');  // "all-gather"
      Message what = message("op-collective", "the {} of {}", word("collective", name), purpose);
      if (op.layer >= 0) what = message("op-in-layer", "{} in layer {}", std::move(what), op.layer);
      return of_microbatch(std::move(what), op.microbatch);
    }
    case OpKind::kCompute:
      break;
  }
  if (op.piece == Piece::kStage) {
    return of_microbatch(op.phase == Phase::kForward ? message("op-forward", "the forward")
                                                     : message("op-backward", "the backward"),
                         op.microbatch);
  }
  if (op.piece == Piece::kZeroGrad) return message("op-clears-gradients", "clearing the gradients");
  if (op.phase == Phase::kUpdate) return message("op-update", "the {}", piece);
  const Message phase = word("phase", name_of(op.phase));
  return of_microbatch(op.layer < 0
                           ? message("op-piece", "{} ({})", piece, phase)
                           : message("op-layer-piece", "layer {} {} ({})", op.layer, piece, phase),
                       op.microbatch);
}

Message describe(const Buffer& buffer) {
  Message what = word("tensor", name_of(buffer.tensor));
  if (buffer.layer >= 0) what = message("buffer-layer", "layer {} {}", buffer.layer, what);
  if (buffer.microbatch >= 0)
    what = message("buffer-microbatch", "{}, micro-batch {}", what, buffer.microbatch);
  return what;
}

}  // namespace parallelarium
