// SPDX-License-Identifier: GPL-3.0-or-later
// The window in the room Plan, with one of its views in front.
#pragma once

#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "app/state/plan/plan_search.h"
#include "app/state/run/engine_process.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {

// Of this machine two published rows were held out, of a DGX H100 thirty-three: to predict those
// for the ties takes ten times as long as a search of the tests.
inline constexpr const char* kSearchedMachine = "dgx-h200";

inline PlanWish plan_wish(const char* model, const char* gpus) {
  PlanWish wish;
  wish.model = QLatin1String(model);
  wish.machine = QLatin1String(kSearchedMachine);
  wish.gpus = QLatin1String(gpus);
  wish.global_batch = 8;
  return wish;
}
// Llama 3 8B on four GPUs, trained today with TP 4.
inline PlanWish wish_with_today() {
  PlanWish wish = plan_wish("llama3-8b", "4");
  auto today = new_setup();
  for (const auto& [key, value] : {std::pair("machine", kSearchedMachine),
                                   {"model", "llama3-8b"},
                                   {"pp", "1"},
                                   {"tp", "4"},
                                   {"microbatches", "8"}})
    EXPECT_TRUE(set_field(today, key, value).ok()) << key;
  wish.today = today;
  return wish;
}

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

  // The plan that is selected then; null: nothing fits.
  const FoundPlan* searched(const PlanWish& wish) {
    PlanSearch& search = PlanSearch::of(session());
    search.set_wish(wish);
    search.start();
    EXPECT_TRUE(wait_until([&] { return !search.searching(); }, kAnswerMs));
    EXPECT_TRUE(search.answer()) << search.error().toStdString();
    return search.selected();
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
