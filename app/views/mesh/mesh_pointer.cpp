// SPDX-License-Identifier: GPL-3.0-or-later
// What the Mesh view does with mouse and keys.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QToolTip>

#include "app/look/figures.h"
#include "app/views/mesh/mesh_state.h"

namespace parallelarium {

void MeshView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  State& s = *state_;
  if (!s.wired || event->button() != Qt::LeftButton) return;
  const int rank = s.layout.rank_at(event->position());
  const int row = s.with_table ? s.table.axis_at(event->position(), s.wires) : -1;
  if (rank >= 0) show_rank(rank);
  if (row < 0) return;
  const Axis axis = s.wires.reaches[std::size_t(row)].axis;
  show_group(axis == s.axis() ? Axis::kWorld : axis);
}

// Arrows walk along TP and DP (or CP), Page Up and Page Down along the stages, G from group to
// group.
void MeshView::keyPressEvent(QKeyEvent* event) {
  const Mesh& mesh = state_->session.subject().prediction()->setup.mesh;
  Coordinates at = coordinates_of(mesh, rank());
  const auto step = [](int value, int by, int count) { return (value + by + count) % count; };
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right: {
      const int by = event->key() == Qt::Key_Left ? -1 : 1;
      const bool wraps = by > 0 ? at.tp + 1 == mesh.tp : at.tp == 0;
      at.tp = step(at.tp, by, mesh.tp);
      if (wraps) at.pp = step(at.pp, by, mesh.pp);
      break;
    }
    case Qt::Key_Up:
    case Qt::Key_Down: {
      const int by = event->key() == Qt::Key_Up ? -1 : 1;
      const bool wraps = by > 0 ? at.cp + 1 == mesh.cp : at.cp == 0;
      at.cp = step(at.cp, by, mesh.cp);
      if (wraps) at.dp = step(at.dp, by, mesh.dp);
      break;
    }
    case Qt::Key_PageUp:
      at.pp = step(at.pp, -1, mesh.pp);
      break;
    case Qt::Key_PageDown:
      at.pp = step(at.pp, 1, mesh.pp);
      break;
    case Qt::Key_G: {
      const std::vector<AxisReach>& reaches = state_->wires.reaches;
      std::size_t next = 0;
      while (next < reaches.size() && reaches[next].axis != group()) ++next;
      next = group() == Axis::kWorld ? 0 : next + 1;
      show_group(next < reaches.size() ? reaches[next].axis : Axis::kWorld);
      return;
    }
    default:
      QWidget::keyPressEvent(event);
      return;
  }
  show_rank(rank_of(mesh, at));
}

bool MeshView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || !state_->of || !state_->wired)
    return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Prediction& prediction = *state_->session.subject().prediction();
  const int rank = state_->layout.rank_at(help->pos());
  if (rank < 0) {
    if (state_->with_table && state_->links.contains(help->pos()))
      QToolTip::showText(help->globalPos(),
                         tr("Click a row, or press G, to see the ways of that group.") +
                             QLatin1Char('\n') + link_origins(state_->wires.nodes),
                         this);
    else
      QToolTip::hideText();
    return true;
  }
  const RankFacts facts = rank_facts(prediction, mesh_run(state_->session), rank);
  QStringList lines{rank_headline(facts, prediction.setup.mesh),
                    tr("layers %1").arg(layers_text(facts.layers))};
  const Nodes& nodes = state_->wires.nodes;
  if (nodes.count() > 1) lines << tr("node %1").arg(nodes.node_of(rank));
  if (!state_->session.locks().hidden(QStringLiteral("memory.peak_bytes")))
    lines << tr("at most %1").arg(bytes_text(facts.peak_bytes));
  if (!mesh_hides_traffic(state_->session))
    lines << tr("sends %1 in a step").arg(bytes_text(facts.sent));
  QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

}  // namespace parallelarium
