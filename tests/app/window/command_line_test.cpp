// SPDX-License-Identifier: GPL-3.0-or-later
// The program without a window: exit status, one sentence, and files.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QImage>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <set>

#include "app/state/document/document.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

const QString kProgram = QStringLiteral(PARALLELARIUM_BINARY_DIR "/parallelarium");

struct Outcome {
  int status = -1;
  QString out, err;
};

class WindowCommandLine : public testing::Test {
 protected:
  Outcome start(const QStringList& arguments, const QString& locale = QStringLiteral("C"),
                const QString& program = kProgram, const QString& language = {}) {
    QProcess process;
    QProcessEnvironment with_locale = environment;
    with_locale.insert(QStringLiteral("LC_ALL"), locale);
    with_locale.remove(QStringLiteral("LANGUAGE"));
    if (!language.isEmpty()) with_locale.insert(QStringLiteral("LANGUAGE"), language);
    process.setProcessEnvironment(with_locale);
    process.setWorkingDirectory(folder.path());
    process.start(program, arguments);
    EXPECT_TRUE(process.waitForFinished(120'000));
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
  }
  QTemporaryDir folder;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
};

TEST_F(WindowCommandLine, HelpNamesEveryOption) {
  const Outcome help = start({QStringLiteral("--help")});
  EXPECT_EQ(help.status, 0);
  for (const char* option : {"--export", "--setup", "--run", "--size", "--dark", "--theme",
                             "--screenshot", "--view", "--pp", "--microbatches"})
    EXPECT_TRUE(help.out.contains(QLatin1String(option))) << option;
  for (const char* part : {"memory/holders", "layer/head", "mesh/nodes"})
    EXPECT_TRUE(help.out.contains(QLatin1String(part))) << part;
}

// Options at the beginning of a line of help.
std::set<QString> options_of(const QString& help) {
  std::set<QString> found;
  const QRegularExpression option(QStringLiteral("\n  (?:-h, )?(--[a-z0-9-]+)"));
  for (auto all = option.globalMatch(help); all.hasNext();) found.insert(all.next().captured(1));
  return found;
}

TEST_F(WindowCommandLine, TheManualAndTheCompletionsNameEveryOption) {
  const std::set<QString> options = options_of(start({QStringLiteral("--help")}).out);
  EXPECT_GT(options.size(), 50u);
  for (const char* format : {"man", "bash", "zsh", "fish"}) {
    const Outcome manual = start({QStringLiteral("--manual"), QLatin1String(format)});
    ASSERT_EQ(manual.status, 0) << manual.err.toStdString();
    QString text = manual.out;
    text.remove(QLatin1Char('\\')).replace(QLatin1String(" -l "), QLatin1String(" --"));
    for (const QString& option : options)
      EXPECT_TRUE(text.contains(option)) << format << option.toStdString();
  }
  EXPECT_EQ(start({QStringLiteral("--manual"), QStringLiteral("tcsh")}).status, 2);
}

TEST_F(WindowCommandLine, AWrongRequestIsOneSentenceAndStatusTwoAndWritesNothing) {
  const QStringList requests[] = {{QStringLiteral("--export"), QStringLiteral("x.bmp")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--setup"), QStringLiteral("absent.json")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--tp"), QStringLiteral("3")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--size"), QStringLiteral("big")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--theme"), QStringLiteral("pink")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--view"), QStringLiteral("sideways")},
                                  {QStringLiteral("--export"), QStringLiteral("x.csv"),
                                   QStringLiteral("--view"), QStringLiteral("mesh")},
                                  {QStringLiteral("--export"), QStringLiteral("x.json"),
                                   QStringLiteral("--view"), QStringLiteral("memory")},
                                  {QStringLiteral("--export"), QStringLiteral("x.png"),
                                   QStringLiteral("--view"), QStringLiteral("search")},
                                  {QStringLiteral("--export"), QStringLiteral("x.svg"),
                                   QStringLiteral("--view"), QStringLiteral("sweep")},
                                  {QStringLiteral("--handout"), QStringLiteral("first-look")},
                                  {QStringLiteral("--answers")},
                                  {QStringLiteral("--handout"), QStringLiteral("no-lesson"),
                                   QStringLiteral("--export"), QStringLiteral("x.pdf")},
                                  {QStringLiteral("--handout"), QStringLiteral("first-look"),
                                   QStringLiteral("--export"), QStringLiteral("x.png")},
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

TEST_F(WindowCommandLine, ExportsAPictureThatOpensAgain) {
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

TEST_F(WindowCommandLine, ExportsEveryViewInEveryFormat) {
  for (const char* view : {"mesh", "pipeline", "memory", "experts"})
    for (const char* ending : {"png", "svg", "pdf"}) {
      const QString file = QStringLiteral("%1.%2").arg(QLatin1String(view), QLatin1String(ending));
      const Outcome outcome =
          start({QStringLiteral("--export"), file, QStringLiteral("--view"), QLatin1String(view),
                 QStringLiteral("--dp"), QStringLiteral("2")});
      EXPECT_EQ(outcome.status, 0) << outcome.err.toStdString();
      EXPECT_GT(QFile(folder.filePath(file)).size(), 2000) << file.toStdString();
    }
  EXPECT_NE(QImage(folder.filePath(QStringLiteral("mesh.png"))),
            QImage(folder.filePath(QStringLiteral("memory.png"))));
}

TEST_F(WindowCommandLine, SpeaksTheUsersLanguageOrEnglish) {
  const std::pair<const char*, const char*> languages[] = {
      {"C", "Stage 0"}, {"de_DE.UTF-8", "Stufe 0"}, {"fi_FI.UTF-8", "Stage 0"}};
  for (const auto& [locale, word] : languages) {
    const Outcome outcome =
        start({QStringLiteral("--export"), QStringLiteral("t.svg")}, QLatin1String(locale));
    ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
    QFile file(folder.filePath(QStringLiteral("t.svg")));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_TRUE(file.readAll().contains(word)) << locale;
  }
}

// A system that asks for German texts alone gets German numbers, too.
TEST_F(WindowCommandLine, WritesNumbersAsInTheLanguageOfItsTexts) {
  QByteArray pictures[2];
  const std::pair<const char*, const char*> systems[] = {{"de_DE.UTF-8", ""}, {"C.UTF-8", "de"}};
  for (int at = 0; at < 2; ++at) {
    const Outcome outcome =
        start({QStringLiteral("--export"), QStringLiteral("t.svg")},
              QLatin1String(systems[at].first), kProgram, QLatin1String(systems[at].second));
    ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
    QFile file(folder.filePath(QStringLiteral("t.svg")));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    pictures[at] = file.readAll();
  }
  static const QRegularExpression kGermanNumber(QStringLiteral(">[^<]*\\d,\\d[^<]*ms<"));
  EXPECT_TRUE(QString::fromUtf8(pictures[0]).contains(kGermanNumber));
  EXPECT_EQ(pictures[0], pictures[1]);
}

TEST(Translations, KeepThePlacesOfTheirArguments) {
  const QDir folder(QStringLiteral(PARALLELARIUM_SOURCE_DIR "/app/translations"));
  for (const QString& name : folder.entryList({QStringLiteral("*.ts")})) {
    QFile file(folder.filePath(name));
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    QXmlStreamReader xml(&file);
    const QRegularExpression place(QStringLiteral("%(n|\\d)"));
    const auto places = [&](const QString& text) {
      std::set<QString> found;
      for (auto all = place.globalMatch(text); all.hasNext();) found.insert(all.next().captured());
      return found;
    };
    QString source;
    int translated = 0;
    while (!xml.atEnd()) {
      if (xml.readNext() != QXmlStreamReader::StartElement) continue;
      if (xml.name() == QLatin1String("source")) source = xml.readElementText();
      if (xml.name() != QLatin1String("translation")) continue;
      const QString text = xml.readElementText(QXmlStreamReader::IncludeChildElements).trimmed();
      if (text.isEmpty()) continue;
      ++translated;
      EXPECT_EQ(places(source), places(text)) << source.toStdString();
    }
    EXPECT_FALSE(xml.hasError()) << name.toStdString();
    EXPECT_GT(translated, 300) << name.toStdString();
  }
}

// Qt's tools look for tr() only; the words of the table of settings stand in the engine.
TEST(Translations, HaveTheWordsOfTheTableOfSettings) {
  QFile file(QStringLiteral(PARALLELARIUM_SOURCE_DIR "/app/translations/parallelarium_de.ts"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  QXmlStreamReader xml(&file);
  std::set<std::string> translated;
  QString context, source;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    if (xml.name() == QLatin1String("name")) context = xml.readElementText();
    if (xml.name() == QLatin1String("source")) source = xml.readElementText();
    if (xml.name() == QLatin1String("translation") && context == QLatin1String("settings") &&
        !xml.readElementText().isEmpty())
      translated.insert(source.toStdString());
  }
  for (const SetupSetting& row : setup_settings()) {
    std::vector<std::string> words;
    if (row.section != Section::kNowhere) words.push_back(row.label);
    if (!row.needs.empty()) words.push_back(row.needs);
    for (const Caption& caption : row.captions) {
      words.push_back(caption.text);
      if (!caption.tip.empty()) words.push_back(caption.tip);
    }
    for (const std::string& word : words)
      EXPECT_TRUE(translated.count(word)) << row.option << ": " << word;
  }
}

TEST_F(WindowCommandLine, AnInstalledCopyWorksByItself) {
  const Outcome installed =
      start({QStringLiteral("--install"), QStringLiteral(PARALLELARIUM_BINARY_DIR "/.."),
             QStringLiteral("--prefix"), folder.filePath(QStringLiteral("there"))},
            QStringLiteral("C"), QStringLiteral("cmake"));
  ASSERT_EQ(installed.status, 0) << installed.err.toStdString();
  const QDir there(folder.filePath(QStringLiteral("there")));
  for (const char* path :
       {"bin/parallelarium", "bin/parallelarium-engine", "share/parallelarium/lessons/course.json",
        "share/parallelarium/lessons/schema.json",
        "share/applications/io.github.parallelarium.Parallelarium.desktop",
        "share/metainfo/io.github.parallelarium.Parallelarium.metainfo.xml",
        "share/icons/hicolor/scalable/apps/parallelarium.svg", "share/man/man1/parallelarium.1.gz",
        "share/man/man1/parallelarium-engine.1.gz",
        "share/bash-completion/completions/parallelarium-engine",
        "share/doc/parallelarium/copyright"})
    EXPECT_TRUE(there.exists(QLatin1String(path))) << path;
  // Far from the source tree there are no other lessons, models and machines than its own.
  const Outcome shot =
      start({QStringLiteral("--screenshot"), QStringLiteral("w.png"), QStringLiteral("--machine"),
             QStringLiteral("dgx-h100")},
            QStringLiteral("C"), there.filePath(QStringLiteral("bin/parallelarium")));
  EXPECT_EQ(shot.status, 0) << shot.err.toStdString();
  EXPECT_TRUE(shot.err.trimmed().isEmpty()) << shot.err.toStdString();
  // With assumed rates: what this computer was calibrated to, while other tests ran, is no matter.
  const QByteArray data = qgetenv("XDG_DATA_HOME");
  qputenv("XDG_DATA_HOME", there.absolutePath().toLocal8Bit());
  const Outcome lessons =
      start({QStringLiteral("lesson"), QStringLiteral("check"),
             there.filePath(QStringLiteral("share/parallelarium/lessons/"
                                           "naive-and-gpipe"))},
            QStringLiteral("C"), there.filePath(QStringLiteral("bin/parallelarium-engine")));
  qputenv("XDG_DATA_HOME", data);
  EXPECT_EQ(lessons.status, 0) << lessons.out.toStdString() << lessons.err.toStdString();
}

// Nobody's display, whoever runs the tests.
QProcessEnvironment without_display() {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    environment.remove(QLatin1String(name));
  return environment;
}

TEST_F(WindowCommandLine, WithoutADisplayItSaysWhatToDo) {
  environment = without_display();
  const QStringList requests[] = {{},
                                  {QStringLiteral("--pp"), QStringLiteral("2")},
                                  {QStringLiteral("--run")},
                                  {QStringLiteral("--foo")}};
  for (const QStringList& request : requests) {
    const Outcome outcome = start(request);
    EXPECT_EQ(outcome.status, 2) << outcome.err.toStdString();
    EXPECT_EQ(outcome.err.trimmed().count(QLatin1Char('\n')), 0) << outcome.err.toStdString();
    EXPECT_TRUE(outcome.err.contains(request.value(0) == QLatin1String("--foo")
                                         ? QStringLiteral("foo")
                                         : QStringLiteral("parallelarium-engine run")))
        << outcome.err.toStdString();
  }
  // A display that cannot be opened is none.
  environment.insert(QStringLiteral("DISPLAY"), QStringLiteral(":47"));
  EXPECT_EQ(start({QStringLiteral("--pp"), QStringLiteral("2")}).status, 2);
}

TEST_F(WindowCommandLine, StartedWithoutADisplayTheTableAndThePictureAreOfOneRun) {
  const QString starter = QStringLiteral(PARALLELARIUM_SOURCE_DIR "/app/start");
  environment = without_display();
  const QString programs = QStringLiteral(PARALLELARIUM_BINARY_DIR);
  EXPECT_EQ(start({programs, QStringLiteral("--foo")}, QStringLiteral("C"), starter).status, 2);
  EXPECT_TRUE(QDir(folder.path()).isEmpty());

  const Outcome outcome =
      start({programs, QStringLiteral("--pp"), QStringLiteral("2"), QStringLiteral("--steps"),
             QStringLiteral("1"), QStringLiteral("--view"), QStringLiteral("pipeline"),
             QStringLiteral("--run")},
            QStringLiteral("C"), starter);
  ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
  EXPECT_TRUE(outcome.out.contains(QStringLiteral("Predicted beside")))
      << outcome.out.toStdString();
  const QString run = folder.filePath(QStringLiteral("parallelarium-run.json"));
  const Result<nlohmann::json> document = read_document(run);
  ASSERT_TRUE(document.ok());
  ASSERT_EQ((*document)["runs"].size(), 1u);
  EXPECT_EQ((*document)["setup"]["mesh"]["pp"], 2);
  // The table's step time is the document's, and the picture's series is drawn from the document.
  const double seconds = (*document)["runs"][0]["observation"]["step"]["seconds"];
  const QRegularExpression row(QStringLiteral("step time +\\S+ \\S+ +(\\S+) (ms|s) "));
  const QRegularExpressionMatch match = row.match(outcome.out);
  ASSERT_TRUE(match.hasMatch()) << outcome.out.toStdString();
  const double unit = match.captured(2) == QLatin1String("s") ? 1 : 1e-3;
  EXPECT_NEAR(match.captured(1).toDouble() * unit, seconds, 0.006 * seconds);
  const Outcome table = start(
      {QStringLiteral("--setup"), run, QStringLiteral("--export"), QStringLiteral("again.csv")});
  ASSERT_EQ(table.status, 0) << table.err.toStdString();
  EXPECT_FALSE(QImage(folder.filePath(QStringLiteral("parallelarium-timeline.png"))).isNull());
  QFile again(folder.filePath(QStringLiteral("again.csv")));
  ASSERT_TRUE(again.open(QIODevice::ReadOnly));
  const QString word =
      QString::fromStdString((*document)["runs"][0]["observation"]["source"].get<std::string>());
  EXPECT_TRUE(again.readAll().contains(word.toUtf8()));
}

TEST_F(WindowCommandLine, TakesAPictureOfTheWholeWindow) {
  const Outcome outcome = start({QStringLiteral("--screenshot"), QStringLiteral("w.png"),
                                 QStringLiteral("--size"), QStringLiteral("1024x700")});
  ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
  EXPECT_EQ(QImage(folder.filePath(QStringLiteral("w.png"))).size(), QSize(1024, 700));
}

TEST_F(WindowCommandLine, APictureOfTheSearchAsksAboutWhatIsSet) {
  QList<QImage> pictures;
  for (const char* machine : {"dgx-h100", "dgx-b200"}) {
    const Outcome outcome =
        start({QStringLiteral("--screenshot"), QStringLiteral("w.png"), QStringLiteral("--view"),
               QStringLiteral("search"), QStringLiteral("--machine"), QLatin1String(machine)});
    ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
    pictures << QImage(folder.filePath(QStringLiteral("w.png")));
  }
  EXPECT_NE(pictures[0], pictures[1]);
}

// The points of the sweep are the answer of the engine, one a line below the heading.
TEST_F(WindowCommandLine, RunInTheSweepSweeps) {
  for (const char* file : {"sweep.csv", "sweep.png"}) {
    const Outcome outcome =
        start({QStringLiteral("--export"), QLatin1String(file), QStringLiteral("--view"),
               QStringLiteral("sweep"), QStringLiteral("--run"), QStringLiteral("-platform"),
               QStringLiteral("offscreen")});
    ASSERT_EQ(outcome.status, 0) << outcome.err.toStdString();
  }
  QFile points(folder.filePath(QStringLiteral("sweep.csv")));
  ASSERT_TRUE(points.open(QIODevice::ReadOnly));
  EXPECT_EQ(points.readAll().trimmed().count('\n'), 5);
  EXPECT_GT(QImage(folder.filePath(QStringLiteral("sweep.png"))).height(), 300);
}

}  // namespace
}  // namespace parallelarium
