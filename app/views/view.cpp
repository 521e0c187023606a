// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/view.h"

#include <QHideEvent>
#include <QShowEvent>

#include "app/state/step/training_step.h"

namespace parallelarium {

View::View(Session& session, QWidget* parent) : QWidget(parent), shown_in_(session) {
  connect(this, &View::described, this, [this](const SelectionText& chosen) {
    picture_of_keys().setAccessibleDescription(
        chosen.headline.isEmpty() ? told_moment_ : selection_sentence(chosen));
  });
}

QWidget& View::picture_of_keys() {
  QWidget* picture = this;
  while (picture->focusProxy()) picture = picture->focusProxy();
  return *picture;
}

void View::tell_shown() {
  const QString now = moment();
  if (now == told_moment_) return;
  told_moment_ = now;
  picture_of_keys().setAccessibleDescription(now);
}

Topic& View::topic() const { return shown_in_.training_step(); }

QString View::origin(const QString&) const {
  return tr(
      "No closed formula here: the figure is counted op by op in the program that the ranks run.");
}

QList<QAction*> View::all_commands() const {
  QList<QAction*> all;
  for (const ViewActions& group : commands()) all += group.actions;
  return all;
}

void View::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (!event->spontaneous()) shown_in_.set_topic(topic());
}

void View::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  // The view that comes may have been shown before this one goes.
  if (!event->spontaneous() && &shown_in_.topic() == &topic())
    shown_in_.set_topic(shown_in_.training_step());
}

}  // namespace parallelarium
