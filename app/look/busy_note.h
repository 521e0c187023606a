// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence over a window while it computes what the next picture needs, and the cursor of
// waiting.
#pragma once

#include <QLabel>
#include <QPointer>
#include <QString>

namespace parallelarium {

// Is there for as long as the object is, and painted at once: the window may be busy until then.
// Nothing is shown where no window is.
class BusyNote {
 public:
  BusyNote(const QWidget* over, const QString& sentence);
  ~BusyNote();
  BusyNote(const BusyNote&) = delete;
  BusyNote& operator=(const BusyNote&) = delete;

 private:
  QPointer<QLabel> label_;
};

}  // namespace parallelarium
