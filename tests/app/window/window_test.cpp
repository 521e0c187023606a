// SPDX-License-Identifier: GPL-3.0-or-later
// End to end through the real window with the real engine: set, run, pin, undo, export, reopen.
#include "app/shell/window.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QRegularExpression>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "app/export/export.h"
#include "app/export/headless.h"
#include "app/lesson/lesson_panel.h"
#include "app/look/figures.h"
#include "app/sheets/words_sheet.h"
#include "app/state/document/document.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/words.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

using WindowTest = WindowFixture;

// As on the engine's command line: the pipeline of the first lesson is of its own model.
TEST(WindowStart, AModelOrAMachineBeginsWithoutAPipeline) {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  for (const auto& [fields, pp] : {std::pair{Fields{{"model", "llama3-8b"}}, 1},
                                   {Fields{{"machine", "dgx-h100"}}, 1},
                                   {Fields{{"model", "llama3-8b"}, {"pp", "2"}}, 2},
                                   {Fields{{"dp", "2"}}, 4}}) {
    Session session;
    CommandLine line;
    line.fields = fields;
    const auto prepared = prepare_session(session, line);
    ASSERT_TRUE(prepared) << prepared.error().text;
    EXPECT_EQ(session.setup().mesh.pp, pp) << fields.front().first;
  }
}

TEST(WindowStart, OpensOnAPredictedPlayingTimelineAndOffersTheFirstLesson) {
  QElapsedTimer timer;
  timer.start();
  Window window;
  window.set_asks(false);
  window.show();
  window.grab();
  EXPECT_LT(timer.elapsed(), 2000);
  EXPECT_EQ(window.session().setup(), new_setup());
  EXPECT_EQ(window.lesson().next_to_do(), QStringLiteral("first-look"));
  EXPECT_TRUE(window.session().prediction_is_current());
  EXPECT_TRUE(window.session().playback().playing());
  EXPECT_FALSE(window.modified());
}

TEST(WindowStart, AThemeOfTheCommandLineIsForThatStartOnly) {
  QTemporaryDir folder;
  QSettings().setValue(QStringLiteral("theme"), QStringLiteral("light"));
  CommandLine line;
  line.screenshot = folder.filePath(QStringLiteral("dark.png"));
  line.dark = true;
  ASSERT_EQ(take_screenshot(line), 0);
  EXPECT_LT(QImage(line.screenshot).pixelColor(2, 600).lightness(), 128);
  EXPECT_EQ(QSettings().value(QStringLiteral("theme")).toString(), QStringLiteral("light"));
  Window window;
  window.set_asks(false);
  EXPECT_FALSE(window.dark());
  window.choose_theme(ThemeChoice::kDark);
  EXPECT_EQ(QSettings().value(QStringLiteral("theme")).toString(), QStringLiteral("dark"));
  window.choose_theme(ThemeChoice::kLight);
}

TEST(Words, EveryWordThatFiguresAreLabelledWithIsExplained) {
  for (const Source source :
       {Source::kPredicted, Source::kMeasured, Source::kOversubscribed, Source::kPaced})
    EXPECT_FALSE(meaning_of(name_of(source)).isEmpty()) << name_of(source);
  EXPECT_FALSE(meaning_of("zero").isEmpty());
  const Result<const Glossary*> all = glossary();
  ASSERT_TRUE(all) << all.error().text;
  QStringList words;
  for (const Term& entry : (*all)->words) words << entry.word;
  for (const char* word : {"set", "rehearsed", "pt", "assumed rates", "Prove it"})
    EXPECT_TRUE(words.contains(QLatin1String(word))) << word;
}

TEST_F(WindowTest, AWordOpensTheLessonThatTeachesIt) {
  action(QStringLiteral("Words"))->trigger();
  auto* sheet = window->findChild<WordsSheet*>();
  ASSERT_NE(sheet, nullptr);
  auto* link = sheet->findChild<QWidget*>(QStringLiteral("Word:bubble"))
                   ->findChild<QToolButton*>(QStringLiteral("Link"));
  ASSERT_NE(link, nullptr);
  QTest::mouseClick(link, Qt::LeftButton);
  ASSERT_TRUE(window->lesson().player().is_open());
  EXPECT_EQ(window->lesson().player().lesson().id, "naive-and-gpipe");
}

TEST_F(WindowTest, EarlierRunsAreOneClickAway) {
  std::vector<RunRecord> runs;
  for (const int microbatches : {2, 4, 8}) {
    auto setup = session().setup();
    setup.microbatches = microbatches;
    runs.push_back(made_up_run(setup, 1.1));
  }
  auto other = session().setup();
  other.microbatches = 16;
  session().restore(other, runs, std::nullopt);
  session().wait_for_prediction();
  QMenu *run = nullptr, *earlier = nullptr;
  for (auto* menu : window->findChildren<QMenu*>()) {
    if (menu->title() == QStringLiteral("&Run")) run = menu;
    if (menu->title() == QStringLiteral("&Earlier runs")) earlier = menu;
  }
  ASSERT_NE(run, nullptr);
  ASSERT_NE(earlier, nullptr);
  Q_EMIT run->aboutToShow();
  ASSERT_EQ(earlier->actions().size(), 3);
  EXPECT_TRUE(earlier->isEnabled());
  earlier->actions()[0]->trigger();  // the latest
  ASSERT_NE(session().runs().pinned(), nullptr);
  EXPECT_EQ(session().runs().pinned()->observation.setup.microbatches, 8);
  earlier->actions()[2]->trigger();
  EXPECT_EQ(session().runs().pinned()->observation.setup.microbatches, 2);
  // The picture shows the run of the present settings, so the menu leaves it out.
  other.microbatches = 4;
  session().history().change(other, QStringLiteral("4"));
  session().wait_for_prediction();
  ASSERT_FALSE(session().runs().current_is_stale());
  Q_EMIT run->aboutToShow();
  EXPECT_EQ(earlier->actions().size(), 2);
}

// Under a rehearsal stands in every view that it was rehearsed, never that it was measured.
TEST_F(WindowTest, NoViewCallsARehearsalMeasured) {
  session().restore(session().setup(), {made_up_run(session().setup(), 1.1)}, std::nullopt);
  session().wait_for_prediction();
  ASSERT_FALSE(session().runs().current_is_stale());
  const QRegularExpression wrong(QStringLiteral("\\b(measured|paced?|slower)\\b"));
  // What a calibration has measured is the rates of this computer.
  const QRegularExpression rates(
      QStringLiteral("\\(measured\\)|measured on |not measured|^measured(;|$)"));
  int views_seen = 0, rehearsed = 0;
  for (const ViewInfo& info : views()) {
    window->show_view(QLatin1String(info.id));
    window->view().wait();
    TextLog texts;
    const ViewPicture picture = window->view().exported({});
    QImage image(picture.size, QImage::Format_ARGB32_Premultiplied);
    QPainter painter(&image);
    picture.paint(painter, picture.size, &texts);
    QStringList said{window->view().description(), window->view().accessibleDescription()};
    for (const PaintedText& text : texts) said << text.text;
    for (const Quantity& quantity : window->view().quantities())
      said << quantity.observed.text << quantity.observed.source << quantity.difference;
    for (const auto* label : window->view().findChildren<QLabel*>()) said << label->text();
    for (QString text : said) {
      text.remove(rates);
      EXPECT_FALSE(wrong.match(text.toLower()).hasMatch()) << info.id << ": " << text.toStdString();
      rehearsed += text.contains(QStringLiteral("rehears"), Qt::CaseInsensitive);
    }
    ++views_seen;
  }
  EXPECT_GE(views_seen, 9);
  EXPECT_GE(rehearsed, 5);
}

TEST_F(WindowTest, ThePlayheadMovesWhilePlaying) {
  EXPECT_GT(session().subject().prediction()->timeline.duration, Nanoseconds(0));
  session().playback().set_playing(true);
  const Nanoseconds before = session().playback().playhead();
  EXPECT_TRUE(wait_until([&] { return session().playback().playhead() != before; }, 2000));
}

TEST_F(WindowTest, SetsRunsPinsUndoesExportsAndReopens) {
  QTemporaryDir folder;
  type("microbatches", QStringLiteral("6"));
  EXPECT_EQ(session().setup().microbatches, 6);

  QPushButton& run = window->top_bar().run_button();
  ASSERT_TRUE(run.isEnabled()) << run.toolTip().toStdString();
  QTest::mouseClick(&run, Qt::LeftButton);
  EXPECT_TRUE(run.text().contains(QStringLiteral("Cancel"))) << run.text().toStdString();
  ASSERT_TRUE(wait_until([&] { return session().jobs().state() == RunState::kIdle; }, kRunMs));
  ASSERT_TRUE(session().jobs().last_error().isEmpty())
      << session().jobs().last_error().toStdString();
  ASSERT_NE(session().runs().current(), nullptr);
  EXPECT_FALSE(session().runs().current_is_stale());
  for (const Quantity& quantity : step_quantities(session())) {
    EXPECT_FALSE(quantity.observed.text.isEmpty()) << quantity.key.toStdString();
    EXPECT_FALSE(quantity.observed.source.isEmpty()) << quantity.key.toStdString();
  }

  action(QStringLiteral("Pin"))->trigger();
  ASSERT_NE(session().runs().pinned(), nullptr);
  EXPECT_TRUE(session().runs().pinned()->observed());
  type("microbatches", QStringLiteral("12"));
  EXPECT_TRUE(session().runs().current_is_stale());
  EXPECT_TRUE(step_quantities(session())[0].observed.text.isEmpty());

  const QString picture = folder.filePath(QStringLiteral("picture.png"));
  ExportOptions options;
  options.scale = 2;
  const Result<void> written = export_to(session(), picture, options);
  ASSERT_TRUE(written.ok()) << written.error().text;
  const parallelarium::Setup exported = session().setup();

  action(QStringLiteral("Undo"))->trigger();
  EXPECT_EQ(session().setup().microbatches, 6);
  EXPECT_FALSE(session().runs().current_is_stale());

  window->open_file(picture);
  ASSERT_TRUE(window->wait_for_file());
  EXPECT_EQ(session().setup(), exported);
  EXPECT_FALSE(session().history().stack().canUndo());
}

// Ctrl+Z takes back typing only while something is being typed; after that it is the window's.
TEST_F(WindowTest, UndoReachesTheWindowFromABoxThatWasCommitted) {
  type("microbatches", QStringLiteral("6"));
  auto* box = qobject_cast<StepBox*>(window->setup_panel().control("microbatches"));
  const auto takes_undo = [&] {
    QKeyEvent event(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
    event.ignore();
    QCoreApplication::sendEvent(box, &event);
    return event.isAccepted();
  };
  EXPECT_FALSE(takes_undo());
  QTest::keyClicks(box->findChild<QLineEdit*>(), QStringLiteral("1"));
  EXPECT_TRUE(takes_undo());
  QTest::keyClick(box->findChild<QLineEdit*>(), Qt::Key_Escape);
  EXPECT_FALSE(takes_undo());
  EXPECT_EQ(session().history().stack().undoText(), QStringLiteral("Micro-batches 6"));
}

TEST_F(WindowTest, ADocumentKeepsSetupRunsPinAndView) {
  QTemporaryDir folder;
  session().start_run(false);
  ASSERT_TRUE(wait_until([&] { return session().jobs().state() == RunState::kIdle; }, kRunMs));
  ASSERT_NE(session().runs().current(), nullptr) << session().jobs().last_error().toStdString();
  session().playback().set_playing(false);
  session().pin();
  session().subject().set_visible(
      {session().subject().horizon() / 4, session().subject().horizon() / 2});
  session().subject().set_marks({session().subject().horizon() / 3});
  const auto numbers = step_quantities(session());
  const TimeRange visible = session().subject().visible();
  EXPECT_TRUE(window->modified());
  const QString path = folder.filePath(QStringLiteral("lesson.parallelarium.json"));
  ASSERT_TRUE(window->save_file(path));
  EXPECT_FALSE(window->modified());

  Window other;
  other.set_asks(false);
  other.open_file(path);
  ASSERT_TRUE(other.wait_for_file()) << other.banner().sentence().toStdString();
  EXPECT_EQ(other.session().setup(), session().setup());
  ASSERT_NE(other.session().runs().current(), nullptr);
  EXPECT_FALSE(other.session().runs().current_is_stale());
  EXPECT_EQ(other.session().subject().visible(), visible);
  EXPECT_EQ(other.session().subject().marks(), session().subject().marks());
  EXPECT_NE(other.session().runs().pinned(), nullptr);
  const auto again = step_quantities(other.session());
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    EXPECT_EQ(again[at].predicted.text, numbers[at].predicted.text) << at;
    EXPECT_EQ(again[at].observed.text, numbers[at].observed.text) << at;
    EXPECT_EQ(again[at].difference, numbers[at].difference) << at;
  }
}

TEST_F(WindowTest, ATypedInvalidValueGetsASentenceAndButtonsThatMendIt) {
  const auto before = session().subject().prediction();
  type("tp", QStringLiteral("3"));
  EXPECT_FALSE(session().problems().empty());
  EXPECT_EQ(session().subject().prediction(), before);
  ASSERT_TRUE(window->banner().isVisible());
  EXPECT_EQ(window->banner().sentence().toStdString(), session().problems().front().text);
  EXPECT_FALSE(window->top_bar().run_button().isEnabled());
  const auto buttons = window->banner().findChildren<QPushButton*>();
  ASSERT_FALSE(buttons.isEmpty());
  QTest::mouseClick(buttons.front(), Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_TRUE(session().problems().empty());

  type("pp", QStringLiteral("many"));
  EXPECT_TRUE(window->banner().isVisible());
  EXPECT_TRUE(session().problems().empty());
}

TEST_F(WindowTest, BrokenFilesGetOneSentenceAndLoseNothing) {
  QTemporaryDir folder;
  const parallelarium::Setup before = session().setup();
  const std::pair<const char*, QByteArray> files[] = {
      {"empty.json", ""},
      {"text.json", "hello"},
      {"array.json", "[1,2]"},
      {"unknown.json", "{\"format\":\"parallelarium-setup/1\",\"speed\":9}"},
      {"broken.json", "{\"format\":\"parallelarium-document/1\",\"setup\":{\"zero\":\"x\"}}"},
      {"nothing.png", "\x89PNG\r\n\x1a\n"}};
  for (const auto& [name, content] : files) {
    const QString path = folder.filePath(QLatin1String(name));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    window->open_file(path);
    EXPECT_FALSE(window->wait_for_file()) << name;
    EXPECT_TRUE(window->banner().isVisible()) << name;
    EXPECT_TRUE(window->banner().sentence().endsWith(QLatin1Char('.'))) << name;
    EXPECT_EQ(session().setup(), before) << name;
  }
  window->open_file(folder.filePath(QStringLiteral("absent.json")));
  EXPECT_FALSE(window->wait_for_file());
}

// PNG, SVG and PDF are one painter's work: what it wrote is read from its log. SVG and the text
// files are read themselves.
TEST_F(WindowTest, EveryExportCarriesItsSourceWordAndUnits) {
  QTemporaryDir folder;
  for (const bool ran : {false, true}) {
    SCOPED_TRACE(ran ? "a rehearsal" : "a prediction");
    const parallelarium::Setup setup = default_setup();
    std::vector<RunRecord> runs;
    if (ran) runs.push_back(made_up_run(setup, 1.1));
    session().restore(setup, std::move(runs), std::nullopt);
    session().wait_for_prediction();
    const QString word = ran ? QStringLiteral("rehearsed") : QStringLiteral("predicted");
    for (const bool dark : {false, true}) {
      PictureOptions options;
      options.dark = dark;
      const QSize size = picture_size(session(), options);
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_picture(painter, size, session(), options, &texts);
      painter.end();
      QStringList all;
      int ticks = 0;
      for (const PaintedText& text : texts) {
        all << text.text;
        static const QRegularExpression time(QStringLiteral("^[0-9.,]+[ \u00a0](ns|µs|ms|s)$"));
        ticks += time.match(text.text).hasMatch();
      }
      EXPECT_TRUE(all.join('\n').contains(word, Qt::CaseInsensitive))
          << all.join('\n').toStdString();
      EXPECT_TRUE(all.join('\n').contains(QStringLiteral("PREDICTED")));
      EXPECT_EQ(all.join('\n').contains(QStringLiteral(", durations set")), ran);
      EXPECT_GE(ticks, 3) << "ticks say their unit";
      static const QRegularExpression bare(QStringLiteral("step [0-9.,]+$"));
      for (const QString& text : all)
        EXPECT_FALSE(bare.match(text).hasMatch()) << text.toStdString();
    }
    const std::string source(
        name_of(ran ? Source::kPaced : session().subject().prediction()->timeline.source));
    for (const char* ending : {"png", "svg", "pdf", "json", "csv"}) {
      SCOPED_TRACE(ending);
      const QString path = folder.filePath(QStringLiteral("timeline.") + QLatin1String(ending));
      ExportOptions options;
      options.kind = *export_kind_of(path);
      const Result<void> written = export_to(session(), path, options);
      ASSERT_TRUE(written.ok()) << written.error().text;
      QFile file(path);
      ASSERT_TRUE(file.open(QIODevice::ReadOnly));
      const QByteArray bytes = file.readAll();
      EXPECT_GT(bytes.size(), 1000);
      if (options.kind == ExportKind::kPng || options.kind == ExportKind::kPdf) continue;
      // Tables are for programs: they keep the word of --json.
      EXPECT_TRUE(bytes.toLower().contains(
          options.kind == ExportKind::kCsv ? QByteArray::fromStdString(source) : word.toUtf8()));
      if (options.kind == ExportKind::kCsv) {
        const QList<QByteArray> lines = bytes.split('\n');
        const QList<QByteArray> head = lines.front().split(',');
        const qsizetype column = head.indexOf("source");
        ASSERT_GE(column, 0) << lines.front().toStdString();
        EXPECT_TRUE(lines.front().contains("nanoseconds") || lines.front().contains("seconds"));
        for (qsizetype line = 1; line < lines.size(); ++line)
          if (!lines[line].isEmpty()) {
            EXPECT_EQ(lines[line].split(',')[column].toStdString(), source);
          }
      }
      if (options.kind == ExportKind::kTrace) {
        const auto trace = nlohmann::json::parse(bytes.toStdString());
        int processes = 0;
        for (const auto& event : trace["traceEvents"])
          if (event.value("name", "") == "process_name") {
            ++processes;
            const std::string name = event["args"]["name"];
            EXPECT_NE(name.find("(" + word.toStdString() + ")"), std::string::npos) << name;
          }
        EXPECT_EQ(processes, 4);
      }
    }
  }
}

TEST_F(WindowTest, SettingsOfALessonThatAreLockedCannotBeChanged) {
  session().locks().set_allowed({QStringLiteral("microbatches")});
  EXPECT_FALSE(window->setup_panel().control("pp")->isEnabled());
  EXPECT_TRUE(window->setup_panel().control("microbatches")->isEnabled());
  session().locks().set_allowed({});
  EXPECT_TRUE(window->setup_panel().control("pp")->isEnabled());
}

}  // namespace
}  // namespace parallelarium
