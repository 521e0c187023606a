// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences about ops and pictures: one wording for tooltips, the selection, tables, exports and
// screen readers.
#pragma once

#include <QLocale>
#include <QString>
#include <QStringList>

#include "app/views/timeline/picture/lanes.h"

namespace parallelarium {

// On a bar, from the longest to the shortest, at least one: "backward 3", "3" (or "3.1", with its
// chunk); of a layer "backward 3 \u00b7 layer 2", "layer 2", "L2"; of a piece "MLP in"; of a
// collective "all-reduce TP", "all-reduce"; "update" of the optimizer.
QStringList bar_labels(const Bar& bar);
// The same of a bar of communication, with what it is about first and letters that NCCL's users
// know last: "all-reduce of gradients, DP", ..., "AR".
QStringList sent_labels(const Bar& bar);

// "Backward of micro-batch 3 on stage 2", "Layer 2 in the forward of micro-batch 3 on stage 1",
// "All-reduce of activations ... over the 2 ranks of the TP group".
QString bar_sentence(const Program& program, int rank_index, const Bar& bar);

// Everything about a bar, one line each: the sentence, predicted and observed durations with their
// source words and the spread, bytes, what it waited for; from far, what its parts are. Either side
// may be null; `fresh` says that both are of one Setup, so that a difference may be named.
QStringList bar_lines(const LaneRows* predicted, const LaneRows* observed, OpRef op, bool fresh,
                      Zoom zoom, const HiddenOfOps& hides, const QLocale& locale = QLocale());

// Why a rank idles at `time`: "idle 12.1 ms: warm-up, waits for ..."; empty when it is busy.
QString idle_sentence(const LaneRows& rows, int rank_index, Nanoseconds time,
                      const HiddenOfOps& hides, const QLocale& locale = QLocale());

// Titles of blocks, in upper case where they name the source:
// "PREDICTED \u00b7 for this engine, calibrated".
QString predicted_title(const Prediction& prediction);
// "REHEARSAL \u00b7 durations set, 1:10 \u00b7 training step 3 of 5, the median \u00b7 2 min ago",
// or "MEASURED RUN \u00b7 ..."; `absolute` writes the date instead.
QString run_title(const Observation& observation, bool absolute);
// What "durations set, 1:10" in it means; empty where it does not say so.
QString run_title_tip(const Observation& observation);
// "Rehearsal of other settings: 8 micro-batches": of a run whose settings are not the present ones.
QString other_settings_title(const Observation& run, const Setup& present);
// "PINNED \u00b7 predicted \u00b7 with 8 micro-batches".
QString pinned_title(const RunRecord& pinned, const Setup& present);

// "1F1B", or the name of an order of one's own.
QString schedule_title(const Schedule& schedule);

// "1F1B \u00b7 4 stages \u00b7 8 micro-batches \u00b7 TP 2"
QString picture_title(const Setup& setup);
// "GPT tiny \u00b7 DP 1 TP 1 PP 4 \u00b7 ... " and "This computer, calibrated ...": the footer.
QString setup_footer(const Setup& setup);
// The model's name; a preset whose sequences alone are others keeps its own.
QString model_words(const Model& model);
QString machine_footer(const Prediction& prediction);

// What the stages do at `time`, for screen readers: "At 59.0 ms: stage 0 backward 4, holds 4 5 6
// 7; stage 1 idle, ..."; without what they hold where a lesson asks for it.
QString moment_sentence(const LaneRows& rows, Nanoseconds time, const HiddenOfOps& hides,
                        bool with_held = true, const QLocale& locale = QLocale());

}  // namespace parallelarium
