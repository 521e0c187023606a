// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/picture/mesh_wires.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <array>

#include "app/look/figures.h"
#include "app/views/mesh/rank_list.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

struct Wires {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

constexpr double kWireRow = 22, kWireHead = 20, kWireLine = 18, kWireAir = 6;

// The cells of the table, with its head.
using WireCells = std::array<QString, 6>;
enum { kName, kGroups, kWhere, kHops, kOver, kSent };

std::vector<WireCells> wire_cells(const MeshWires& wires, const Mesh& mesh, bool hides_traffic) {
  std::vector<WireCells> rows{{Wires::tr("Axis"), Wires::tr("Groups \u00d7 ranks"),
                               Wires::tr("Where"), Wires::tr("Ways out"), Wires::tr("Over"),
                               Wires::tr("Most sent")}};
  for (std::size_t at = 0; at < wires.reaches.size(); ++at) {
    const AxisReach& reach = wires.reaches[at];
    rows.push_back(
        {reach_name(reach, mesh),
         QStringLiteral("%1 \u00d7 %2").arg(count_text(reach.groups), count_text(reach.size)),
         reach_place(reach), reach_hops(reach), reach_wires(reach, wires.nodes),
         hides_traffic ? kHidden : bytes_text(wires.sent[at])});
  }
  return rows;
}

using WireColumns = std::array<double, 7>;

// Where each column begins and, last, the table ends: as wide as their texts, from row `first` on.
WireColumns natural_columns(const std::vector<WireCells>& rows, std::size_t first,
                            const Theme& theme) {
  WireColumns at{};
  for (std::size_t column = 0; column < 6; ++column) {
    double most = 0;
    for (std::size_t row = column == kName ? 0 : first; row < rows.size(); ++row)
      most = std::max(most, QFontMetricsF(theme.font(row == 0 ? 11 : 12, column == kName))
                                .horizontalAdvance(rows[row][column]));
    at[column + 1] = at[column] + most + 12;
  }
  return at;
}

// What is left over is shared; where it is too little, heads are cut first, then all alike.
WireColumns wire_columns(const std::vector<WireCells>& rows, double width, const Theme& theme) {
  WireColumns at = natural_columns(rows, 0, theme);
  if (at[6] > width) at = natural_columns(rows, 1, theme);
  const double sum = at[6], more = (width - sum) / 5;  // the name stays beside its groups
  for (std::size_t column = 1; column < 7; ++column)
    at[column] = more >= 0 ? at[column] + more * double(column - 1) : at[column] * width / sum;
  return at;
}

}  // namespace

const AxisReach* MeshWires::along(Axis axis) const {
  for (const AxisReach& reach : reaches)
    if (reach.axis == axis) return &reach;
  return nullptr;
}

MeshWires mesh_wires(const Prediction& prediction) {
  MeshWires wires;
  const Mesh& mesh = prediction.setup.mesh;
  wires.nodes = nodes_of(prediction.setup, prediction.machine);
  wires.fold = fold_nodes(mesh, wires.nodes);
  wires.reaches = axis_reaches(mesh, wires.nodes);
  wires.sent.assign(wires.reaches.size(), 0);
  for (int rank = 0; rank < int(prediction.program.ranks.size()); ++rank) {
    const std::vector<TrafficRow> rows = traffic_of(prediction.program, rank);
    for (std::size_t at = 0; at < wires.reaches.size(); ++at) {
      std::int64_t sum = 0;
      for (const TrafficRow& row : rows)
        if (row.axis == wires.reaches[at].axis) sum += row.sent_bytes;
      wires.sent[at] = std::max(wires.sent[at], sum);
    }
  }
  return wires;
}

QString reach_name(const AxisReach& reach, const Mesh& mesh) {
  return reach.axis == Axis::kDp && mesh.cp > 1 ? QStringLiteral("DP \u00d7 CP")
                                                : axis_text(reach.axis);
}

QString reach_place(const AxisReach& reach) {
  if (reach.inside == reach.groups) return Wires::tr("in one node");
  if (reach.inside == 0) return Wires::tr("on %1 nodes").arg(reach.most_nodes);
  return Wires::tr("%1 in one node, %2 on %3")
      .arg(count_text(reach.inside), count_text(reach.groups - reach.inside))
      .arg(reach.most_nodes);
}

QString wire_text(const Nodes& nodes, bool between) {
  const Link& link = between ? nodes.between : nodes.inside;
  if (!link.wire.empty()) return QString::fromStdString(link.wire);
  if (between) return Wires::tr("network");
  return nodes.medium == NodeMedium::kHostMemory     ? Wires::tr("shared memory")
         : nodes.medium == NodeMedium::kDeviceMemory ? Wires::tr("memory of the GPU")
                                                     : Wires::tr("links of the node");
}

QString reach_wires(const AxisReach& reach, const Nodes& nodes) {
  if (reach.leaving == 0) return wire_text(nodes, false);
  if (reach.leaving == reach.hops) return wire_text(nodes, true);
  return Wires::tr("%1, %2").arg(wire_text(nodes, false), wire_text(nodes, true));
}

QString reach_hops(const AxisReach& reach) {
  return Wires::tr("%1 of %2").arg(count_text(reach.leaving), count_text(reach.hops));
}

QString link_sentence(const Nodes& nodes, bool between) {
  const Link& link = between ? nodes.between : nodes.inside;
  return Wires::tr("%1: %2 (%3), %4 (%5)")
      .arg(wire_text(nodes, between), rate_text(link.bytes_per_second.value),
           origin_word(link.bytes_per_second.origin), seconds_text(link.latency_seconds.value),
           origin_word(link.latency_seconds.origin));
}

QString link_origins(const Nodes& nodes) {
  QStringList lines;
  for (const bool between : {false, true}) {
    if (between && nodes.count() == 1) continue;
    const Link& link = between ? nodes.between : nodes.inside;
    lines << Wires::tr("%1, one way for each rank: %2, %3")
                 .arg(wire_text(nodes, between), rate_text(link.bytes_per_second.value),
                      origin_text(link.bytes_per_second.origin))
          << Wires::tr("%1, a message's latency: %2, %3")
                 .arg(wire_text(nodes, between), seconds_text(link.latency_seconds.value),
                      origin_text(link.latency_seconds.origin));
  }
  return lines.join(QLatin1Char('\n'));
}

QString wires_sentence(const MeshWires& wires, const Mesh& mesh, bool hides_traffic) {
  const Nodes& nodes = wires.nodes;
  QStringList said;
  if (nodes.count() == 1)
    said << Wires::tr("All ranks are on one node.");
  else
    said << Wires::tr("%1 nodes of %2 ranks.")
                .arg(count_text(nodes.count()), count_text(nodes.devices));
  said << Wires::tr("In a node %1.").arg(link_sentence(nodes, false));
  if (nodes.count() > 1) said << Wires::tr("Between nodes %1.").arg(link_sentence(nodes, true));
  for (std::size_t at = 0; at < wires.reaches.size(); ++at) {
    const AxisReach& reach = wires.reaches[at];
    const QString groups = reach.groups == 1
                               ? Wires::tr("one group of %1 ranks").arg(count_text(reach.size))
                               : Wires::tr("%1 groups of %2 ranks")
                                     .arg(count_text(reach.groups), count_text(reach.size));
    QString line = Wires::tr("%1, %2, %3; ways to the next rank that leave a node: %4")
                       .arg(reach_name(reach, mesh), groups, reach_place(reach), reach_hops(reach));
    if (!hides_traffic)
      line += Wires::tr("; a rank sends %1 in a step").arg(bytes_text(wires.sent[at]));
    said << line + QLatin1Char('.');
  }
  return said.join(QLatin1Char(' '));
}

std::vector<RankLine> wires_lines(const MeshWires& wires, const Mesh& mesh) {
  std::vector<RankLine> lines;
  for (std::size_t at = 0; at < wires.reaches.size(); ++at) {
    const AxisReach& reach = wires.reaches[at];
    RankLine line;
    if (at == 0) line.section = Wires::tr("WHICH GROUPS LEAVE A NODE");
    line.word = QStringLiteral("%1, %2 \u00d7 %3")
                    .arg(reach_name(reach, mesh), count_text(reach.groups), count_text(reach.size));
    line.value = reach_place(reach);
    line.detail =
        Wires::tr("%1, %2 ways leave").arg(reach_wires(reach, wires.nodes), reach_hops(reach));
    lines.push_back(line);
  }
  for (const bool between : {false, true}) {
    if (between && wires.nodes.count() == 1) break;
    const Link& link = between ? wires.nodes.between : wires.nodes.inside;
    lines.push_back({{},
                     wire_text(wires.nodes, between),
                     rate_text(link.bytes_per_second.value),
                     QStringLiteral("%1, %2 (%3)")
                         .arg(origin_word(link.bytes_per_second.origin),
                              seconds_text(link.latency_seconds.value),
                              origin_word(link.latency_seconds.origin)),
                     0});
  }
  return lines;
}

QPen way_pen(const QColor& color, double width, bool leaves) {
  QPen pen(color, width);
  pen.setCapStyle(Qt::FlatCap);
  if (leaves) pen.setDashPattern({3.0, 2.0});
  return pen;
}

int WiresTable::axis_at(QPointF point, const MeshWires& wires) const {
  if (!rect.contains(point) || row <= 0 || point.y() < first_row) return -1;
  const int at = int((point.y() - first_row) / row);
  return at < int(wires.reaches.size()) ? at : -1;
}

bool wires_fit(const MeshWires& wires, const Mesh& mesh, double width, const Theme& theme) {
  return wires.reaches.empty() ||
         natural_columns(wire_cells(wires, mesh, false), 1, theme)[6] <= width;
}

double wires_height(const MeshWires& wires) {
  const double links = kWireLine * (wires.nodes.count() > 1 ? 2 : 1);
  return links + (wires.reaches.empty()
                      ? 0
                      : kWireHead + kWireRow * double(wires.reaches.size()) + kWireAir);
}

WiresTable paint_wires(QPainter& painter, const QRectF& rect, const MeshWires& wires,
                       const Mesh& mesh, Axis chosen, bool hides_traffic, const Theme& theme,
                       TextLog* texts) {
  WiresTable table;
  table.rect = rect;
  table.row = kWireRow;
  const QFont plain = theme.font(12), bold = theme.font(12, true), small = theme.font(11);
  const double width = rect.width();
  double y = rect.top();
  const auto put = [&](const QRectF& place, const QString& text, const QFont& font,
                       const QColor& color, int side = Qt::AlignLeft) {
    put_elided(painter, place, Qt::AlignVCenter | side, text, font, color, texts);
  };
  const std::vector<WireCells> rows = wire_cells(wires, mesh, hides_traffic);
  const WireColumns columns = wire_columns(rows, width, theme);
  table.first_row = y + kWireHead;
  for (std::size_t row = 0; row < rows.size() && rows.size() > 1; ++row) {
    const double height = row == 0 ? kWireHead : kWireRow;
    if (row > 0 && wires.reaches[row - 1].axis == chosen)
      painter.fillRect(QRectF(rect.left() - 6, y, width + 12, height - 1), theme.accent_soft);
    for (int column = 0; column < 6; ++column) {
      const double from = columns[std::size_t(column)], to = columns[std::size_t(column) + 1];
      const bool last = column == kSent;
      const QFont& font = row == 0 ? small : column == kName ? bold : plain;
      put(QRectF(rect.left() + from, y, to - from - (last ? 0 : 8), height),
          rows[row][std::size_t(column)], font, row == 0 ? theme.muted : theme.text,
          last ? Qt::AlignRight : Qt::AlignLeft);
    }
    y += height;
    if (row > 0) painter.fillRect(QRectF(rect.left(), y - 1, width, 1), theme.grid);
  }
  if (!wires.reaches.empty()) y += kWireAir;
  for (const bool between : {false, true}) {
    if (between && wires.nodes.count() == 1) break;
    painter.setPen(way_pen(theme.accent_line, 2, between));
    painter.drawLine(QPointF(rect.left(), y + kWireLine / 2),
                     QPointF(rect.left() + 22, y + kWireLine / 2));
    put(QRectF(rect.left() + 30, y, width - 30, kWireLine),
        (between ? Wires::tr("Between nodes %1") : Wires::tr("In a node %1"))
            .arg(link_sentence(wires.nodes, between)),
        small, theme.muted);
    y += kWireLine;
  }
  return table;
}

}  // namespace parallelarium
