// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

#include "app/views/memory/holders/holders_marks.h"
#include "app/views/memory/memory_paint.h"

namespace parallelarium {

namespace {

struct HoldersLegend {
  Q_DECLARE_TR_FUNCTIONS(holders)
};

// The bars of a rank one above the other, in their colours.
void paint_order(QPainter& painter, const QRectF& at, const Theme& theme) {
  const Category bars[kHeldBars] = {Category::kParameters, Category::kGradients,
                                    Category::kOptimizer, Category::kActivations};
  const double pitch = (at.height() + 4) / kHeldBars;
  for (int bar = 0; bar < kHeldBars; ++bar)
    painter.fillRect(QRectF(at.left(), at.top() - 2 + bar * pitch, at.width(), pitch - 1),
                     theme.memory(bars[bar]));
}

}  // namespace

std::vector<LegendWord> holders_legend(const HoldersPicture& picture, const HoldersLayout& at) {
  const auto fill = [](Category category) {
    return [category](QPainter& painter, const QRectF& mark, const Theme& theme) {
      painter.fillRect(mark, theme.memory(category));
    };
  };
  const auto color = [](const Theme& theme) { return theme.memory(Category::kGradients); };
  std::vector<LegendWord> words;
  if (!at.named && !picture.colours_above) {
    words.push_back({HoldersLegend::tr("parameters"), fill(Category::kParameters)});
    words.push_back({HoldersLegend::tr("gradients"), fill(Category::kGradients)});
    words.push_back({HoldersLegend::tr("optimizer state"), fill(Category::kOptimizer)});
  }
  if (!at.named)
    words.push_back({HoldersLegend::tr("from above: parameters, gradients, optimizer, activations"),
                     paint_order});
  words.push_back({HoldersLegend::tr("shard"),
                   [color](QPainter& painter, const QRectF& mark, const Theme& theme) {
                     HeldState half;
                     half.end = 0.5;
                     paint_shard(painter, mark, half, 0, 1, color(theme), 0, theme);
                   }});
  words.push_back({HoldersLegend::tr("copy"),
                   [color](QPainter& painter, const QRectF& mark, const Theme& theme) {
                     paint_copy(painter, mark, color(theme), theme);
                   }});
  words.push_back({HoldersLegend::tr("partial sum"),
                   [color](QPainter& painter, const QRectF& mark, const Theme& theme) {
                     paint_partial(painter, mark, HeldState{}, color(theme), theme);
                   }});
  words.push_back({HoldersLegend::tr("absent"), paint_absent});
  words.push_back({HoldersLegend::tr("reserved, without values"),
                   [color](QPainter& painter, const QRectF& mark, const Theme& theme) {
                     paint_reserved(painter, mark, color(theme), theme);
                     paint_absent(painter, mark, theme);
                   }});
  words.push_back({HoldersLegend::tr("activations by micro-batch"),
                   [](QPainter& painter, const QRectF& mark, const Theme& theme) {
                     paint_activations(painter, mark, 2, 3, theme);
                   }});
  words.push_back({HoldersLegend::tr("collective under way"),
                   [](QPainter& painter, const QRectF& mark, const Theme& theme) {
                     painter.setPen(QPen(theme.solid(OpColor::kCommunication), 2));
                     painter.setBrush(Qt::NoBrush);
                     painter.drawRoundedRect(mark, 2, 2);
                     paint_chunk(painter, mark.center(), 5, theme);
                   }});
  return words;
}

}  // namespace parallelarium
