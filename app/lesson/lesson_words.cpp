// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that makes text: the lesson's Markdown with the student's numbers put in.
#include <QLocale>

#include "app/figures.h"
#include "app/lesson/lesson_player.h"

namespace parallelarium {

namespace {

std::string written(double value, std::string_view unit) {
  return value_text(value, unit).toStdString();
}

}  // namespace

const StepText& LessonPlayer::text() const {
  static const StepText kNone;
  const auto& steps = lesson_->text(language()).steps;
  const auto found = steps.find(step().id);
  return found == steps.end() ? kNone : found->second;
}

QString LessonPlayer::filled(const std::string& markdown, const Symbols& symbols) const {
  const Result<std::string> text = fill_in(markdown, symbols, written);
  // Checked lessons never get here; a broken one says what is wrong with it.
  return QString::fromStdString(text ? *text : text.error().text);
}

// The body speaks of the step before the answer is revealed, whatever was set since.
Symbols LessonPlayer::body_symbols() const {
  Context before;
  const Result<Setup> setup = setup_at(*lesson_, at_, drawn_);
  before.setup = setup ? *setup : session_.setup();
  before.drawn = drawn_;
  before.guess = latest_guess();
  return before.symbols();
}

Symbols LessonPlayer::part_symbols() const {
  if (state().judgement) return state().judgement->symbols;
  Context after;
  const Result<Setup> setup = setup_at(*lesson_, at_, drawn_, true);
  after.setup = setup ? *setup : session_.setup();
  after.drawn = drawn_;
  after.guess = latest_guess();
  return after.symbols();
}

QString LessonPlayer::lesson_title() const {
  return QString::fromStdString(lesson_->text(language()).title);
}

QString LessonPlayer::title() const { return QString::fromStdString(text().title); }

QString LessonPlayer::body() const { return filled(text().body, body_symbols()); }

QString LessonPlayer::option_text(const std::string& option) const {
  return filled(text().part("option " + option), part_symbols());
}

QString LessonPlayer::hint(int number) const {
  return filled(text().part("hint " + std::to_string(number)), part_symbols());
}

QString LessonPlayer::model_answer() const { return filled(text().part("answer"), part_symbols()); }

QString LessonPlayer::feedback() const {
  if (!state().judgement) return {};
  const Judgement& judgement = *state().judgement;
  const bool plain = judgement.feedback == "right" || judgement.feedback == "wrong" ||
                     judgement.feedback == "again";
  const std::string part = plain ? judgement.feedback : "feedback " + judgement.feedback;
  QString words;
  // Sentences about an order that is refused replace the lesson's words about a complete one.
  if (judgement.reasons.empty()) words = filled(text().part(part), judgement.symbols);
  for (const Message& reason : judgement.reasons)
    words += (words.isEmpty() ? QString() : QStringLiteral("\n\n")) +
             QString::fromStdString(reason.text);
  return words;
}

}  // namespace parallelarium
