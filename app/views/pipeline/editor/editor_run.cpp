// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/editor/editor_run.h"

#include <QObject>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/picture/lanes.h"

namespace parallelarium {

namespace {

constexpr double kRunHead = 24, kRunGap = 4;

// The mean over ranks of how long a forward took on average.
double forward_of_run(const std::vector<std::vector<TimedAction>>& rows) {
  double sum = 0;
  int ranks = 0;
  for (const auto& row : rows) {
    double time = 0;
    int forwards = 0;
    for (const TimedAction& ran : row)
      if (ran.action.kind == ActionKind::kForward) {
        time += ran.end - ran.begin;
        ++forwards;
      }
    if (forwards == 0) continue;
    sum += time / forwards;
    ++ranks;
  }
  return ranks > 0 ? sum / ranks : 0;
}

}  // namespace

std::optional<EditorRun> editor_run(const Session& session, const Order& draft, double unit) {
  const RunRecord* record = session.runs().current();
  if (!record || !record->observed() || session.runs().current_is_stale()) return std::nullopt;
  const Observation& seen = record->observation;
  const auto rows = make_rows(record->prediction, std::make_shared<const Timeline>(seen.timeline));
  EditorRun run;
  run.rows.resize(draft.ranks.size());
  run.source = source_text(seen.timeline.source);
  for (const Row& row : rows->rows) {
    if (row.stage < 0 || static_cast<std::size_t>(row.stage) >= run.rows.size())
      return std::nullopt;
    auto& line = run.rows[static_cast<std::size_t>(row.stage)];
    if (!line.empty()) continue;  // another replica of the same rank of the pipeline
    for (const Bar& bar : row.lane(Lane::kCompute).bars)
      if (bar.microbatch >= 0)
        line.push_back({{bar.action, bar.microbatch, bar.chunk, false},
                        seconds_of(bar.span.begin),
                        seconds_of(bar.span.end)});
  }
  const double forward = forward_of_run(run.rows);
  if (forward <= 0) return std::nullopt;
  run.real = forward / unit;
  for (auto& line : run.rows)
    for (TimedAction& ran : line) {
      ran.begin /= run.real;
      ran.end /= run.real;
      run.end = std::max(run.end, ran.end);
    }
  return run;
}

QString run_action_words(const EditorPicture& picture, Spot spot) {
  const TimedAction& ran =
      picture.run->rows[static_cast<std::size_t>(spot.rank)][static_cast<std::size_t>(spot.index)];
  return QObject::tr("%1, %2: %3, from %4 to %5 forwards")
      .arg(action_text(ran.action, picture.draft->chunks), picture.run->source,
           seconds_text((ran.end - ran.begin) * picture.run->real),
           forwards_figure(ran.begin / picture.unit), forwards_figure(ran.end / picture.unit));
}

QString run_length_words(const EditorPicture& picture) {
  return QObject::tr("RUN · %1 · its last action ends after %2 (one took %3)")
      .arg(picture.run->source, forwards_text(picture.run->end / picture.unit),
           seconds_text(picture.unit * picture.run->real));
}

QRectF EditorTimes::run_rect(int rank, int ranks) const {
  return QRectF(left,
                height(ranks) + legend_rows * legend_row + kRunHead + rank * (run_row + kRunGap),
                width, run_row);
}

double EditorTimes::whole_height(int ranks) const {
  return run ? run_rect(ranks, ranks).top() : height(ranks) + legend_rows * legend_row;
}

std::optional<Spot> run_action_at(const EditorPicture& picture, const EditorTimes& at,
                                  QPointF point) {
  if (!picture.run) return std::nullopt;
  const int ranks = static_cast<int>(picture.run->rows.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const QRectF row = at.run_rect(rank, ranks);
    if (point.y() < row.top() || point.y() >= row.bottom()) continue;
    const auto& line = picture.run->rows[static_cast<std::size_t>(rank)];
    for (std::size_t index = 0; index < line.size(); ++index)
      if (point.x() >= at.x_of(line[index].begin) && point.x() < at.x_of(line[index].end))
        return Spot{rank, static_cast<int>(index)};
  }
  return std::nullopt;
}

void paint_editor_run(QPainter& painter, const EditorPicture& picture, const EditorTimes& at,
                      const Theme& theme, TextLog* texts) {
  if (!picture.run) return;
  const int ranks = static_cast<int>(picture.run->rows.size());
  const double top = at.run_rect(0, ranks).top() - kRunHead;
  put_elided(painter, QRectF(2, top, at.left + at.width - 2, kRunHead), Qt::AlignVCenter,
             run_length_words(picture), theme.font(11), theme.muted, texts);
  for (int rank = 0; rank < ranks; ++rank) {
    const QRectF row = at.run_rect(rank, ranks);
    if (!row_is_painted(painter, row)) continue;
    paint_row_name(painter, *picture.draft, rank, row, theme, texts);
    double clock = 0;
    PlainBars narrow;
    for (const TimedAction& ran : picture.run->rows[static_cast<std::size_t>(rank)]) {
      const double from = at.x_of(ran.begin), to = at.x_of(ran.end);
      if (ran.begin > clock)
        paint_hatching(painter,
                       QRectF(QPointF(at.x_of(clock), row.top()), QPointF(from, row.bottom())),
                       theme);
      clock = std::max(clock, ran.end);
      const QColor fill = theme.solid(color_of_kind(ran.action.kind));
      const QRectF bar(from, row.top(), std::max(1.0, to - from - 0.5), row.height());
      if (bar.width() < kLeastLabelled) {
        narrow.add(bar, fill);
        continue;
      }
      painter.fillRect(bar, fill);  // observed: solid
      const QFont font = theme.font(11);
      const QString text = QString::number(ran.action.microbatch);
      if (label_width(font, text) <= bar.width() - 2)
        put_label(painter, bar, text, font, theme.ink_on(fill), texts);
    }
    painter.setRenderHint(QPainter::Antialiasing, !at.dense);
    narrow.paint(painter);
    painter.setRenderHint(QPainter::Antialiasing);
  }
}

}  // namespace parallelarium
