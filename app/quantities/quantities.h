// SPDX-License-Identifier: GPL-3.0-or-later
// The five quantities of the pipeline view, predicted beside observed, as text with their source
// words: one computation for strip, exports and clipboard.
#pragma once

#include <QLocale>
#include <QString>
#include <vector>

#include "app/state/session.h"

namespace parallelarium {

struct ExpertPicture;

// One side of a quantity. Empty text: nothing to show (not run, stale, no such figure).
struct Figure {
  QString text;         // "84.1 ms", "?" when a lesson hides it
  QString source;       // "predicted", "paced", "counted"; or why there is none: "not run yet"
  QString exact;        // for the tooltip: "41,943,040 bytes"
  bool hidden = false;  // by a lesson, for now
};

// What stands in the place of a figure that a lesson hides.
Figure hidden_figure();

struct Quantity {
  QString key;    // dotted key of predict and run: "step.seconds"
  QString title;  // "Step time", "Bubble of whole step", "Peak memory, stage 0"
  Figure predicted, observed;
  QString difference;  // "+5.1 %", "2.0 pt", "0 B", "set by pace"; empty when not comparable
  QString since_pin;   // "−3.2 ms since pin", or empty
  QString note;        // what else the figures say: "12,200 tokens/s predicted"; or empty
  QString guess;       // "16 %", or empty
  double predicted_value = 0, observed_value = 0;
};

// `rank_index`: whose memory and traffic; -1: the fullest rank's, and the busiest sender's.
std::vector<Quantity> pipeline_quantities(const Session& session, const QLocale& locale = QLocale(),
                                          int rank_index = -1);
// Those of the Memory view: peak, sent, step time, bytes per parameter, loss; of one rank.
std::vector<Quantity> memory_quantities(const Session& session, int rank_index,
                                        const QLocale& locale = QLocale());
// Those of the Mesh view: step time, all that one rank sends, and its part along TP, DP and PP.
std::vector<Quantity> mesh_quantities(const Session& session, int rank_index,
                                      const QLocale& locale = QLocale());

// Those of the Collectives view: time, bus bandwidth, sent per rank, result, steps.
std::vector<Quantity> collective_quantities(const Session& session,
                                            const QLocale& locale = QLocale());

// Those of the Experts view: time of the layer, fullest rank over mean, bytes between ranks,
// dropped choices, loss.
std::vector<Quantity> expert_quantities(const Session& session, const ExpertPicture& picture,
                                        const QLocale& locale = QLocale());

// The built rank whose memory peak is largest, and the one that sends most, of a prediction.
int fullest_rank(const Prediction& prediction);
int busiest_sender(const Prediction& prediction);

}  // namespace parallelarium
