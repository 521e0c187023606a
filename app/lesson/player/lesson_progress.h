// SPDX-License-Identifier: GPL-3.0-or-later
// Which lessons a student has done, in the user's data folder (progress.json), by id and version.
// A newer version of a lesson counts as not done.
#pragma once

#include <QDateTime>
#include <QString>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/lesson/teaching/playlist.h"
#include "engine/plan/result.h"

namespace parallelarium {

// Who plays in a class: the numbers of lessons follow from both (class_seed).
struct ClassPlace {
  std::string code, name;
  bool exam = false;  // as the student says; a code may say so, too
  bool is_exam() const;
  std::uint64_t seed(const std::string& lesson) const;
  bool operator==(const ClassPlace&) const = default;
};

// How the questions of one play of a lesson were answered at the first commit: of several tries no
// other counts.
struct Mastery {
  int asked = 0, right = 0;
  std::string transfer;  // id of the transfer question, the last one that a figure is typed for
  bool transfer_right = false;
  // The transfer question and two thirds of all were right.
  bool mastered() const { return transfer_right && 3 * right >= 2 * asked; }
};
// Of what answers() of the player gives. A lesson without a figure to type ends with its last
// question; one that asks nothing cannot be mastered.
Mastery mastery_of(const nlohmann::json& answers);

class LessonProgress {
 public:
  // Reads the file; a missing or broken one is an empty progress (a broken one is kept aside).
  LessonProgress();
  // The file is `path`, for tests.
  explicit LessonProgress(QString path);

  bool done(const std::string& id, int version) const;
  // What was answered, as answers() of the player gives it; null if nothing.
  nlohmann::json record(const std::string& id, int version) const;
  // Of the plays that came to their end, the one that mastered the lesson, else the latest; none:
  // it is not done, or asks nothing.
  std::optional<Mastery> mastery(const std::string& id, int version) const;
  // Whether a question of it was answered before it was played: it can be skipped.
  bool known(const std::string& id, int version) const;
  Result<void> note_known(const std::string& id, int version);
  // Whether a lesson that was done is being played once more, and not to its end yet.
  bool again(const std::string& id, int version) const;
  // Keeps a lesson's record and writes the file atomically. A lesson that was done stays done.
  Result<void> keep(const std::string& id, int version, bool done, const nlohmann::json& answers);
  // The same of a lesson that was taken as an exam with these numbers. Practice never touches it,
  // and what was taken to its end stays as it is.
  nlohmann::json exam_record(const std::string& id, int version, std::uint64_t seed) const;
  bool exam_done(const std::string& id, int version, std::uint64_t seed) const;
  Result<void> keep_exam(const std::string& id, int version, std::uint64_t seed, bool done,
                         const nlohmann::json& answers);

  // When a lesson that is done was done, or reviewed last; not valid: before dates were kept.
  QDateTime seen(const std::string& id, int version) const;
  // Whether a question of a lesson that was done is due again: a day after it was done, a week
  // after the first review, then each month. A wrong answer begins anew with a day.
  bool due(const std::string& id, int version, const QDateTime& now) const;
  // Keeps that a review was answered. done() must be true.
  Result<void> note_review(const std::string& id, int version, bool right, const QDateTime& now);

  const std::optional<ClassPlace>& place() const { return place_; }
  // Joins a class, or leaves it. Lessons that are under way keep their numbers.
  Result<void> join(std::optional<ClassPlace> place);

  // The lessons that a teacher has put in order; none: the course's own order.
  const std::optional<Playlist>& playlist() const { return playlist_; }
  Result<void> set_playlist(std::optional<Playlist> playlist);
  // For as long as the program runs; it is not written.
  void show_playlist(Playlist playlist) { playlist_ = std::move(playlist); }

  // Nothing is written from now on: nobody plays where a picture is taken.
  void keep_nothing() { writes_ = false; }

  // Keeps everything in that folder from now on, made if it is not there. What lies in it already
  // is read; nothing that was kept elsewhere goes along. Error: it cannot be written.
  Result<void> use_folder(const QString& folder);
  // The folder that the user chose; empty: own_folder().
  static QString chosen_folder();
  static void choose_folder(const QString& folder);
  static QString own_folder();  // the user's data folder on this computer
  // Whether a folder was chosen that is not there now, such as one on a stick.
  static bool misses_folder();
  static QString default_path();

 private:
  void read();
  Result<void> write();
  QString path_;
  bool writes_ = true;
  std::optional<ClassPlace> place_;
  std::optional<Playlist> playlist_;
  nlohmann::json lessons_ = nlohmann::json::object();
  nlohmann::json exams_ = nlohmann::json::object();  // by lesson and numbers
};

}  // namespace parallelarium
