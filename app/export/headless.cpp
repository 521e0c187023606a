// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/export/headless.h"

#include <QApplication>
#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFileInfo>
#include <QPixmap>
#include <algorithm>
#include <cstdio>

#include "app/lesson/lesson_panel.h"
#include "app/lesson/player/lesson_progress.h"
#include "app/lesson/teaching/defence.h"
#include "app/lesson/teaching/handout.h"
#include "app/look/theme/theme.h"
#include "app/shell/window.h"
#include "app/state/collective/collective_session.h"
#include "app/state/document/document.h"
#include "app/state/plan/plan_search.h"
#include "app/state/run/run_advice.h"
#include "app/state/step/training_step.h"
#include "app/state/topic.h"
#include "app/views/collectives/collectives_view.h"
#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/teaching/grading/report.h"
#include "engine/lesson/teaching/playlist.h"

namespace parallelarium {

namespace {

constexpr int kSettleMs = 400;  // for layouts, queued replots and the first frames
constexpr int kMostPatienceMs = 20'000, kPollMs = 10;

int fail(int status, const Message& why) {
  std::fprintf(stderr, "%s\n", why.text.c_str());
  return status;
}

// Refuses a file of figures for a view that has none of its own, and any file of a view that has
// nothing before it `asks` the engine.
std::optional<Message> without_figures(Session& session, const ViewInfo* view, ExportKind kind,
                                       bool asks) {
  if (view && view->ask && !asks)
    return message("export-unasked",
                   "The view {} has nothing to export before it asks the engine: add --run.",
                   view->id);
  if (!view || (kind != ExportKind::kCsv && kind != ExportKind::kTrace)) return std::nullopt;
  const bool own = view == &first_view() || (asks && view->ask) ||
                   &view->topic(session) != &session.training_step() ||
                   (kind == ExportKind::kCsv && view->table);
  if (own) return std::nullopt;
  return message("export-view-figures",
                 "The view {} has no figures of its own for a {} file; export a picture of it, or "
                 "leave --view out.",
                 view->id, kind == ExportKind::kCsv ? ".csv" : ".json");
}

// Where --at says, else where a picture shows most.
void put_playhead(Topic& topic, const CommandLine& line) {
  const TimeRange part = topic.played();
  const double share = line.at.value_or(topic.telling_share());
  topic.set_playhead(part.begin + Nanoseconds(std::int64_t(double(part.length().count()) * share)));
}

void settle(int milliseconds) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < milliseconds)
    QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
  // What the last of them set up, such as widgets that are still to be shown and laid out.
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) QApplication::processEvents();
}

}  // namespace

Result<CollectiveChoice> chosen_collective(CollectiveChoice choice, const CommandLine& line) {
  CollectiveSpec& spec = choice.spec;
  bool algorithm = false;
  for (const auto& [option, value] : line.collective) {
    const QString text = QString::fromStdString(value);
    bool good = true;
    if (option == "collective") {
      const auto kind = collective_kind(value);
      if (kind) spec.kind = *kind;
      good = kind.has_value();
    } else if (option == "algorithm") {
      spec.algorithm = value;
      algorithm = true;
    } else if (option == "ranks") {
      spec.ranks = text.toInt(&good);
    } else if (option == "bytes") {
      const auto bytes = bytes_from_text(text);
      if (bytes) spec.bytes = *bytes;
      good = bytes.has_value();
    } else if (option == "root") {
      spec.root = text.toInt(&good);
    } else if (option == "dtype") {
      const auto type = data_type_by_name(value);
      if (type) spec.type = *type;
      good = type.has_value();
    } else if (option == "op") {
      const auto reduction = reduction_by_name(value);
      if (reduction) spec.reduction = *reduction;
      good = reduction.has_value();
    } else if (option == "latency") {
      choice.links.latency_seconds = seconds_from_text(text);
      good = choice.links.latency_seconds.has_value();
    } else if (option == "bandwidth") {
      choice.links.bytes_per_second = rate_from_text(text);
      good = choice.links.bytes_per_second.value_or(0) > 0;
    } else {
      const auto topology = topology_by_name(value);
      if (topology) choice.topology = *topology;
      good = topology.has_value();
    }
    if (!good)
      return message("collective-option",
                     "--{} {} is none; `parallelarium-engine collective --help` lists them.",
                     option, value);
  }
  if (!algorithm && !find_algorithm(spec.kind, spec.algorithm))
    for (const AlgorithmInfo& info : collective_algorithms())
      if (info.kind == spec.kind && !find_algorithm(spec.kind, spec.algorithm))
        spec.algorithm = info.name;
  return choice;
}

Result<const ViewInfo*> prepare_session(Session& session, const CommandLine& line) {
  const ViewInfo* view = line.view;
  if (!line.file.isEmpty()) {
    const Result<nlohmann::json> json = read_document(line.file);
    if (!json) return json.error();
    Result<Document> document = document_from_json(*json);
    if (!document) return document.error();
    if (!view) view = find_view(document->tab);
    for (const Message& note : restore_document(session, std::move(*document)))
      std::fprintf(stderr, "%s\n", note.text.c_str());
  }
  if (!line.fields.empty()) {
    Setup setup = session.setup();
    // As on the engine's command line: the first lesson's PP is of its own model.
    const auto names = [](const auto& field) {
      return field.first == "model" || field.first == "machine";
    };
    if (line.file.isEmpty() && std::any_of(line.fields.begin(), line.fields.end(), names))
      setup.mesh.pp = 1;
    for (const auto& [option, value] : line.fields) {
      const Result<void> set = set_typed(setup, option, value);
      if (!set) return set.error();
    }
    session.locks().set_lesson_state(nullptr);  // these settings are nobody's lesson
    const CollectiveSession& kept = session.collectives();
    const CollectiveChoice choice = kept.choice();
    const std::vector<CollectiveRun> runs = kept.runs();
    const std::vector<MeasuredPoint> sweep = kept.all_sweeps();
    session.restore(setup, session.runs().all(), std::nullopt);
    session.collectives().restore(choice, runs, sweep);
    Q_EMIT session.restored();
  }
  if (!line.collective.empty()) {
    const Result<CollectiveChoice> choice = chosen_collective(session.collectives().choice(), line);
    if (!choice) return choice.error();
    session.collectives().restore(*choice, session.collectives().runs(),
                                  session.collectives().all_sweeps());
  }
  if (line.content) session.collectives().set_content(*line.content);
  if (view) session.set_topic(view->topic(session));
  // A window that was shown before the settings came has asked about the model proposed first.
  if (view && view->id == std::string_view("search"))
    PlanSearch::of(session).begin_with(session.setup());
  if (const std::optional<Message> problem = session.topic().problem();
      problem && !session.topic().is_step())
    return *problem;
  // A picture does not depend on how soon the engine tells.
  const QDeadlineTimer patience(kMostPatienceMs);
  while (session.jobs().asks_for_devices() && !patience.hasExpired()) settle(kPollMs);
  session.wait_for_prediction();
  if (!session.problems().empty()) return session.problems().front();
  return view;
}

// Runs what is set, or asks what the view is for.
Result<void> run_and_wait(Session& session, const ViewInfo* view, bool verify) {
  if (view && view->ask) {
    view->ask(session);
  } else {
    const QString refusal = run_refusal(session);
    if (!refusal.isEmpty()) return message("run-refused", "{}", refusal.toStdString());
    session.start_run(verify);
  }
  QEventLoop loop;
  QObject::connect(&session, &Session::run_state_changed, &loop, [&] {
    if (session.jobs().state() == RunState::kIdle) loop.quit();
  });
  if (session.jobs().state() != RunState::kIdle) loop.exec();
  if (!session.jobs().last_error().isEmpty())
    return message("run-failed", "{}", session.jobs().last_error().toStdString());
  return {};
}

int export_headless(const CommandLine& line) {
  const std::optional<ExportKind> kind = export_kind_of(line.export_to);
  if (!kind)
    return fail(2,
                message("export-ending",
                        "The file {} must end in .png, .svg, .pdf, .json (Chrome trace) or .csv.",
                        line.export_to.toStdString()));
  apply_theme(*qApp, line.dark.value_or(false));
  Session session;
  if (const std::optional<Message> refusal = without_figures(session, line.view, *kind, line.run))
    return fail(2, *refusal);
  const Result<const ViewInfo*> prepared = prepare_session(session, line);
  if (!prepared) return fail(2, prepared.error());
  if (line.run) {
    const Result<void> ran = run_and_wait(session, *prepared, line.verify);
    if (!ran) return fail(1, ran.error());
  }
  put_playhead(session.topic(), line);
  ExportOptions options;
  options.kind = *kind;
  options.scale = line.scale;
  options.size = line.size;
  options.dark = line.dark.value_or(false);
  if (*prepared) options.view = *prepared;
  options.part = line.part;
  const Result<void> written = export_to(session, line.export_to, options);
  return written ? 0 : fail(1, written.error());
}

namespace {

// What was handed in, with its points.
int export_defence(const CommandLine& line) {
  Session session;
  // Lessons of one's own lie beside what was handed in.
  const std::string beside = QFileInfo(line.handout).absolutePath().toStdString();
  const HandIn hand_in =
      hand_in_of(line.handout.toStdString(), beside, session.placer().computer());
  const Result<Lesson> lesson = read_lesson(lesson_folder(beside, hand_in.lesson));
  if (hand_in.steps.empty() && !hand_in.faults.empty()) return fail(2, hand_in.faults.front());
  if (!lesson) return fail(2, lesson.error());
  const Result<Defence> defence = Defence::of(*lesson, hand_in);
  if (!defence) return fail(2, defence.error());
  const Result<void> written = defence->save(line.export_to);
  return written ? 0 : fail(written.error().id == "defence-ending" ? 2 : 1, written.error());
}

}  // namespace

int export_handout(const CommandLine& line) {
  if (line.handout.endsWith(QLatin1String(".json"))) return export_defence(line);
  const Result<Lesson> lesson = lesson_named(line.handout);
  if (!lesson) return fail(2, lesson.error());
  Session session;
  session.wait_for_prediction();
  Predictions predictions(session.placer().computer());
  const Result<Handout> handout = Handout::of(*lesson, {line.numbers, line.answers}, predictions);
  if (!handout) return fail(1, handout.error());
  const Result<void> written = handout->save(line.export_to);
  return written ? 0 : fail(written.error().id == "handout-ending" ? 2 : 1, written.error());
}

Result<void> check_teaching_options(const CommandLine& line) {
  if (!line.playlist.isEmpty()) {
    const Result<Course> course = read_course(lessons_folder());
    if (!course) return course.error();
    if (const auto read = read_playlist(line.playlist.toStdString(), *course); !read)
      return read.error();
  }
  if (line.progress.isEmpty()) return {};
  LessonProgress progress;
  return progress.use_folder(line.progress);
}

int take_screenshot(const CommandLine& line) {
  Window window;
  window.set_asks(false);
  window.lesson().player().progress().keep_nothing();
  if (line.dark) window.show_theme(*line.dark ? ThemeChoice::kDark : ThemeChoice::kLight);
  window.resize(line.size.isEmpty() ? QSize(1440, 900) : line.size);
  window.show();
  if (line.view) window.show_view(QLatin1String(line.view->id));
  const Result<const ViewInfo*> prepared = prepare_session(window.session(), line);
  if (!prepared && (!window.session().problems().empty() || window.session().topic().problem()))
    std::fprintf(stderr, "%s\n", prepared.error().text.c_str());  // a state worth a picture, too
  else if (!prepared)
    return fail(2, prepared.error());
  bool failed = false;
  if (line.run && prepared) {
    const Result<void> ran = run_and_wait(window.session(), *prepared, line.verify);
    failed = !ran;
    if (failed) std::fprintf(stderr, "%s\n", ran.error().text.c_str());
  }
  if (const ViewInfo* view = prepared ? *prepared : line.view)
    window.show_view(QLatin1String(view->id));
  if (!line.part.isEmpty()) window.view().show_part(line.part);
  if (!line.progress.isEmpty()) window.use_progress_folder(line.progress);
  if (!line.playlist.isEmpty()) window.open_playlist(line.playlist, false);
  window.session().playback().set_playing(false);
  put_playhead(window.session().topic(), line);
  window.view().wait();
  settle(kSettleMs);
  QPixmap picture(window.size() * line.scale);
  picture.setDevicePixelRatio(line.scale);
  window.render(&picture);
  if (!picture.save(line.screenshot, "PNG"))
    return fail(
        1, message("screenshot-write", "{} cannot be written.", line.screenshot.toStdString()));
  // What was asked for besides the picture did not happen.
  if (line.run && !prepared) return 2;
  return failed ? 1 : 0;
}

}  // namespace parallelarium
