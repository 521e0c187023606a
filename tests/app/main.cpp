// SPDX-License-Identifier: GPL-3.0-or-later
// Tests of the window, without a display and away from the user's files.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <cstdio>

#include "app/look/resources.h"
#include "app/look/spoken.h"
#include "app/look/theme/theme.h"
#include "engine/predict/predict.h"
#include "tests/own_home.h"

namespace {

// As at a start of the program that nobody has used before, on a computer that is calibrated: for
// all programs of this build once, by the test app.calibrates.
class AppHome : public parallelarium::OwnHome {
 public:
  void OnTestStart(const testing::TestInfo& test) override {
    OwnHome::OnTestStart(test);
    const QDir own(QString::fromStdString(home().string()));
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, own.path());
    own.mkdir(QStringLiteral("parallelarium"));
    const QDir shared(QStringLiteral(PARALLELARIUM_BINARY_DIR "/../test-data/parallelarium"));
    for (const QString& file : shared.entryList(QDir::Files))
      QFile::link(shared.filePath(file), own.filePath(QStringLiteral("parallelarium/") + file));
    parallelarium::apply_theme(*qApp, false);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
    qputenv("QT_QPA_PLATFORM",
            "offscreen:configfile=" PARALLELARIUM_SOURCE_DIR "/tests/app/screen.json");
  testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("parallelarium-test"));
  QApplication::setOrganizationName(QStringLiteral("parallelarium-test"));
  load_resources();
  parallelarium::install_spoken();
  parallelarium::keep_freed_memory();  // as the program does
  // Without them dozens of tests would test nothing.
  for (const char* program : {"parallelarium", "parallelarium-engine"}) {
    if (QFileInfo(QDir(QApplication::applicationDirPath()), QLatin1String(program)).isExecutable())
      continue;
    std::fprintf(stderr, "%s is not beside the tests; build it.\n", program);
    return 1;
  }
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  parallelarium::apply_theme(application, false);
  testing::UnitTest::GetInstance()->listeners().Append(new AppHome);  // gtest owns it
  return RUN_ALL_TESTS();
}
