// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/layer_links.h"

#include <QCoreApplication>
#include <QPainterPath>
#include <algorithm>
#include <map>

#include "app/views/layer/vocabulary/vocabulary_picture.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct LinkWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kOneBar = 16, kBarLane = 12, kArrowLane = 14, kArrowInset = 2.5, kLinkMargin = 16,
                 kNamesOfBars = 18;

// Ranks with the same number communicate with each other.
int group_of(const LayerStep& step, const LayerRank& rank) {
  constexpr int kApart = 1 << 12;  // more than ranks of TP or CP
  switch (step.axis) {
    case Axis::kTp:
      return rank.at.dp * kApart + rank.at.cp;
    case Axis::kCp:
      return rank.at.dp * kApart + rank.at.tp;
    case Axis::kEp:
      return rank.experts_with;
    case Axis::kWorld:
      return 0;
    default:
      return rank.rank;  // the others of its group are not of this picture
  }
}

// Others stand between its rows.
bool is_broken(const LayerLink& link) {
  return link.rows.back() - link.rows.front() + 1 > int(link.rows.size());
}

void paint_filled(const LayerBrush& brush, const QRectF& bar, bool sends, double done) {
  const QColor color = brush.theme.solid(OpColor::kCommunication);
  const double round = std::min(4.0, bar.width() / 3);
  brush.painter.setBrush(Qt::NoBrush);
  brush.painter.setPen(QPen(color, 1, sends ? Qt::SolidLine : Qt::DotLine));
  brush.painter.drawRoundedRect(bar, round, round);
  if (!sends || done <= 0) return;
  brush.painter.setPen(Qt::NoPen);
  brush.painter.setBrush(color);
  brush.painter.drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width(), bar.height() * done),
                                round, round);
}

void paint_bar(const LayerBrush& brush, const LayerHalf& half, const LayerLink& link,
               const QRectF& place, const LayerBox& box) {
  const LayerStep& step = brush.picture.layer->steps[std::size_t(box.step)];
  const bool sends = step.kind != LayerStepKind::kNothingSent;
  const double done =
      layer_share_done(brush.picture, box.step, half.ranks[std::size_t(link.rows.front())]);
  if (!is_broken(link)) return paint_filled(brush, place, sends, done);
  brush.painter.setPen(QPen(brush.theme.solid(OpColor::kCommunication), 1));
  brush.painter.drawLine(QPointF(place.center().x(), place.top()),
                         QPointF(place.center().x(), place.bottom()));
  for (const int row : link.rows) {
    const double middle = half.rows[std::size_t(row)];
    paint_filled(brush,
                 QRectF(place.left(), middle - half.row_height / 2, place.width(), half.row_height),
                 sends, done);
  }
}

void paint_sending(const LayerBrush& brush, double x, double from, double to, double done) {
  const QColor color = brush.theme.solid(OpColor::kCommunication);
  const double back = to > from ? -6 : 6;
  brush.painter.setPen(QPen(mixed(color, brush.theme.surface, 0.5), 1));
  brush.painter.drawLine(QPointF(x, from), QPointF(x, to));
  if (done > 0) {
    brush.painter.setPen(QPen(color, 2.5));
    brush.painter.drawLine(QPointF(x, from), QPointF(x, from + (to + back - from) * done));
  }
  QPainterPath head(QPointF(x, to));
  head.lineTo(x - 3, to + back);
  head.lineTo(x + 3, to + back);
  head.closeSubpath();
  brush.painter.setPen(QPen(color, 1));
  brush.painter.setBrush(done >= 1 ? QBrush(color) : QBrush(brush.theme.surface));
  brush.painter.drawPath(head);
}

// From each rank to the one that it sends to: down on the left of the lane, up on its right.
void paint_arrows(const LayerBrush& brush, const LayerHalf& half, const LayerLink& link,
                  const QRectF& place, const LayerBox& box) {
  const LayerStep& step = brush.picture.layer->steps[std::size_t(box.step)];
  const std::vector<int>& shown = half.ranks;
  for (const int row : link.rows) {
    const int rank = shown[std::size_t(row)], to = step.ranks[std::size_t(rank)].sends_to;
    if (to < 0) continue;
    const auto found = std::find(shown.begin(), shown.end(), to);
    const double done = layer_share_done(brush.picture, box.step, rank);
    const double from = half.rows[std::size_t(row)];
    // To a rank that is left out of the picture, only a beginning.
    const double end = found == shown.end() ? from + half.row_height / 2
                                            : half.rows[std::size_t(found - shown.begin())];
    const bool down = end > from;
    paint_sending(brush, down ? place.left() + kArrowInset : place.right() - kArrowInset,
                  from + (down ? 3 : -3), end + (down ? -3 : 3), done);
  }
}

}  // namespace

LayerLinks layer_links(const LayerSteps& layer, const LayerStep& step,
                       const std::vector<int>& shown) {
  std::map<int, LayerLink> by_group;
  for (std::size_t row = 0; row < shown.size(); ++row)
    by_group[group_of(step, layer.ranks[std::size_t(shown[row])])].rows.push_back(int(row));
  LayerLinks out;
  std::vector<int> ends;  // of each lane, its last row so far
  for (auto& [group, link] : by_group) {
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](int end) { return end < link.rows.front(); });
    link.lane = int(free - ends.begin());
    if (free == ends.end())
      ends.push_back(link.rows.back());
    else
      *free = link.rows.back();
    out.links.push_back(link);
  }
  out.lanes = std::max(1, int(ends.size()));
  return out;
}

double layer_links_width(const LayerLinks& links) {
  return links.lanes == 1 ? kOneBar : 2 + kArrowLane * links.lanes;
}

QRectF place_of_link(const LayerHalf& half, const LayerBox& box, const LayerLinks& links,
                     const LayerLink& link) {
  const double top = half.rows[std::size_t(link.rows.front())] - half.row_height / 2 - 2;
  const double bottom = half.rows[std::size_t(link.rows.back())] + half.row_height / 2 + 2;
  if (links.lanes == 1) return {box.x + 1, top, kOneBar - 2, bottom - top};
  const double lane = (box.width - 2) / links.lanes;
  return {box.x + 1 + lane * link.lane + (lane - kBarLane) / 2, top, kBarLane, bottom - top};
}

void paint_layer_links(const LayerBrush& brush, const LayerHalf& half) {
  const Theme& theme = brush.theme;
  const QColor color = theme.solid(OpColor::kCommunication);
  std::vector<const LayerBox*> bars;
  for (const LayerBox& box : half.boxes)
    if (box.mark == LayerMark::kBar) bars.push_back(&box);
  std::sort(bars.begin(), bars.end(),
            [](const LayerBox* a, const LayerBox* b) { return a->x < b->x; });
  double free = half.head.right() + 4;
  for (std::size_t at = 0; at < bars.size(); ++at) {
    const LayerBox& box = *bars[at];
    const LayerStep& step = brush.picture.layer->steps[std::size_t(box.step)];
    const LayerLinks links = layer_links(*brush.picture.layer, step, half.ranks);
    for (const LayerLink& link : links.links) {
      const QRectF place = place_of_link(half, box, links, link);
      step.kind == LayerStepKind::kExchange ? paint_arrows(brush, half, link, place, box)
                                            : paint_bar(brush, half, link, place, box);
    }
    // The loss has three alike, side by side.
    const QStringList names =
        step.number.empty() ? layer_step_names(step) : QStringList(loss_number_text(step.number));
    const QString sent = step.kind != LayerStepKind::kNothingSent
                             ? layer_sent_text(brush.picture, box.step, brush.picture.look.rank)
                             : LinkWords::tr("nothing sent");
    const double next = at + 1 < bars.size() ? (bars[at + 1]->x + box.x) / 2 + 8
                                             : brush.layout.size.width() - kLinkMargin;
    const QFont font = theme.font(11, true);
    QStringList said;  // shorter and shorter, in the end without a name
    for (const QString& name : names) said << name + QStringLiteral(" \u00b7 ") + sent;
    const QString text = longest_that_fits(said << sent, font, next - free - 2);
    const double width = label_width(font, text) + 2;
    const double left =
        std::clamp(box.x + box.width / 2 - width / 2, free, std::max(free, next - width));
    put_elided(brush.painter, QRectF(left, half.top, std::min(width, next - left), kNamesOfBars),
               Qt::AlignVCenter, text, font, mixed(color, theme.text, 0.35), brush.texts);
    free = std::min(left + width, next) + 8;
  }
}

}  // namespace parallelarium
