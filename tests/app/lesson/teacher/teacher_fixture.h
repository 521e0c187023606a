// SPDX-License-Identifier: GPL-3.0-or-later
// A window with what a teacher brings to it: files, lessons that are done or open.
#pragma once

#include <QFile>
#include <QLabel>
#include <QTemporaryDir>

#include "app/lesson/map/course_map.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {

class Teacher : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
  }
  QString file(const QString& name, const QByteArray& content) {
    const QString path = folder_.filePath(name);
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
    return path;
  }
  LessonPlayer& player() { return window->lesson().player(); }
  CourseMap& map() { return *window->findChild<CourseMap*>(); }
  void finish(const std::string& id) {
    const Result<Lesson> lesson = read_lesson(lessons_folder() + "/" + id);
    ASSERT_TRUE(lesson);
    ASSERT_TRUE(player().progress().keep(id, lesson->version, true, nlohmann::json::object()));
  }
  void open(const char* id) {
    const Result<void> opened = player().open(
        QString::fromStdString(lessons_folder()) + QLatin1Char('/') + QLatin1String(id), 7);
    ASSERT_TRUE(opened) << opened.error().text;
    QApplication::processEvents();
  }
  bool banner_says(const QString& words) {
    for (const QLabel* label : window->banner().findChildren<QLabel*>())
      if (label->text().contains(words)) return true;
    return false;
  }
  QString next_on_map() {
    const std::optional<std::size_t> next = map().data().next();
    return next ? map().data().lessons[*next].id : QString();
  }
  QTemporaryDir folder_;
};

}  // namespace parallelarium
