// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/layer_brush.h"

#include <QCoreApplication>
#include <QPolygonF>
#include <algorithm>

#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/rank_chip.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kNamesEnd = 108;        // of ranks' names
constexpr double kMostOverhang = 66;     // of a shape's words over its tensor
constexpr double kLeastWord = 16;        // wide or high
constexpr double kLeastInside = 12;      // wide and high, for a second edge inside
constexpr std::size_t kMostParts = 512;  // above that many, parts are thinner than a pixel

// One part, filled from the top as far as it is done. A line in the playhead's colour says that the
// rest of it still comes.
void fill_part(QPainter& painter, const QRectF& part, const QColor& fill, const QPen& edge,
               double done, bool scores, const Theme& theme) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  if (scores) {
    // The causal mask leaves the lower triangle.
    if (done > 0)
      painter.drawPolygon(
          QPolygonF({part.topLeft(),
                     QPointF(part.left() + part.width() * done, part.top() + part.height() * done),
                     QPointF(part.left(), part.top() + part.height() * done)}));
  } else {
    painter.drawRect(QRectF(part.left(), part.top(), part.width(), part.height() * done));
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(edge);
  painter.drawRect(part);
  if (done <= 0 || done >= 1 || scores) return;
  const double y = part.top() + part.height() * done;
  painter.setPen(QPen(theme.mark, 1.5));
  painter.drawLine(QPointF(part.left(), y), QPointF(part.right(), y));
}

// A tensor that an all-gather fills: the rank's own rows are there, and `done` of the others, from
// the top.
void fill_gathered(QPainter& painter, const QRectF& place, const QColor& fill,
                   const LayerTensor& own, double done) {
  const double row = place.height() / double(own.rows);
  double left = done * double(own.rows - own.held_rows);
  std::int64_t from = 0;
  const auto fill_rows = [&](double begin, double end) {
    painter.fillRect(
        QRectF(place.left(), place.top() + begin * row, place.width(), (end - begin) * row), fill);
  };
  const auto fill_others = [&](std::int64_t end) {
    const double rows = std::min(left, double(end - from));
    fill_rows(double(from), double(from) + rows);
    left -= rows;
  };
  for (const ChunkRange& rows : own.row_ranges) {
    fill_others(rows.begin);
    fill_rows(double(rows.begin), double(rows.end));
    from = rows.end;
  }
  fill_others(own.rows);
}

// Along the longer side where the shorter one is too short for it.
void paint_copy_word(const LayerBrush& brush, const QRectF& place, const QColor& ink) {
  const QFont font = brush.theme.font(10);
  const QString word = Words::tr("copy");
  const double needed = label_width(font, word) + 6;
  if (needed <= place.width() && place.height() >= kLeastWord)
    return put_label(brush.painter, place, word, font, ink, brush.texts);
  if (needed + 6 > place.height() || place.width() < kLeastWord) return;
  brush.painter.save();
  brush.painter.translate(place.center());
  brush.painter.rotate(-90);
  put_label(brush.painter,
            QRectF(-place.height() / 2, -place.width() / 2, place.height(), place.width()), word,
            font, ink, brush.texts);
  brush.painter.restore();
}

// A second edge inside `place`, outside of what is narrow, and (`says`) the word where it has room.
void paint_copy_mark(const LayerBrush& brush, const QRectF& place, const QColor& fill, double there,
                     bool says = true) {
  brush.painter.setPen(QPen(mixed(fill, brush.theme.ink_on(fill), 0.5), 1));
  brush.painter.setBrush(Qt::NoBrush);
  const bool narrow = std::min(place.width(), place.height()) <= kLeastInside;
  const double in = narrow ? -2.5 : 3;
  brush.painter.drawRect(place.adjusted(in, in, -in, -in));
  if (says)
    paint_copy_word(brush, place, there > 0.6 ? brush.theme.ink_on(fill) : brush.theme.muted);
}

QRectF place_of_caption(const LayerBrush& brush, const QRectF& place, const QString& text) {
  const double width = label_width(brush.theme.font(10), text) + 2;
  const double right = brush.layout.size.width() - 16;
  return {
      std::clamp(place.center().x() - width / 2, std::min(kNamesEnd, right - width), right - width),
      place.bottom() + 3, width, 13};
}

// Whether the text stands below `place` now: nothing else does there, nor is it much wider.
bool put_caption(const LayerBrush& brush, const QRectF& place, const QString& text,
                 std::vector<QRectF>& taken) {
  const QRectF rect = place_of_caption(brush, place, text);
  if (rect.width() > place.width() + kMostOverhang) return false;
  const bool free = std::none_of(taken.begin(), taken.end(),
                                 [&](const QRectF& other) { return other.intersects(rect); });
  if (!free || rect.left() > place.right()) return false;
  // Collectives stand across all rows.
  for (const LayerHalf& half : brush.layout.halves)
    for (const LayerBox& box : half.boxes)
      if (box.mark == LayerMark::kBar && rect.right() > box.x && rect.left() < box.x + box.width &&
          rect.top() > half.top && rect.top() < half.bottom)
        return false;
  put_label(brush.painter, rect, text, brush.theme.font(10), brush.theme.muted, brush.texts);
  taken.push_back(rect.adjusted(-3, 0, 3, 0));
  return true;
}

}  // namespace

std::vector<QRectF> parts_of(const LayerTensor& tensor, const QRectF& place) {
  std::vector<QRectF> parts;
  if (tensor.row_ranges.size() * tensor.column_ranges.size() > kMostParts) return {place};
  for (const ChunkRange& rows : tensor.row_ranges)
    for (const ChunkRange& columns : tensor.column_ranges)
      parts.emplace_back(
          place.left() + place.width() * double(columns.begin) / double(tensor.columns),
          place.top() + place.height() * double(rows.begin) / double(tensor.rows),
          place.width() * double(columns.end - columns.begin) / double(tensor.columns),
          place.height() * double(rows.end - rows.begin) / double(tensor.rows));
  return parts;
}

QColor fill_of(const Theme& theme, TensorRole role) {
  if (role == TensorRole::kWeight) return theme.memory(Category::kParameters);
  if (role == TensorRole::kWeightGradient) return theme.memory(Category::kGradients);
  return theme.memory(Category::kActivations);
}

void paint_crosses(QPainter& painter, const QRectF& place, const QColor& color) {
  painter.setPen(QPen(color, 1));
  // What is narrow has one column of them.
  const double from = std::min(place.left() + 5, place.center().x());
  for (double y = place.top() + 5; y < place.bottom() - 2; y += 8)
    for (double x = from; x < std::max(place.right() - 2, from + 1); x += 8) {
      painter.drawLine(QPointF(x - 2, y), QPointF(x + 2, y));
      painter.drawLine(QPointF(x, y - 2), QPointF(x, y + 2));
    }
}

void paint_dotted(QPainter& painter, const QRectF& place, const Theme& theme) {
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
  painter.drawRect(place);
}

int layer_color_number(const LayerPicture& picture, int rank) {
  return picture.shows_context() ? picture.layer->ranks[std::size_t(rank)].at.cp : rank;
}

void paint_layer_chip(QPainter& painter, const LayerPicture& picture, const QPointF& top_left,
                      double size, int rank, const Theme& theme, TextLog* texts) {
  const QRectF rect(top_left, QSizeF(size, size));
  const QColor fill = theme.rank(layer_color_number(picture, rank));
  const QString number = QString::number(picture.layer->ranks[std::size_t(rank)].rank);
  paint_chip_shape(painter, rect, layer_color_number(picture, rank), theme);
  const int pixels = int(size * (number.size() > 2 ? 0.56 : 0.72));
  put_label(painter, rect, number, theme.font(pixels), theme.ink_on(fill), texts);
}

void paint_layer_tensor(const LayerBrush& brush, const LayerRankStep& part, int tensor,
                        const QRectF& place, int rank, double done, const LayerTensor* own) {
  if (part.first_op < 0 || tensor >= int(part.tensors.size()))
    return paint_dotted(brush.painter, place, brush.theme);
  const LayerTensor& of = part.tensors[std::size_t(tensor)];
  const Theme& theme = brush.theme;
  const QColor fill = fill_of(theme, of.role);
  if (of.all_experts > 0)
    return paint_expert_weights(brush, of, place, rank, fill,
                                of.role == TensorRole::kWeight ? 1 : done);
  const QColor line = mixed(fill, theme.ink_on(fill), 0.5);
  const double there = of.role == TensorRole::kWeight ? 1 : done;
  if (of.is_shard() || !of.heads.empty()) {
    if (of.is_shard()) paint_dotted(brush.painter, place, brush.theme);
    QPen edge = theme.rank_line(layer_color_number(brush.picture, rank));
    for (const QRectF& own : parts_of(of, place)) {
      edge.setWidthF(std::min(own.width(), own.height()) < 10 ? 1 : 2);
      fill_part(brush.painter, own.adjusted(0.5, 0.5, -0.5, -0.5), fill,
                of.is_shard() ? edge : QPen(line, 1), there, of.scores, theme);
      if (of.partial)
        paint_crosses(brush.painter, own, there > 0 ? theme.ink_on(fill) : theme.muted);
      if (of.copy) paint_copy_mark(brush, own, fill, there);
    }
    return;
  }
  if (own && there < 1) fill_gathered(brush.painter, place, fill, *own, there);
  fill_part(brush.painter, place, fill, QPen(line, 1), own && there < 1 ? 0 : there, of.scores,
            theme);
  if (of.partial) {
    paint_crosses(brush.painter, place, theme.muted);  // it will be one
    brush.painter.save();
    brush.painter.setClipRect(
        QRectF(place.left(), place.top(), place.width(), place.height() * there));
    fill_part(brush.painter, place, fill, QPen(line, 1), there, of.scores, theme);
    paint_crosses(brush.painter, place, theme.ink_on(fill));
    brush.painter.restore();
  } else if (of.copy) {
    paint_copy_mark(brush, place, fill, there, !of.by_row);
  }
}

bool paint_layer_name(const LayerBrush& brush, const LayerRankStep& part, int tensor,
                      const QRectF& place, double done) {
  if (part.first_op < 0 || tensor >= int(part.tensors.size())) return false;
  const LayerTensor& of = part.tensors[std::size_t(tensor)];
  // The middle of these has other marks.
  if (of.copy || of.partial || of.scores || of.by_row || of.all_experts > 0 || of.columns == 1)
    return false;
  const QRectF own = parts_of(of, place).front();
  const QFont font = brush.theme.font(11, true);
  const QString name = QString::fromStdString(of.name);
  if (own.height() < kLeastWord || label_width(font, name) + 6 > own.width()) return false;
  const QColor fill = fill_of(brush.theme, of.role);
  const bool there = of.role == TensorRole::kWeight || done > 0.6;
  put_label(brush.painter, own, name, font, there ? brush.theme.ink_on(fill) : brush.theme.text,
            brush.texts);
  return true;
}

QRectF place_of_names(const LayerBrush& brush, const QRectF& place, const QStringList& names) {
  if (names.size() < 2) return {};
  return place_of_caption(brush, place, names.join(QStringLiteral(", "))).adjusted(-3, 0, 3, 0);
}

void paint_layer_caption(const LayerBrush& brush, const LayerTensor& of, const QRectF& place,
                         const QStringList& names, std::vector<QRectF>& taken) {
  const QString shape = of.all_experts > 0 ? held_experts_text(of)
                        : of.columns == 1  ? loss_number_text(of.name)
                                           : layer_shape_text(of);
  const QString all = names.join(QStringLiteral(", "));
  QStringList texts{shape};
  if (!all.isEmpty()) texts = {all + QLatin1Char(' ') + shape, shape, all};
  if (names.size() > 1) texts.move(2, 1);  // else nobody could tell them apart
  for (const QString& text : texts)
    if (put_caption(brush, place, text, taken)) return;
}

}  // namespace parallelarium
