// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences about ops and pictures: one wording for tooltips, the selection, tables, exports and
// screen readers.
#pragma once

#include <QLocale>
#include <QString>
#include <QStringList>

#include "app/views/timeline/picture/lanes.h"

namespace parallelarium {

// The labels for a bar, from the longest to the shortest, at least one: "backward 3", "3" (or
// "3.1", with its chunk); for a layer "backward 3 \u00b7 layer 2", "layer 2", "L2"; for a piece
// "MLP in"; for a collective "all-reduce TP", "all-reduce"; for the optimizer "update".
QStringList bar_labels(const Bar& bar);
// The same for a bar of communication. The first label says what it is about, and the last has
// letters that users of NCCL know: "all-reduce of gradients, DP", ..., "AR".
QStringList sent_labels(const Bar& bar);

// "Backward of micro-batch 3 on stage 2", "Layer 2 in the forward of micro-batch 3 on stage 1",
// "All-reduce of activations ... over the 2 ranks of the TP group".
QString bar_sentence(const Program& program, int rank_index, const Bar& bar);

// Everything about a bar, line by line: the sentence, predicted and observed durations with their
// source words and the spread, bytes, what it waited for and, seen from far, its parts. Either side
// may be null. `fresh`: both are for the same Setup, so that a difference may be named.
QStringList bar_lines(const LaneRows* predicted, const LaneRows* observed, OpRef op, bool fresh,
                      Zoom zoom, const HiddenOfOps& hides, const QLocale& locale = QLocale());

// Why a rank idles at `time`: "idle 12.1 ms: warm-up, waits for ...". Empty if it is busy.
QString idle_sentence(const LaneRows& rows, int rank_index, Nanoseconds time,
                      const HiddenOfOps& hides, const QLocale& locale = QLocale());

// Titles of blocks. The source is in upper case: "PREDICTED \u00b7 for this engine, calibrated".
QString predicted_title(const Prediction& prediction);
// "REHEARSAL \u00b7 durations set, 1:10 \u00b7 training step 3 of 5, the median \u00b7 2 min ago",
// or "MEASURED RUN \u00b7 ...". `absolute` writes the date instead.
QString run_title(const Observation& observation, bool absolute);
// The meaning of "durations set, 1:10" in that title. Empty if the title does not have it.
QString run_title_tip(const Observation& observation);
// The title of a run whose settings are not the present ones: "Rehearsal of other settings: 8
// micro-batches".
QString other_settings_title(const Observation& run, const Setup& present);
// "PINNED \u00b7 predicted \u00b7 with 8 micro-batches".
QString pinned_title(const RunRecord& pinned, const Setup& present);

// "1F1B", or the name of a user's order.
QString schedule_title(const Schedule& schedule);

// "1F1B \u00b7 4 stages \u00b7 8 micro-batches \u00b7 TP 2"
QString picture_title(const Setup& setup);
// "GPT tiny \u00b7 DP 1 TP 1 PP 4 \u00b7 ... " and "This computer, calibrated ...": the footer.
QString setup_footer(const Setup& setup);
// The model's name. A preset keeps its name if only its sequences differ.
QString model_words(const Model& model);
QString machine_footer(const Prediction& prediction);

// Says for screen readers what the stages do at `time`: "At 59.0 ms: stage 0 backward 4, holds 4 5
// 6 7; stage 1 idle, ...". It leaves out what they hold if a lesson asks for that.
QString moment_sentence(const LaneRows& rows, Nanoseconds time, const HiddenOfOps& hides,
                        bool with_held = true, const QLocale& locale = QLocale());

}  // namespace parallelarium
