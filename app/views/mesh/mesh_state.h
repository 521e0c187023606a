// SPDX-License-Identifier: GPL-3.0-or-later
// What the Mesh view keeps; its widget and its pointer share it.
#pragma once

#include <QLineEdit>
#include <QToolButton>
#include <QVariantAnimation>
#include <algorithm>
#include <optional>

#include "app/settings/controls.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/mesh/picture/mesh_paint.h"
#include "app/views/mesh/rank_list.h"

namespace parallelarium {

struct MeshView::State {
  explicit State(Session& s) : session(s) {}
  Session& session;
  int rank = 0;
  bool tells = false;  // the rank was chosen
  Axis chosen = Axis::kWorld;
  MeshForm form = MeshForm::kAxes;
  RankFacts facts;
  std::vector<RankClass> classes;
  std::shared_ptr<const Prediction> of;  // whose Program the motion walks over
  const Timeline* timeline = nullptr;
  MeshMotion motion;
  std::shared_ptr<const Prediction> wired;  // whose nodes these are
  MeshWires wires;
  MeshLayout layout;
  MeshWays ways;
  std::optional<MeshLayout> before;  // while ranks move
  QVariantAnimation move;
  WiresTable table;
  QLineEdit* find = nullptr;
  Segments *order = nullptr, *forms = nullptr;
  RankList* list = nullptr;
  std::vector<QToolButton*> offers;  // of more ranks, where there is one
  QRectF grid, key, links;
  QRectF alone;  // for what is said of a single rank
  bool with_table = true;
  // The axis whose ways are shown: none where the mesh has no such groups.
  Axis axis() const { return wires.along(chosen) ? chosen : Axis::kWorld; }
  void find_ways() { ways = mesh_ways(session.subject().prediction()->setup.mesh, axis(), rank); }
  SelectionText text() const;
  MeshPicture picture() const {
    MeshPicture picture;
    picture.prediction = session.subject().prediction().get();
    picture.program = &of->program;
    picture.motion = &motion;
    picture.classes = classes;
    picture.wires = &wires;
    picture.selected = rank;
    picture.ways = ways;
    if (before) picture.move = {&*before, move.currentValue().toDouble()};
    picture.playhead = session.playback().playhead();
    picture.tweened = !session.playback().reduced_motion();
    picture.dimmed = !session.problems().empty();
    picture.hides_traffic = mesh_hides_traffic(session);
    return picture;
  }
};

}  // namespace parallelarium
