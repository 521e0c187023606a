// SPDX-License-Identifier: GPL-3.0-or-later
// What the loss sends, as bars to scale, and notes below them.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/vocabulary/vocabulary_notes.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

struct VocabularyWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kVocabularyMargin = 16, kVocabularyLabels = 92, kVocabularyHead = 20,
                 kLossRow = 19, kNoteLine = 16;

QStringList note_lines(const LayerPicture& picture, double width, const Theme& theme) {
  QStringList lines;
  for (const QString& note : vocabulary_notes(picture))
    lines += broken_lines(note, theme.font(12), width - 2 * kVocabularyMargin);
  return lines;
}

void paint_loss_rows(const LayerBrush& brush, const std::vector<LossRow>& rows, double y) {
  const Theme& theme = brush.theme;
  QPainter& painter = brush.painter;
  const double left = kVocabularyMargin + kVocabularyLabels;
  const double room = brush.layout.size.width() - kVocabularyMargin - left;
  std::int64_t most = 1;
  for (const LossRow& row : rows) most = std::max(most, row.bytes);
  const QColor color = theme.solid(OpColor::kCommunication);
  for (const LossRow& row : rows) {
    const QFont font = theme.font(11, row.real);
    put_elided(painter, QRectF(kVocabularyMargin, y, kVocabularyLabels - 6, kLossRow - 3),
               Qt::AlignVCenter, row.name, font, row.real ? theme.text : theme.muted, brush.texts);
    const QRectF bar(left + 0.5, y + 2.5,
                     std::max(2.0, room * 0.4 * double(row.bytes) / double(most)), kLossRow - 8);
    painter.setPen(QPen(color, 1, row.real ? Qt::SolidLine : Qt::DotLine));
    painter.setBrush(row.real ? QBrush(color) : QBrush(Qt::NoBrush));
    painter.drawRect(bar);
    put_elided(painter, QRectF(bar.right() + 8, y, left + room - bar.right() - 8, kLossRow - 3),
               Qt::AlignVCenter, row.text, font, row.real ? theme.text : theme.muted, brush.texts);
    y += kLossRow;
  }
}

}  // namespace

double vocabulary_height(const LayerPicture& picture, double width, const Theme& theme) {
  if (!picture.shows_vocabulary()) return 0;
  const auto rows = double(loss_rows(picture).size());
  return (rows > 0 ? kVocabularyHead + rows * kLossRow + 4 : 0) +
         double(note_lines(picture, width, theme).size()) * kNoteLine + 10;
}

void paint_vocabulary(const LayerBrush& brush) {
  const Theme& theme = brush.theme;
  const double width = brush.layout.size.width() - 2 * kVocabularyMargin;
  double y = brush.layout.kept_top;
  const std::vector<LossRow> rows = loss_rows(brush.picture);
  if (!rows.empty()) {
    put_elided(brush.painter, QRectF(kVocabularyMargin, y, width, kVocabularyHead),
               Qt::AlignVCenter,
               VocabularyWords::tr(
                   "WHAT THE LOSS SENDS \u00b7 three all-reduces of one micro-batch, every rank"),
               theme.font(11), theme.muted, brush.texts);
    paint_loss_rows(brush, rows, y + kVocabularyHead);
    y += kVocabularyHead + double(rows.size()) * kLossRow + 4;
  }
  for (const QString& line : note_lines(brush.picture, brush.layout.size.width(), theme)) {
    put_text(brush.painter, QRectF(kVocabularyMargin, y, width, kNoteLine), Qt::AlignVCenter, line,
             theme.font(12), theme.text, brush.texts);
    y += kNoteLine;
  }
}

void paint_words_of_rank(const LayerBrush& brush, int rank, double left, double middle) {
  if (!is_cut_by_words(brush.picture)) return;
  for (const LayerStep& step : brush.picture.layer->steps)
    for (const LayerTensor& tensor : step.ranks[std::size_t(rank)].tensors) {
      if (tensor.role == TensorRole::kActivation || !tensor.is_matrix()) continue;
      const std::vector<ChunkRange>& words =
          step.piece == Piece::kEmbedding ? tensor.row_ranges : tensor.column_ranges;
      if (words.empty()) continue;
      const QFont font = brush.theme.font(10);
      const QString lines[] = {VocabularyWords::tr("words %1").arg(count_text(words.front().begin)),
                               VocabularyWords::tr("to %1").arg(count_text(words.back().end - 1))};
      for (const QString& line : lines) {
        put_elided(brush.painter, QRectF(left, middle + 9, 86, 13), Qt::AlignVCenter, line, font,
                   brush.theme.muted, brush.texts);
        middle += 13;
      }
      return;
    }
}

}  // namespace parallelarium
