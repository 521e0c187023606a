// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/bars/panes.h"

#include <QApplication>
#include <QScrollArea>
#include <algorithm>

namespace parallelarium {

namespace {

constexpr int kAroundStop = 8;  // left free above and below what is scrolled to

bool is_in(const QWidget* widget, const QWidget* region) {
  return widget == region || region->isAncestorOf(widget);
}

// What Tab stops at in a region, as it stands there: parts that a lesson makes anew for each of its
// steps are in their places too, other than in Qt's own order, which is that of making. What has
// the focus `now` counts in any case: from a text that was clicked, Tab goes on there.
void add_stops(QWidget* region, const QWidget* now, QList<QWidget*>& stops) {
  if (!region->isVisible()) return;
  const bool takes_tab =
      (region->focusPolicy() & Qt::TabFocus) && region->isEnabled() && !region->focusProxy();
  if ((takes_tab || region == now) && !stops.contains(region)) stops << region;
  for (QObject* child : region->children())
    if (auto* widget = qobject_cast<QWidget*>(child); widget && !widget->isWindow())
      add_stops(widget, now, stops);
}

void give_focus(QWidget* stop, Qt::FocusReason reason) {
  stop->setFocus(reason);
  for (QWidget* around = stop->parentWidget(); around; around = around->parentWidget())
    if (auto* area = qobject_cast<QScrollArea*>(around))
      area->ensureWidgetVisible(stop, 0, kAroundStop);
}

}  // namespace

void Panes::set_panes(std::function<std::vector<Pane>()> panes) {
  panes_ = std::move(panes);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (!now || !isVisible() || !isAncestorOf(now)) return;
    for (const Pane& pane : shown())
      if (is_in(now, pane.widget)) last_focus_[pane.widget] = now;
  });
}

std::vector<Pane> Panes::shown() const {
  std::vector<Pane> panes = panes_();
  std::erase_if(panes, [this](const Pane& pane) {
    return !pane.widget || !isAncestorOf(pane.widget) || !pane.widget->isVisible();
  });
  return panes;
}

QList<QWidget*> Panes::stops_of(const Pane& pane) const {
  const QWidget* now = window()->focusWidget();
  QList<QWidget*> stops;
  for (QWidget* first : pane.first) add_stops(first, now, stops);
  add_stops(pane.widget, now, stops);
  return stops;
}

// In the same pane: its picture, else the next one there that can take the keys.
QWidget* Panes::near_lost(const QWidget* lost) const {
  for (const Pane& pane : shown()) {
    if (!is_in(lost, pane.widget)) continue;
    if (pane.entry && pane.entry->isVisible() && is_in(lost, pane.entry)) return pane.entry;
    const QList<QWidget*> stops = stops_of(pane);
    // A hidden one is no stop; the chain of the focus still knows where it stands.
    for (QWidget* next = lost->nextInFocusChain(); next != lost; next = next->nextInFocusChain())
      if (stops.contains(next)) return next;
  }
  return nullptr;
}

bool Panes::focusNextPrevChild(bool next) {
  const QWidget* now_lost = window()->focusWidget();
  if (now_lost && (!now_lost->isVisible() || !now_lost->isEnabled()))
    if (QWidget* near = near_lost(now_lost)) {
      give_focus(near, Qt::OtherFocusReason);
      return true;
    }
  QList<QWidget*> stops;
  for (const Pane& pane : shown()) stops += stops_of(pane);
  if (stops.isEmpty()) return QWidget::focusNextPrevChild(next);
  const qsizetype now = stops.indexOf(window()->focusWidget());
  const qsizetype to = next ? now + 1 : (now < 0 ? stops.size() : now) - 1;
  give_focus(stops[(to + stops.size()) % stops.size()],
             next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
  return true;
}

void Panes::cycle(int direction) {
  const std::vector<Pane> panes = shown();
  const QWidget* focus = QApplication::focusWidget();
  const int count = int(panes.size());
  int now = 0;
  for (int at = 0; at < count; ++at)
    if (focus && is_in(focus, panes[std::size_t(at)].widget)) now = at;
  for (int tries = 1; tries <= count; ++tries) {
    const Pane& pane = panes[std::size_t(((now + direction * tries) % count + count) % count)];
    const QList<QWidget*> stops = stops_of(pane);
    if (stops.isEmpty()) continue;
    QWidget* last = last_focus_[pane.widget];
    const bool still = last && is_in(last, pane.widget) && last->isVisible() && last->isEnabled();
    QWidget* first = still ? last : pane.entry;
    return give_focus(first ? first : stops.first(), Qt::ShortcutFocusReason);
  }
}

}  // namespace parallelarium
