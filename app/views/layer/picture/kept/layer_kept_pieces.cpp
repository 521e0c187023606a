// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/kept/layer_kept_pieces.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

struct KeptPieceWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kPiecesMargin = 16, kPiecesLabels = 92, kPiecesHead = 20, kPiecesBar = 19,
                 kPiecesLine = 16;

QString difference_text(KeptDiffers differs) {
  switch (differs) {
    case KeptDiffers::kSharedKeys:
      return KeptPieceWords::tr("heads that share keys and values");
    case KeptDiffers::kLatent:
      return KeptPieceWords::tr("latent attention");
    case KeptDiffers::kGated:
      return QStringLiteral("SwiGLU");
    case KeptDiffers::kInnerWidth:
      return KeptPieceWords::tr("an MLP that is not four times as wide");
    case KeptDiffers::kExperts:
      break;
  }
  return KeptPieceWords::tr("experts");
}

QString why_no_terms(const LayerKept& kept) {
  QStringList differences;
  for (const KeptDiffers differs : kept.differs) differences << difference_text(differs);
  return KeptPieceWords::tr(
             "The paper's terms (34\u00a0s\u00a0b\u00a0h) are of another layer; "
             "this one has %1.")
      .arg(differences.join(QStringLiteral(", ")));
}

struct KeptPiece {
  QString name;
  std::int64_t bytes = 0;
};

// Of the chosen rank, in the order of the layer.
std::vector<KeptPiece> pieces_of(const LayerPicture& picture) {
  std::vector<KeptPiece> pieces;
  for (const LayerStep& step : picture.layer->steps) {
    const std::int64_t bytes = step.ranks[std::size_t(picture.look.rank)].kept_bytes;
    if (bytes == 0) continue;
    const QString name = layer_step_name(step);
    const auto same = std::find_if(pieces.begin(), pieces.end(),
                                   [&](const KeptPiece& piece) { return piece.name == name; });
    if (same == pieces.end())
      pieces.push_back({name, bytes});
    else
      same->bytes += bytes;
  }
  return pieces;
}

std::int64_t sum_of(const std::vector<KeptPiece>& pieces) {
  std::int64_t sum = 0;
  for (const KeptPiece& piece : pieces) sum += piece.bytes;
  return sum;
}

QString pieces_text(const std::vector<KeptPiece>& pieces) {
  QStringList words;
  for (const KeptPiece& piece : pieces)
    words << QString(piece.name).replace(QLatin1Char(' '), QChar(0xa0)) + QChar(0xa0) +
                 bytes_text(piece.bytes).replace(QLatin1Char(' '), QChar(0xa0));
  return words.join(QStringLiteral(", "));
}

QStringList lines_below(const LayerPicture& picture, double width, const Theme& theme) {
  const double room = width - 2 * kPiecesMargin - kPiecesLabels;
  return broken_lines(pieces_text(pieces_of(picture)), theme.font(11), room) +
         broken_lines(why_no_terms(picture.layer->kept), theme.font(11), room);
}

}  // namespace

QString kept_unit_text(const LayerKept& kept) {
  if (kept.number_bytes == 2) return {};
  const bool masks = std::any_of(kept.terms.begin(), kept.terms.end(), [](const KeptTerm& term) {
    return term.tensor == Tensor::kDropoutMasks && term.because == KeptBecause::kHeld;
  });
  const QString text =
      KeptPieceWords::tr("terms in 2-byte numbers; here %1 bytes each, %2 times that")
          .arg(kept.number_bytes)
          .arg(number_text(double(kept.number_bytes) / 2));
  return masks ? text + KeptPieceWords::tr(", but not masks") : text;
}

double kept_pieces_height(const LayerPicture& picture, double width, const Theme& theme) {
  return kPiecesHead + kPiecesBar +
         double(lines_below(picture, width, theme).size()) * kPiecesLine + 8;
}

void paint_kept_pieces(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                       const Theme& theme, TextLog* texts) {
  const double left = kPiecesMargin + kPiecesLabels;
  const double room = layout.size.width() - kPiecesMargin - left;
  const std::vector<KeptPiece> pieces = pieces_of(picture);
  const std::int64_t sum = sum_of(pieces);
  const int rank = picture.layer->ranks[std::size_t(picture.look.rank)].rank;
  double y = layout.kept_top;
  put_elided(painter, QRectF(kPiecesMargin, y, room + kPiecesLabels, kPiecesHead), Qt::AlignVCenter,
             KeptPieceWords::tr("KEPT FOR THE BACKWARD \u00b7 one layer, one micro-batch, rank %1")
                 .arg(rank),
             theme.font(11), theme.muted, texts);
  y += kPiecesHead;
  put_elided(painter, QRectF(kPiecesMargin, y, kPiecesLabels - 6, kPiecesBar - 3), Qt::AlignVCenter,
             KeptPieceWords::tr("by piece"), theme.font(11, true), theme.text, texts);
  const QColor fill = theme.memory(Category::kActivations);
  double x = left;
  for (const KeptPiece& piece : pieces) {
    const double width = room * 0.78 * double(piece.bytes) / double(std::max<std::int64_t>(1, sum));
    const QRectF bar(x + 0.5, y + 0.5, width, kPiecesBar - 5);
    painter.setPen(QPen(mixed(fill, theme.ink_on(fill), 0.5), 1));
    painter.setBrush(fill);
    painter.drawRect(bar);
    const QFont font = theme.font(10);
    if (label_width(font, piece.name) + 6 < width)
      put_text(painter, bar, Qt::AlignCenter, piece.name, font, theme.ink_on(fill), texts);
    x += width;
  }
  put_elided(painter, QRectF(x + 8, y, left + room - x - 8, kPiecesBar - 3), Qt::AlignVCenter,
             bytes_text(sum), theme.font(11, true), theme.text, texts);
  y += kPiecesBar;
  for (const QString& line : lines_below(picture, layout.size.width(), theme)) {
    put_text(painter, QRectF(left, y, room, kPiecesLine), Qt::AlignVCenter, line, theme.font(11),
             theme.muted, texts);
    y += kPiecesLine;
  }
}

QString kept_pieces_sentence(const LayerPicture& picture) {
  const std::vector<KeptPiece> pieces = pieces_of(picture);
  return KeptPieceWords::tr("Kept for the backward by rank %1: %2, together %3.")
             .arg(picture.layer->ranks[std::size_t(picture.look.rank)].rank)
             .arg(pieces_text(pieces), bytes_text(sum_of(pieces))) +
         QLatin1Char(' ') + why_no_terms(picture.layer->kept);
}

}  // namespace parallelarium
