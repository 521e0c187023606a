// SPDX-License-Identifier: GPL-3.0-or-later
// Tests of the window, without a display and away from the user's files.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QSettings>
#include <QTemporaryDir>

#include "app/resources.h"
#include "app/theme.h"

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  // Kept between the test programs of this build, so that this computer is calibrated once. Qt's
  // own test mode would share one folder with the tests of every other build of this user.
  const QString folder = QStringLiteral(PARALLELARIUM_BINARY_DIR "/../test-data");
  QDir().mkpath(folder);
  qputenv("XDG_DATA_HOME", QDir(folder).absolutePath().toLocal8Bit());
  const QTemporaryDir settings;  // of this process alone
  qputenv("XDG_CONFIG_HOME", settings.path().toLocal8Bit());
  qputenv("XDG_CACHE_HOME", settings.path().toLocal8Bit());
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
  testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("parallelarium-test"));
  QApplication::setOrganizationName(QStringLiteral("parallelarium-test"));
  load_resources();
  QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
  parallelarium::apply_theme(application, false);
  return RUN_ALL_TESTS();
}
