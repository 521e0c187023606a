// SPDX-License-Identifier: GPL-3.0-or-later
// The sentence above the views: what stands in the way, most pressing first.
#include <algorithm>

#include "app/lesson/lesson_panel.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/selection/proof_text.h"
#include "app/settings/setup_fields.h"
#include "app/shell/window.h"
#include "app/state/run/run_advice.h"
#include "app/state/step/order_edit.h"
#include "app/state/step/training_step.h"
#include "app/views/shared/words/setup_words.h"

namespace parallelarium {

void Window::dismiss() {
  typed_wrong_.clear();
  note_.clear();
  copied_.reset();
  session_.jobs().dismiss_error();
  refresh_banner();
}

namespace {

// "fused" of "fused: computes them again", in the window's language; numbers and names stay.
QString short_value(const SetupSetting& row, const QString& value) {
  const QString caption = caption_of(row, value.toStdString()).text;
  return caption.contains(QStringLiteral(": ")) ? caption.section(QStringLiteral(": "), 0, 0)
                                                : value;
}

}  // namespace

// What mends `problem`, as far as a lesson leaves it open.
std::vector<Banner::Choice> Window::choices_of(const Message& problem, Topic& topic) {
  std::vector<Banner::Choice> choices;
  const SetupSetting* row =
      topic.is_step() ? find_setting(setup_settings(), problem.field) : nullptr;
  const QString label = row ? field_title(row->option) : QString();
  for (Remedy& remedy : topic.remedies(problem)) {
    if (!remedy.setting.isEmpty() && !session_.locks().allowed(remedy.setting)) continue;
    if (label.isEmpty()) {
      choices.push_back({remedy.text, tr("Set %1").arg(remedy.text), std::move(remedy.take)});
      continue;
    }
    // The first says what it sets; the others stand beside it.
    const QString value = short_value(*row, remedy.text);
    const QString text = choices.empty() ? tr("%1: %2").arg(label, value) : value;
    choices.push_back({text, tr("Set %1 to %2").arg(label, value), std::move(remedy.take)});
  }
  return choices;
}

void Window::refresh_banner() {
  // In Plan and on the map of lessons the setup is not what is looked at.
  const bool elsewhere = room_ == Room::kPlan || shows_index();
  if ((!elsewhere && say_problem()) || say_what_happened()) return;
  if (room_ == Room::kPlan && say_copy()) return;
  if (presents_ && !lesson_->player().is_open())  // nothing else says how to get out
    return banner_->say(tr("Esc leaves"), Banner::Kind::kPlain, {});
  if (view().topic().is_step() && !elsewhere) return say_of_the_step();
  banner_->say({}, Banner::Kind::kPlain, {});
}

// What is set is not valid.
bool Window::say_problem() {
  Topic& topic = view().topic();
  const std::optional<Message> problem = topic.problem();
  if (!problem) return false;
  // The editor itself says what an unfinished order lacks.
  if (session_.order_edit().open() && problem->id.starts_with("order-") && topic.is_step()) {
    if (!session_.jobs().last_error().isEmpty()) return false;
    banner_->say({}, Banner::Kind::kPlain, {});
    return true;
  }
  std::vector<Banner::Choice> choices = choices_of(*problem, topic);
  if (choices.empty() && session_.history().stack().canUndo())
    choices.push_back({tr("Undo"), {}, [this] { session_.history().stack().undo(); }});
  banner_->say(setting_sentence(*problem), Banner::Kind::kWarning, std::move(choices));
  return true;
}

// What was typed, failed or was done; it stays until it is dismissed, or passes by itself.
bool Window::say_what_happened() {
  const Banner::Choice close{tr("Dismiss"), {}, [this] { dismiss(); }};
  if (!typed_wrong_.isEmpty()) {
    banner_->say(typed_wrong_, Banner::Kind::kWarning, {close});
    return true;
  }
  if (!session_.jobs().last_error().isEmpty()) {
    std::vector<Banner::Choice> choices;
    if (session_.jobs().last_problem())
      for (Banner::Choice& choice :
           choices_of(*session_.jobs().last_problem(), session_.training_step()))
        choices.push_back({choice.text, choice.accessible_name, [this, act = choice.act] {
                             act();
                             dismiss();
                           }});
    choices.push_back(close);
    banner_->say(session_.jobs().last_error(), Banner::Kind::kWarning, std::move(choices));
    return true;
  }
  if (note_.isEmpty()) return false;
  banner_->say(note_, Banner::Kind::kPlain, {close});
  return true;
}

// What the small copy of a plan did: its lanes are in Explore, where its settings are.
bool Window::say_copy() {
  const RunRecord* run = session_.runs().current();
  const bool ran = copied_ == session_.setup() && session_.jobs().state() == RunState::kIdle &&
                   run && run->observed() && !session_.runs().current_is_stale();
  if (!ran || !session_.locks().hidden_keys().isEmpty()) return false;
  const Setup& copy = run->observation.setup;
  QString said =
      tr("The small copy is %1 with %2. Its step took %3 (%4); predicted: %5.")
          .arg(sentence(title_of(copy.model)), axes_text(copy),
               seconds_text(run->observation.step.seconds), source_text(run->observation.source),
               seconds_text(run->prediction->step.seconds));
  if (run->proof) said += QLatin1Char(' ') + proof_text(*run->proof);
  banner_->say(said, Banner::Kind::kPlain,
               {{tr("See it in Explore"),
                 {},
                 [this] {
                   show_room(Room::kExplore);
                   dismiss();
                 }},
                {tr("Dismiss"), {}, [this] { dismiss(); }}});
  return true;
}

void Window::say_of_the_step() {
  Topic& step = session_.training_step();
  if (const std::optional<Message> problem = run_problem(session_)) {
    const QString why = sentence(*problem);
    if (can_execute(session_.resolved()))
      banner_->say(why, Banner::Kind::kWarning, choices_of(*problem, step));
    else  // nothing is wrong with what is predicted
      banner_->say(tr("Run is off: %1").arg(why), Banner::Kind::kPlain, choices_of(*problem, step));
    return;
  }
  // Whether a plan fits is what a student has to find out before the planner is open.
  const bool secret = session_.locks().hidden(QStringLiteral("plan"));
  if (const auto problem = secret ? std::nullopt : memory_problem(session_)) {
    banner_->say(sentence(*problem), Banner::Kind::kWarning, {});
    return;
  }
  if (machine_is_elsewhere(session_)) {
    std::vector<Banner::Choice> choices;
    if (small_copy_refusal(session_, session_.setup()).isEmpty())
      choices.push_back({do_.small_copy->text().remove(QLatin1Char('&')), {}, [this] {
                           do_.small_copy->trigger();
                         }});
    banner_->say(run_refusal(session_), Banner::Kind::kPlain, std::move(choices));
    return;
  }
  if (const std::optional<Message> offer = gpu_offer(session_);
      offer && run_refusal(session_).isEmpty()) {
    banner_->say(sentence(*offer), Banner::Kind::kPlain, choices_of(*offer, step));
    return;
  }
  // The lesson itself says that it waits for an answer.
  const QString refusal = session_.locks().question_open() ? QString() : run_refusal(session_);
  banner_->say(refusal.isEmpty() ? QString() : tr("Run is off: %1").arg(refusal),
               Banner::Kind::kPlain, {});
}

}  // namespace parallelarium
