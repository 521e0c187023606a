// SPDX-License-Identifier: GPL-3.0-or-later
// The window in the room Plan, with one of its views in front.
#pragma once

#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "app/state/run/engine_process.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {

class PlanViewFixture : public WindowFixture {
 protected:
  static constexpr int kAnswerMs = 60'000;

  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
  }

  void show(const char* id) {
    window->show_view(QLatin1String(id));
    QApplication::processEvents();
  }

  void set(const char* field, const char* value) {
    auto setup = session().setup();
    ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    session().history().change(setup, QString::fromLatin1(field));
    session().wait_for_prediction();
  }

  // What the command line says with these arguments.
  nlohmann::json command(const QStringList& arguments) {
    QProcess process;
    process.start(EngineProcess::find_program(), arguments);
    EXPECT_TRUE(process.waitForFinished(kAnswerMs));
    return nlohmann::json::parse(process.readAllStandardOutput().toStdString(), nullptr, false);
  }

  QString file_of(const parallelarium::Setup& setup, const char* name) {
    const QString path = folder_.filePath(QLatin1String(name));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(to_json(setup).dump()));
    return path;
  }

  // No text stands over another or leaves the picture.
  template <class Paint>
  void expect_legible(double width, double height, const Paint& paint, std::size_t least) {
    QImage image(int(width), int(height), QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint(painter, texts);
    painter.end();
    EXPECT_GT(texts.size(), least);
    EXPECT_EQ(overlapping(texts), "") << width;
    for (const PaintedText& text : texts) {
      EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
      EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
    }
  }

 private:
  QTemporaryDir folder_;
};

}  // namespace parallelarium
