// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of the picture of context parallelism stand.
#include <algorithm>

#include "app/views/layer/context/context_picture.h"

namespace parallelarium {
namespace {

constexpr double kContextMargin = 16, kContextTop = 52, kContextLabels = 92;
constexpr double kStrip = 124, kLineOfStrip = 15, kGridHead = 44, kGridSide = 44, kLeastGrid = 200,
                 kMostNumberedGrid = 16 * kNumberedCell, kMostCell = 56;
constexpr double kTableRow = 26, kLowTableRow = 18, kTableLeast = 250, kBetween = 36;
constexpr double kHeadsHead = 40, kHeadsGap = 18, kHeadsWords = 44, kLeastBox = 40,
                 kNamedBlock = 14, kMostBox = 120;
constexpr double kContextLanesHead = 24, kNamedLane = 22;
constexpr int kMostContextRanks = 8, kMostLanes = 4;

// Of the selected replica those of the first TP coordinate; of many the first, the last and the
// selected. The other replicas of a layer of experts have other sequences.
void choose_context_ranks(const LayerPicture& picture, LayerLayout& layout) {
  const std::vector<LayerRank>& ranks = picture.layer->ranks;
  const int all = int(picture.layer->context.blocks_of.size());
  const Coordinates& selected = ranks[std::size_t(picture.look.rank)].at;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Coordinates& at = ranks[rank].at;
    if (at.tp != 0 || at.dp != selected.dp) continue;
    const bool marked = at.cp == 0 || at.cp == all - 1 || at.cp == selected.cp;
    if (all <= kMostContextRanks || marked) layout.ranks.push_back(int(rank));
    if (all <= kMostLanes || marked) layout.lane_ranks.push_back(int(rank));
  }
  layout.alike = all - int(layout.ranks.size());
}

void place_blocks(const LayerPicture& picture, LayerLayout& layout, double height,
                  const Theme& theme) {
  const LayerContext& context = picture.layer->context;
  ContextPlaces& places = layout.context;
  const double inner = layout.size.width() - 2 * kContextMargin;
  const double lines = double(context_strip_lines(picture, layout, theme).size());
  const double strip = kStrip + (lines - 1) * kLineOfStrip;
  places.strip = QRectF(kContextMargin, layout.top, inner, strip);
  const double runs = double(context.runs.size());
  places.table_row = int(layout.ranks.size()) > kMostLanes ? kLowTableRow : kTableRow;
  const double rows = double(layout.ranks.size()) + 3;
  const double numbered = std::min(kNumberedCell * runs, kMostNumberedGrid);
  const double room = std::max({kLeastGrid, numbered, height - strip - kGridHead - 8,
                                rows * places.table_row + 60 - kGridHead});
  const double wide = inner - kGridSide - kBetween - kTableLeast;
  places.cell = std::min(
      {std::max(kMostCell, kLeastGrid / runs), room / runs, std::max(kLeastGrid, wide) / runs});
  const double side = places.cell * runs;
  places.grid = QRectF(kContextMargin + kGridSide, places.strip.bottom() + kGridHead, side, side);
  const double left = places.grid.right() + kBetween;
  places.table = QRectF(left, places.strip.bottom() + 6, kContextMargin + inner - left,
                        rows * places.table_row + 70);
  for (const ScoreBlock& block : context.blocks)
    layout.targets.push_back(
        {QRectF(places.grid.left() + block.keys * places.cell,
                places.grid.top() + block.queries * places.cell, places.cell, places.cell),
         context.rounds[std::size_t(block.round)].step, context_rank(picture, block.cp)});
  layout.lanes_top = std::max(places.grid.bottom(), places.table.bottom()) + 10;
}

void place_heads(const LayerPicture& picture, LayerLayout& layout, double height) {
  const LayerContext& context = picture.layer->context;
  ContextPlaces& places = layout.context;
  const double inner = layout.size.width() - 2 * kContextMargin - kContextLabels;
  const int rows = int(layout.ranks.size());
  places.box = std::min(kMostBox, inner / 8.4);
  const double room = height - kHeadsHead - kHeadsWords - (layout.alike > 0 ? 18 : 0);
  // High enough for the names of few blocks.
  const double least = rows <= 4 ? kNamedBlock * double(context.runs.size()) : kLeastBox;
  places.height = std::clamp(room / rows - kHeadsGap, std::min(least, places.box), places.box);
  // Two exchanges with their curves, and two arrows around the scores.
  const double exchange = (inner - 5 * places.box) / 3.4 * 1.3;
  const double arrow = (inner - 5 * places.box) / 3.4 * 0.4;
  double x = kContextMargin + kContextLabels;
  for (const double behind : {exchange, arrow, arrow, exchange, 0.0}) {
    places.lefts.push_back(x);
    x += places.box + behind;
  }
  double y = layout.top + kHeadsHead;
  const int attention = context.rounds.front().step;
  const auto& moves = context.moves;
  for (int row = 0; row < rows; ++row) {
    if (row == 1 && layout.alike > 0) y += 18;
    places.rows.push_back(y);
    const int rank = layout.ranks[std::size_t(row)];
    for (std::size_t at = 0; at < places.lefts.size(); ++at) {
      const int step = at < 2 && !moves.empty()   ? moves.front().step
                       : at > 2 && !moves.empty() ? moves.back().step
                                                  : attention;
      layout.targets.push_back(
          {QRectF(places.lefts[at], y, places.box, places.height), step, rank});
    }
    y += places.height + kHeadsGap;
  }
  places.words = y - kHeadsGap + 6;
  layout.lanes_top = places.words + kHeadsWords - 8;
}

}  // namespace

LayerLayout context_layout(const LayerPicture& picture, QSizeF size, const Theme& theme) {
  LayerLayout layout;
  layout.size = size;
  const double width = size.width() - 2 * kContextMargin;
  layout.top =
      kContextTop + (legend_lines(context_legend(picture, theme), width) - 1) * kLegendLine;
  choose_context_ranks(picture, layout);
  // A ring's exchanges say for which step they are.
  if (picture.layer->context.rounds.size() > 1) layout.lane_bar = kNamedLane;
  layout.lane_pitch = (layout.lane_bar + 2) * (picture.observed ? 2 : 1) + 4;
  const double lanes =
      kContextLanesHead + double(layout.lane_ranks.size()) * layout.lane_pitch + 12;
  const double height = size.height() - layout.top - lanes;
  if (picture.layer->context.by_heads)
    place_heads(picture, layout, height);
  else
    place_blocks(picture, layout, height, theme);
  layout.lanes_top += kContextLanesHead;
  layout.lane_left = kContextMargin + kContextLabels;
  layout.lane_width = size.width() - 2 * kContextMargin - kContextLabels;
  layout.bottom = layout.lanes_top + double(layout.lane_ranks.size()) * layout.lane_pitch + 8;
  return layout;
}

}  // namespace parallelarium
