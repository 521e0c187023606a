// SPDX-License-Identifier: GPL-3.0-or-later
// The program `parallelarium`: the window, or without one an export or a picture of it.
#include <QApplication>
#include <QCommandLineParser>
#include <QIcon>
#include <QLibraryInfo>
#include <QLocale>
#include <QTranslator>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "app/export/headless.h"
#include "app/export/manual.h"
#include "app/look/resources.h"
#include "app/look/sentence.h"
#include "app/look/spoken.h"
#include "app/shell/window.h"
#include "app/state/topic.h"
#include "engine/lesson/planner_lock.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/predict/predict.h"
#include "engine/wire/version.h"
#include "engine/wire/view_ids.h"

namespace {

using namespace parallelarium;

// Where no display can be opened everything is drawn offscreen, so that the command line is read
// and answered there too. Decided before Qt starts, which would abort. Whether it was: not where
// the caller has chosen a platform.
bool choose_platform(int argc, char** argv) {
  if (std::getenv("QT_QPA_PLATFORM") || std::getenv("WAYLAND_DISPLAY")) return false;
  for (int at = 1; at < argc; ++at)
    if (std::string_view(argv[at]).find("-platform") < 2) return false;
  const char* display = std::getenv("DISPLAY");
  return setenv("QT_QPA_PLATFORM", display && *display ? "xcb;offscreen" : "offscreen", 1) == 0;
}

// Qt tells every user of a computer without a login session about this; it is nobody's concern
// here.
void quiet_runtime_warning(QtMsgType, const QMessageLogContext&, const QString& text) {
  if (!text.startsWith(QLatin1String("QStandardPaths: XDG_RUNTIME_DIR")))
    std::fprintf(stderr, "%s\n", qPrintable(text));
}

struct Main {
  Q_DECLARE_TR_FUNCTIONS(main)
};

// The user's language where there is a translation, else English, in which all texts are written.
// Numbers are written as in that language, whatever else the system's locale says.
void load_translations(QTranslator& own, Sentences& of_engine, QTranslator& of_qt) {
  if (own.load(QLocale(), QStringLiteral("parallelarium"), QStringLiteral("_"),
               QStringLiteral(":/i18n")))
    QCoreApplication::installTranslator(&own);
  else
    return;  // Qt's dialogs and the engine then speak English, too
  const QLocale system, spoken(own.language());
  QLocale::setDefault(system.language() == spoken.language() ? QLocale(system.name()) : spoken);
  if (of_engine.read(QLocale())) QCoreApplication::installTranslator(&of_engine);
  if (of_qt.load(QLocale(), QStringLiteral("qtbase"), QStringLiteral("_"),
                 QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
    QCoreApplication::installTranslator(&of_qt);
}

// The options of the window itself; those of a setup are the rows of the table of settings.
struct Options {
  static QCommandLineOption flag(const char* name, const QString& about) {
    return {QLatin1String(name), about};
  }
  static QCommandLineOption with(const char* name, const QString& about, const char* value) {
    return {QLatin1String(name), about, QLatin1String(value)};
  }
  const QCommandLineOption to_file =
      with("export",
           Main::tr("Write a view as .png .svg .pdf, or the timeline as Chrome trace .json, or a "
                    "view's figures as .csv, without a window."),
           "file");
  const QCommandLineOption shot =
      with("screenshot", Main::tr("Write a picture of the whole window."), "file");
  const QCommandLineOption setup = with("setup", Main::tr("Open this setup or document."), "file");
  const QCommandLineOption run = flag("run", Main::tr("Run the setup first."));
  const QCommandLineOption verify = flag("verify", Main::tr("Run it, and prove it on one rank."));
  const QCommandLineOption size = with("size", Main::tr("Logical size of the picture."), "WxH");
  const QCommandLineOption scale =
      with("scale", Main::tr("Pixels per logical pixel: 0.5 to 8."), "factor");
  const QCommandLineOption dark = flag("dark", Main::tr("Dark colours."));
  const QCommandLineOption theme = with("theme", Main::tr("light or dark."), "name");
  const QCommandLineOption view = with(
      "view",
      Main::tr("%1; or a part of one: %2.")
          .arg(QString::fromStdString(view_ids_text()), QString::fromStdString(view_parts_text())),
      "name");
  const QCommandLineOption help{{QStringLiteral("h"), QStringLiteral("help")},
                                Main::tr("Show this help.")};
  const QCommandLineOption version = flag("version", Main::tr("Show the version."));
  const QCommandLineOption at =
      with("at", Main::tr("Show the moment at this share of the step, 0 to 1."), "share");
  const QCommandLineOption content =
      with("content",
           Main::tr("Collectives view, what chunks show: contributions, values or bits."), "name");
  const QCommandLineOption handout =
      with("handout",
           Main::tr("Write a lesson on paper to the file of --export, a .pdf or .html: its name or "
                    "its folder, or what was handed in to one that is marked by points, a .json."),
           "lesson");
  const QCommandLineOption playlist =
      with("playlist",
           Main::tr("Open the room Learn with a teacher's list of lessons: a text file with the "
                    "name of one in each line."),
           "file");
  const QCommandLineOption progress = with(
      "progress",
      Main::tr("Read what is done from this folder, and keep it there until the window closes."),
      "folder");
  const QCommandLineOption answers =
      flag("answers", Main::tr("The handout has the right answers."));
  const QCommandLineOption numbers =
      with("numbers", Main::tr("Which numbers the handout draws: 1, 2, ..."), "number");
  const QCommandLineOption manual = with(
      "manual", Main::tr("Print the manual page (man), or the completion for bash, zsh or fish."),
      "format");
  const std::vector<QCommandLineOption> collective = {
      with("collective",
           Main::tr("Collectives view: all_reduce, all_gather, reduce_scatter, all_to_all, "
                    "broadcast, scatter, gather or reduce."),
           "value"),
      with("algorithm", Main::tr("Collectives view: ring, direct, ... of that collective."),
           "value"),
      with("ranks", Main::tr("Collectives view: 1 to 16 ranks."), "value"),
      with("bytes", Main::tr("Collectives view: size of the array, such as 4MiB."), "value"),
      with("root", Main::tr("Collectives view: root of broadcast, scatter, gather, reduce."),
           "value"),
      with("dtype", Main::tr("Collectives view: float32, float64, bfloat16 or int32."), "value"),
      with("op", Main::tr("Collectives view: sum, prod, min, max or avg."), "value"),
      with("topology",
           Main::tr("Collectives view: memory (this computer), switch, ring, torus or "
                    "two-level."),
           "value"),
      with("latency", Main::tr("Collectives view: of a link, such as 2us; not of this computer."),
           "value"),
      with("bandwidth", Main::tr("Collectives view: of a link, such as 50GB/s."), "value")};

  QList<QCommandLineOption> all() const {
    QList<QCommandLineOption> all{to_file, shot,    setup,   run,     verify,   size,    scale,
                                  dark,    theme,   view,    help,    version,  at,      content,
                                  manual,  handout, answers, numbers, playlist, progress};
    for (const QCommandLineOption& option : collective) all << option;
    for (const SetupSetting& row : setup_settings())
      all << with(row.option.c_str(), QString::fromStdString(row.help), "value");
    return all;
  }
};

// What a picture of the window shows: size, scale, colours, view, moment.
Result<void> read_picture_options(const QCommandLineParser& parser, const Options& options,
                                  CommandLine& line) {
  if (parser.isSet(options.dark)) line.dark = true;
  if (parser.isSet(options.theme)) {
    const QString name = parser.value(options.theme);
    if (name != QLatin1String("light") && name != QLatin1String("dark"))
      return message("command-theme", "--theme must be light or dark.");
    line.dark = name == QLatin1String("dark");
  }
  if (parser.isSet(options.view)) {
    line.view = find_view(parser.value(options.view));
    line.part = QString::fromStdString(part_of_view(parser.value(options.view).toStdString()));
    if (!line.view) return message("command-view", "--view must be {}.", view_ids_text());
  }
  if (parser.isSet(options.size)) {
    const QStringList sides = parser.value(options.size).split(QLatin1Char('x'));
    if (sides.size() == 2) line.size = QSize(sides[0].toInt(), sides[1].toInt());
    if (sides.size() != 2 || line.size.width() < 200 || line.size.height() < 150 ||
        line.size.width() > 16384 || line.size.height() > 16384)
      return message("command-size", "--size must be like 1440x900, from 200x150 to 16384x16384.");
  }
  if (parser.isSet(options.scale)) {
    line.scale = parser.value(options.scale).toDouble();
    if (!(line.scale >= 0.5 && line.scale <= 8))
      return message("command-scale", "--scale must be from 0.5 to 8.");
  }
  if (parser.isSet(options.content)) {
    line.content = chunk_content_by_name(parser.value(options.content));
    if (!line.content)
      return message("command-content", "--content must be contributions, values or bits.");
  }
  if (parser.isSet(options.at)) {
    bool number = false;
    line.at = parser.value(options.at).toDouble(&number);
    if (!number || !(*line.at >= 0 && *line.at <= 1))
      return message("command-at", "--at must be a number from 0 to 1.");
  }
  return {};
}

// The lesson on paper.
Result<void> read_handout_options(const QCommandLineParser& parser, const Options& options,
                                  CommandLine& line) {
  line.handout = parser.value(options.handout);
  line.answers = parser.isSet(options.answers);
  if (line.answers)
    if (const std::optional<Message> hidden = hidden_by_lesson("--answers")) return *hidden;
  const bool asked = parser.isSet(options.handout);
  if (asked ? line.export_to.isEmpty() : line.answers || parser.isSet(options.numbers))
    return message("command-handout",
                   "A handout needs --handout LESSON and --export FILE, a .pdf or .html.");
  if (parser.isSet(options.numbers)) {
    bool number = false;
    line.numbers = parser.value(options.numbers).toULongLong(&number);
    if (!number) return message("command-numbers", "--numbers must be a whole number.");
  }
  return {};
}

// Reads the command line; a wrong one is an error with one sentence.
Result<CommandLine> read_command_line(QCommandLineParser& parser, const Options& options) {
  parser.setApplicationDescription(
      Main::tr("A workbench for distributed training: predicted and measured, side by side."));
  parser.addPositionalArgument(QStringLiteral("file"),
                               Main::tr("A document, a setup, or a picture exported from here."),
                               QStringLiteral("[file]"));
  parser.addOptions(options.all());
  if (!parser.parse(QCoreApplication::arguments()))
    return message("command-line", "{}", parser.errorText().toStdString());

  CommandLine line;
  line.export_to = parser.value(options.to_file);
  line.playlist = parser.value(options.playlist);
  line.progress = parser.value(options.progress);
  line.screenshot = parser.value(options.shot);
  line.run = parser.isSet(options.run) || parser.isSet(options.verify);
  line.verify = parser.isSet(options.verify);
  const QStringList files = parser.positionalArguments();
  if (files.size() > 1 || (!files.isEmpty() && parser.isSet(options.setup)))
    return message("command-files", "One file can be opened at a time.");
  line.file = parser.isSet(options.setup) ? parser.value(options.setup) : files.value(0);
  if (const Result<void> read = read_picture_options(parser, options, line); !read)
    return read.error();
  if (const Result<void> read = read_handout_options(parser, options, line); !read)
    return read.error();
  for (const QCommandLineOption& option : options.collective)
    if (parser.isSet(option))
      line.collective.emplace_back(option.names().first().toStdString(),
                                   parser.value(option).toStdString());
  if (!line.collective.empty() && !parser.isSet(options.view))
    line.view = find_view(QStringLiteral("collectives"));
  for (const SetupSetting& row : setup_settings()) {
    const QString option = QString::fromStdString(row.option);
    if (parser.isSet(option))
      line.fields.emplace_back(row.option, parser.value(option).toStdString());
  }
  return line;
}

// Why a picture or a table is not made: it would show what an open lesson asks for. None: it is.
std::optional<Message> hidden_picture(const CommandLine& line) {
  if (!line.export_to.isEmpty()) return hidden_by_lesson("--export");
  return line.screenshot.isEmpty() ? std::nullopt : hidden_by_lesson("--screenshot");
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is told by write()
  const bool chosen = choose_platform(argc, argv);
  qInstallMessageHandler(quiet_runtime_warning);
  QApplication application(argc, argv);
  QApplication::setApplicationName(QStringLiteral("parallelarium"));
  QApplication::setOrganizationName(QStringLiteral("parallelarium"));
  QApplication::setApplicationDisplayName(QStringLiteral("Parallelarium"));
  QApplication::setApplicationVersion(QLatin1String(kVersion));
  QApplication::setDesktopFileName(QStringLiteral("io.github.parallelarium.Parallelarium"));
  load_resources();
  install_spoken();
  QTranslator own, of_qt;
  Sentences of_engine;
  load_translations(own, of_engine, of_qt);
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/parallelarium.svg")));

  QCommandLineParser parser;
  const Options options;
  const Result<CommandLine> line = read_command_line(parser, options);
  if (!line) {
    std::fprintf(stderr, "%s\n", line.error().text.c_str());
    return 2;
  }
  if (parser.isSet(options.help)) {
    std::fputs(qPrintable(parser.helpText()), stdout);
    return 0;
  }
  if (parser.isSet(options.version)) {
    std::printf("parallelarium %s\n", kVersion);
    return 0;
  }
  if (parser.isSet(options.manual)) {
    const Result<std::string> text =
        manual_of(options.all(), parser.value(options.manual).toStdString());
    std::fputs((text ? *text : text.error().text + "\n").c_str(), text ? stdout : stderr);
    return text ? 0 : 2;
  }
  if (const Result<void> teaching = check_teaching_options(*line); !teaching) {
    std::fprintf(stderr, "%s\n", teaching.error().text.c_str());
    return 2;
  }
  if (!line->handout.isEmpty()) return export_handout(*line);
  if (const std::optional<Message> hidden = hidden_picture(*line)) {
    std::fprintf(stderr, "%s\n", hidden->text.c_str());
    return 2;
  }
  if (!line->export_to.isEmpty()) return export_headless(*line);
  if (!line->screenshot.isEmpty()) return take_screenshot(*line);
  if (chosen && QGuiApplication::platformName() == QLatin1String("offscreen")) {
    std::fputs(
        "There is no display that the window could open on; --run --export timeline.png draws a "
        "run without a window, and `parallelarium-engine run` prints its figures.\n",
        stderr);
    return 2;
  }

  Window window;
  if (line->dark) window.show_theme(*line->dark ? ThemeChoice::kDark : ThemeChoice::kLight);
  window.show();
  if (line->view) window.show_view(QLatin1String(line->view->id));
  const Result<const ViewInfo*> prepared = prepare_session(window.session(), *line);
  if (!prepared && window.session().problems().empty() && !window.session().topic().problem()) {
    std::fprintf(stderr, "%s\n", prepared.error().text.c_str());
    return 2;
  }
  if (prepared && *prepared) window.show_view(QLatin1String((*prepared)->id));
  if (line->run) window.session().start_run(line->verify);
  if (!line->progress.isEmpty()) window.use_progress_folder(line->progress);
  if (!line->playlist.isEmpty()) window.open_playlist(line->playlist);
  const QStringList named = parser.optionNames();  // colours are no wish to see something else
  if (parser.positionalArguments().isEmpty() &&
      std::all_of(named.begin(), named.end(), [](const QString& name) {
        return name == QLatin1String("theme") || name == QLatin1String("dark") ||
               name == QLatin1String("progress");
      }))
    window.greet();
  return QApplication::exec();
}
