// SPDX-License-Identifier: GPL-3.0-or-later
// The exported mesh, and the sentences that it shares with the tab.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/mesh/picture/mesh_paint.h"
#include "app/views/mesh/rank_list.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

constexpr int kWidth = 1200, kHeight = 760, kFooter = 56;

struct Shown {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

}  // namespace

QString mesh_title(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  QStringList degrees;
  const auto add = [&](const char* name, int degree) {
    if (degree > 1) degrees << QStringLiteral("%1 %2").arg(QLatin1String(name)).arg(degree);
  };
  add("DP", mesh.dp);
  add("PP", mesh.pp);
  add("CP", mesh.cp);
  add("TP", mesh.tp);
  add("EP", mesh.ep);
  const QString ranks = mesh.ranks() == 1 ? Shown::tr("One rank")
                                          : Shown::tr("%1 ranks").arg(count_text(mesh.ranks()));
  return degrees.isEmpty()
             ? ranks
             : ranks + QStringLiteral(" \u00b7 ") + degrees.join(QStringLiteral(" \u00d7 "));
}

QString mesh_order_text(RankOrder order) {
  return order == RankOrder::kTpCpEpDpPp
             ? Shown::tr("ranks count TP, CP, DP, then PP (Megatron's default)")
             : Shown::tr("ranks count TP, CP, PP, then DP (the lecture notes' order)");
}

const RunRecord* mesh_run(const Session& session) {
  const RunRecord* run = session.runs().current();
  const bool fresh = run && run->observed() && !session.runs().current_is_stale() &&
                     !session.locks().hidden(QStringLiteral("lane.run"));
  return fresh ? run : nullptr;
}

bool mesh_hides_traffic(const Session& session) {
  return session.locks().hidden(QStringLiteral("traffic.sent_bytes")) ||
         session.locks().hidden(QStringLiteral("lane.predicted"));
}

// What lies along the links, and where the figures come from.
QString mesh_legend(const Session& session, const MeshLayout& layout, bool whole_step) {
  const RunRecord* run = mesh_run(session);
  const QString source = run ? source_text(run->observation.source)
                             : prediction_source_text(session.subject().prediction()->word);
  QStringList parts;
  const bool folded = std::any_of(layout.boxes.begin(), layout.boxes.end(),
                                  [](const NodeBox& box) { return box.alike > 1; });
  if (layout.by_class) parts << Shown::tr("a card stands for equal ranks");
  if (folded) parts << Shown::tr("a box stands for equal nodes");
  if (layout.left_out > 0)
    parts << Shown::tr("%1 further kinds of nodes have no room").arg(layout.left_out);
  if (layout.by_class && !whole_step) parts << Shown::tr("red frame: in a collective now");
  if (layout.by_class)
    parts << (whole_step ? Shown::tr("its bar reddens with the bytes of a step")
                         : Shown::tr("its bar reddens with the bytes so far"));
  else if (layout.form == MeshForm::kAxes && layout.mesh.ranks() > 1)
    parts << (whole_step ? Shown::tr("links redden with the bytes of a step")
                         : Shown::tr("links redden with the bytes so far"));
  parts << Shown::tr("times %1").arg(source);
  return parts.join(QStringLiteral(" \u00b7 "));
}

void paint_mesh_legend(QPainter& painter, const QRectF& rect, const QString& legend,
                       const MeshLayout& layout, const Theme& theme) {
  const QFont font = theme.font(11);
  const QStringList lines =
      layout.by_class ? broken_lines(legend, font, rect.width(), 2) : QStringList{legend};
  QRectF line = rect.translated(0, -rect.height() * double(lines.size() - 1));
  for (const QString& text : lines) {
    put_elided(painter, line, Qt::AlignVCenter, text, font, theme.muted, nullptr);
    line.translate(0, rect.height());
  }
}

QSize mesh_picture_size() { return {kWidth, kHeight}; }

void paint_mesh_picture(QPainter& painter, QSizeF size, const Session& session, bool dark,
                        const MeshChoice& choice, TextLog* texts) {
  const Theme& theme = dark ? dark_theme() : light_theme();
  const std::shared_ptr<const Prediction> prediction = session.subject().prediction();
  const RunRecord* run = mesh_run(session);
  const Prediction& of = run ? *run->prediction : *prediction;
  const MeshMotion motion(of.program, run ? run->observation.timeline : of.timeline);
  MeshPicture picture;
  picture.prediction = prediction.get();
  picture.program = &of.program;
  picture.motion = &motion;
  picture.classes = rank_classes(*prediction);
  const MeshWires wires = mesh_wires(*prediction);
  picture.wires = &wires;
  picture.selected = std::clamp(choice.rank, 0, prediction->setup.mesh.ranks() - 1);
  picture.ways = mesh_ways(prediction->setup.mesh,
                           wires.along(choice.axis) ? choice.axis : Axis::kWorld, picture.selected);
  picture.hides_traffic = mesh_hides_traffic(session);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(QRectF(QPointF(0, 0), size), theme.surface);
  const double width = size.width(), foot = size.height() - kFooter;
  put_elided(painter, QRectF(16, 8, width - 32, 24), Qt::AlignVCenter,
             mesh_title(prediction->setup), theme.font(14, true), theme.text, texts);
  const QFont small = theme.font(11);
  put_elided(painter, QRectF(16, 32, width - 32, 18), Qt::AlignVCenter,
             mesh_order_text(prediction->setup.mesh.order), small, theme.muted, texts);
  const double side = std::min(280.0, width * 0.32);
  const double table = wires_height(wires), key = 24;
  const QRectF grid(16, 62, width - side - 56, foot - 72 - table - key - 12);
  const Mesh& mesh = prediction->setup.mesh;
  const MeshLayout layout = choice.form == MeshForm::kNodes
                                ? node_layout(mesh, wires, picture.selected, grid, theme)
                                : mesh_layout(mesh, grid, theme);
  paint_mesh(painter, picture, layout, theme, texts);
  paint_mesh_key(painter, QRectF(16, grid.bottom() + 4, grid.width(), 18), picture, layout, theme,
                 texts);
  paint_wires(painter, QRectF(16, grid.bottom() + key + 6, grid.width(), table), wires, mesh,
              picture.ways.axis, picture.hides_traffic, theme, texts);
  const RankFacts facts = rank_facts(*prediction, run, picture.selected);
  paint_rank_facts(painter, QRectF(width - side - 16, 62, side, foot - 72), facts,
                   prediction->setup.mesh,
                   session.locks().hidden(QStringLiteral("memory.peak_bytes")),
                   picture.hides_traffic, theme, texts);
  painter.fillRect(QRectF(16, foot + 4, width - 32, 1), theme.hairline);
  const auto line = [&](int index) { return QRectF(16, foot + 9 + index * 15, width - 32, 14); };
  put_elided(painter, line(0), Qt::AlignVCenter, mesh_legend(session, layout, true), small,
             theme.text, texts);
  put_elided(painter, line(1), Qt::AlignVCenter, setup_footer(prediction->setup), small,
             theme.muted, texts);
  const QString maker = QObject::tr("Parallelarium");
  const double taken = QFontMetricsF(small).horizontalAdvance(maker) + 16;
  put_elided(painter, line(2).adjusted(0, 0, -taken, 0), Qt::AlignVCenter,
             machine_footer(*prediction), small, theme.muted, texts);
  put_text(painter, line(2), Qt::AlignVCenter | Qt::AlignRight, maker, small, theme.muted, texts);
  painter.restore();
}

}  // namespace parallelarium
