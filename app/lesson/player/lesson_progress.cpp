// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/player/lesson_progress.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QSettings>
#include <QStandardPaths>
#include <algorithm>
#include <iterator>

#include "app/lesson/player/json_member.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/teaching/grading/class_seed.h"

namespace parallelarium {

namespace {

using nlohmann::json;

const char* const kFormat = "parallelarium-progress/1";
// When a lesson was done or reviewed last, and how many reviews were right one after another.
const char* const kReviewed = "reviewed_at";
const char* const kKnown = "known";
const char* const kAgain = "again";
const char* const kMastery = "mastery";  // of the play that counts
const char* const kClass = "class";
const char* const kReviews = "reviews";
const char* const kPlaylist = "playlist";
const char* const kExams = "exams";
const char* const kFile = "progress.json";
const char* const kFolderKey = "progress_folder";  // of the preferences
constexpr int kDays[] = {1, 7, 30};
constexpr int kMostListedMinutes = 600;

json playlist_json(const Playlist& playlist) {
  json lessons = json::array();
  for (const PlaylistEntry& entry : playlist.entries)
    lessons.push_back({{"lesson", entry.lesson}, {"minutes", entry.minutes}});
  return {{"title", playlist.title}, {"lessons", std::move(lessons)}};
}

std::optional<Playlist> playlist_from_json(const json& object) {
  try {
    Playlist playlist{object.at("title").get<std::string>(), {}};
    for (const json& entry : object.at("lessons"))
      playlist.entries.push_back(
          {entry.at("lesson").get<std::string>(),
           std::clamp(member_or(entry, "minutes", 0), 0, kMostListedMinutes)});
    return playlist;
  } catch (const json::exception&) {
    return std::nullopt;  // there is none, or the file was changed by hand
  }
}

// Numbers of a class's exam are nobody else's: they name its record.
std::string exam_key(const std::string& id, std::uint64_t seed) {
  return id + "/" + std::to_string(seed);
}

// What a lesson's entry holds of that version of it; else null.
json answers_of(const json& lessons, const std::string& id, int version) {
  const auto found = lessons.find(id);
  if (found == lessons.end() || member_or(*found, "version", 0) != version) return nullptr;
  return member_or(*found, "answers", json());
}

bool done_of(const json& lessons, const std::string& id, int version) {
  const auto found = lessons.find(id);
  return found != lessons.end() && member_or(*found, "version", 0) == version &&
         member_or(*found, "done", false);
}

json mastery_json(const Mastery& mastery) {
  return {{"asked", mastery.asked},
          {"right", mastery.right},
          {"transfer", mastery.transfer},
          {"transfer_right", mastery.transfer_right}};
}

// Exams that stood among what was practised, as they once did, get a place of their own.
void move_exams(json& lessons, json& exams) {
  for (auto at = lessons.begin(); at != lessons.end();) {
    const json answers = member_or(*at, "answers", json());
    const auto seed = member_or(answers, "seed", std::uint64_t{0});
    if (seed == 0 || !member_or(answers, "exam", false)) {
      ++at;
      continue;
    }
    exams.emplace(exam_key(at.key(), seed), *at);
    at = lessons.erase(at);
  }
}

std::string iso_text(const QDateTime& time) {
  return time.toUTC().toString(Qt::ISODate).toStdString();
}

}  // namespace

Mastery mastery_of(const json& answers) {
  Mastery mastery;
  bool typed = false;
  for (const json& step : member_or(answers, "steps", json::array())) {
    const auto kind = member_or(step, "kind", std::string());
    const bool asks = kind == name_of(StepKind::kPredict) || kind == name_of(StepKind::kExplain) ||
                      kind == name_of(StepKind::kFind);
    if (!asks) continue;
    if (!step.contains("right")) {  // a document began behind it
      ++mastery.asked;
      continue;
    }
    const bool right = member_or(step, "right", false) && member_or(step, "attempts", 0) == 1;
    ++mastery.asked;
    mastery.right += right;
    if (typed && !step.contains("number")) continue;
    typed = step.contains("number");
    mastery.transfer = member_or(step, "step", std::string());
    mastery.transfer_right = right;
  }
  return mastery;
}

bool ClassPlace::is_exam() const { return exam || says_exam(code); }

std::uint64_t ClassPlace::seed(const std::string& lesson) const {
  return class_seed(is_exam() ? exam_code(code) : code, name, lesson);
}

QString LessonProgress::chosen_folder() {
  return QSettings().value(QLatin1String(kFolderKey)).toString();
}

void LessonProgress::choose_folder(const QString& folder) {
  if (folder.isEmpty()) return QSettings().remove(QLatin1String(kFolderKey));
  QSettings().setValue(QLatin1String(kFolderKey), folder);
}

QString LessonProgress::own_folder() {
  return QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
}

bool LessonProgress::misses_folder() {
  const QString chosen = chosen_folder();
  return !chosen.isEmpty() && !QFileInfo(chosen).isDir();
}

QString LessonProgress::default_path() {
  const QString chosen = chosen_folder();
  return QDir(chosen.isEmpty() ? own_folder() : chosen).filePath(QLatin1String(kFile));
}

LessonProgress::LessonProgress() : LessonProgress(default_path()) {}

LessonProgress::LessonProgress(QString path) : path_(std::move(path)) { read(); }

void LessonProgress::read() {
  QFile file(path_);
  if (!file.open(QIODevice::ReadOnly)) return;
  const json content = json::parse(file.readAll().toStdString(), nullptr, false);
  const bool known = content.is_object() && content.contains("format") &&
                     content["format"] == kFormat && content.contains("lessons") &&
                     content["lessons"].is_object();
  if (!known) {
    QFile::remove(path_ + QStringLiteral(".unreadable"));
    QFile::copy(path_, path_ + QStringLiteral(".unreadable"));
    return;
  }
  lessons_ = content["lessons"];
  exams_ = member_or(content, kExams, json::object());
  if (!exams_.is_object()) exams_ = json::object();
  move_exams(lessons_, exams_);
  const json place = member_or(content, kClass, json());
  if (place.is_object() && place.value("code", json()).is_string() &&
      place.value("name", json()).is_string())
    place_ = ClassPlace{place["code"].get<std::string>(), place["name"].get<std::string>(),
                        place.value("exam", json()) == true};
  playlist_ = playlist_from_json(content.value(kPlaylist, json()));
}

Result<void> LessonProgress::use_folder(const QString& folder) {
  QDir().mkpath(folder);
  LessonProgress there(QDir(folder).filePath(QLatin1String(kFile)));
  if (Result<void> written = there.write(); !written) return written;
  *this = std::move(there);
  return {};
}

json LessonProgress::record(const std::string& id, int version) const {
  return answers_of(lessons_, id, version);
}

bool LessonProgress::done(const std::string& id, int version) const {
  return done_of(lessons_, id, version);
}

json LessonProgress::exam_record(const std::string& id, int version, std::uint64_t seed) const {
  return answers_of(exams_, exam_key(id, seed), version);
}

bool LessonProgress::exam_done(const std::string& id, int version, std::uint64_t seed) const {
  return done_of(exams_, exam_key(id, seed), version);
}

Result<void> LessonProgress::keep_exam(const std::string& id, int version, std::uint64_t seed,
                                       bool is_done, const json& answers) {
  if (exam_done(id, version, seed)) return {};
  exams_[exam_key(id, seed)] = {{"version", version}, {"done", is_done}, {"answers", answers}};
  return write();
}

std::optional<Mastery> LessonProgress::mastery(const std::string& id, int version) const {
  if (!done(id, version)) return std::nullopt;
  const json kept = member_or(lessons_.at(id), kMastery, json());
  // Files that were written before this was kept still have the answers of the last play.
  const Mastery mastery = kept.is_object()
                              ? Mastery{member_or(kept, "asked", 0), member_or(kept, "right", 0),
                                        member_or(kept, "transfer", std::string()),
                                        member_or(kept, "transfer_right", false)}
                          : again(id, version) ? Mastery()
                                               : mastery_of(record(id, version));
  return mastery.asked > 0 ? std::optional(mastery) : std::nullopt;
}

bool LessonProgress::known(const std::string& id, int version) const {
  const auto found = lessons_.find(id);
  return found != lessons_.end() && member_or(*found, "version", 0) == version &&
         member_or(*found, kKnown, false);
}

bool LessonProgress::again(const std::string& id, int version) const {
  return done(id, version) && member_or(lessons_.at(id), kAgain, false);
}

Result<void> LessonProgress::note_known(const std::string& id, int version) {
  if (done(id, version)) return {};
  if (record(id, version).is_null())
    lessons_[id] = {{"version", version}, {"done", false}, {"answers", nullptr}};
  lessons_[id][kKnown] = true;
  return write();
}

Result<void> LessonProgress::keep(const std::string& id, int version, bool is_done,
                                  const json& answers) {
  const bool was_done = done(id, version), was_known = known(id, version);
  std::optional<Mastery> counts = mastery(id, version);
  if (is_done && !(counts && counts->mastered())) counts = mastery_of(answers);
  json kept = {{"version", version}, {"done", is_done || was_done}, {"answers", answers}};
  if (was_done) {
    for (const char* key : {kReviewed, kReviews})
      if (lessons_[id].contains(key)) kept[key] = lessons_[id][key];
    if (!is_done) kept[kAgain] = true;
  } else if (is_done) {
    kept[kReviewed] = iso_text(QDateTime::currentDateTimeUtc());
    kept[kReviews] = 0;
  }
  if (counts) kept[kMastery] = mastery_json(*counts);
  if (was_known) kept[kKnown] = true;
  lessons_[id] = std::move(kept);
  return write();
}

QDateTime LessonProgress::seen(const std::string& id, int version) const {
  if (!done(id, version)) return {};
  return QDateTime::fromString(
      QString::fromStdString(member_or(lessons_[id], kReviewed, std::string())), Qt::ISODate);
}

bool LessonProgress::due(const std::string& id, int version, const QDateTime& now) const {
  if (!done(id, version)) return false;
  const json& kept = lessons_[id];
  const QDateTime last = seen(id, version);
  if (!last.isValid()) return true;
  const int reviews =
      std::clamp(member_or(kept, kReviews, 0), 0, static_cast<int>(std::size(kDays)) - 1);
  return last.addDays(kDays[reviews]) <= now;
}

Result<void> LessonProgress::note_review(const std::string& id, int version, bool right,
                                         const QDateTime& now) {
  if (!done(id, version)) return {};
  json& kept = lessons_[id];
  kept[kReviews] = right ? std::clamp(member_or(kept, kReviews, 0), 0, kDays[2]) + 1 : 0;
  kept[kReviewed] = iso_text(now);
  return write();
}

Result<void> LessonProgress::join(std::optional<ClassPlace> place) {
  place_ = std::move(place);
  return write();
}

Result<void> LessonProgress::set_playlist(std::optional<Playlist> playlist) {
  playlist_ = std::move(playlist);
  return write();
}

Result<void> LessonProgress::write() {
  if (!writes_) return {};
  const QDir folder = QFileInfo(path_).absoluteDir();
  // A chosen folder that is gone, such as one on a stick, is not made up.
  if (chosen_folder().isEmpty() || folder != QDir(chosen_folder()))
    QDir().mkpath(folder.absolutePath());
  QSaveFile file(path_);
  json content = {{"format", kFormat}, {"lessons", lessons_}};
  if (!exams_.empty()) content[kExams] = exams_;
  if (place_)
    content[kClass] = {{"code", place_->code}, {"name", place_->name}, {"exam", place_->exam}};
  if (playlist_) content[kPlaylist] = playlist_json(*playlist_);
  const std::string text = content.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  const bool written = file.open(QIODevice::WriteOnly) &&
                       file.write(text.data(), static_cast<qint64>(text.size())) ==
                           static_cast<qint64>(text.size()) &&
                       file.commit();
  if (written) return {};
  return message("progress-write", "Your progress could not be saved in {}: {}.",
                 path_.toStdString(), file.errorString().toStdString());
}

}  // namespace parallelarium
