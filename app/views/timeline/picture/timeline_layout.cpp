// SPDX-License-Identifier: GPL-3.0-or-later
// Where rows, titles and labels of the timeline picture stand, and what lies under a point.
#include <algorithm>
#include <cmath>
#include <map>

#include "app/views/timeline/picture/bar_paint.h"
#include "app/views/timeline/picture/sent_paint.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {
namespace {

constexpr double kLeft = 16, kRight = 16, kLeastAxisLeft = 86, kMostAxisLeft = 190;
constexpr double kTitle = 24, kBetween = 10, kPairGap = 8;
constexpr int kEmptyRows = 3;  // height of a lane without rows, in rows
constexpr double kLeastEmpty = 64;
constexpr double kUpperBand = 10, kLeastSplit = 22;  // height of the band, and of rows that have it
// Of rows whose communication has names: never so low that the band is lost.
constexpr double kMostBar = 26, kLeastNamedBar = kLeastSplit;
constexpr double kSentGap = 2, kBelowSent = 6;

struct Line {
  int lane, row;
  int hidden_ranks = 0;
  bool group_start = false;
};

// The rows of a lane that are shown, top to bottom.
std::vector<Line> lines_of(const Picture& picture, int lane) {
  std::vector<Line> lines;
  const PictureLane& source = picture.lanes[static_cast<std::size_t>(lane)];
  if (!source.rows) return {{lane, -1}};
  const auto& rows = source.rows->rows;
  std::map<int, int> per_stage;
  for (const Row& row : rows) ++per_stage[row.stage];
  int stage = -1;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const bool first = rows[index].stage != stage;
    stage = rows[index].stage;
    const bool collapsed = picture.collapsed.count(stage) > 0;
    if (collapsed && !first) continue;
    Line line{lane, static_cast<int>(index)};
    line.group_start = first && per_stage[stage] > 1;
    if (collapsed) line.hidden_ranks = per_stage[stage] - 1;
    lines.push_back(line);
  }
  return lines;
}

QString label_of(const Picture& picture, const Line& line) {
  if (line.row < 0) return {};
  const Row& row = picture.lanes[static_cast<std::size_t>(line.lane)]
                       .rows->rows[static_cast<std::size_t>(line.row)];
  if (line.hidden_ranks > 0)
    return QObject::tr("Stage %1 \u00d7%2").arg(row.stage).arg(line.hidden_ranks + 1);
  return row.label;
}

// What is stacked from top to bottom: titles, gaps and rows.
struct Stack {
  enum Kind { kTitleOf, kGap, kRow, kEmpty } kind;
  Line line;
  double height = 0;
  bool second = false;  // the lower row of a pair
};

std::vector<Stack> stack_of(const Picture& picture) {
  std::vector<Stack> stack;
  const int lanes = static_cast<int>(picture.lanes.size());
  const auto add_row = [&](const Line& line, bool second) {
    if (line.row < 0)
      stack.push_back({Stack::kEmpty, line, 0, second});
    else
      stack.push_back({Stack::kRow, line, 0, second});
  };
  if (picture.arrangement == Arrangement::kBlocks || lanes < 2) {
    for (int lane = 0; lane < lanes; ++lane) {
      if (lane > 0) stack.push_back({Stack::kGap, {}, kBetween});
      stack.push_back({Stack::kTitleOf, {lane, -1}, kTitle});
      for (const Line& line : lines_of(picture, lane)) add_row(line, false);
    }
    return stack;
  }
  for (int lane = 0; lane < lanes; ++lane)
    stack.push_back({Stack::kTitleOf, {lane, -1}, kTitle - 4});
  stack.push_back({Stack::kGap, {}, 4});
  std::vector<std::vector<Line>> lines;
  std::size_t most = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    lines.push_back(lines_of(picture, lane));
    if (lines.back().size() > most) most = lines.back().size();
  }
  for (std::size_t index = 0; index < most; ++index) {
    if (index > 0) stack.push_back({Stack::kGap, {}, kPairGap});
    bool first = true;
    for (const auto& of_lane : lines)
      if (index < of_lane.size()) {
        add_row(of_lane[index], !first);
        first = false;
      }
  }
  return stack;
}

double empty_height(double pitch) {
  return std::max(kLeastEmpty, kEmptyRows * std::min(pitch, kMostPitch));
}

double height_at(const std::vector<Stack>& stack, double pitch) {
  double height = 0;
  for (const Stack& item : stack)
    height += item.kind == Stack::kRow     ? pitch
              : item.kind == Stack::kEmpty ? empty_height(pitch)
                                           : item.height;
  return height;
}

// The lanes of communication that some row has.
std::vector<Lane> sent_lanes(const Picture& picture) {
  std::vector<Lane> sent;
  for (const Lane which : {Lane::kCompute, Lane::kPipeline, Lane::kData})
    for (const PictureLane& lane : picture.lanes) {
      if (!lane.rows || lane.hidden) continue;
      const auto& rows = lane.rows->rows;
      if (std::none_of(rows.begin(), rows.end(),
                       [&](const Row& row) { return !row.sent(which).bars.empty(); }))
        continue;
      sent.push_back(which);
      break;
    }
  return sent;
}

// Heights in a row: from row to row, of its bars, of each lane of communication.
struct RowHeights {
  double pitch = 0, bar = 0, sent = 0;
  bool named = false;
};
RowHeights thin_heights(double pitch) {
  return {pitch, std::round(pitch * kMostBar / kMostPitch), pitch >= 27 ? 4.0 : 3.0, false};
}
RowHeights named_heights(double bar, std::size_t lanes) {
  const double sent = std::ceil(bar * 2 / 3);
  return {bar + static_cast<double>(lanes) * (kSentGap + sent) + kBelowSent, bar, sent, true};
}
// What goes between stages alone stays thin: whoever waits for it is seen to wait.
bool may_be_named(const Picture& picture) {
  return std::any_of(picture.lanes.begin(), picture.lanes.end(), [](const PictureLane& lane) {
    if (!lane.rows || lane.hidden) return false;
    const Mesh& mesh = lane.rows->prediction->setup.mesh;
    return mesh.ranks() > mesh.pp;
  });
}

// In whole pixels, so that the stack fits into `room`.
RowHeights heights_for(const std::vector<Stack>& stack, std::size_t named_lanes, double room) {
  for (double bar = kMostBar; named_lanes > 0 && bar >= kLeastNamedBar; --bar)
    if (const RowHeights heights = named_heights(bar, named_lanes);
        height_at(stack, heights.pitch) <= room)
      return heights;
  for (double pitch = kMostPitch; pitch > kLeastPitch; --pitch)
    if (height_at(stack, pitch) <= room) return thin_heights(pitch);
  return thin_heights(kLeastPitch);
}

}  // namespace

Zoom zoom_of(const Picture& picture, const PictureLayout& layout) {
  const double pixels = layout.axis(picture.range).pixels_per_nanosecond();
  Zoom zoom = Zoom::kPieces;
  for (const PictureLane& lane : picture.lanes)
    if (lane.rows && !lane.hidden) zoom = std::min(zoom, lane.rows->zoom_at(pixels));
  return zoom;
}

QRectF bar_band(const RowBox& box, bool opens, Zoom shown, Zoom zoom) {
  if (!opens || shown == Zoom::kActions || box.bar.height() < kLeastSplit) return box.bar;
  QRectF band = box.bar;
  if (zoom == shown) band.setTop(band.top() + kUpperBand + 1);
  if (zoom == farther(shown)) band.setHeight(kUpperBand);
  return band;
}

QRectF sent_band(const PictureLayout& layout, const RowBox& box, const Row& row, Lane which) {
  std::vector<Lane> lanes = layout.sent;
  // Thin lanes share their place only where a row has both.
  if (!layout.names_sent)
    std::erase_if(lanes, [&](Lane lane) { return row.sent(lane).bars.empty(); });
  const auto found = std::find(lanes.begin(), lanes.end(), which);
  if (found == lanes.end()) return {};
  const double gap = layout.names_sent ? kSentGap : 0;
  const double each = (box.comm.height() + gap) / static_cast<double>(lanes.size());
  return QRectF(box.comm.left(), box.comm.top() + static_cast<double>(found - lanes.begin()) * each,
                box.comm.width(), each - gap);
}

double comfortable_height(const Picture& picture) {
  const std::size_t lanes = may_be_named(picture) ? sent_lanes(picture).size() : 0;
  const double pitch = lanes > 0 ? named_heights(kMostBar, lanes).pitch : kMostPitch;
  return kTickBand + height_at(stack_of(picture), pitch) + 6;
}

double least_height(const Picture& picture) {
  return kTickBand + height_at(stack_of(picture), kLeastPitch) + 6;
}

PictureLayout layout_of(const Picture& picture, QSizeF size, const Theme& theme) {
  PictureLayout layout;
  layout.tick_band = kTickBand;
  layout.width = size.width();
  const std::vector<Stack> stack = stack_of(picture);
  layout.sent = sent_lanes(picture);
  const std::size_t lanes = may_be_named(picture) ? layout.sent.size() : 0;
  const RowHeights heights = heights_for(stack, lanes, size.height() - kTickBand - 6);
  layout.pitch = heights.pitch;
  layout.names_sent = heights.named;
  if (!heights.named) std::erase(layout.sent, Lane::kCompute);  // seen in the bars themselves
  const QFontMetricsF metrics(theme.font(12)), small(theme.font(kSentFont));
  double labels = 0;
  if (layout.names_sent)
    for (const Lane which : layout.sent)
      labels = std::max(labels, small.horizontalAdvance(sent_lane_name(picture, which)));
  for (int lane = 0; lane < static_cast<int>(picture.lanes.size()); ++lane)
    for (const Line& line : lines_of(picture, lane))
      labels = std::max(labels, metrics.horizontalAdvance(label_of(picture, line)));
  layout.axis_left =
      std::clamp(std::ceil(kLeft + labels + 12), kLeastAxisLeft,
                 std::max(kLeastAxisLeft, std::min(kMostAxisLeft, size.width() / 4)));
  layout.axis_width = std::max(40.0, size.width() - layout.axis_left - kRight);

  const double gap = layout.names_sent ? kSentGap : layout.pitch >= 27 ? 2 : 1;
  const double sent =
      heights.named ? static_cast<double>(layout.sent.size()) * (heights.sent + kSentGap) - kSentGap
                    : heights.sent;
  const double left = layout.axis_left, width = layout.axis_width;
  double y = 0;
  for (const Stack& item : stack) {
    if (item.kind == Stack::kTitleOf) {
      layout.titles.push_back(
          {item.line.lane, QRectF(kLeft, y, size.width() - kLeft - kRight, item.height)});
      y += item.height;
    } else if (item.kind == Stack::kGap) {
      y += item.height;
    } else if (item.kind == Stack::kEmpty) {
      RowBox box;
      box.lane = item.line.lane;
      box.row = -1;
      box.bar = QRectF(left, y, width, empty_height(layout.pitch) - 8);
      layout.rows.push_back(box);
      y += empty_height(layout.pitch);
    } else {
      RowBox box;
      box.lane = item.line.lane;
      box.row = item.line.row;
      box.hidden_ranks = item.line.hidden_ranks;
      box.group_start = item.line.group_start;
      box.label = item.second ? picture.lanes[static_cast<std::size_t>(item.line.lane)].short_title
                              : label_of(picture, item.line);
      box.bar = QRectF(left, y, width, heights.bar);
      box.comm = QRectF(left, y + heights.bar + gap, width, sent);
      box.label_rect = QRectF(kLeft, y, left - kLeft - 8, heights.bar);
      layout.rows.push_back(box);
      y += layout.pitch;
    }
  }
  layout.height = y + 6;
  return layout;
}

std::optional<Hit> hit_at(const Picture& picture, const PictureLayout& layout, QPointF point,
                          double scroll) {
  if (point.y() < layout.tick_band || point.x() < layout.axis_left ||
      point.x() > layout.axis_left + layout.axis_width)
    return std::nullopt;
  const double y = point.y() - layout.tick_band + scroll;
  const TimeAxis axis = layout.axis(picture.range);
  for (const RowBox& box : layout.rows) {
    if (box.row < 0 || y < box.bar.top() || y >= box.bar.top() + layout.pitch) continue;
    if (picture.lanes[static_cast<std::size_t>(box.lane)].hidden) return std::nullopt;
    Hit hit;
    hit.lane = box.lane;
    hit.row = box.row;
    const Row& row = picture.lanes[static_cast<std::size_t>(box.lane)]
                         .rows->rows[static_cast<std::size_t>(box.row)];
    const Zoom shown = zoom_of(picture, layout);
    const bool above = y < bar_band(box, row.opens(), shown, shown).top();
    hit.zoom = above ? farther(shown) : shown;
    hit.time = axis.time_at(point.x());
    const Nanoseconds slack = axis.length_of(2);
    const auto hits = [&](const BarList& list) {
      hit.bar = list.at(hit.time, slack);
      if (hit.bar < 0) return false;
      const auto bar = static_cast<std::size_t>(hit.bar);
      for_each_run(list, axis, [&](const BarRun& run) {
        if (run.first <= bar && bar <= run.last)
          hit.merged = static_cast<int>(run.last - run.first) + 1;
      });
      return true;
    };
    if (y < box.bar.bottom()) {
      hits(row.lane(hit.which, hit.zoom));
      return hit;
    }
    for (const Lane which : layout.sent) {
      const QRectF band = sent_band(layout, box, row, which);
      if (layout.names_sent && (y < band.top() - kSentGap || y > band.bottom())) continue;
      hit.which = which;
      if (!hits(row.sent(which))) continue;
      if (which == Lane::kCompute) {  // one of the pieces
        const Bar& bar = row.inside.bars[static_cast<std::size_t>(hit.bar)];
        hit.zoom = Zoom::kPieces;
        hit.bar = row.lane(which, hit.zoom).at(bar.span.begin);
      }
      return hit;
    }
    return hit;
  }
  return std::nullopt;
}

QRectF rect_of_bar(const Picture& picture, const PictureLayout& layout, int lane, const Bar& bar,
                   int rank_index, double scroll, Zoom zoom) {
  const auto& rows = picture.lanes[static_cast<std::size_t>(lane)].rows;
  if (!rows) return {};
  for (const RowBox& box : layout.rows) {
    if (box.lane != lane || box.row < 0 ||
        rows->rows[static_cast<std::size_t>(box.row)].rank_index != rank_index)
      continue;
    const TimeAxis axis = layout.axis(picture.range);
    const Row& of = rows->rows[static_cast<std::size_t>(box.row)];
    const QRectF row = bar.lane == Lane::kCompute
                           ? bar_band(box, of.opens(), zoom_of(picture, layout), zoom)
                           : sent_band(layout, box, of, bar.lane);
    const double x0 = axis.x_of(bar.span.begin), x1 = axis.x_of(bar.span.end);
    return QRectF(x0, row.top() + layout.tick_band - scroll, std::max(1.0, x1 - x0), row.height());
  }
  return {};
}

std::optional<Nanoseconds> snapped(const Picture& picture, const PictureLayout& layout,
                                   Nanoseconds time, Nanoseconds slack, int only_lane) {
  std::optional<Nanoseconds> best;
  const auto offer = [&](Nanoseconds edge) {
    if (std::chrono::abs(edge - time) > slack) return;
    if (!best || std::chrono::abs(edge - time) < std::chrono::abs(*best - time)) best = edge;
  };
  const Zoom zoom = zoom_of(picture, layout);
  for (const RowBox& box : layout.rows) {
    const PictureLane& lane = picture.lanes[static_cast<std::size_t>(box.lane)];
    if (box.row < 0 || lane.hidden || (only_lane >= 0 && box.lane != only_lane)) continue;
    const BarList& list =
        lane.rows->rows[static_cast<std::size_t>(box.row)].lane(Lane::kCompute, zoom);
    const std::size_t next = list.first_after(time);
    for (std::size_t index = next > 0 ? next - 1 : 0; index < list.bars.size() && index <= next + 1;
         ++index) {
      offer(list.bars[index].span.begin);
      offer(list.bars[index].span.end);
    }
  }
  return best;
}

}  // namespace parallelarium
