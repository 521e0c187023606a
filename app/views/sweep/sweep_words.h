// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the Sweep view.
#pragma once

#include "app/state/plan/setting_sweep.h"

namespace parallelarium {

// Figures that a sweep may show: the engine's short name, and what people read.
std::vector<std::pair<QString, QString>> sweep_figures();
QString figure_label(const QString& figure);
QString swept_label(const QString& option);  // "micro-batches", "TP"
QString swept_figure_text(double figure, const std::string& unit);
QString sweep_title(const SweepWish& wish);
QString sweep_status(const SettingSweep& sweep);  // what is under way, stale or wrong, or empty
// "micro-batches 8, ZeRO 1"
QString point_name(const SweepAnswer& answer, const SweptPoint& point);
// What grows along the points beside what varies: ranks, or the batch; or what stays, or nothing.
QString sizes_note(const SweepAnswer& answer);
// The limits of the search that hold for the points, or empty.
QString limits_note(const SweepAnswer& answer);
bool ranks_differ(const SweepAnswer& answer);
// The points as lines of values, figures and refusals, in the C locale.
std::string sweep_csv(const SweepAnswer& answer);
// "84.1 ms", "84.1 ms on 8 ranks" where the points differ in that, "does not fit", or the sentence
// of its refusal.
QString point_outcome(const SweepAnswer& answer, const SweptPoint& point);
// ", measured 86.0 ms", or empty where the point was not run.
QString ran_outcome(const SweepAnswer& answer, const std::vector<SweptRun>& runs, int point);
// What is refused, each sentence once with the points that it stands for.
QStringList refusals_of(const SweepAnswer& answer);
QString sweep_description(const SettingSweep& sweep);

}  // namespace parallelarium
