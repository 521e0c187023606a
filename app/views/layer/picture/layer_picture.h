// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of one layer of one micro-batch, or of embedding or head, on the ranks of its TP and
// CP group: what is shown, where it stands, and how it is painted. Shapes, bytes and FLOPs are the
// engine's.
#pragma once

#include <QPainter>
#include <QRectF>
#include <QSizeF>
#include <memory>
#include <optional>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/selection/selection_panel.h"
#include "app/state/session.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "engine/plan/layer/layer_counted.h"

namespace parallelarium {

struct LayerInside;

// What the user chose in the view.
struct LayerLook {
  LayerChoice choice;
  bool attention_open = false, mlp_open = true;
  bool figures = false;        // FLOPs and FLOP per byte too
  bool all_ranks = false;      // of many ranks all, one below the other
  bool context = true;         // where CP cuts: who computes which block, instead of the pieces
  bool context_alone = false;  // the picture of context parallelism was asked for, and no other
  int step = -1, rank = 0;     // selected, as indices in LayerSteps; step -1: none
  std::shared_ptr<const LayerInside> inside;  // numbers of a run with probes, or null
};

// When each step runs, rank by rank; as LayerSteps::steps and ::ranks.
struct LayerSpans {
  Source source = Source::kPredicted;
  std::vector<std::vector<std::optional<Span>>> spans;
  Span window;   // of all of them
  Span context;  // of those around attention, where CP cuts
};

// What a run counted and measured of the layer on the chosen rank.
struct LayerRunFigures {
  Source source = Source::kMeasured;
  LayerCounted counted;
  double flops_per_second = 0;
};

struct LayerPicture {
  LayerLook look;
  std::shared_ptr<const LayerSteps> layer;
  std::shared_ptr<const LayerSpans> predicted, observed;
  double flops_per_second = 0;  // predicted, of the chosen rank
  std::optional<LayerRunFigures> run;
  bool stale = false;  // there was a run, of other settings
  // Of experts: as a run counted it, else as predicted.
  std::shared_ptr<const RoutedLayer> routed;
  std::vector<double> attention_ratios;  // time of a run's attention by CP rank, over the least
  QString title, predicted_word;
  QString empty;   // why there is nothing to show, or empty
  QString notice;  // what else to know: nothing is split; or empty
  Nanoseconds playhead{0};
  bool dimmed = false;
  bool can_look_inside = false;  // ranks can run on the machine that is set
  // By a lesson.
  bool hides_time = false, hides_traffic = false, hides_memory = false, hides_flops = false;
  bool hides_blocks = false;  // of scores: how many
  // Every copy of a replica's tokens travels by itself from the rank, so RoutedLayer::rows count
  // what a rank sends: not where TP ranks send shares, or a token goes once to each node.
  bool sends_copies = true;
  bool drawn() const { return empty.isEmpty() && layer && !layer->steps.empty(); }
  // What a layer keeps, in the paper's terms beside other ways to cut it, or piece by piece.
  bool shows_kept() const {
    const bool known = layer && !(layer->kept.terms.empty() && layer->kept.differs.empty());
    return known && drawn() && !shows_context() && !hides_memory;
  }
  // What is said of the embedding, or of head and loss.
  bool shows_vocabulary() const { return drawn() && layer->choice.place != LayerPlace::kLayer; }
  // A run with probes compares both sides of those collectives whose two sides are probed.
  bool shows_differences() const { return look.inside != nullptr; }
  // How many tokens experts take.
  bool shows_routes() const { return routed && !hides_traffic; }
  // Who sends how many tokens to whom.
  bool shows_sent_rows() const { return shows_routes() && sends_copies; }
  bool shows_context() const { return drawn() && look.context && layer->context.drawn(); }
  const LayerSpans* shown() const { return observed ? observed.get() : predicted.get(); }
  // The time that the picture is about.
  Span window_of(const LayerSpans& times) const {
    return shows_context() ? times.context : times.window;
  }
};

enum class LayerMark : std::uint8_t { kTensor, kTimes, kEquals, kArrow, kPlus, kBar };

// A mark in the row of every rank.
struct LayerBox {
  LayerMark mark = LayerMark::kTensor;
  int step = 0;
  int tensor = -1;  // as LayerRankStep::tensors
  double x = 0, width = 0, height = 0;
};
struct LayerColumn {
  int step = 0;
  double left = 0, width = 0;
};

struct LayerHalf {
  bool attention = false, open = false;
  QRectF head;  // a click opens or closes it
  std::vector<int> steps;
  // Shown, as LayerSteps::ranks. Of attention those of one replica: others have other tokens.
  std::vector<int> ranks;
  int alike = 0;       // ranks left out
  bool folds = false;  // so many ranks that some are left out, unless all were asked for
  QRectF fold;         // says it; a click shows all or few
  std::vector<LayerBox> boxes;
  std::vector<LayerColumn> columns;
  std::vector<double> rows;  // middle of the row of each shown rank
  double between = 0;        // two columns
  bool says_cuts = false;    // a line below the names: how weights are cut
  double row_height = 0, top = 0, figures_top = 0, bottom = 0;
};

// Where the picture of context parallelism stands. By heads, rows are ranks and columns are what a
// rank has before, between and behind both exchanges.
struct ContextPlaces {
  QRectF strip, grid, table;   // not by heads
  double table_row = 0;        // a row of the table
  double cell = 0;             // of the grid
  std::vector<double> rows;    // by heads: tops
  std::vector<double> lefts;   // by heads: of queries, all tokens, scores, their result, own tokens
  double box = 0, height = 0;  // by heads: of a matrix
  double words = 0;            // by heads: below
};
// What a click on a place selects.
struct LayerTarget {
  QRectF place;
  int step = -1, rank = 0;
};

struct LayerLayout {
  QSizeF size;
  double top = 0;               // below title and legend
  std::vector<int> ranks;       // shown, as LayerSteps::ranks
  int alike = 0;                // ranks left out
  std::vector<int> lane_ranks;  // of these, shown in time
  std::vector<LayerHalf> halves;
  bool one_scale = true;  // tokens are drawn as large as widths
  ContextPlaces context;
  std::vector<LayerTarget> targets;
  double kept_top = 0;  // of what a layer keeps, where it is shown
  double right = 0;     // the width that all columns need
  double lanes_top = 0, lane_left = 0, lane_width = 0, lane_pitch = 0, bottom = 0;
  double lane_bar = 13;  // high
  double row_gap = 26;   // between the blocks of two ranks
  bool in_lanes(double y) const {
    return y >= lanes_top - 4 && y <= lanes_top + double(lane_ranks.size()) * lane_pitch + 4;
  }
};

// Everything that is set, predicted and run. `layer`: from an earlier picture of the same Program
// and choice, or null.
LayerPicture layer_picture(const Session& session, LayerLook look,
                           std::shared_ptr<const LayerSteps> layer = nullptr);

// The number by which all of the view colours a rank (as LayerSteps::ranks): its place among the
// ranks that the picture shows, along CP where it shows context parallelism.
int layer_color_number(const LayerPicture& picture, int rank);
// A disc in the rank's colour with its global number.
void paint_layer_chip(QPainter& painter, const LayerPicture& picture, const QPointF& top_left,
                      double size, int rank, const Theme& theme, TextLog* texts);

// `size`: width, and the height that it should fit if it can; the layout's bottom says what it
// needs. `scrolls`: what lies below that height is not in sight.
LayerLayout layer_layout(const LayerPicture& picture, QSizeF size, const Theme& theme,
                         bool scrolls = false);
void paint_layer(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                 const Theme& theme, TextLog* texts);
void paint_layer_lanes(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                       const Theme& theme, TextLog* texts);
// The step whose bar in time lies under a point, and the rank of its lane; step -1: none.
struct LayerHit {
  int step = -1, rank = 0;
};
LayerHit layer_lane_hit(const LayerPicture& picture, const LayerLayout& layout, QPointF point);
// Writes the first of `names` that fits into `bar`, whole; nothing where none does.
void put_name_that_fits(QPainter& painter, const QRectF& bar, const QStringList& names,
                        const QFont& font, const QColor& color, TextLog* texts);
// What a layer keeps for its backward: bars for TP 1, TP, and with sequence parallel on for both
// together, and the paper's terms.
double layer_kept_height(const LayerPicture& picture, double width, const Theme& theme);
void paint_layer_kept(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                      const Theme& theme, TextLog* texts);
// What the bar under a point keeps: its cut, its terms, its bytes; empty: there is none.
QString layer_kept_bar_text(const LayerPicture& picture, const LayerLayout& layout, QPointF point);
QString layer_kept_sentence(const LayerPicture& picture);
// How much of a step has happened on a rank at the playhead, 0 to 1.
double layer_share_done(const LayerPicture& picture, int step, int rank);

// The step and rank under a point of the picture; step -1: none.
LayerHit layer_hit(const LayerLayout& layout, QPointF point);
// The tensor under a point, and where all of it stands; step -1: none.
struct LayerTensorHit {
  int step = -1, tensor = -1, rank = 0;
  QRectF place;
};
LayerTensorHit layer_tensor_hit(const LayerLayout& layout, QPointF point);

QString layer_step_name(const LayerStep& step);
// The same in a sentence: "attention, ring step 2", "K, V for ring step 2".
QString layer_step_title(const LayerPicture& picture, int step);
// The name above its column: of the later blocks of a ring "2/4", of their sums "+".
QString layer_head_name(const LayerStep& step);
// The name, and the shorter ones that narrow bars have: "g all-gather", "g".
QStringList layer_step_names(const LayerStep& step);
QString layer_collective_name(const LayerStep& step);
// "0 to 15, 112 to 127"; of many runs the first ones and the last.
QString layer_places_text(const std::vector<ChunkRange>& ranges);
QString layer_shape_text(const LayerTensor& tensor);
// How a rank has the tensor: "shard", "copy", "partial sum"; empty: it alone has the whole.
QString layer_holding_text(const LayerTensor& tensor);
// How the step's weights are cut, or else what it leaves, and what follows for sums: "cut by
// columns: nothing to add", then shorter ones. Empty: nothing is cut.
QStringList layer_cut_texts(const LayerStep& step);
// What the letters f, g, ḡ of the picture stand for, in the words of both papers that use them.
// Source: Shoeybi et al. 2019, figure 3; Korthikanti et al. 2022, figures 4 and 5.
struct LayerLetter {
  QString text;
  bool sends = false;  // in the direction that is shown
};
std::vector<LayerLetter> layer_letters(const LayerSteps& layer);
// Whether words about a step name the tensor: matrices, and what it leaves if that is no matrix.
bool is_told_tensor(const LayerStep& step, const LayerRankStep& part, const LayerTensor& tensor);
// "x [128 × 64] × w [64 × 128 of 256] = u [128 × 128 of 256]"; of what is no product or sum of
// matrices, what the step finds and leaves.
QString layer_algebra_text(const LayerStep& step, const LayerRankStep& part);
// "2 · b s · h · f / t = 2 · 128 · 64 · 128 = 2.10 MFLOP" of a product, and
// "2 (t − 1)/t · b s h · 4 B = 2 · 1/2 · 128 · 64 · 4 B = 32.0 KiB" of a collective, from the sizes
// that the step has; empty where its FLOPs or bytes are no such product.
QString layer_flops_formula(const LayerPicture& picture, int step, int rank);
QString layer_sent_formula(const LayerPicture& picture, int step, int rank);
QString layer_sent_text(const LayerPicture& picture, int step, int rank);
QString layer_kept_text(const LayerPicture& picture, int step, int rank);
SelectionText describe_layer_step(const LayerPicture& picture, int step, int rank);
// Everything about the frame, for screen readers.
QString layer_sentence(const LayerPicture& picture);
// The sentences of it for the steps under way and for the step that comes next.
QString layer_moment(const LayerPicture& picture);

}  // namespace parallelarium
