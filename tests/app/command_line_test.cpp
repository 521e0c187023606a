// SPDX-License-Identifier: GPL-3.0-or-later
// The program without a window: exit status, one sentence, and files.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>

#include "app/document.h"

namespace parallelarium {
namespace {

const QString kProgram = QStringLiteral(PARALLELARIUM_BINARY_DIR "/parallelarium");

struct Outcome {
  int status = -1;
  QString out, err;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    if (!QFile::exists(kProgram)) GTEST_SKIP() << "the program is not built";
  }
  Outcome start(const QStringList& arguments) {
    QProcess process;
    process.setWorkingDirectory(folder.path());
    process.start(kProgram, arguments);
    EXPECT_TRUE(process.waitForFinished(120'000));
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
  }
  QTemporaryDir folder;
};

TEST_F(CommandLine, HelpNamesEveryOption) {
  const Outcome help = start({QStringLiteral("--help")});
  EXPECT_EQ(help.status, 0);
  for (const char* option : {"--export", "--setup", "--run", "--size", "--dark", "--theme",
                             "--screenshot", "--pp", "--microbatches"})
    EXPECT_TRUE(help.out.contains(QLatin1String(option))) << option;
}

TEST_F(CommandLine, AWrongRequestIsOneSentenceAndStatusTwoAndWritesNothing) {
  const QStringList requests[] = {{QStringLiteral("--export"), QStringLiteral("x.bmp")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--setup"), QStringLiteral("absent.json")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--tp"), QStringLiteral("3")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--size"), QStringLiteral("big")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--theme"), QStringLiteral("pink")},
                                  {QStringLiteral("--speed")}};
  for (const QStringList& request : requests) {
    const Outcome outcome =
        start(request + QStringList{QStringLiteral("-platform"), QStringLiteral("offscreen")});
    const std::string line = request.join(QLatin1Char(' ')).toStdString();
    EXPECT_EQ(outcome.status, 2) << line << "\n" << outcome.err.toStdString();
    EXPECT_EQ(outcome.err.trimmed().count(QLatin1Char('\n')), 0) << outcome.err.toStdString();
    EXPECT_FALSE(outcome.err.trimmed().isEmpty()) << line;
  }
  EXPECT_TRUE(QDir(folder.path()).isEmpty());
}

TEST_F(CommandLine, ExportsAPictureThatOpensAgain) {
  const Outcome outcome =
      start({QStringLiteral("--export"), QStringLiteral("t.png"), QStringLiteral("--size"),
             QStringLiteral("900x600"), QStringLiteral("--scale"), QStringLiteral("2"),
             QStringLiteral("--microbatches"), QStringLiteral("5"), QStringLiteral("--dark")});
  ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
  const QString path = folder.filePath(QStringLiteral("t.png"));
  EXPECT_EQ(QImage(path).size(), QSize(1800, 1200));
  const Result<nlohmann::json> json = read_document(path);
  ASSERT_TRUE(json.ok()) << json.error().text;
  const Result<parallelarium::Setup> setup = setup_from_json(*json);
  ASSERT_TRUE(setup.ok()) << setup.error().text;
  EXPECT_EQ(setup->microbatches, 5);
}

TEST_F(CommandLine, TakesAPictureOfTheWholeWindow) {
  const Outcome outcome = start({QStringLiteral("--screenshot"), QStringLiteral("w.png"),
                                 QStringLiteral("--size"), QStringLiteral("1024x700")});
  ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
  EXPECT_EQ(QImage(folder.filePath(QStringLiteral("w.png"))).size(), QSize(1024, 700));
}

}  // namespace
}  // namespace parallelarium
