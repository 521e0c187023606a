// SPDX-License-Identifier: GPL-3.0-or-later
// The quantities of the training step that several views show.
#pragma once

#include <QLocale>
#include <optional>
#include <vector>

#include "app/state/session.h"
#include "app/views/shared/quantities.h"
#include "engine/plan/program/report.h"

namespace parallelarium {

// Step time, bubble, peak memory, bytes sent, loss: the five of the Pipeline view.
// `rank_index`: whose memory and traffic; -1: the fullest rank's, and the busiest sender's.
std::vector<Quantity> step_quantities(const Session& session, const QLocale& locale = QLocale(),
                                      int rank_index = -1);

// The built rank whose memory peak is largest, and the one that sends most, of a prediction.
int fullest_rank(const Prediction& prediction);
int busiest_sender(const Prediction& prediction);

// "stage 2", "rank 5": what the strip calls a built rank; empty: there is no such rank.
QString rank_place(const Prediction& prediction, int rank_index);

// Where the figures of one rank come from.
struct RankSides {
  const Prediction* prediction = nullptr;
  const RunRecord* run = nullptr;  // of the present Setup, or null
  int run_rank = -1;               // the same rank in the run, or -1
};
RankSides sides_of(const Session& session, int rank_index);

// In place of a difference of durations that a rehearsal set.
QString set_text();

// Why the ops of a rehearsal did not even last as long as was set, since other work kept it from
// that, or none; the word in place of a difference then; and whether that can stand at a figure.
std::optional<Message> lateness_of(const Observation& run);
QString late_text();
bool can_be_late(const QString& key);

// Puts a word in place of the difference of two durations where a run of that source is no evidence
// of speed, with what it means; else nothing is changed. Whether it did.
bool say_no_difference(Source source, Quantity& quantity);

// What holds for every figure of a rank: a lesson hides it, the Setup is invalid, nothing ran; and
// the guess.
void finish(const Session& session, const RankSides& sides, Quantity& quantity);

}  // namespace parallelarium
