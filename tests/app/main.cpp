// SPDX-License-Identifier: GPL-3.0-or-later
// Tests of the window, without a display and away from the user's files.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QTemporaryDir>
#include <cstdio>

#include "app/look/resources.h"
#include "app/look/theme.h"

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QTemporaryDir own;  // test processes run side by side: none sees another's lesson progress
  // But this computer is calibrated once for all test programs of this build.
  const QString shared = QStringLiteral(PARALLELARIUM_BINARY_DIR "/../test-data/parallelarium");
  QDir().mkpath(shared);
  QFile::link(QDir(shared).absolutePath(), own.filePath(QStringLiteral("parallelarium")));
  for (const char* home : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
    qputenv(home, own.path().toLocal8Bit());
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, own.path());
  testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("parallelarium-test"));
  QApplication::setOrganizationName(QStringLiteral("parallelarium-test"));
  load_resources();
  // Without them dozens of tests would test nothing.
  for (const char* program : {"parallelarium", "parallelarium-engine"}) {
    if (QFileInfo(QDir(QApplication::applicationDirPath()), QLatin1String(program)).isExecutable())
      continue;
    std::fprintf(stderr, "%s is not beside the tests; build it.\n", program);
    return 1;
  }
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  parallelarium::apply_theme(application, false);
  return RUN_ALL_TESTS();
}
