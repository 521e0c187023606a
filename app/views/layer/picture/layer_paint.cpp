// SPDX-License-Identifier: GPL-3.0-or-later
// Paints a layer: title, legend, and the marks of every rank in each half that is open.
#include <QCoreApplication>
#include <QPainterPath>
#include <QPolygonF>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_legend.h"
#include "app/views/layer/picture/layer_lines.h"
#include "app/views/layer/picture/layer_links.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/layer/picture/layer_values.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct PaintWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kPaintMargin = 16, kLegendTop = 28;

const LayerRankStep& part_at(const LayerBrush& brush, int step, int rank) {
  return brush.picture.layer->steps[std::size_t(step)].ranks[std::size_t(rank)];
}

void paint_arrow(const LayerBrush& brush, double from, double to, double y) {
  brush.painter.setPen(QPen(brush.theme.muted, 1));
  brush.painter.drawLine(QPointF(from, y), QPointF(to, y));
  const double back = to > from ? -4 : 4;
  QPainterPath head(QPointF(to, y));
  head.lineTo(to + back, y - 2.5);
  head.lineTo(to + back, y + 2.5);
  head.closeSubpath();
  brush.painter.fillPath(head, brush.theme.muted);
}

bool same_rows(const LayerTensor& a, const LayerTensor& b) {
  return std::equal(
      a.row_ranges.begin(), a.row_ranges.end(), b.row_ranges.begin(), b.row_ranges.end(),
      [](ChunkRange x, ChunkRange y) { return x.begin == y.begin && x.end == y.end; });
}

// The step before that leaves the block of tokens which `box` shows of a ring: a norm, or an
// exchange beside the product of another block; -1: it is of no ring.
int step_that_brings(const LayerBrush& brush, const LayerBox& box, int rank) {
  const LayerRankStep& part = part_at(brush, box.step, rank);
  if (brush.picture.layer->steps[std::size_t(box.step)].blocks == 1 ||
      box.tensor >= int(part.tensors.size()))
    return -1;
  const LayerTensor& of = part.tensors[std::size_t(box.tensor)];
  for (int step = box.step - 1; step >= 0; --step)
    for (const LayerTensor& left : part_at(brush, step, rank).tensors)
      if (left.written && left.name == of.name && same_rows(left, of)) return step;
  return -1;
}

// The same of keys and values of a ring of CP: the exchange before its step, or of the rank's own
// the piece that makes them; -1: they are none.
int step_that_brings_keys(const LayerBrush& brush, const LayerBox& box, int rank) {
  const LayerSteps& layer = *brush.picture.layer;
  const LayerRankStep& part = part_at(brush, box.step, rank);
  const int round = round_of_ring(layer, box.step);
  if (round < 0 || box.tensor >= int(part.tensors.size()) ||
      !is_keys_or_values(part.tensors[std::size_t(box.tensor)]))
    return -1;
  for (const ContextMove& move : layer.context.moves)
    if (!move.gradient && move.round + 1 == round) return move.step;
  return std::max(0, layer.context.first_step - 1);
}

// How much of a tensor is there: of what a step finds, as much as the step before has left.
double share_there(const LayerBrush& brush, const LayerBox& box, int rank) {
  const LayerRankStep& part = part_at(brush, box.step, rank);
  const bool found =
      box.tensor < int(part.tensors.size()) && !part.tensors[std::size_t(box.tensor)].written;
  if (found && box.step == 0) return 1;
  if (const int brought = step_that_brings(brush, box, rank); found && brought >= 0)
    return layer_share_done(brush.picture, brought, rank);
  if (const int brought = step_that_brings_keys(brush, box, rank); found && brought >= 0)
    return layer_share_done(brush.picture, brought, rank);
  return layer_share_done(brush.picture, box.step - (found ? 1 : 0), rank);
}

// The shard that an all-gather makes whole, where the tensor of `box` comes out of one and the
// shard is there; else null.
const LayerTensor* gathered_from(const LayerBrush& brush, const LayerBox& box, int rank) {
  const std::vector<LayerStep>& steps = brush.picture.layer->steps;
  if (box.step < 2 || layer_share_done(brush.picture, box.step - 2, rank) < 1) return nullptr;
  const LayerStep& before = steps[std::size_t(box.step) - 1];
  if (before.kind != LayerStepKind::kCollective || before.collective != CollectiveKind::kAllGather)
    return nullptr;
  const LayerTensor& of = part_at(brush, box.step, rank).tensors[std::size_t(box.tensor)];
  if (of.written || of.is_shard() || of.role != TensorRole::kActivation) return nullptr;
  for (const LayerTensor& tensor : part_at(brush, box.step - 2, rank).tensors)
    if (tensor.written && tensor.rows == of.rows && tensor.held_columns == of.columns &&
        tensor.held_rows < tensor.rows)
      return &tensor;
  return nullptr;
}

// What enters a half waits until the half's result is added to it.
void paint_residual(const LayerBrush& brush, const LayerHalf& half, double middle) {
  const auto plus = std::find_if(half.boxes.begin(), half.boxes.end(),
                                 [](const LayerBox& box) { return box.mark == LayerMark::kPlus; });
  if (plus == half.boxes.end() || half.boxes.front().mark != LayerMark::kTensor) return;
  const LayerBox& x = half.boxes.front();
  // The second line of experts and of rings begins behind it.
  const LayerStep& begins = brush.picture.layer->steps[std::size_t(x.step)];
  if (begins.piece == Piece::kExpert || begins.blocks > 1) return;
  const double over = middle - half.row_height / 2 - 5, from = x.x + x.width / 2;
  const double to = plus->x + plus->width / 2;
  brush.painter.setPen(QPen(brush.theme.muted, 1));
  brush.painter.drawPolyline(QPolygonF({QPointF(from, middle - x.height / 2), QPointF(from, over),
                                        QPointF(to, over), QPointF(to, middle - 8)}));
}

// What stands below one tensor, or below several of one shape side by side: "gate, up 128 × 96".
struct BoxCaption {
  int step = 0;
  const LayerTensor* of = nullptr;
  QRectF place;
  QStringList names;  // of those that have none inside
};

bool is_same_shape(const LayerTensor& a, const LayerTensor& b) {
  return a.role == b.role && a.written == b.written && layer_shape_text(a) == layer_shape_text(b);
}

// A tensor, with its numbers where a run showed them. `captions`: of the boxes before; it joins the
// last one where `beside` it.
void paint_box(const LayerBrush& brush, const LayerBox& box, const QRectF& place, int rank,
               bool beside, std::vector<BoxCaption>& captions) {
  const LayerRankStep& part = part_at(brush, box.step, rank);
  const double there = share_there(brush, box, rank);
  paint_layer_tensor(brush, part, box.tensor, place, rank, there, gathered_from(brush, box, rank));
  if (there >= 1) paint_layer_values(brush, box.step, box.tensor, place, rank);
  paint_row_runs(brush, box, place, rank);
  if (part.first_op < 0 || box.tensor >= int(part.tensors.size())) return;
  const LayerTensor& of = part.tensors[std::size_t(box.tensor)];
  // Numbers of tokens have names where they are made.
  if (of.scores || (of.columns == 1 && !of.written)) return;
  const bool has_name = of.all_experts == 0 && of.columns > 1;
  if (!has_name || !beside || captions.empty() || captions.back().step != box.step ||
      !is_same_shape(*captions.back().of, of))
    captions.push_back({box.step, &of, place, {}});
  captions.back().place |= place;
  const bool named = !layer_values(brush.picture, box.step, box.tensor, rank) &&
                     paint_layer_name(brush, part, box.tensor, place, there);
  if (!has_name || named) return;
  // The backward is drawn from right to left.
  QStringList& names = captions.back().names;
  names.insert(brush.picture.layer->choice.backward ? 0 : names.size(),
               QString::fromStdString(of.name));
}

// Below the boxes. A caption leaves room for the names of those behind it.
void paint_captions(const LayerBrush& brush, const std::vector<BoxCaption>& captions,
                    std::vector<QRectF> taken) {
  for (std::size_t at = 0; at < captions.size(); ++at) {
    std::vector<QRectF> all = taken;
    for (std::size_t behind = at + 1; behind < captions.size(); ++behind)
      all.push_back(place_of_names(brush, captions[behind].place, captions[behind].names));
    const std::size_t before = all.size();
    paint_layer_caption(brush, *captions[at].of, captions[at].place, captions[at].names, all);
    if (all.size() > before) taken.push_back(all.back());
  }
}

// The marks of one rank.
void paint_row(const LayerBrush& brush, const LayerHalf& half, int rank, double middle) {
  const bool backward = brush.picture.layer->choice.backward;
  paint_residual(brush, half, middle);
  std::vector<QRectF> taken;
  for (const LayerBox& box : half.boxes)
    if (box.mark == LayerMark::kTensor)
      taken.emplace_back(box.x - 2, middle - box.height / 2 - 2, box.width + 4, box.height + 4);
  std::vector<BoxCaption> captions;
  bool beside = false;  // another tensor
  for (const LayerBox& box : half.boxes) {
    const QRectF place(box.x, middle - box.height / 2, box.width, box.height);
    switch (box.mark) {
      case LayerMark::kTensor:
        paint_box(brush, box, place, rank, beside, captions);
        break;
      case LayerMark::kArrow:
        paint_arrow(brush, backward ? box.x + box.width - 2 : box.x + 2,
                    backward ? box.x + 2 : box.x + box.width - 2, middle);
        break;
      case LayerMark::kBar:
        break;
      default: {
        const QString sign = box.mark == LayerMark::kTimes    ? QStringLiteral("\u00d7")
                             : box.mark == LayerMark::kEquals ? QStringLiteral("=")
                                                              : QStringLiteral("+");
        put_label(brush.painter, QRectF(box.x, middle - 9, box.width, 18), sign,
                  brush.theme.font(13), brush.theme.text, brush.texts);
      }
    }
    beside = box.mark == LayerMark::kTensor;
  }
  paint_captions(brush, captions, std::move(taken));
}

// The first tensor of that name in the half that has heads; null: it has none.
const LayerTensor* tensor_of_heads(const LayerBrush& brush, const LayerHalf& half, int rank,
                                   std::string_view name) {
  for (const int step : half.steps)
    for (const LayerTensor& tensor : part_at(brush, step, rank).tensors)
      if (!tensor.heads.empty() && tensor.name == name) return &tensor;
  return nullptr;
}

// Which heads of queries the rank has, and of keys and values where these are fewer: ranks may
// have the same ones then.
void paint_heads_of_rank(const LayerBrush& brush, const LayerHalf& half, int rank, double middle) {
  const LayerTensor* context = tensor_of_heads(brush, half, rank, "context");
  if (!context) return;
  const QFont font = brush.theme.font(10);
  const QRectF line(kPaintMargin, middle + 9, 90, 15);
  const auto put = [&](const QRectF& where, const QString& text) {
    put_elided(brush.painter, where, Qt::AlignVCenter, text, font, brush.theme.muted, brush.texts);
  };
  const std::int64_t first = context->heads.front().begin, last = context->heads.back().end - 1;
  put(line, first == last ? PaintWords::tr("head %1").arg(first)
                          : PaintWords::tr("heads %1 to %2").arg(first).arg(last));
  const LayerTensor* keys = tensor_of_heads(brush, half, rank, "k");
  if (!keys || keys->columns == context->columns) return;
  put(line.translated(0, 13),
      longest_that_fits(key_heads_texts(keys->heads, keys->copy), font, line.width()));
}

void paint_rank_label(const LayerBrush& brush, const LayerHalf& half, int rank, double middle) {
  const Theme& theme = brush.theme;
  const LayerRank& at = brush.picture.layer->ranks[std::size_t(rank)];
  QPainter& painter = brush.painter;
  paint_layer_chip(painter, brush.picture, QPointF(kPaintMargin, middle - 8), 16, rank, theme,
                   brush.texts);
  put_elided(painter, QRectF(kPaintMargin + 20, middle - 9, 66, 18), Qt::AlignVCenter,
             PaintWords::tr("Rank %1").arg(at.rank), theme.font(12, true), theme.text, brush.texts);
  if (brush.picture.shows_vocabulary())
    return paint_words_of_rank(brush, rank, kPaintMargin, middle);
  if (half.attention) return paint_heads_of_rank(brush, half, rank, middle);
  put_elided(painter, QRectF(kPaintMargin, middle + 9, 86, 15), Qt::AlignVCenter,
             experts_of_rank_text(*brush.picture.layer, rank), theme.font(10), theme.muted,
             brush.texts);
}

void paint_closed(const LayerBrush& brush, const LayerHalf& half) {
  const Theme& theme = brush.theme;
  const bool experts = brush.picture.layer->experts && !half.attention;
  brush.painter.setPen(QPen(theme.hairline, 1));
  brush.painter.setBrush(Qt::NoBrush);
  brush.painter.drawRoundedRect(half.head.adjusted(0.5, 0.5, -0.5, -0.5), 5, 5);
  const QString title = half.attention ? PaintWords::tr("ATTENTION")
                        : experts      ? PaintWords::tr("EXPERTS")
                                       : PaintWords::tr("MLP");
  put_text(brush.painter, half.head.adjusted(10, 0, 0, 0), Qt::AlignVCenter,
           QStringLiteral("\u25b8 ") + title, theme.font(11), theme.muted, brush.texts);
  const QString hint = PaintWords::tr("click to open");
  const double hint_width = label_width(theme.font(11), hint) + 4;
  put_text(brush.painter, half.head.adjusted(0, 0, -10, 0), Qt::AlignVCenter | Qt::AlignRight, hint,
           theme.font(11), theme.muted, brush.texts);
  QStringList names;
  for (const int step : half.steps)
    names << layer_step_name(brush.picture.layer->steps[std::size_t(step)]);
  put_elided(brush.painter,
             QRectF(half.head.left() + 112, half.head.top(), half.head.width() - 134 - hint_width,
                    half.head.height()),
             Qt::AlignVCenter, names.join(QStringLiteral(" \u2192 ")), theme.font(11), theme.text,
             brush.texts);
}

// Embedding and head stay open.
QString head_of_half(const LayerPicture& picture, const LayerHalf& half) {
  if (picture.look.choice.place == LayerPlace::kEmbedding) return PaintWords::tr("EMBEDDING");
  if (picture.look.choice.place == LayerPlace::kHead) return PaintWords::tr("HEAD, LOSS");
  const bool routes = std::any_of(half.steps.begin(), half.steps.end(), [&](int step) {
    return picture.layer->steps[std::size_t(step)].piece == Piece::kRouter;
  });
  return QStringLiteral("\u25be ") + (half.attention            ? PaintWords::tr("ATTENTION")
                                      : !picture.layer->experts ? PaintWords::tr("MLP")
                                      : routes                  ? PaintWords::tr("ROUTER")
                                                                : PaintWords::tr("EXPERTS"));
}

// Of the ranks left out. Those of an EP group have other experts and other tokens.
QString words_about_others(const LayerPicture& picture, const LayerHalf& half) {
  if (half.alike == 0) return PaintWords::tr("all ranks \u00b7 click to fold");
  const bool other_experts = !half.attention && picture.layer->ranks.back().at.dp > 0;
  const QString others =
      other_experts ? PaintWords::tr("%n more ranks, with other experts", nullptr, half.alike)
      : picture.layer->ranks.front().at.tp != picture.layer->ranks.back().at.tp
          ? PaintWords::tr("%n more ranks alike, with other shards", nullptr, half.alike)
          : PaintWords::tr("%n more, alike", nullptr, half.alike);
  return others + QStringLiteral(" \u00b7 ") + PaintWords::tr("click to show");
}

// Over the bars that join the ranks.
void paint_fold(const LayerBrush& brush, const LayerHalf& half) {
  const Theme& theme = brush.theme;
  const QString words = QStringLiteral("\u2026 ") + words_about_others(brush.picture, half);
  QRectF line = half.fold;
  line.setWidth(std::min(line.width(), label_width(theme.font(11), words) + 6));
  brush.painter.fillRect(line, theme.surface);
  put_elided(brush.painter, line, Qt::AlignVCenter, words, theme.font(11), theme.accent_line,
             brush.texts);
}

void paint_open(const LayerBrush& brush, const LayerHalf& half) {
  const Theme& theme = brush.theme;
  put_text(brush.painter, half.head, Qt::AlignVCenter, head_of_half(brush.picture, half),
           theme.font(11), theme.muted, brush.texts);
  const double wider = std::max(0.0, half.between / 2 - 1);
  for (const LayerColumn& column : half.columns) {
    const LayerStep& step = brush.picture.layer->steps[std::size_t(column.step)];
    const bool selected = column.step == brush.picture.look.step;
    if (selected) {
      brush.painter.setPen(QPen(theme.accent_line, 1.5));
      brush.painter.setBrush(Qt::NoBrush);
      // Around the sizes below the tensors, which may be wider than these.
      brush.painter.drawRoundedRect(
          QRectF(column.left - wider, half.top + kLayerNameLine + 0.5, column.width + 2 * wider,
                 half.bottom - half.top - kLayerNameLine),
          5, 5);
    }
    if (step.kind == LayerStepKind::kCompute)
      put_centred(
          brush,
          QRectF(column.left - wider, half.top + kLayerNameLine, column.width + 2 * wider, 18),
          layer_head_name(step), theme.font(11, true), selected ? theme.accent_line : theme.text);
  }
  paint_cuts(brush, half);
  for (std::size_t row = 0; row < half.rows.size(); ++row) {
    const int rank = half.ranks[row];
    paint_rank_label(brush, half, rank, half.rows[row]);
    paint_row(brush, half, rank, half.rows[row]);
  }
  paint_layer_links(brush, half);
  if (half.folds) paint_fold(brush, half);
  paint_figures(brush, half);
}

}  // namespace

void paint_layer(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                 const Theme& theme, TextLog* texts) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (picture.dimmed) painter.setOpacity(kDimmed);
  const QRectF line(kPaintMargin, 6, layout.size.width() - 2 * kPaintMargin, 20);
  put_elided(painter, line, Qt::AlignVCenter, picture.title, theme.font(13, true), theme.text,
             texts);
  if (!picture.drawn()) {
    put_elided(painter, line.translated(0, 40), Qt::AlignCenter, picture.empty, theme.font(13),
               theme.muted, texts);
    painter.restore();
    return;
  }
  const LayerBrush brush{painter, picture, layout, theme, texts};
  if (picture.shows_context()) {
    paint_context(brush);
    painter.restore();
    return;
  }
  const std::vector<LegendWord> legend = layer_legend(picture);
  paint_legend_words(painter, legend, QPointF(kPaintMargin, kLegendTop), line.width(), theme,
                     texts);
  if (!picture.notice.isEmpty())
    put_elided(painter, QRectF(kPaintMargin, layout.top, line.width() - 190, 32), Qt::AlignVCenter,
               picture.notice, theme.font(12), theme.text, texts);
  for (const LayerHalf& half : layout.halves)
    half.open ? paint_open(brush, half) : paint_closed(brush, half);
  paint_layer_lanes(painter, picture, layout, theme, texts);
  if (picture.shows_kept()) paint_layer_kept(painter, picture, layout, theme, texts);
  if (picture.shows_vocabulary()) paint_vocabulary(brush);
  const QStringList scale = scale_lines(picture, layout);
  for (int at = 0; at < int(scale.size()); ++at)
    put_text(painter,
             QRectF(kPaintMargin, layout.bottom - 20 - (int(scale.size()) - 1 - at) * kScaleLine,
                    line.width(), 16),
             Qt::AlignVCenter, scale[at], theme.font(11), theme.muted, texts);
  painter.restore();
}

}  // namespace parallelarium
