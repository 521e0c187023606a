// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of the window stand, and where they go when there is less room.
#include <QResizeEvent>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include "app/lesson/lesson_panel.h"
#include "app/selection/selection_panel.h"
#include "app/shell/window.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/experts/experts_view.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/pipeline/pipeline_view.h"

namespace parallelarium {

namespace {

constexpr int kSetupWidth = 268, kRightWidth = 300, kCompactRightWidth = 260;
constexpr int kFullWidth = 1180, kFullHeight = 660, kNarrowHeight = 620;
constexpr int kCornerGap = 16;  // beside the tabs

}  // namespace

void Window::build_layout() {
  auto* central = new QWidget;
  auto* column = new QVBoxLayout(central);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(top_bar_);
  column->addWidget(chips_);
  middle_ = new QWidget;
  auto* row = new QHBoxLayout(middle_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  setup_->setFixedWidth(kSetupWidth);
  fold_->setFixedWidth(kSetupWidth);
  row->addWidget(setup_);
  row->addWidget(fold_);

  center_ = new QWidget;
  center_->setObjectName(QStringLiteral("Center"));
  auto* views = new QVBoxLayout(center_);
  views->setContentsMargins(0, 0, 0, 0);
  views->setSpacing(0);
  views->addWidget(banner_);
  views_ = new QTabWidget;
  views_->setDocumentMode(true);
  views_->setAccessibleName(tr("Views"));
  views_->addTab(mesh_, tr("Mesh"));
  views_->addTab(collectives_, tr("Collectives"));
  views_->addTab(pipeline_, tr("Pipeline"));
  views_->addTab(memory_, tr("Memory"));
  views_->addTab(experts_, tr("Experts"));
  views_->setCurrentWidget(pipeline_);
  corner_ = new QFrame;
  corner_->setObjectName(QStringLiteral("TabCorner"));
  (new QHBoxLayout(corner_))->setContentsMargins(0, 0, 0, 0);
  views_->setCornerWidget(corner_);
  views->addWidget(views_, 1);
  row->addWidget(center_, 1);

  right_ = new QFrame;
  right_->setObjectName(QStringLiteral("RightPanel"));
  auto* right = new QVBoxLayout(right_);
  right->setContentsMargins(1, 0, 0, 0);  // the hairline stays visible
  right->setSpacing(0);
  right_tabs_ = new QTabWidget;
  right_tabs_->setDocumentMode(true);
  right_tabs_->setAccessibleName(tr("Lesson and selection"));
  right->addWidget(right_tabs_, 1);
  row->addWidget(right_);
  column->addWidget(middle_, 1);
  column->addWidget(strip_);
  setCentralWidget(central);

  popup_ = new QFrame(this, Qt::Popup);
  popup_->setObjectName(QStringLiteral("SetupPopup"));
  auto* inside = new QVBoxLayout(popup_);
  inside->setContentsMargins(1, 1, 1, 1);

  fit_room();
}

void Window::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  fit_room();
  fit_corner();
}

// Puts the parts where there is room for them. Nothing is lost in any size: what leaves its place
// is reached through the chips or the tabs.
void Window::fit_room() {
  const Room room = height() < kNarrowHeight                         ? Room::kCompact
                    : width() < kFullWidth || height() < kFullHeight ? Room::kNarrow
                                                                     : Room::kFull;
  if (room == room_ && selection_->parentWidget()) return;
  room_ = room;
  const bool full = room == Room::kFull;
  auto* row = static_cast<QHBoxLayout*>(middle_->layout());
  auto* right = static_cast<QVBoxLayout*>(right_->layout());
  popup_->hide();
  chips_->setVisible(!full);
  if (full) {
    popup_->layout()->removeWidget(setup_);
    popup_->layout()->removeWidget(fold_);
    row->insertWidget(0, setup_);
    row->insertWidget(1, fold_);
    right_tabs_->clear();
    right_tabs_->hide();
    right->insertWidget(0, lesson_);
    right->insertWidget(1, selection_);
    share_right_column();
    lesson_->show();
    selection_->show();
  } else {
    row->removeWidget(setup_);
    row->removeWidget(fold_);
    popup_->layout()->addWidget(setup_);
    popup_->layout()->addWidget(fold_);
    if (right_tabs_->count() == 0) {
      right_tabs_->addTab(lesson_, tr("Lesson"));
      right_tabs_->addTab(selection_, tr("Selected"));
    }
    right_tabs_->show();
  }
  fold_setup();
  right_->setFixedWidth(room == Room::kCompact ? kCompactRightWidth : kRightWidth);
  top_bar_->set_compact(!full);
  strip_->set_size(full                    ? StripSize::kFull
                   : room == Room::kNarrow ? StripSize::kNarrow
                                           : StripSize::kCompact);
}

// None of the training setup is used in the Collectives view: it is folded there, unless asked for.
void Window::fold_setup() {
  const bool folds = view() == ViewKind::kCollectives && !unfolded_;
  setup_->setVisible(!folds);
  fold_->setVisible(folds);
}

// How the Collectives view looks is chosen beside the tabs where they leave room, so that its
// controls need two rows at most.
void Window::fit_corner() {
  const int tabs = views_->tabBar()->sizeHint().width();
  const int room = width() - kSetupWidth - kRightWidth - tabs - 2 * kCornerGap;
  const bool is_there = room_ == Room::kFull && view() == ViewKind::kCollectives &&
                        collectives_->look_controls_width() <= room;
  // Room is kept for a corner that is hidden, too: then it has no width and the height of the tabs.
  corner_->layout()->setContentsMargins(0, 0, is_there ? kCornerGap : 0, 0);
  corner_->setFixedHeight(views_->tabBar()->sizeHint().height());
  collectives_->put_look_controls(is_there ? corner_->layout() : nullptr);
  corner_->setVisible(is_there);
}

// An open lesson has text, question and feedback to show: it gets what the selection leaves.
void Window::share_right_column() {
  auto* right = static_cast<QVBoxLayout*>(right_->layout());
  const LessonPlayer& player = lesson_->player();
  const bool much = player.is_open() || player.finished_lesson();
  right->setStretchFactor(lesson_, 1);
  right->setStretchFactor(selection_, much ? 0 : 1);
  selection_->setSizePolicy(QSizePolicy::Preferred,
                            much ? QSizePolicy::Maximum : QSizePolicy::Preferred);
}

}  // namespace parallelarium
