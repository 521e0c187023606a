// SPDX-License-Identifier: GPL-3.0-or-later
// Tests of the window, without a display and away from the user's files.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>

#include "app/resources.h"
#include "app/theme.h"

int main(int argc, char** argv) {
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  // Kept between test programs, so that this computer is calibrated once.
  const QString folder = QStringLiteral(PARALLELARIUM_BINARY_DIR "/../test-data");
  QDir().mkpath(folder);
  qputenv("XDG_DATA_HOME", QDir(folder).absolutePath().toLocal8Bit());
  QStandardPaths::setTestModeEnabled(true);
  const QTemporaryDir settings;  // of this process alone
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
