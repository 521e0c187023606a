// SPDX-License-Identifier: GPL-3.0-or-later
// An engine that says of this computer what a test wants, in a data folder of its own, so that no
// calibration is there but what the test stores.
#pragma once

#include <gtest/gtest.h>

#include <QFile>
#include <QLabel>
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "app/sheets/doctor.h"
#include "app/state/run/engine_process.h"
#include "engine/plan/placement/cores.h"
#include "tests/app/wait.h"

namespace parallelarium {

class StandInEngine : public testing::Test {
 protected:
  StandInEngine() {
    for (const char* name : kNames) before_.push_back(qgetenv(name));
    qputenv("XDG_DATA_HOME", folder_.path().toUtf8());
  }
  ~StandInEngine() override {
    for (std::size_t i = 0; i < before_.size(); ++i)
      before_[i].isNull() ? qunsetenv(kNames[i]) : qputenv(kNames[i], before_[i]);
  }

  // From now on engines answer their first request, and greet, with `devices`; and tell of `later`,
  // as after a check, where it is not null.
  void serve(const nlohmann::json& devices, const nlohmann::json& later = {}) {
    const auto reply = [](int id, const nlohmann::json& result) {
      const std::string text =
          nlohmann::json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}.dump();
      return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
    };
    const QString script = folder_.filePath(QStringLiteral("engine"));
    QFile file(script), said(script + QStringLiteral(".said"));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly) && said.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\ncat \"$0.said\"\nexec cat >\"$0.heard\"\n");
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    // A process is started by a request, so that `initialize` is the second, and the fourth where
    // the first engine was killed; answers to what nobody asked are not read.
    const nlohmann::json greeting = {{"version", kProtocolVersion}, {"devices", devices}};
    std::string all;
    for (int id = 1; id < 2 * kMostEngines; id += 2)
      all += reply(id + 1, greeting) + reply(id, devices);
    if (!later.is_null()) {
      const std::string text =
          nlohmann::json{{"jsonrpc", "2.0"}, {"method", "$/devices"}, {"params", later}}.dump();
      all += "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
    }
    said.write(all.data(), qint64(all.size()));
    qputenv("PARALLELARIUM_ENGINE", script.toUtf8());
  }

  // What the last engine was told.
  QByteArray heard() const {
    QFile file(folder_.filePath(QStringLiteral("engine.heard")));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

  // `ranks` of them could each have a GPU, which are all alike.
  static nlohmann::json computer(int gpus, int ranks, const char* name = "NVIDIA H100") {
    nlohmann::json devices = {{"host", "stand-in"},
                              {"cores", available_core_count()},
                              {"gpus", nlohmann::json::array()},
                              {"backends", nlohmann::json::array({{{"name", "cuda"},
                                                                   {"available", gpus > 0},
                                                                   {"why", "So it is."},
                                                                   {"ranks", ranks}}})}};
    for (int gpu = 0; gpu < gpus; ++gpu)
      devices["gpus"].push_back({{"name", name}, {"usable", true}});
    if (gpus == 0) devices["no_gpus"] = "So it is.";
    if (ranks == 1 && gpus > 1) devices["gpus_apart"] = "There is no NCCL.";
    return devices;
  }

  // Of a Session or Doctor, one after the other, as each was killed.
  static constexpr int kMostEngines = 8;

  // What the Doctor says of `title`: its state, and below what it found and what to do.
  QString doctor_line(const nlohmann::json& devices, const char* title) {
    serve(devices);
    EngineProcess engine;
    Doctor doctor(engine);
    const QString head = QStringLiteral("<b>%1</b>  ").arg(QLatin1String(title));
    QString state, body;
    wait_until(
        [&] {
          for (const QLabel* label : doctor.findChildren<QLabel*>()) {
            if (body.isEmpty() && !state.isEmpty()) body = label->text();
            if (label->text().contains(head)) state = label->text().section(head, 1);
          }
          return !body.isEmpty();
        },
        20'000);
    return state + QLatin1Char('\n') + body;
  }

  // A Session asks by itself only where there is a driver.
  static void wait_for_greeting(EngineProcess& engine) {
    engine.request("devices", nlohmann::json::object(), [](const auto&) {});
    ASSERT_TRUE(wait_until([&] { return engine.greeting().is_object(); }, 20'000));
  }

 private:
  static constexpr const char* kNames[] = {"XDG_DATA_HOME", "PARALLELARIUM_ENGINE"};
  QTemporaryDir folder_;
  std::vector<QByteArray> before_;
};

}  // namespace parallelarium
