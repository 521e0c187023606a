// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/bars/view_tabs.h"

#include <QStackedWidget>
#include <algorithm>

namespace parallelarium {

namespace {

// The place of a view behind its tab, which the view fills.
class ViewPage : public QWidget {
 public:
  ViewPage(ViewTabs& tabs, int index, QWidget* parent)
      : QWidget(parent), tabs_(tabs), index_(index) {}

 protected:
  // The view is there before the tabs look for what takes the keys on this page.
  void showEvent(QShowEvent*) override { tabs_.view_at(index_); }
  void resizeEvent(QResizeEvent*) override {
    for (QWidget* view : findChildren<QWidget*>(Qt::FindDirectChildrenOnly))
      view->setGeometry(rect());
  }

 private:
  ViewTabs& tabs_;
  int index_;
};

}  // namespace

ViewTabs::ViewTabs(Session& session, QWidget* parent)
    : QTabWidget(parent), session_(session), views_(views().size()) {
  setDocumentMode(true);
  auto* stack = findChild<QStackedWidget*>();
  for (const ViewInfo& info : views()) addTab(new ViewPage(*this, count(), stack), info.title());
  setCurrentIndex(int(&first_view() - views().data()));
}

View& ViewTabs::view_at(int index) {
  View*& view = views_[std::size_t(index)];
  if (view) return *view;
  QWidget* page = widget(index);
  view = views()[std::size_t(index)].make(session_, page);
  page->setFocusProxy(view);
  view->setGeometry(page->rect());
  Q_EMIT view_made(index);
  view->show();
  return *view;
}

std::vector<View*> ViewTabs::made() const {
  std::vector<View*> made = views_;
  std::erase(made, nullptr);
  return made;
}

}  // namespace parallelarium
