// SPDX-License-Identifier: GPL-3.0-or-later
// The views that stand as tabs in the centre of the window, in their order there.
#pragma once

#include <QString>
#include <optional>

namespace parallelarium {

enum class ViewKind { kMesh, kCollectives, kPipeline, kMemory, kExperts };

// "mesh", "collectives", "pipeline", "memory", "experts": as lessons and the command line name
// them.
inline QString name_of(ViewKind view) {
  static const char* const kNames[] = {"mesh", "collectives", "pipeline", "memory", "experts"};
  return QLatin1String(kNames[static_cast<int>(view)]);
}

inline std::optional<ViewKind> view_kind_of(const QString& name) {
  for (const ViewKind view : {ViewKind::kMesh, ViewKind::kCollectives, ViewKind::kPipeline,
                              ViewKind::kMemory, ViewKind::kExperts})
    if (name == name_of(view)) return view;
  return std::nullopt;
}

}  // namespace parallelarium
