// SPDX-License-Identifier: GPL-3.0-or-later
// What the Roofline view shows: the engine's roofline (engine/predict/rates/roofline.h) of one
// layer, its pieces numbered, and what is selected of them.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "app/state/session.h"
#include "app/views/shared/quantities/quantities.h"
#include "engine/predict/rates/roofline.h"

namespace parallelarium {

struct RooflineData {
  std::optional<Roofline> roofline;  // none: `refusal` says why
  QString refusal;
  QString whose;             // the selected plan's, or what is set
  QString machine, model;    // titles
  QString source;            // of the prediction: "predicted, published efficiencies"
  int layers = 0;            // of the model
  std::vector<int> numbers;  // of each point: that of its piece, from 1
  bool measured = false;     // a run says what the pieces took
  bool hidden = false;       // a lesson asks about them
  int selected = 0;          // of the points
  QString limit;             // says how much of the memory may be used, if not all; else empty
  bool dimmed = false;       // of the last valid Setup, or of a plan of other settings

  const RooflinePoint* point() const;              // the selected one, or null
  bool selects(const RooflinePiece& piece) const;  // whether that is one of the piece's
};
// `layer` -1: the first with experts, or the first of all.
RooflineData roofline_data(const Session& session, int layer, int selected);

// The words of a point, an origin or a ceiling.
QString point_text(const RooflinePoint& point);  // "MLP in, forward"
QString bound_text(RooflineBound bound);         // "arithmetic", "memory", "launch"
QString flops_rate_text(double flops_per_second);
QString seconds_or_dash(double seconds);  // a dash where there are none
// Says where its latency comes from, and where its rate does if that is elsewhere.
QString ladder_origin(const LadderRow& row);
// The same in the words of origin_word().
QString ladder_origin_word(const LadderRow& row);
QString roofline_title(const RooflineData& data);
QString roofline_description(const RooflineData& data);
std::vector<std::pair<QString, QString>> point_facts(const RooflinePoint& point);
// Five, for the strip: of the whole layer.
std::vector<Quantity> roofline_quantities(const RooflineData& data);

}  // namespace parallelarium
