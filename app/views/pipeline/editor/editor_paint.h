// SPDX-License-Identifier: GPL-3.0-or-later
// The two pictures of the order editor: the order in time, with what may come next, and the order
// itself, row by row. Plain data, places and paint functions; no widget.
#pragma once

#include <QPainter>
#include <QPointF>
#include <QRectF>
#include <QVector>
#include <optional>
#include <utility>
#include <vector>

#include "app/look/theme/theme.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "engine/plan/order/order_faults.h"
#include "engine/schedules/draft.h"
#include "engine/schedules/floor.h"

namespace parallelarium {

inline constexpr double kEditorLabel = 88, kEditorChip = 18;  // of a row's name, and its number
inline constexpr double kLeastLabelled = 9;  // a narrower bar has no room for a digit

// An action by its place: rank and index in the rank's line.
struct Spot {
  int rank = -1, index = -1;
  bool operator==(const Spot&) const = default;
};

// What real ranks did with this very order, in the picture's unit: a forward of the run, on
// average, is as long as one of the prediction.
struct EditorRun {
  std::vector<std::vector<TimedAction>> rows;  // by rank
  double end = 0;                              // of the last action
  double real = 1;                             // seconds of the run for one of the picture
  QString source;                              // "measured", "rehearsed", …
};

struct EditorPicture {
  const Order* draft = nullptr;
  const DraftTimes* times = nullptr;
  const std::vector<Durations>* durations = nullptr;
  const std::vector<OrderFault>* faults = nullptr;
  const HeldLimits* limits = nullptr;
  double unit = 1;                   // seconds of a forward
  std::optional<double> floor, par;  // seconds
  bool ghosts = true, editable = true;
  bool split = false;          // backwards are placed in two parts
  std::optional<Spot> ghost;   // under the mouse: index in DraftRank::next
  Spot cursor;                 // the action is placed before it
  int anchor = 0;              // what stands between it and the cursor is selected
  std::optional<Spot> action;  // that is told of at the right
  bool focused = false;
  bool low = false;  // the editor is: rows are lower, so that four of each picture are in sight
  // When each rank works in an order that solves the lesson's step; null: it is not shown.
  const std::vector<std::vector<TimedAction>>* goal = nullptr;
  const std::vector<DraftPlace>* path = nullptr;    // what makes the length
  const std::vector<ChosenWait>* chosen = nullptr;  // where something else could begin
  const EditorRun* run = nullptr;                   // of this order; null: none was made
};

// "F3", with chunks "F3.1".
QString action_text(const Action& action, int chunks);
// "Stage 2", with chunks "Rank 2".
QString row_name(const Order& order, int rank);
OpColor color_of_kind(ActionKind kind);
// Many bars of one row, as high as it and without outline, painted colour by colour: where two
// overlap, the colour that came later is on top. QPainter keeps its smoothing.
class PlainBars {
 public:
  void add(const QRectF& bar, const QColor& color);
  void paint(QPainter& painter) const;

 private:
  void paint_pixels(QPainter& painter) const;

  std::vector<std::pair<QRgb, QVector<QRectF>>> bars_;
};
// Whether any of a row, or of what stands close to it, has to be painted.
bool row_is_painted(const QPainter& painter, const QRectF& row);
// A rank's number and name, at the left of `row`.
void paint_row_name(QPainter& painter, const Order& order, int rank, const QRectF& row,
                    const Theme& theme, TextLog* texts);
// "16 forwards", "12.4 forwards".
QString forwards_text(double forwards);
QString forwards_figure(double forwards);
// What a unit of the picture's axis is: "one unit is a forward; a backward takes 2.07".
QString unit_words(const EditorPicture& picture);

// --- in time ---

struct EditorTimes {
  double left = 0, width = 1, end = 1;  // x of time 0; of `end`, in seconds
  double row = 40, gap = 8;
  double x_of(double seconds) const { return left + width * seconds / end; }
  QRectF row_rect(int rank) const;
  double height(int ranks) const;  // down to the last row of the order
  double legend_row = 18, run_row = 22;
  int legend_rows = 0;
  bool run = false;  // its rows stand below the legend
  QRectF run_rect(int rank, int ranks) const;
  double whole_height(int ranks) const;
  // Bars are so narrow that thousands of them must fit into a frame: they and their lines are drawn
  // without smoothing.
  bool dense = false;
};
EditorTimes editor_times(const EditorPicture& picture, double width);
// The ghosts of a rank stand side by side from the earliest start of the first, each at least as
// wide as its name.
std::vector<QRectF> ghost_rects(const EditorPicture& picture, const EditorTimes& at, int rank);
std::optional<Spot> ghost_at(const EditorPicture& picture, const EditorTimes& at, QPointF point);
std::optional<Spot> action_at(const EditorPicture& picture, const EditorTimes& at, QPointF point);
// The action of the run at that point: rank, and index in EditorRun::rows.
std::optional<Spot> run_action_at(const EditorPicture& picture, const EditorTimes& at,
                                  QPointF point);

// What a mark of the drawing means; those that this picture may show.
enum class EditorMark { kNext, kPath, kTransfer, kWait, kChosen, kGoal };
std::vector<EditorMark> editor_marks(const EditorPicture& picture);
QString mark_words(EditorMark mark);
// How many lines the legend takes in that width; paints it where `painter` is not null.
int editor_legend(QPainter* painter, const EditorPicture& picture, const QRectF& place,
                  const Theme& theme, TextLog* texts);
// Messages from rank to rank, the waits that the order chose, and the critical path.
void paint_editor_transfers(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                            const Theme& theme);
void paint_editor_chosen(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                         const Theme& theme);
void paint_editor_path(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                       const Theme& theme);
// What ranks did, below the legend.
void paint_editor_run(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                      const Theme& theme, TextLog* texts);
void paint_editor_times(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                        const Theme& theme, TextLog* texts);

// --- row by row ---

struct EditorRows {
  double left = 0, track = 1, cell = 34;  // the tracks' left end and width
  double placed = 0, held = 0, mark = 0;  // x of the columns behind the track
  double row = 34, gap = 7, scroll = 0;
  bool narrow = false;
  QRectF track_rect(int rank) const;
  QRectF cell_rect(int rank, int index) const;
  double height(int ranks) const;
};
EditorRows editor_rows(const EditorPicture& picture, double width, double scroll);
// The cursor's place that is nearest to the point, and whether the point is on an action.
std::optional<Spot> row_spot(const EditorPicture& picture, const EditorRows& at, QPointF point,
                             bool* on_action = nullptr);
void paint_editor_rows(QPainter& painter, const EditorPicture& picture, const EditorRows& at,
                       const Theme& theme, TextLog* texts);

}  // namespace parallelarium
