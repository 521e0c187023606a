// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/selection/proof_text.h"

#include <nlohmann/json.hpp>

#include "app/selection/selection_panel.h"

namespace parallelarium {

QString proof_text(const nlohmann::json& proof) {
  const bool holds = proof.value("holds", false);
  if (proof.value("in_16_bit", false))
    return holds ? SelectionPanel::tr(
                       "The losses and all gradients differ from one rank in fp32 by no more than "
                       "those of one rank in 16 bit do.")
                 : SelectionPanel::tr(
                       "The run differs from one rank in fp32 by more than rounding to 16 bit "
                       "explains.");
  return holds ? SelectionPanel::tr(
                     "The losses and all gradients equal those of one rank within their bounds.")
               : SelectionPanel::tr("The run differs from one rank by more than its bounds allow.");
}

}  // namespace parallelarium
