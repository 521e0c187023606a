// SPDX-License-Identifier: GPL-3.0-or-later
// What the Compare view knows, shared by the files of its widget.
#pragma once

#include <QThreadPool>
#include <vector>

#include "app/views/compare/compare_paint.h"
#include "app/views/compare/compare_view.h"

class QAction;
class QMenu;
class QPushButton;
class QScrollArea;

namespace parallelarium {

struct CompareView::State {
  explicit State(Session& of) : session(of) { worker.setMaxThreadCount(1); }
  Session& session;
  CompareSource source;
  std::vector<CompareEntry> added;  // behind the Session's own
  std::shared_ptr<const ComparedEntries> shown;
  std::size_t chosen = 1;
  std::optional<FollowedAction> followed;
  bool predicting = false;
  QString error;
  QPushButton *add = nullptr, *less = nullptr, *whose = nullptr;
  QMenu* menu = nullptr;
  QAction* pin = nullptr;
  CompareHits hits;
  QThreadPool worker;  // one thread

  ComparePicture picture() const;
};

}  // namespace parallelarium
