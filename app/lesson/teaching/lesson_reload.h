// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the open lesson again when somebody saves its files, so that who writes a lesson sees it.
#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <map>
#include <string>

#include "app/lesson/player/lesson_player.h"

namespace parallelarium {

class LessonReload : public QObject {
  Q_OBJECT

 public:
  // `player` must outlive it.
  explicit LessonReload(LessonPlayer& player, QObject* parent = nullptr);

 Q_SIGNALS:
  // Why the files cannot be read as a lesson: the one that was read last stays. Empty: they were
  // read.
  void told(const QString& sentence);

 private:
  void follow();  // the lesson that is open
  void watch();
  void look();

  LessonPlayer& player_;
  QFileSystemWatcher watcher_;
  QTimer soon_;  // editors write a file in several steps
  QString folder_;
  std::map<std::string, std::string> files_;  // that were read last
};

}  // namespace parallelarium
