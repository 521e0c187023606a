// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/lesson_picture.h"

#include <QPainter>
#include <algorithm>
#include <optional>

#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "app/views/shared/paint/paint_tools.h"
#include "engine/lesson/play.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostPictureRows = 4, kMostPictureSteps = 14, kMostSenders = 8;
constexpr int kMostCells = 8;  // of a rank's held parts in a row
constexpr int kBarRow = 22, kStepRow = 15, kModelSize = 30, kModelGap = 6;
constexpr std::uint64_t kPictureSeed = 1;  // of the numbers that are drawn

// The settings of the first part that has several ranks; else those of the start.
std::optional<Settings> settings_drawn(const Lesson& lesson) {
  const Symbols drawn = draw_numbers(lesson, kPictureSeed);
  std::optional<Settings> start;
  for (std::size_t at = 0; at < lesson.steps.size(); ++at) {
    Result<Settings> settings = settings_at(lesson, at, drawn, true);
    if (!settings) continue;  // of a plan that the planner would have to find
    if (settings->setup.mesh.ranks() > 1 || lesson.begins_with_collectives())
      return std::move(*settings);
    if (!start) start = std::move(*settings);
  }
  return start;
}

HeldParts parts_of(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  HeldParts parts(static_cast<std::size_t>(std::min(mesh.dp, static_cast<int>(kMostPictureRows))));
  for (std::size_t copy = 0; copy < parts.size(); ++copy)
    for (int stage = 0; stage < mesh.pp; ++stage)
      for (int slice = 0; slice < mesh.tp && parts[copy].size() < kMostCells; ++slice) {
        PicturedPart part{stage, double(stage) / mesh.pp, double(stage + 1) / mesh.pp,
                          double(slice) / mesh.tp, double(slice + 1) / mesh.tp};
        if (setup.zero == 3) {  // a shard of what its copies hold together
          const double width = (part.width_end - part.width_begin) / mesh.dp;
          part.width_begin += width * double(copy);
          part.width_end = part.width_begin + width;
        }
        parts[copy].push_back(part);
      }
  return parts;
}

QString words_of(const LessonDrawing& drawing) {
  if (const auto* order = std::get_if<TimedOrder>(&drawing))
    return LessonPicture::tr("Picture: the order of work on %1 ranks").arg(order->spans.size());
  if (const auto* collective = std::get_if<Collective>(&drawing))
    return LessonPicture::tr("Picture: which of %1 ranks send in which step")
        .arg(collective->spec.ranks);
  return LessonPicture::tr("Picture: what each rank holds of the model");
}

}  // namespace

LessonDrawing drawing_of(const Lesson& lesson) {
  const std::optional<Settings> settings = settings_drawn(lesson);
  if (!settings) return {};
  if (lesson.begins_with_collectives()) {
    Result<Collective> made = make_collective(settings->collective.spec);
    return made ? LessonDrawing(std::move(*made)) : LessonDrawing();
  }
  const Setup& setup = settings->setup;
  if (setup.mesh.pp == 1) return parts_of(setup);
  const Result<Order> order = make_order(setup);
  return order ? LessonDrawing(time_order(*order, Durations())) : LessonDrawing();
}

LessonPicture::LessonPicture(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("LessonPicture"));
  speak_as(*this, {QAccessible::Graphic, {}});
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void LessonPicture::show_drawing(LessonDrawing drawing) {
  drawing_ = std::move(drawing);
  setVisible(!std::holds_alternative<std::monostate>(drawing_));
  setAccessibleName(words_of(drawing_));
  updateGeometry();
  update();
}

QSize LessonPicture::sizeHint() const {
  int height = 0;
  if (const auto* order = std::get_if<TimedOrder>(&drawing_))
    height = kBarRow * static_cast<int>(std::min(order->spans.size(), kMostPictureRows));
  if (const auto* collective = std::get_if<Collective>(&drawing_))
    height = kStepRow * std::min(collective->spec.ranks, static_cast<int>(kMostSenders));
  if (const auto* parts = std::get_if<HeldParts>(&drawing_))
    height = (kModelSize + kModelGap) * static_cast<int>(parts->size());
  return {200, height + 4};
}

void LessonPicture::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (const auto* order = std::get_if<TimedOrder>(&drawing_)) paint(painter, *order);
  if (const auto* collective = std::get_if<Collective>(&drawing_)) paint(painter, *collective);
  if (const auto* parts = std::get_if<HeldParts>(&drawing_)) paint(painter, *parts);
}

void LessonPicture::paint(QPainter& painter, const TimedOrder& order) const {
  const Theme& theme = theme_for(palette());
  const double scale = (width() - 2) / order.makespan;
  for (std::size_t rank = 0; rank < std::min(order.spans.size(), kMostPictureRows); ++rank) {
    const double top = double(rank) * kBarRow + 2;
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.bubble());
    painter.drawRect(QRectF(1, top, width() - 2, kBarRow - 4));
    for (const TimedAction& span : order.spans[rank]) {
      const OpColor color = span.action.kind == ActionKind::kForward      ? OpColor::kForward
                            : span.action.kind == ActionKind::kWeightGrad ? OpColor::kWeight
                                                                          : OpColor::kBackward;
      const QRectF bar(1 + span.begin * scale, top, (span.end - span.begin) * scale, kBarRow - 4);
      painter.setBrush(theme.tint(color));
      painter.setPen(QPen(theme.solid(color), 1));
      painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
      const QString number = QString::number(span.action.microbatch);
      if (const QFont font = theme.font(10); label_width(font, number) + 2 < bar.width())
        put_label(painter, bar, number, font, theme.ink_on(theme.tint(color)), nullptr);
    }
  }
}

// A row for each rank, a column for each step; filled where the rank sends.
void LessonPicture::paint(QPainter& painter, const Collective& collective) const {
  const Theme& theme = theme_for(palette());
  const std::size_t steps = std::min(collective.steps.size(), kMostPictureSteps);
  const double step_width = (width() - 2) / double(std::max<std::size_t>(steps, 1));
  const int rows = std::min(collective.spec.ranks, static_cast<int>(kMostSenders));
  const auto cell = [&](int rank, std::size_t step) {
    return QRectF(1 + double(step) * step_width, rank * kStepRow + 2, step_width, kStepRow)
        .adjusted(1, 1, -1, -1);
  };
  for (int rank = 0; rank < rows; ++rank)
    for (std::size_t step = 0; step < steps; ++step) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.bubble());
      painter.drawRect(cell(rank, step));
    }
  for (std::size_t step = 0; step < steps; ++step)
    for (const Move& move : collective.steps[step]) {
      if (move.from >= rows || move.from == move.to) continue;
      painter.setBrush(theme.tint(OpColor::kCommunication));
      painter.setPen(QPen(theme.solid(OpColor::kCommunication), 1));
      painter.drawRect(cell(move.from, step));
    }
}

// A square is the model: its layers from top to bottom, their width across. What is not filled is
// on other ranks.
void LessonPicture::paint(QPainter& painter, const HeldParts& parts) const {
  const Theme& theme = theme_for(palette());
  for (std::size_t copy = 0; copy < parts.size(); ++copy)
    for (std::size_t at = 0; at < parts[copy].size(); ++at) {
      const PicturedPart& part = parts[copy][at];
      const QRectF model(1 + double(at) * (kModelSize + kModelGap),
                         2 + double(copy) * (kModelSize + kModelGap), kModelSize - 2,
                         kModelSize - 2);
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.rank(part.stage));
      painter.drawRect(QRectF(model.left() + part.width_begin * model.width(),
                              model.top() + part.depth_begin * model.height(),
                              (part.width_end - part.width_begin) * model.width(),
                              (part.depth_end - part.depth_begin) * model.height()));
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
      painter.drawRect(model);
    }
}

}  // namespace parallelarium
