// SPDX-License-Identifier: GPL-3.0-or-later
// The Doctor's button that checks the GPUs, with an engine that answers as a test wants.
#include <gtest/gtest.h>

#include <QFile>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QTemporaryDir>
#include <string>

#include "app/sheets/doctor.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

std::string framed(const nlohmann::json& message) {
  const std::string text = message.dump();
  return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

// Tells its devices, then of the progress of a check, and its answer when it is let go; whatever it
// is told is in heard().
class DoctorsCheck : public testing::Test {
 protected:
  void serve(int gpus, const nlohmann::json& check) {
    nlohmann::json devices = {{"host", "stand-in"}, {"gpus", nlohmann::json::array()}};
    for (int gpu = 0; gpu < gpus; ++gpu) devices["gpus"].push_back({{"name", "NVIDIA H100"}});
    // Requests: devices 1, initialize 2, check 3.
    write("first", framed({{"jsonrpc", "2.0"}, {"id", 1}, {"result", devices}}) +
                       framed({{"jsonrpc", "2.0"},
                               {"id", 2},
                               {"result", {{"version", kProtocolVersion}, {"devices", devices}}}}));
    write("progress", framed({{"jsonrpc", "2.0"},
                              {"method", "$/progress"},
                              {"params",
                               {{"id", 3},
                                {"phase", "checking"},
                                {"share", 0.25},
                                {"what", "layer norm in float32"}}}}));
    write("answer", framed({{"jsonrpc", "2.0"}, {"id", 3}, {"result", check}}));
    write("engine",
          "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nexec 3<&0\ncat <&3 >heard &\ncat first\n"
          "until grep -q '\"check\"' heard; do sleep 0.02; done\ncat progress\n"
          "until test -e go; do sleep 0.02; done\ncat answer\nwait\n");
    QFile::setPermissions(path("engine"), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    qputenv("PARALLELARIUM_ENGINE", path("engine").toUtf8());
  }
  ~DoctorsCheck() override {
    before_.isNull() ? qunsetenv("PARALLELARIUM_ENGINE") : qputenv("PARALLELARIUM_ENGINE", before_);
  }
  void let_go() { write("go", ""); }
  QByteArray heard() const {
    QFile file(path("heard"));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static QPushButton* button(const Doctor& doctor) {
    return doctor.findChild<QPushButton*>(QStringLiteral("CheckGpus"));
  }
  static bool says(const Doctor& doctor, const QString& text) {
    for (const QLabel* label : doctor.findChildren<QLabel*>())
      if (label->text().contains(text)) return true;
    return false;
  }

 private:
  QString path(const char* name) const { return folder_.filePath(QLatin1String(name)); }
  void write(const char* name, const std::string& text) {
    QFile file(path(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text.data(), qint64(text.size()));
  }
  QTemporaryDir folder_;
  const QByteArray before_ = qgetenv("PARALLELARIUM_ENGINE");
};

nlohmann::json failed_check() {
  const nlohmann::json failure = {{"kind", "kernel"},
                                  {"sentence", "GELU (3 float32): element 2 of g is 7."}};
  return {{"gpus",
           {{{"device", 0},
             {"name", "NVIDIA H100"},
             {"passed", true},
             {"failures", nlohmann::json::array()}},
            {{"device", 1}, {"name", "NVIDIA H100"}, {"passed", false}, {"failures", {failure}}}}},
          {"links",
           {{{"from", 0}, {"to", 1}, {"passed", false}, {"failures", nlohmann::json::array()}},
            {{"from", 0},
             {"to", 2},
             {"passed", true},
             {"failures", nlohmann::json::array()},
             {"warnings", {{{"kind", "slow"}, {"sentence", "GPU 0 to GPU 2: 1 GB/s."}}}}}}},
          {"groups", nlohmann::json::array()},
          {"passed", false},
          {"report", "Check of the GPUs by Parallelarium"}};
}

TEST_F(DoctorsCheck, ShowsProgressAndWhatFailedAndCopiesTheReport) {
  serve(2, failed_check());
  EngineProcess engine;
  Doctor doctor(engine);
  doctor.show();
  ASSERT_TRUE(wait_until([&] { return button(doctor)->isEnabled(); }, 20'000));
  button(doctor)->click();
  EXPECT_TRUE(button(doctor)->text().contains(QStringLiteral("Cancel")));
  ASSERT_TRUE(
      wait_until([&] { return says(doctor, QStringLiteral("layer norm in float32")); }, 20'000));
  const auto* bar = doctor.findChild<QProgressBar*>();
  EXPECT_TRUE(bar->isVisible());
  EXPECT_EQ(bar->value(), 250);
  let_go();
  ASSERT_TRUE(wait_until([&] { return says(doctor, QStringLiteral("GELU (3 float32)")); }, 20'000));
  EXPECT_FALSE(bar->isVisible());
  EXPECT_TRUE(says(doctor, QStringLiteral("<b>Check of GPU 0</b>  passed")));
  EXPECT_TRUE(says(doctor, QStringLiteral("<b>Check of GPU 1</b>  failed")));
  EXPECT_TRUE(says(doctor, QStringLiteral("<b>Check of GPU 0 and GPU 1</b>  not reached in time")));
  EXPECT_TRUE(says(doctor, QStringLiteral("<b>Check of GPU 0 and GPU 2</b>  passed")));
  EXPECT_TRUE(says(doctor, QStringLiteral("GPU 0 to GPU 2: 1 GB/s."))) << "told, and used";
  EXPECT_TRUE(doctor.as_text().contains(QStringLiteral("Check of the GPUs by Parallelarium")));
  EXPECT_FALSE(button(doctor)->text().contains(QStringLiteral("Cancel")));
}

TEST_F(DoctorsCheck, CanBeCancelled) {
  serve(1, {});
  EngineProcess engine;
  Doctor doctor(engine);
  doctor.show();
  ASSERT_TRUE(wait_until([&] { return button(doctor)->isEnabled(); }, 20'000));
  button(doctor)->click();
  ASSERT_TRUE(
      wait_until([&] { return says(doctor, QStringLiteral("layer norm in float32")); }, 20'000));
  button(doctor)->click();
  ASSERT_TRUE(wait_until([&] { return heard().contains("$/cancelRequest"); }, 20'000));
  // This engine does not obey, and is killed.
  ASSERT_TRUE(wait_until([&] { return !button(doctor)->text().contains(QStringLiteral("Cancel")); },
                         20'000));
  EXPECT_FALSE(doctor.findChild<QProgressBar*>()->isVisible());
}

TEST_F(DoctorsCheck, WithoutGpusSaysWhyThereIsNothingToPress) {
  serve(0, {});
  EngineProcess engine;
  Doctor doctor(engine);
  doctor.show();
  ASSERT_TRUE(wait_until(
      [&] { return says(doctor, QStringLiteral("There is no GPU here to check.")); }, 20'000));
  EXPECT_FALSE(button(doctor)->isEnabled());
}

}  // namespace
}  // namespace parallelarium
