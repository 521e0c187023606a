// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/map_data.h"

#include <QDateTime>
#include <QFileInfo>
#include <algorithm>

#include "app/lesson/map/lesson_ahead.h"
#include "app/look/sentence.h"
#include "app/look/words.h"
#include "app/views/views.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/coverage.h"

namespace parallelarium {

namespace {

QString in_language(const std::map<std::string, std::string>& titles) {
  const auto own = titles.find(LessonPlayer::language());
  const auto english = titles.find("en");
  if (own != titles.end()) return QString::fromStdString(own->second);
  return english == titles.end() ? QString() : QString::fromStdString(english->second);
}

// `entry`: of the course, or of a playlist, whose lessons have their titles in their own files.
MapLesson map_lesson(const Course& course, const CourseEntry& entry,
                     const std::map<std::string, RowTexts>& rows, const LessonPlayer& player) {
  MapLesson shown;
  shown.id = QString::fromStdString(entry.id);
  shown.folder = QString::fromStdString(folder_of(course, entry.id));
  shown.title =
      entry.titles.empty() ? QFileInfo(shown.folder).fileName() : in_language(entry.titles);
  const Result<Lesson> lesson = read_lesson(shown.folder.toStdString());
  if (!lesson) {
    shown.refusal = sentence(lesson.error());
    return shown;
  }
  const LessonText& text = lesson->text(LessonPlayer::language());
  if (entry.titles.empty()) {
    shown.id = QString::fromStdString(lesson->id);
    shown.title = QString::fromStdString(text.title);
  }
  shown.summary = QString::fromStdString(text.summary);
  for (const std::string& ability : text.afterwards)
    shown.afterwards << QString::fromStdString(ability);
  shown.minutes = lesson->minutes;
  shown.ranks = lesson->requirements.ranks;
  shown.done = player.is_done(*lesson);
  const std::optional<Mastery> mastery = player.mastery(*lesson);
  shown.mastered = mastery && mastery->mastered();
  shown.known = player.progress().known(lesson->id, lesson->version);
  shown.seen = player.progress().seen(lesson->id, lesson->version);
  shown.begun = player.is_begun(*lesson);
  shown.reached = player.reached(*lesson);
  shown.due = player.progress().due(lesson->id, lesson->version, QDateTime::currentDateTimeUtc()) &&
              std::any_of(lesson->steps.begin(), lesson->steps.end(),
                          [](const Step& step) { return step.ask && !step.ask->answer.empty(); });
  for (const Step& step : lesson->steps) {
    const auto words = text.steps.find(step.id);
    shown.steps.push_back(
        {words == text.steps.end() ? QString() : QString::fromStdString(words->second.title),
         step.kind});
    const ViewInfo* view = find_view(QString::fromStdString(step.tab));
    if (view && !shown.tabs.contains(view->title())) shown.tabs << view->title();
  }
  if (const Result<const Glossary*> all = glossary())
    for (const Term& term : (*all)->words)
      if (term.lesson == shown.id) shown.words << term.word << term.in_text;
  for (const auto& [id, step] : lesson->covers)
    if (const auto row = rows.find(id); row != rows.end())
      shown.rows << QString::fromStdString(id) << in_language(row->second)
                 << QString::fromStdString(row->second.at("en"));
  const Result<void> playable = can_play(*lesson, player.computer());
  if (!playable) shown.refusal = sentence(playable.error());
  return shown;
}

}  // namespace

int MapLesson::minutes_left() const {
  if (steps.empty() || (!begun && (done || known))) return 0;
  const std::size_t ahead = steps.size() - (reached > 0 ? reached - 1 : 0);
  return std::max(
      1, static_cast<int>(minutes * static_cast<double>(ahead) / static_cast<double>(steps.size()) +
                          0.5));
}

std::optional<std::size_t> MapData::ahead(std::optional<std::size_t> finished) const {
  std::vector<AheadUnit> ways;
  for (const MapUnit& unit : units) ways.push_back({unit.needs, unit.lessons});
  std::vector<AheadLesson> states;
  for (const MapLesson& lesson : lessons)
    states.push_back({lesson.done, lesson.known, lesson.refusal.isEmpty(), lesson.seen});
  return lesson_ahead(ways, states, finished);
}

std::optional<std::size_t> MapData::next() const {
  if (playlist)
    for (const std::size_t at : playlist->lessons)
      if (!lessons[at].done && lessons[at].refusal.isEmpty()) return at;
  const auto first = [&](auto which) -> std::optional<std::size_t> {
    for (std::size_t at = 0; at < lessons.size(); ++at)
      if (lessons[at].refusal.isEmpty() && which(lessons[at])) return at;
    return std::nullopt;
  };
  if (const auto begun = first([](const MapLesson& of) { return !of.done && of.begun; }))
    return begun;
  if (const auto again = first([](const MapLesson& of) { return of.begun; })) return again;
  if (const auto open = ahead(std::nullopt)) return open;
  return first([](const MapLesson& of) { return !of.done; });
}

std::optional<std::size_t> MapData::next_after(const QString& folder) const {
  const std::optional<std::size_t> usual = next();
  const auto listed = [&](std::size_t at) {
    return playlist && std::find(playlist->lessons.begin(), playlist->lessons.end(), at) !=
                           playlist->lessons.end();
  };
  const auto finished = std::find_if(lessons.begin(), lessons.end(), [&](const MapLesson& lesson) {
    return lesson.folder == folder;
  });
  if (!usual || listed(*usual) || finished == lessons.end()) return usual;
  const auto open = ahead(static_cast<std::size_t>(finished - lessons.begin()));
  return open ? open : usual;
}

std::size_t MapData::done() const {
  return static_cast<std::size_t>(std::count_if(
      lessons.begin(), lessons.end(), [](const MapLesson& lesson) { return lesson.done; }));
}

std::size_t MapData::mastered() const {
  return static_cast<std::size_t>(std::count_if(
      lessons.begin(), lessons.end(), [](const MapLesson& lesson) { return lesson.mastered; }));
}

int MapData::minutes_left() const {
  int minutes = 0;
  for (const MapLesson& lesson : lessons)
    if (!lesson.done && !lesson.known) minutes += lesson.minutes_left();
  return minutes;
}

std::vector<std::size_t> MapData::due() const {
  std::vector<std::size_t> all;
  for (std::size_t at = 0; at < lessons.size(); ++at)
    if (lessons[at].due && lessons[at].refusal.isEmpty()) all.push_back(at);
  return all;
}

bool MapData::matches(std::size_t lesson, const QString& words) const {
  const MapLesson& one = lessons[lesson];
  QStringList texts{one.title, one.summary, one.id, unit_of(lesson).title};
  texts << one.afterwards << one.words << one.rows;
  for (const MapStep& step : one.steps) texts << step.title;
  const QString all = texts.join(QLatin1Char('\n'));
  for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts))
    if (!all.contains(word, Qt::CaseInsensitive)) return false;
  return true;
}

namespace {

QString marked(const MapLesson& lesson) {
  return (lesson.done ? QStringLiteral("✓ ") : QString()) + lesson.title;
}
QString marked(const MapData& data, const MapUnit& unit) {
  const bool done = std::all_of(unit.lessons.begin(), unit.lessons.end(),
                                [&](std::size_t lesson) { return data.lessons[lesson].done; });
  return (done ? QStringLiteral("✓ ") : QString()) + unit.title;
}

}  // namespace

QStringList MapData::builds_on(std::size_t lesson) const {
  const MapUnit& unit = unit_of(lesson);
  const auto place = std::find(unit.lessons.begin(), unit.lessons.end(), lesson);
  if (place != unit.lessons.begin()) return {marked(lessons[*(place - 1)])};
  QStringList titles;
  for (const std::size_t earlier : unit.needs) titles << marked(*this, units[earlier]);
  return titles;
}

QStringList MapData::leads_to(std::size_t lesson) const {
  const MapUnit& unit = unit_of(lesson);
  const auto place = std::find(unit.lessons.begin(), unit.lessons.end(), lesson);
  if (place + 1 != unit.lessons.end()) return {marked(lessons[*(place + 1)])};
  QStringList titles;
  const auto own = std::size_t(&unit - units.data());
  for (const MapUnit& later : units)
    if (std::find(later.needs.begin(), later.needs.end(), own) != later.needs.end())
      titles << marked(*this, later);
  return titles;
}

const MapUnit& MapData::unit_of(std::size_t lesson) const {
  return *std::find_if(units.begin(), units.end(), [&](const MapUnit& unit) {
    return std::find(unit.lessons.begin(), unit.lessons.end(), lesson) != unit.lessons.end();
  });
}

MapData read_map(const LessonPlayer& player) {
  MapData map;
  const std::string folder = lessons_folder();
  const Result<Course> course =
      folder.empty() ? Result<Course>(lesson_schema().error()) : read_course(folder);
  if (!course) {
    map.error = sentence(course.error());
    return map;
  }
  map.title = in_language(course->titles);
  const auto listed = read_rows(folder);  // a course of one's own may have none
  const auto rows = listed ? *listed : std::map<std::string, RowTexts>();
  for (const CourseEntry& entry : course->lessons)
    map.lessons.push_back(map_lesson(*course, entry, rows, player));
  if (const std::optional<Playlist>& playlist = player.progress().playlist()) {
    map.playlist = MapPlaylist{QString::fromStdString(playlist->title), {}, {}};
    for (const PlaylistEntry& entry : playlist->entries) {
      const auto listed =
          std::find_if(course->lessons.begin(), course->lessons.end(),
                       [&](const CourseEntry& lesson) { return lesson.id == entry.lesson; });
      std::size_t at = std::size_t(listed - course->lessons.begin());
      if (listed == course->lessons.end()) {
        at = map.lessons.size();
        map.lessons.push_back(map_lesson(*course, {entry.lesson, {}}, rows, player));
      }
      map.playlist->lessons.push_back(at);
      map.playlist->minutes.push_back(entry.minutes > 0 ? entry.minutes : map.lessons[at].minutes);
    }
  }
  for (const std::string& id : course->basics)
    map.basics << QString::fromStdString(folder_of(*course, id));
  for (const CourseUnit& unit : course->units) {
    MapUnit shown;
    shown.title = in_language(unit.titles);
    for (const std::string& needed : unit.needs)
      for (std::size_t at = 0; at < course->units.size(); ++at)
        if (course->units[at].id == needed) {
          shown.after << in_language(course->units[at].titles);
          shown.needs.push_back(at);
        }
    for (std::size_t at = unit.first; at < unit.first + unit.count; ++at)
      shown.lessons.push_back(at);
    map.units.push_back(std::move(shown));
  }
  if (map.lessons.size() > course->lessons.size()) {
    MapUnit own{QObject::tr("Lessons of the playlist alone"), {}, {}, {}};
    for (std::size_t at = course->lessons.size(); at < map.lessons.size(); ++at)
      own.lessons.push_back(at);
    map.units.push_back(std::move(own));
  }
  return map;
}

QString kind_words(StepKind kind) {
  switch (kind) {
    case StepKind::kPredict:
      return QObject::tr("a prediction");
    case StepKind::kRun:
      return QObject::tr("a run");
    case StepKind::kExplain:
      return QObject::tr("a question");
    case StepKind::kGoal:
      return QObject::tr("a goal");
    case StepKind::kBuild:
      return QObject::tr("something to build");
    case StepKind::kFind:
      return QObject::tr("a drawing to check");
    case StepKind::kRead:
      break;
  }
  return {};
}

}  // namespace parallelarium
