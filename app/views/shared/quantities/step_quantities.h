// SPDX-License-Identifier: GPL-3.0-or-later
// The quantities of the training step that several views show.
#pragma once

#include <QLocale>
#include <optional>
#include <vector>

#include "app/state/session.h"
#include "app/views/shared/quantities/quantities.h"
#include "engine/plan/program/report.h"

namespace parallelarium {

// Step time, bubble, peak memory, bytes sent, loss: the five of the Pipeline view. `rank_index`:
// the rank whose memory and traffic are shown; -1: the memory of the fullest rank and the traffic
// of the busiest sender.
std::vector<Quantity> step_quantities(const Session& session, const QLocale& locale = QLocale(),
                                      int rank_index = -1);

// The built rank whose memory peak is largest, and the one that sends most, of a prediction.
int fullest_rank(const Prediction& prediction);
int busiest_sender(const Prediction& prediction);

// The strip's name of a built rank: "stage 2", "rank 5". Empty: there is no such rank.
QString rank_place(const Prediction& prediction, int rank_index);

// The sources of the figures of one rank.
struct RankSides {
  const Prediction* prediction = nullptr;
  const RunRecord* run = nullptr;  // the run of the present Setup, or null
  int run_rank = -1;               // the same rank in the run, or -1
};
RankSides sides_of(const Session& session, int rank_index);

// The text in place of a difference of durations that a rehearsal set.
QString set_text();

// Why a rehearsal came late: other work kept its ops from ending when they should. None: it did
// not. late_text() is then the word in place of a difference, and can_be_late() says which figures
// can have it.
std::optional<Message> lateness_of(const Observation& run);
QString late_text();
bool can_be_late(const QString& key);

// If a run of that source is no evidence of speed, puts a word and its meaning in place of the
// difference of two durations, and returns true. Otherwise it changes nothing.
bool say_no_difference(Source source, Quantity& quantity);

// Applies what holds for every figure of a rank: a lesson hides it, the Setup is invalid, or
// nothing ran. Adds the guess.
void finish(const Session& session, const RankSides& sides, Quantity& quantity);

}  // namespace parallelarium
