// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline picture: where everything stands (layout) and how it is painted. One set of
// functions serves screen, PNG, SVG and PDF. Nothing here knows a widget or the Session.
#pragma once

#include <QPainter>
#include <QRectF>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/views/shared/time_axis.h"
#include "app/views/timeline/picture/lanes.h"

namespace parallelarium {

enum class LaneStyle { kPredicted, kObserved, kPinned };

// One block of the picture: a title and the rows of a Timeline.
struct PictureLane {
  QString title;        // "PREDICTED \u00b7 for this engine, calibrated"
  QString title_tip;    // what words of the title mean, or empty
  QString short_title;  // "predicted", for rows in pairs
  LaneStyle style = LaneStyle::kPredicted;
  bool dimmed = false;              // the Setup is invalid: faint
  bool hidden = false;              // a lesson hides it: its rows read "?"
  bool fills = false;               // bars to the right of the playhead are outlines
  QString empty_text;               // said instead of rows where there are none: "Press Run ..."
  QString other_text;               // below it: of a run of other settings, which a click pins
  std::vector<double> live_losses;  // of a run under way: drawn instead of rows, below empty_text
  QString end_text;                 // said after the end of the shorter lane: "ends 3.4 ms sooner"
  std::shared_ptr<const LaneRows> rows;
};

enum class Arrangement { kBlocks, kPairs };

struct Picture {
  std::vector<PictureLane> lanes;
  Arrangement arrangement = Arrangement::kBlocks;
  std::set<int> collapsed;  // stages of which only the first rank is shown
  TimeRange range;
  std::optional<Nanoseconds> playhead;
  // What a lesson hides while lanes are to be seen: how time is shared between work and waiting,
  // micro-batches held, when ops are and what they send.
  bool hides_shares = false, hides_held = false;
  HiddenOfOps hides;
  bool folds = true;  // a click folds a stage of several ranks: its label has an arrow
};
// Whether a lane is to be seen; else there is no time to read: no ticks, no cursor, no read-out.
bool tells_time(const Picture& picture);

// Where one row stands, in the coordinates of the content (y = 0 below the tick band).
struct RowBox {
  int lane = 0, row = 0;  // in Picture::lanes and LaneRows::rows; row -1: an empty or hidden lane
  int hidden_ranks = 0;   // collapsed: how many more ranks this row stands for
  bool group_start = false;  // first of a stage with several ranks: its label can be clicked
  QString label;
  QRectF label_rect, bar, comm;
};
struct TitleBox {
  int lane = 0;
  QRectF rect;
};
struct PictureLayout {
  double axis_left = 0, axis_width = 0;
  double tick_band = 0;  // height of the band with tick labels, above the content
  double pitch = 0;      // from row to row
  double height = 0;     // of the content
  double width = 0;
  // The lanes of communication below the bars of a row, top to bottom, as Row::sent().
  std::vector<Lane> sent;
  bool names_sent = false;  // there is room to name them and their bars
  std::vector<TitleBox> titles;
  std::vector<RowBox> rows;
  TimeAxis axis(const TimeRange& range) const { return {range, axis_left, axis_width}; }
};

// How near all compute lanes are shown: as near as the lane with the longest parts allows. One zoom
// for all, so that predicted and observed are compared part by part.
Zoom zoom_of(const Picture& picture, const PictureLayout& layout);
// Where bars of `zoom` stand in a row that is shown at `shown`: nearer than actions, a band above
// the bars says what they are parts of, if the row is high enough.
QRectF bar_band(const RowBox& box, bool opens, Zoom shown, Zoom zoom);
// What the band above is made of.
inline Zoom farther(Zoom zoom) { return zoom == Zoom::kPieces ? Zoom::kLayers : Zoom::kActions; }

// Where a lane of communication stands in a row.
QRectF sent_band(const PictureLayout& layout, const RowBox& box, const Row& row, Lane which);

inline constexpr double kLeastPitch = 18, kMostPitch = 36, kTickBand = 26;

// Fits the rows into `size` (tick band included): as high as kMostPitch each, never under
// kLeastPitch, so the content may be higher than `size`. Where replicas or the ranks of a layer
// communicate, rows are higher if there is room, and their lanes two thirds as high as the bars.
PictureLayout layout_of(const Picture& picture, QSizeF size, const Theme& theme);
// The height at which every row is as high as it may become, tick band included.
double comfortable_height(const Picture& picture);
// The least height at which no row has to be scrolled to.
double least_height(const Picture& picture);
// The line of an empty lane that offers a run of other settings, as wide as its text; empty: the
// lane offers none.
QRectF other_line(const PictureLane& lane, const RowBox& box, const Theme& theme);

// Texts painted, for tests: no two may overlap.
struct PaintedText {
  QRectF rect;
  QString text;
};
using TextLog = std::vector<PaintedText>;

// Which bars are drawn as having happened.
enum class Moment { kPast, kFuture };

// Paints ticks, titles, labels, hatching and bars onto a device of `size` with the content moved
// up by `scroll`; no playhead. `moment` decides how lanes with `fills` look.
// Cost: proportional to the pixels and rows shown, not to the bars.
void paint_lanes(QPainter& painter, const Picture& picture, const PictureLayout& layout,
                 const Theme& theme, QSizeF size, double scroll, Moment moment,
                 TextLog* texts = nullptr);
// An upright line from `top` to the bottom of `size`, in the painter's pen; it leaves out lanes
// that have no rows, where there is no time.
void draw_upright(QPainter& painter, const PictureLayout& layout, const Picture& picture,
                  const Theme& theme, double x, double top, QSizeF size, double scroll);
// The playhead with its triangle in the tick band, down to the bottom of `size`.
void paint_playhead(QPainter& painter, const PictureLayout& layout, const Picture& picture,
                    const Theme& theme, QSizeF size, double scroll);
// All of it: bars filled up to the playhead, outlines after it.
void paint_timeline(QPainter& painter, const Picture& picture, const PictureLayout& layout,
                    const Theme& theme, QSizeF size, double scroll, TextLog* texts = nullptr);

// What lies under a point.
struct Hit {
  int lane = 0, row = 0;
  Lane which = Lane::kCompute;
  Zoom zoom = Zoom::kActions;  // of what is drawn there
  int bar = -1;                // in the row's BarList of that zoom, or -1: idle
  int merged = 1;              // how many bars share the pixels there
  Nanoseconds time{0};
};
std::optional<Hit> hit_at(const Picture& picture, const PictureLayout& layout, QPointF point,
                          double scroll);
// Where a bar of `zoom` stands on the device; empty when its row is not shown.
QRectF rect_of_bar(const Picture& picture, const PictureLayout& layout, int lane, const Bar& bar,
                   int rank_index, double scroll, Zoom zoom = Zoom::kActions);

// The edge of a bar nearest to `time` in the rows shown (of `only_lane` where it is not negative),
// if one lies within `slack`.
std::optional<Nanoseconds> snapped(const Picture& picture, const PictureLayout& layout,
                                   Nanoseconds time, Nanoseconds slack, int only_lane = -1);

}  // namespace parallelarium
