// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of the window stand, and where they go when there is less room.
#include <QResizeEvent>
#include <QScrollBar>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/lesson/lesson_panel.h"
#include "app/lesson/map/course_map.h"
#include "app/look/theme/focus_ring.h"
#include "app/selection/selection_panel.h"
#include "app/shell/bars/panes.h"
#include "app/shell/window.h"
#include "app/views/timeline/timeline_view.h"

namespace parallelarium {

namespace {

constexpr int kSetupWidth = 268, kRightWidth = 300, kCompactRightWidth = 260;
constexpr int kFullWidth = 1180, kFullHeight = 660, kNarrowHeight = 620;
constexpr int kCornerGap = 16;  // beside the tabs

// What stands beside the tabs, as high as they are: a QTabWidget puts its pages below the larger of
// what both would like.
class TabCorner : public QFrame {
 public:
  TabCorner(const QTabBar& bar, QWidget* parent) : QFrame(parent), bar_(bar) {}
  QSize sizeHint() const override { return {QFrame::sizeHint().width(), bar_.sizeHint().height()}; }

 private:
  const QTabBar& bar_;
};

}  // namespace

// What all else stands in. Whatever is made gets its place as its parent at once: a widget that
// gets another parent is styled again with all that is in it.
void Window::build_frame() {
  auto* central = new Panes(this);
  setCentralWidget(central);
  middle_ = new QWidget(central);
  center_ = new QWidget(middle_);
  center_->setObjectName(QStringLiteral("Center"));
  tabs_ = new ViewTabs(session_, center_);
  tabs_->setAccessibleName(tr("Views"));
  right_ = new QFrame(middle_);
  right_->setObjectName(QStringLiteral("RightPanel"));
  right_tabs_ = new QTabWidget(right_);
  right_tabs_->setDocumentMode(true);
  right_tabs_->setAccessibleName(tr("Lesson and selection"));
  popup_ = new QFrame(this, Qt::Popup);
  popup_->setObjectName(QStringLiteral("SetupPopup"));
}

void Window::build_layout() {
  auto* column = new QVBoxLayout(centralWidget());
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(top_bar_);
  column->addWidget(chips_);
  auto* row = new QHBoxLayout(middle_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  setup_->setFixedWidth(kSetupWidth);
  fold_->setFixedWidth(kSetupWidth);
  row->addWidget(setup_);
  row->addWidget(fold_);

  auto* views = new QVBoxLayout(center_);
  views->setContentsMargins(0, 0, 0, 0);
  views->setSpacing(0);
  views->addWidget(banner_);
  corner_ = new TabCorner(*tabs_->tabBar(), tabs_);
  corner_->setObjectName(QStringLiteral("TabCorner"));
  (new QHBoxLayout(corner_))->setContentsMargins(0, 0, 0, 0);
  tabs_->setCornerWidget(corner_);
  all_views_ = new QToolButton(tabs_);
  all_views_->setObjectName(QStringLiteral("Link"));
  all_views_->setProperty("at", "tabs");
  all_views_->setText(tr("All views"));
  all_views_->setToolTip(tr("Explore; the lesson stays"));
  all_views_->hide();
  connect(all_views_, &QToolButton::clicked, this, [this] { show_room(Room::kExplore); });
  views->addWidget(tabs_, 1);
  views->addWidget(start_, 1);
  row->addWidget(center_, 1);

  auto* right = new QVBoxLayout(right_);
  right->setContentsMargins(1, 0, 0, 0);  // the hairline stays visible
  right->setSpacing(0);
  right->addWidget(right_tabs_, 1);
  row->addWidget(right_);
  column->addWidget(middle_, 1);
  column->addWidget(strip_);

  auto* inside = new QVBoxLayout(popup_);
  inside->setContentsMargins(1, 1, 1, 1);

  static_cast<Panes*>(centralWidget())->set_panes([this] {
    QWidget* own = own_column();
    QWidget* in_front = shows_index() ? static_cast<QWidget*>(start_) : &view();
    return std::vector<Pane>{{top_bar_},
                             {chips_},
                             {setup_},
                             {fold_},
                             {own && own->parentWidget() == middle_ ? own : nullptr},
                             {center_, {banner_, tabs_->tabBar(), all_views_, corner_}, in_front},
                             {right_, {right_tabs_->tabBar()}},
                             {strip_}};
  });
  fit_space();
  ring_areas(*this);
}

void Window::ring_areas(const QWidget& parts) {
  for (auto* area : parts.findChildren<QAbstractScrollArea*>()) {
    const bool marks_itself =
        qobject_cast<TimelineView*>(area) ||
        area->findChild<QWidget*>(QLatin1String(kFocusRingName), Qt::FindDirectChildrenOnly);
    if (!marks_itself && (area->focusPolicy() & Qt::TabFocus)) ring_focus(*area);
  }
}

void Window::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  fit_space();
  fit_right();
  fit_corner();
  refresh_tabs();
}

// Puts the parts where there is room for them. Nothing is lost in any size: what leaves its place
// is reached through the chips or the tabs.
void Window::fit_space() {
  const WindowSpace space = height() < kNarrowHeight                         ? WindowSpace::kCompact
                            : width() < kFullWidth || height() < kFullHeight ? WindowSpace::kNarrow
                                                                             : WindowSpace::kFull;
  if (space == space_ && has_right_column()) return;
  space_ = space;
  const bool full = space == WindowSpace::kFull;
  auto* row = static_cast<QHBoxLayout*>(middle_->layout());
  popup_->hide();
  chips_->setVisible(!full && !shows_index() && !presents_);
  if (full) {
    popup_->layout()->removeWidget(setup_);
    popup_->layout()->removeWidget(fold_);
    row->insertWidget(0, setup_);
    row->insertWidget(1, fold_);
  } else {
    row->removeWidget(setup_);
    row->removeWidget(fold_);
    popup_->layout()->addWidget(setup_);
    popup_->layout()->addWidget(fold_);
  }
  share_right_column();
  fold_setup();
  fit_right();
  top_bar_->set_compact(!full);
  strip_->set_size(full                            ? StripSize::kFull
                   : space == WindowSpace::kNarrow ? StripSize::kNarrow
                                                   : StripSize::kCompact);
}

void Window::show_setup_popup() {
  const QPoint below = chips_->mapToGlobal(QPoint(12, chips_->height() - 4));
  const int room = strip_->mapToGlobal(QPoint(0, strip_->height())).y() - below.y();
  popup_->resize(setup_->minimumWidth() + 2, std::min(720, room));
  popup_->move(below);
  popup_->show();
  setup_->verticalScrollBar()->setValue(0);  // what a part of a lesson frees stands first
  fold_setup();
  (setup_->isVisible() ? static_cast<QWidget*>(setup_) : fold_)->setFocus();
}

// In front of a class the lesson has more room, since its text is larger.
void Window::fit_right() {
  const int usual = space_ == WindowSpace::kCompact ? kCompactRightWidth : kRightWidth;
  right_->setFixedWidth(presents_ ? std::max(usual, width() * 2 / 5) : usual);
}

// Where a view is about something of its own, none of the training setup is used: it is folded,
// unless asked for. The index of lessons needs none.
void Window::fold_setup() {
  const bool folds = !view().topic().is_step() && !unfolded_;
  const bool plans = own_column() != nullptr;
  const bool is_there =
      !plans && (!shows_index() || space_ != WindowSpace::kFull);  // else in its popup
  setup_->setVisible(is_there && !folds && !presents_);
  fold_->setVisible(is_there && folds && !presents_);
  chips_->setVisible(space_ != WindowSpace::kFull && !plans && !shows_index() && !presents_);
  place_own_column();
}

// In the room Plan what is searched stands where the setup panel does elsewhere: in a column that a
// view keeps (its property "left_column"), and beside each view that is about a plan of the search.
// Null: the view is about the setup.
QWidget* Window::own_column() {
  const auto column_of = [](const View* view) {
    return view->property("left_column").value<QWidget*>();
  };
  if (room_ != Room::kPlan) return nullptr;
  if (QWidget* own = column_of(&view())) return own;
  if (!view_info().plan || !view_info().plan(session_)) return nullptr;
  for (std::size_t at = 0; at < views().size(); ++at)
    if (views()[at].room == Room::kPlan)
      if (QWidget* column = column_of(&tabs_->view_at(int(at)))) return column;
  return nullptr;
}

// Without room for it the view that keeps the column has it.
void Window::place_own_column() {
  auto* row = static_cast<QHBoxLayout*>(middle_->layout());
  for (View* one : tabs_->made()) {
    auto* column = one->property("left_column").value<QWidget*>();
    if (!column) continue;
    const bool is_there = column == own_column() && space_ == WindowSpace::kFull;
    if (is_there && column->parentWidget() != middle_) {
      row->insertWidget(0, column);
      column->setFixedWidth(kSetupWidth);
    } else if (!is_there && column->parentWidget() == middle_) {
      row->removeWidget(column);
      column->setParent(one);
    }
    if (column->window() == this) column->setVisible(is_there);  // else in the popup of its view
  }
}

// How a view looks is chosen beside the tabs where they leave room, so that its own controls need
// fewer rows.
void Window::fit_corner() {
  int tabs = tabs_->tabBar()->sizeHint().width();
  if (!all_views_->isHidden()) tabs += kCornerGap + all_views_->width();
  const int sides = presents_ ? right_->width() : kSetupWidth + kRightWidth;
  const int room = width() - sides - tabs - 2 * kCornerGap;
  const int wanted = view().look_controls_width();
  const bool is_there = space_ == WindowSpace::kFull && wanted > 0 && wanted <= room;
  // Room is kept for a corner that is hidden, too: then it has no width and the height of the tabs.
  corner_->layout()->setContentsMargins(0, 0, is_there ? kCornerGap : 0, 0);
  corner_->setFixedHeight(tabs_->tabBar()->sizeHint().height());
  for (View* one : tabs_->made())
    one->put_look_controls(is_there && one == &view() ? corner_->layout() : nullptr);
  corner_->setVisible(is_there);
}

bool Window::has_right_column() const {
  return right_tabs_->count() > 0 || right_->layout()->indexOf(selection_) >= 0;
}

// An open lesson has text, question and feedback to show: it gets the whole column, and the
// selection a tab beside it, so that its buttons keep their place. The room Plan does the same,
// because a plan has much to say. Otherwise both fit.
void Window::share_right_column() {
  auto* right = static_cast<QVBoxLayout*>(right_->layout());
  const LessonPlayer& player = lesson_->player();
  const bool tabbed = space_ != WindowSpace::kFull || player.is_open() ||
                      player.finished_lesson() || presents_ || room_ == Room::kPlan;
  if (tabbed == (right_tabs_->count() > 0) && has_right_column()) return;
  if (tabbed) {
    right_tabs_->addTab(lesson_, tr("Lesson"));
    right_tabs_->addTab(selection_, tr("Selected"));
    if (room_ == Room::kPlan) right_tabs_->setCurrentWidget(selection_);
  } else {
    right_tabs_->clear();
    right->insertWidget(0, lesson_, 1);
    right->insertWidget(1, selection_, 1);
    lesson_->show();
    selection_->show();
  }
  right_tabs_->setVisible(tabbed);
}

}  // namespace parallelarium
