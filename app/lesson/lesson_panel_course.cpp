// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the lesson panel that goes from lesson to lesson: which is next, what a finished one
// came to, start again, leave, export.
#include <QFileDialog>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QRegularExpression>
#include <QSaveFile>
#include <QVBoxLayout>
#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "app/lesson/lesson_index.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/map/lesson_ahead.h"
#include "app/lesson/markdown_view.h"
#include "app/look/figures.h"
#include "app/look/saved_files.h"
#include "app/look/sentence.h"
#include "app/look/theme/focus_ring.h"
#include "app/views/views.h"
#include "engine/lesson/play.h"
#include "engine/wire/view_ids.h"

namespace parallelarium {

namespace {

constexpr std::size_t kMostLessons = 4;

// The course that came with the program; without lessons if it cannot be read. Every change asks,
// so it is read again only where its file has changed.
const Course& course_here() {
  static std::pair<std::string, std::filesystem::file_time_type> read_from;
  static Course kept;
  const std::string folder = lessons_folder();
  std::error_code error;
  std::pair now(folder, std::filesystem::last_write_time(folder + "/course.json", error));
  if (error || now != read_from) {
    Result<Course> course = read_course(folder);
    kept = course ? std::move(*course) : Course();
    read_from = std::move(now);
  }
  return kept;
}

// The lesson of a folder; read again only where a file of it has changed since, as while it is
// written: every change of the view asks which lesson is next.
const Result<Lesson>& lesson_of_folder(const std::string& folder) {
  namespace fs = std::filesystem;
  struct Read {
    fs::file_time_type newest;
    Result<Lesson> lesson;
  };
  static std::map<std::string, Read> read;
  std::error_code error;  // a folder that is not there is the lesson's to tell
  fs::file_time_type newest = fs::last_write_time(folder, error);
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    newest = std::max(newest, fs::last_write_time(at->path(), error));
  const auto known = read.find(folder);
  if (known != read.end() && !error && known->second.newest == newest) return known->second.lesson;
  return read.insert_or_assign(folder, Read{newest, read_lesson(folder)}).first->second.lesson;
}

}  // namespace

bool LessonPanel::has_lessons() const { return !course_here().lessons.empty(); }

QString LessonPanel::next_to_do() const {
  const Course& course = course_here();
  std::vector<CourseEntry> entries;  // those of the playlist first, in its order
  if (const auto& playlist = player_.progress().playlist())
    for (const PlaylistEntry& entry : playlist->entries) entries.push_back({entry.lesson, {}});
  if (const QString listed = next_of(course, entries); !listed.isEmpty()) return listed;
  if (const std::optional<std::size_t> ahead = next_ahead(course))
    return QString::fromStdString(course.lessons[*ahead].id);
  return next_of(course, course.lessons);
}

// As the map says it: what was begun, unless a lesson was just finished, else the one ahead.
std::optional<std::size_t> LessonPanel::next_ahead(const Course& course) const {
  const LessonPlayer::Finished* just = player_.finished_lesson();
  std::vector<AheadLesson> states;
  std::optional<std::size_t> finished;
  for (std::size_t at = 0; at < course.lessons.size(); ++at) {
    const std::string& id = course.lessons[at].id;
    AheadLesson& state = states.emplace_back();
    if (just && id == just->answers["lesson"]) finished = at;
    const Result<Lesson>& lesson = lesson_of_folder(folder_of(course, id));
    state.playable = lesson && can_play(*lesson, player_.computer());
    if (!state.playable) continue;
    state.done = player_.is_done(*lesson);
    state.known = player_.progress().known(id, lesson->version);
    state.seen = player_.progress().seen(id, lesson->version);
    if (!just && state.open() && player_.is_begun(*lesson)) return at;
  }
  std::vector<AheadUnit> units;
  for (const CourseUnit& unit : course.units) {
    AheadUnit& ahead = units.emplace_back();
    for (std::size_t at = 0; at < unit.count; ++at) ahead.lessons.push_back(unit.first + at);
    for (std::size_t at = 0; at < course.units.size(); ++at)
      if (std::find(unit.needs.begin(), unit.needs.end(), course.units[at].id) != unit.needs.end())
        ahead.needs.push_back(at);
  }
  return lesson_ahead(units, states, finished);
}

QString LessonPanel::next_title() const {
  const Result<Lesson>& lesson =
      lesson_of_folder(folder_of(course_here(), next_to_do().toStdString()));
  return lesson ? QString::fromStdString(lesson->text(LessonPlayer::language()).title) : QString();
}

QString LessonPanel::next_of(const Course& course, const std::vector<CourseEntry>& entries) const {
  for (const CourseEntry& entry : entries) {
    const Result<Lesson>& lesson = lesson_of_folder(folder_of(course, entry.id));
    if (lesson && !player_.is_done(*lesson)) return QString::fromStdString(entry.id);
  }
  return {};
}

// Of the course, by view: a lesson stands with every view that one of its steps shows, those first
// that show it most.
const std::vector<ViewLesson>& LessonPanel::lessons_of(const ViewInfo& view) {
  if (by_view_.empty()) {
    const Course& course = course_here();
    for (const CourseEntry& entry : course.lessons) {
      const Result<Lesson>& lesson = lesson_of_folder(folder_of(course, entry.id));
      if (!lesson) continue;
      std::map<std::string, int> shown;
      std::string view_id;  // a step that names none shows that of the step before
      for (const Step& step : lesson->steps) {
        if (!step.tab.empty()) view_id = view_of(step.tab);
        if (!view_id.empty()) ++shown[view_id];
      }
      for (const auto& [id, steps] : shown)
        by_view_[id].push_back({QString::fromStdString(lesson->id), lesson->version,
                                QString::fromStdString(lesson->text(player_.language()).title),
                                steps});
    }
    for (auto& [id, lessons] : by_view_)
      std::stable_sort(lessons.begin(), lessons.end(),
                       [](const auto& a, const auto& b) { return a.steps > b.steps; });
  }
  return by_view_[view.id];
}

// Those that are still to be done come first.
void LessonPanel::list_lessons() {
  if (!isVisible()) return;  // showEvent comes back to it; all lessons have to be read for it
  QLayout* column = about_view_->layout();
  while (QLayoutItem* item = column->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  std::vector<ViewLesson> lessons = lessons_of(view_ ? *view_ : first_view());
  std::stable_partition(lessons.begin(), lessons.end(), [&](const ViewLesson& lesson) {
    return !player_.progress().done(lesson.id.toStdString(), lesson.version);
  });
  if (lessons.empty()) return;
  if (lessons.size() > kMostLessons) lessons.resize(kMostLessons);
  auto* head = new QLabel(tr("Lessons that show it").toUpper());
  head->setProperty("role", "caps");
  column->addWidget(head);
  QString links;
  for (const ViewLesson& lesson : lessons) {
    const bool done = player_.progress().done(lesson.id.toStdString(), lesson.version);
    links +=
        QStringLiteral("<p style=\"margin-bottom:6px\"><a href=\"%1\">%2</a>%3</p>")
            .arg(lesson.id, lesson.title.toHtmlEscaped(), done ? QStringLiteral(" ✓") : QString());
  }
  auto* list = new QLabel(links);
  list->setObjectName(QStringLiteral("LessonLinks"));
  ring_focus(*list);
  list->setWordWrap(true);
  list->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  list->setAccessibleName(tr("Lessons that show it"));
  connect(list, &QLabel::linkActivated, this, &LessonPanel::open);
  column->addWidget(list);
}

void LessonPanel::open_first() {
  QString id = next_to_do();
  if (const Course& course = course_here(); id.isEmpty() && !course.lessons.empty())
    id = QString::fromStdString(course.lessons.front().id);
  if (!id.isEmpty()) open(id);
}

void LessonPanel::show_finished() {
  const LessonPlayer::Finished& finished = *player_.finished_lesson();
  title_->setText(tr("Done: %1").arg(finished.title));
  QString next = tr("You have done every lesson. The setup is yours now: change what you like.");
  if (const QString id = next_to_do(); !id.isEmpty()) {
    const Result<Lesson> lesson = read_lesson(folder_of(course_here(), id.toStdString()));
    if (lesson)
      next = tr("**Next:** %1 (%2).")
                 .arg(QString::fromStdString(lesson->text(LessonPlayer::language()).title),
                      minutes_text(lesson->minutes));
  }
  text_->set_markdown(next + QStringLiteral("\n\n") + finished.summary, finished.folder);
}

void LessonPanel::show_index() {
  LessonIndex index(player_, this);
  if (index.exec() == QDialog::Accepted) focus_step();
}

void LessonPanel::ask_reset() {
  if (player_.exam()) return;
  if (const auto* finished = player_.finished_lesson()) {
    const Result<void> opened = player_.open(finished->folder);
    if (!opened) say_failure(sentence(opened.error()));
    return;
  }
  if (!player_.is_open()) return;
  const auto answer = QMessageBox::question(
      this, tr("Reset the lesson"),
      tr("Start “%1” again? Your answers to it are cleared and its numbers may change.")
          .arg(player_.lesson_title()));
  if (answer == QMessageBox::Yes) {
    shown_.clear();
    player_.reset();
  }
}

void LessonPanel::leave_lesson() {
  if (player_.may_leave()) player_.close();
}

namespace {

// "first-look-ada-lovelace.json": hand-ins of a class lie in one folder.
QString file_name(const QString& lesson, const QString& name) {
  static const QRegularExpression kOther(QStringLiteral("\\W+"),
                                         QRegularExpression::UseUnicodePropertiesOption);
  QString plain = name.trimmed().toLower().replace(kOther, QStringLiteral("-"));
  if (plain.isEmpty()) plain = QStringLiteral("answers");
  return lesson + QLatin1Char('-') + plain + QStringLiteral(".json");
}

}  // namespace

void LessonPanel::export_answers() {
  const auto* finished = player_.finished_lesson();
  if (!finished && !player_.is_open()) return;
  nlohmann::json answers = finished ? finished->answers : player_.answers();
  const auto& place = player_.progress().place();
  bool ok = place.has_value();  // in a class the numbers are of the name there
  const QString name = ok ? QString::fromStdString(place->name)
                          : QInputDialog::getText(this, tr("Export my answers"), tr("Your name"),
                                                  QLineEdit::Normal, QString(), &ok);
  if (!ok) return;
  const QString path = QFileDialog::getSaveFileName(
      this, tr("Export my answers"),
      in_documents(file_name(QString::fromStdString(answers["lesson"].get<std::string>()), name)),
      tr("JSON files (*.json)"));
  if (path.isEmpty()) return;
  answers["format"] = "parallelarium-answers/1";
  answers["name"] = name.toStdString();
  const QByteArray text = QByteArray::fromStdString(
      answers.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit())
    say_failure(tr("%1 could not be written: %2.").arg(path, file.errorString()));
}

}  // namespace parallelarium
