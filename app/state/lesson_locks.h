// SPDX-License-Identifier: GPL-3.0-or-later
// What the open lesson hides, locks and keeps.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct CollectiveChoice;

// An answer that a student committed, kept as a third mark until the lesson ends.
struct Guess {
  QString metric;  // dotted key, such as "bubble.of_total"
  double value = 0;
  QString text;  // "16 %"
  // The guess is about figures of these settings (how they are run does not matter), or of this
  // collective. Without either, it is about any present settings.
  std::optional<Setup> setup = {};
  std::shared_ptr<const CollectiveChoice> collective = {};
};

// Facts about single ops that would give away what a lesson asks about the whole step.
struct HiddenOfOps {
  bool times = false;  // when they begin and how long they take
  bool bytes = false;  // bytes that they send
};

class LessonLocks : public QObject {
  Q_OBJECT

 public:
  explicit LessonLocks(QObject* parent = nullptr) : QObject(parent) {}

  // Metrics and lanes that read "?" until an answer is committed: "bubble.of_total",
  // "lane.predicted", "lane.run", "memory", ... A hidden key hides the keys below it.
  bool hidden(const QString& key) const;
  const QStringList& hidden_keys() const { return hidden_; }
  HiddenOfOps hidden_of_ops() const;
  void set_hidden(const QStringList& keys);
  // Setting keys that may be changed now; empty means all.
  bool allowed(const QString& key) const;
  const QStringList& allowed_keys() const { return allowed_; }
  void set_allowed(const QStringList& keys);
  // Whether a question of the lesson is open, so that nothing may run; and whether a run of the
  // present settings would show its answer.
  bool question_open() const { return question_open_; }
  bool run_answers() const { return run_answers_; }
  void set_question_open(bool open, bool run_answers = false);
  const std::vector<Guess>& guesses() const { return guesses_; }
  void set_guesses(std::vector<Guess> guesses);
  // The text of the guess at this metric that is about `setup` and `collective`. Empty if there is
  // none, and while the metric is hidden, since the lesson then asks about it again.
  QString guess_at(const QString& metric, const Setup& setup,
                   const CollectiveChoice& collective) const;
  // From now on nothing is hidden, locked or asked.
  void clear();

  // The state that the lesson player keeps in a document.
  const nlohmann::json& lesson_state() const { return lesson_state_; }
  void set_lesson_state(nlohmann::json state) { lesson_state_ = std::move(state); }

 Q_SIGNALS:
  void hidden_changed();
  void allowed_changed();
  void question_changed();
  void guesses_changed();

 private:
  QStringList hidden_, allowed_;
  bool question_open_ = false, run_answers_ = false;
  std::vector<Guess> guesses_;
  nlohmann::json lesson_state_;
};

}  // namespace parallelarium
