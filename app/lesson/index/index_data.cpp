// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/index/index_data.h"

#include <algorithm>
#include <map>

#include "app/lesson/player/lesson_player.h"
#include "app/look/sentence.h"
#include "app/look/words.h"
#include "engine/lesson/text/glossary.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {

namespace {

struct ReadLesson {
  QString id, title;
  LessonText text;
  QString all;                               // everything it says
  std::map<std::string, WordPlaces> places;  // of words
  QString step(const std::string& step_id) const {
    const auto step = text.steps.find(step_id);
    return step == text.steps.end() ? QString() : QString::fromStdString(step->second.title);
  }
};

std::vector<ReadLesson> read_lessons(const Course& course) {
  const std::string language = LessonPlayer::language();
  std::vector<ReadLesson> lessons;
  for (const CourseEntry& entry : course.lessons) {
    const Result<Lesson> lesson = read_lesson(folder_of(course, entry.id));
    if (!lesson) continue;  // the map says why
    ReadLesson read;
    read.id = QString::fromStdString(entry.id);
    read.text = lesson->text(language);
    read.title = QString::fromStdString(read.text.title);
    read.places = word_places(read.text, lesson->texts.count(language) ? language : "en");
    for (const auto& [id, step] : read.text.steps) {
      read.all += QString::fromStdString(step.body) + QLatin1Char('\n');
      for (const auto& [name, part] : step.parts)
        read.all += QString::fromStdString(part) + QLatin1Char('\n');
    }
    read.all.replace(QLatin1Char('\n'), QLatin1Char(' '));
    lessons.push_back(std::move(read));
  }
  return lessons;
}

IndexConcept concept_of(const Term& word, const std::vector<ReadLesson>& lessons) {
  IndexConcept found{word.id, word.word, word.meaning, {}};
  const std::string id = word.id.toStdString();
  std::vector<IndexPlace> others;
  for (const ReadLesson& lesson : lessons) {
    const auto place = lesson.places.find(id);
    const bool stands = place != lesson.places.end();
    const bool bold = stands && !place->second.bold.empty();
    if (lesson.id == word.lesson) {
      const QString step =
          !stands ? QString() : lesson.step(bold ? place->second.bold : place->second.first);
      found.places.push_back({lesson.id, lesson.title, step});
    } else if (bold) {
      others.push_back({lesson.id, lesson.title, lesson.step(place->second.bold)});
    }
  }
  found.places.insert(found.places.end(), others.begin(), others.end());
  return found;
}

}  // namespace

CourseIndex read_course_index() {
  CourseIndex index;
  const std::string folder = lessons_folder();
  const Result<Course> course =
      folder.empty() ? Result<Course>(lesson_schema().error()) : read_course(folder);
  const Result<const Glossary*> words = glossary();
  const Result<const std::vector<CitedSource>*> sources = bibliography();
  if (!course) index.error = sentence(course.error());
  if (!words) index.error = sentence(words.error());
  if (!sources) index.error = sentence(sources.error());
  if (!index.error.isEmpty()) return index;
  const std::vector<ReadLesson> lessons = read_lessons(*course);
  for (const Term& word : (*words)->words) index.concepts.push_back(concept_of(word, lessons));
  const Result<std::vector<Case>>& cases = all_cases();
  for (const CitedSource& source : **sources) {
    IndexSource shown{source, {}, {}, 0};
    for (const ReadLesson& lesson : lessons)
      if (source.cited_in(lesson.all)) shown.lessons.push_back({lesson.id, lesson.title, {}});
    for (const Term& word : (*words)->words)
      if (source.cited_in(word.source)) shown.words << word.word;
    for (const AlikeTerm& alike : (*words)->alike)
      for (const AlikeTerm::Meaning& meaning : alike.meanings)
        if (source.cited_in(meaning.source) && !shown.words.contains(alike.word))
          shown.words << alike.word;
    if (cases)
      shown.cases =
          static_cast<int>(std::count_if(cases->begin(), cases->end(), [&](const Case& published) {
            return source.cited_in(QString::fromStdString(published.url));
          }));
    index.sources.push_back(std::move(shown));
  }
  return index;
}

}  // namespace parallelarium
