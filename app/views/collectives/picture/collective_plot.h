// SPDX-License-Identifier: GPL-3.0-or-later
// Bus bandwidth by message size, several algorithms of one operation together: lines predicted,
// marks measured. An algorithm is a dash and a marker, not a colour.
#pragma once

#include <QPainter>
#include <optional>

#include "app/look/theme/theme.h"
#include "app/state/collective/collective_plan.h"
#include "app/views/shared/paint/recorded_plot.h"

namespace parallelarium {

inline constexpr std::int64_t kLeastSweepBytes = 4 << 10, kMostSweepBytes = 64 << 20;
inline constexpr std::size_t kMostLines = 4;

struct BandwidthLine {
  std::string algorithm;
  std::vector<std::pair<std::int64_t, double>> points;  // bytes of the array, bytes per second
};
struct BandwidthLines {
  CollectiveChoice choice;  // whose operation, ranks, type and topology these are
  std::vector<BandwidthLine> lines;
  // The quickest at the least and at the greatest size, and from where on the latter is quicker.
  std::string quickest_small, quickest_large;
  std::optional<std::int64_t> crossover;
  bool of(const CollectiveChoice& other) const;
};
// The algorithms that are compared: the chosen one and others of the textbook that work with so
// many ranks.
std::vector<std::string> compared_algorithms(const CollectiveSpec& spec);
// Predicted at powers of two. Pure; safe on any thread.
BandwidthLines bandwidth_lines(const CollectiveChoice& choice);
// What a sweep measures: every compared algorithm at every second power of two, as far as the
// arrays of all ranks fit into half a gibibyte.
std::vector<CollectiveSpec> sweep_specs(const CollectiveSpec& spec);
// "predicted: direct for small messages, ring from 96 KiB", or that one is quickest everywhere.
QString crossover_text(const BandwidthLines& lines);

struct CollectivePicture;
struct CollectiveLayout;
struct PaintedText;
void paint_plot(QPainter& painter, const CollectivePicture& picture, const CollectiveLayout& layout,
                const Theme& theme, std::vector<PaintedText>* texts);
// What the plot says in words.
QString plot_sentence(const CollectivePicture& picture);
// Predicted and measured bandwidth at the size under `point`, one line each; empty elsewhere.
QStringList plot_lines_at(const CollectivePicture& picture, const CollectiveLayout& layout,
                          QPointF point);

}  // namespace parallelarium
