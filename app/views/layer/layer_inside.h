// SPDX-License-Identifier: GPL-3.0-or-later
// What a run with probes saw of one layer: numbers of its tensors by rank, and what collectives
// established. The engine averages large tensors down to cells.
#pragma once

#include <QImage>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/state/session.h"
#include "engine/plan/layer/layer_steps.h"

namespace parallelarium {

struct InsideTensor {
  int rank = 0;  // global
  std::string piece, phase, name;
  bool written = false;
  double norm = 0, mean = 0, min = 0, max = 0;  // of all elements; the norm is L2
  int rows = 0, columns = 0;                    // of cells; 0: none are shown
  std::vector<double> means;
};
struct InsideIdentity {
  int step = 0;  // of the collective, as LayerSteps::steps
  double largest_difference = 0;
  std::optional<double> one_rank_difference;  // from the same on one rank
  QString sentence;                           // with what is said of one rank
};

struct LayerInside {
  Setup of;  // what was set when it ran, resolved
  LayerChoice choice;
  std::vector<InsideTensor> tensors;
  std::vector<InsideIdentity> identities;
  // Null: no probe saw it.
  const InsideTensor* find(const LayerStep& step, const LayerTensor& tensor, int rank) const;
  const InsideIdentity* identity_of(int step) const;
  // The largest mean of a tensor on any rank, without its sign.
  double most_of(const InsideTensor& tensor) const;
};

// Whether ranks can run on the machine that is set.
bool can_look_inside(const Session& session);

// Runs one training step with probes of all pieces of the layer, and the same on one rank beside
// it, and hands over what they saw. The engine must have no job under way.
void look_inside(Session& session, const LayerSteps& layer,
                 std::function<void(std::shared_ptr<const LayerInside>)> keep);

// Cells as colours: of the communication's for what is below 0, of the accent for what is above.
QImage image_of(const InsideTensor& tensor, double most, const Theme& theme);

}  // namespace parallelarium
