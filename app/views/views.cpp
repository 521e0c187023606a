// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/views.h"

#include <algorithm>

#include "app/views/collectives/collectives_view.h"
#include "app/views/compare/compare_view.h"
#include "app/views/experts/experts_view.h"
#include "app/views/layer/layer_view.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/roofline/roofline_view.h"
#include "app/views/search/search_view.h"
#include "app/views/sweep/sweep_view.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

const std::vector<ViewInfo>& views() {
  static const std::vector<ViewInfo> kViews = {
      MeshView::info(),    CollectivesView::info(), PipelineView::info(), LayerView::info(),
      MemoryView::info(),  ExpertsView::info(),     SearchView::info(),   RooflineView::info(),
      CompareView::info(), SweepView::info()};
  return kViews;
}

const ViewInfo* find_view(const QString& id) {
  if (!is_view_id(id.toStdString())) return nullptr;
  const std::string wanted = view_of(id.toStdString());
  const auto found = std::find_if(views().begin(), views().end(),
                                  [&](const ViewInfo& view) { return wanted == view.id; });
  return found == views().end() ? nullptr : &*found;
}

bool has_views(Room room) {
  return room == Room::kLearn ||
         std::any_of(views().begin(), views().end(),
                     [&](const ViewInfo& view) { return view.room == room; });
}

const ViewInfo& first_view() { return *find_view(QStringLiteral("pipeline")); }

const ViewInfo& view_about(const Topic& topic, Session& session) {
  const auto is_about = [&](const ViewInfo& view) { return &view.topic(session) == &topic; };
  if (is_about(first_view())) return first_view();
  const auto found = std::find_if(views().begin(), views().end(), is_about);
  return found == views().end() ? first_view() : *found;
}

}  // namespace parallelarium
