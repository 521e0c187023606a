// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>
#include <functional>

namespace parallelarium {

constexpr int kRunMs = 120'000;  // a calibration and a run on a busy computer

// Runs the event loop until `done` or the time is over; says which.
inline bool wait_until(const std::function<bool()>& done, int milliseconds) {
  QElapsedTimer timer;
  timer.start();
  // Sleeps between events: with a time of its own, processEvents() would keep a core busy that the
  // engine and other tests need.
  QTimer tick;
  tick.start(3);
  while (!done()) {
    if (timer.elapsed() > milliseconds) return false;
    QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents);
  }
  return true;
}

}  // namespace parallelarium
