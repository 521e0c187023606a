// SPDX-License-Identifier: GPL-3.0-or-later
// The tabs of the views, in the order of views(). A view is made when it is first shown or asked
// for: who looks at one view does not wait for the others.
#pragma once

#include <QTabWidget>
#include <vector>

#include "app/views/views.h"

namespace parallelarium {

class ViewTabs : public QTabWidget {
  Q_OBJECT

 public:
  // A tab for each view, the one of first_view() in front.
  ViewTabs(Session& session, QWidget* parent);
  // The view at that place of views(), which is made if it is not there yet.
  View& view_at(int index);
  View& front() { return view_at(currentIndex()); }
  // Those that are there, in their order.
  std::vector<View*> made() const;

 Q_SIGNALS:
  // The view at that place, before it is shown.
  void view_made(int index);

 private:
  Session& session_;
  std::vector<View*> views_;  // by their places; null: not there yet
};

}  // namespace parallelarium
