// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/teaching/lesson_reload.h"

#include <QDir>

#include "app/look/sentence.h"
#include "engine/lesson/files.h"

namespace parallelarium {

namespace {

constexpr int kQuietMs = 150;

}  // namespace

LessonReload::LessonReload(LessonPlayer& player, QObject* parent)
    : QObject(parent), player_(player) {
  soon_.setSingleShot(true);
  soon_.setInterval(kQuietMs);
  connect(&soon_, &QTimer::timeout, this, &LessonReload::look);
  for (const auto signal :
       {&QFileSystemWatcher::fileChanged, &QFileSystemWatcher::directoryChanged})
    connect(&watcher_, signal, this, [this] { soon_.start(); });
  connect(&player_, &LessonPlayer::changed, this, &LessonReload::follow);
}

void LessonReload::follow() {
  const QString folder =
      player_.is_open() ? QString::fromStdString(player_.lesson().folder) : QString();
  if (folder == folder_) return;
  folder_ = folder;
  soon_.stop();
  files_.clear();
  watch();
  if (folder_.isEmpty()) return;
  if (auto files = lesson_files(folder_.toStdString())) files_ = std::move(*files);
}

// A file that an editor has put in the place of another is not watched any more.
void LessonReload::watch() {
  const QStringList watched = watcher_.files() + watcher_.directories();
  if (!watched.isEmpty()) watcher_.removePaths(watched);
  if (folder_.isEmpty()) return;
  QStringList paths{folder_};
  for (const QFileInfo& file : QDir(folder_).entryInfoList(
           {QStringLiteral("lesson.json"), QStringLiteral("text.*.md")}, QDir::Files))
    paths << file.filePath();
  watcher_.addPaths(paths);
}

void LessonReload::look() {
  if (folder_.isEmpty() || !player_.is_open()) return;
  watch();
  auto files = lesson_files(folder_.toStdString());
  if (!files) return Q_EMIT told(sentence(files.error()));
  if (*files == files_) return;
  const bool anew = (*files)["lesson.json"] != files_["lesson.json"];
  files_ = std::move(*files);
  const Result<void> read = player_.read_again(anew);
  Q_EMIT told(read ? QString() : sentence(read.error()));
}

}  // namespace parallelarium
