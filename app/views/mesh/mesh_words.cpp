// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of the Mesh view as text.
#include "app/look/figures.h"
#include "app/views/mesh/mesh_state.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {

QString MeshView::description() const {
  const State& s = *state_;
  if (!s.of) return {};
  const Setup& setup = s.session.subject().prediction()->setup;
  QString text = mesh_title(setup) + QStringLiteral(". ") + mesh_order_text(setup.mesh.order) +
                 QStringLiteral(". ");
  if (!mesh_hides_traffic(s.session))
    text += mesh_sentence(s.of->program, s.motion, s.session.playback().playhead(),
                          s.session.locks().hidden_of_ops()) +
            QLatin1Char(' ');
  if (setup.mesh.ranks() == 1) text += tr("One rank sends nothing.") + QLatin1Char(' ');
  text += wires_sentence(s.wires, setup.mesh, mesh_hides_traffic(s.session)) + QLatin1Char(' ') +
          rank_headline(s.facts, setup.mesh);
  if (s.wires.nodes.count() > 1) text += tr(", on node %1").arg(s.wires.nodes.node_of(s.rank));
  text += QLatin1Char('.');
  for (const auto& [axis, ranks] : s.facts.groups)
    if (axis == s.axis())
      text += tr(" Its %1 group is shown: %2.").arg(axis_text(axis), ranks_text(ranks));
  return text;
}

// What the panel at the right says of the chosen rank.
SelectionText MeshView::State::text() const {
  const bool hidden = session.locks().hidden(QStringLiteral("memory.peak_bytes"));
  return {rank_headline(facts, session.subject().prediction()->setup.mesh),
          {{MeshView::tr("layers"), layers_text(facts.layers)},
           {MeshView::tr("most memory"), hidden ? kHidden : bytes_text(facts.peak_bytes)}}};
}

}  // namespace parallelarium
