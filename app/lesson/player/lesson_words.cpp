// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that makes text: the lesson's Markdown with the student's numbers put in.
#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/lesson/player/lesson_player.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/settings/setup_fields.h"
#include "app/state/step/order_edit.h"
#include "app/views/shared/quantities/quantities.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

namespace {

struct Limits {
  Q_DECLARE_TR_FUNCTIONS(limits)
};

// The name of a figure that a check is about.
QString figure_name(const QString& key) {
  const QString place = key.section(QLatin1Char('.'), 2, 2);
  if (key == QLatin1String("bubble.of_total")) return Limits::tr("the bubble of the whole step");
  if (key == QLatin1String("step.seconds")) return Limits::tr("the step time");
  if (key == QLatin1String("step.tokens_per_second")) return Limits::tr("the tokens per second");
  if (key == QLatin1String("step.exposed_communication_seconds"))
    return Limits::tr("the exposed communication");
  if (key == QLatin1String("step.mfu")) return Limits::tr("the MFU");
  if (key == QLatin1String("ranks")) return Limits::tr("the number of ranks");
  if (key == QLatin1String("proof.holds")) return Limits::tr("the proof, 1 where it holds");
  if (key == QLatin1String("model.parameters")) return Limits::tr("the parameters of the model");
  if (key == QLatin1String("bubble.over_ideal")) return Limits::tr("the bubble over ideal time");
  if (key == QLatin1String("experts.dropped")) return Limits::tr("the share of dropped rows");
  if (key == QLatin1String("experts.fullest"))
    return Limits::tr("rows of the fullest rank over the mean");
  if (key == QLatin1String("experts.fullest_expert"))
    return Limits::tr("rows of the fullest expert over the mean");
  if (key == QLatin1String("experts.most_kept"))
    return Limits::tr("the most rows that an expert keeps");
  if (key == QLatin1String("ranks.copies")) return Limits::tr("the ranks with equal weights");
  if (key == QLatin1String("ranks.differing")) return Limits::tr("the ranks with other weights");
  if (key == QLatin1String("ranks.loss_spread"))
    return Limits::tr("the distance between the ranks' losses");
  if (key == QLatin1String("noise_scale.sequences"))
    return Limits::tr("the noise scale of gradients, in sequences");
  if (key.startsWith(QLatin1String("losses.")))
    return Limits::tr("the loss after step %1").arg(key.section(QLatin1Char('.'), 1));
  if (key == QLatin1String("traffic.*.sent_bytes"))
    return Limits::tr("what a rank sends of one kind");
  if (key == QLatin1String("traffic.sent_bytes")) return Limits::tr("what a rank sends");
  if (key.startsWith(QLatin1String("traffic."))) {
    const QString what =
        key.section(QLatin1Char('.'), 1, 1).replace(QLatin1Char('_'), QLatin1Char('-'));
    return key.endsWith(QLatin1String(".calls"))
               ? Limits::tr("the number of messages of a rank (%1)").arg(what)
           : key.endsWith(QLatin1String(".received_bytes"))
               ? Limits::tr("what a rank receives (%1)").arg(what)
               : Limits::tr("what a rank sends (%1)").arg(what);
  }
  if (key.endsWith(QLatin1String(".optimizer_bytes")))
    return Limits::tr("the optimizer states on a rank");
  if (key.endsWith(QLatin1String(".activations_bytes")))
    return Limits::tr("the activations on a rank");
  if (key.endsWith(QLatin1String(".parameters_bytes")))
    return Limits::tr("the parameters on a rank");
  if (key.endsWith(QLatin1String(".gradients_bytes"))) return Limits::tr("the gradients on a rank");
  if (key == QLatin1String("proof.largest_difference"))
    return Limits::tr("the largest difference from one rank");
  if (key == QLatin1String("proof.gradient_difference"))
    return Limits::tr("the difference of gradients from one rank");
  if (key == QLatin1String("proof.loss_difference"))
    return Limits::tr("the difference of losses from one rank");
  if (key == QLatin1String("held.peak")) return Limits::tr("the micro-batches held at most");
  if (key.startsWith(QLatin1String("memory.ranks.*")))
    return Limits::tr("the peak memory of the fullest rank");
  if (key.startsWith(QLatin1String("held.ranks.")))
    return Limits::tr("the micro-batches held by stage %1").arg(place);
  if (key.startsWith(QLatin1String("memory.ranks.")))
    return Limits::tr("the peak memory of stage %1").arg(place);
  if (key == QLatin1String("collective.seconds")) return Limits::tr("the time");
  if (key == QLatin1String("collective.bus_bandwidth")) return Limits::tr("the bus bandwidth");
  if (key == QLatin1String("collective.steps")) return Limits::tr("the number of steps");
  if (key == QLatin1String("collective.correct")) return Limits::tr("the share of right results");
  if (key.startsWith(QLatin1String("collective.sent_bytes")))
    return Limits::tr("what a rank sends at most");
  return key;
}

QString figure_text(const QString& key, double value) {
  if (key.startsWith(QLatin1String("bubble.")) || key == QLatin1String("step.mfu"))
    return share_text(value);
  if (key == QLatin1String("experts.dropped")) return share_text(value);
  if (key == QLatin1String("model.parameters")) return parameters_text(std::llround(value));
  if (key.endsWith(QLatin1String("_bandwidth"))) return rate_text(value);
  if (key.contains(QLatin1String("bytes"))) return bytes_text(std::llround(value));
  if (key.endsWith(QLatin1String("seconds"))) return seconds_text(value);
  return number_text(value);
}

// "To pass, the bubble of the whole step must lie between 20 % and 32 %; in this run it is 41 %."
QString limit_sentence(const CheckOutcome& outcome) {
  const QString key = QString::fromStdString(outcome.check.metric());
  if (key == QLatin1String("proof.holds"))
    return Limits::tr(
        "To pass, the proof must hold; the run differs from one rank by more than "
        "rounding explains.");
  const auto text = [&](double value) { return figure_text(key, value); };
  const double around = outcome.check.tolerance.around(outcome.wanted);
  const QString name = figure_name(key), found = text(*outcome.value);
  if (outcome.check.op == "==" && around > 0)
    return Limits::tr("To pass, %1 must lie between %2 and %3; in this run it is %4.")
        .arg(name, text(outcome.wanted - around), text(outcome.wanted + around), found);
  if (outcome.check.op == "==")
    return Limits::tr("To pass, %1 must be %2; in this run it is %3.")
        .arg(name, text(outcome.wanted), found);
  const bool least = outcome.check.op == ">" || outcome.check.op == ">=";
  return (least ? Limits::tr("To pass, %1 must be at least %2; in this run it is %3.")
                : Limits::tr("To pass, %1 must be at most %2; in this run it is %3."))
      .arg(name, text(outcome.wanted), found);
}

// The figures that a check lets pass.
std::pair<double, double> passing(const CheckOutcome& outcome) {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const double around = outcome.check.tolerance.around(outcome.wanted);
  const char first = outcome.check.op.front();
  return {first == '<' ? -kAny : outcome.wanted - (first == '=' ? around : 0),
          first == '>' ? kAny : outcome.wanted + (first == '=' ? around : 0)};
}

// Whether what passes `one` passes `other` too, and not the other way round: then `other` needs no
// sentence of its own.
bool asks_more(const CheckOutcome& one, const CheckOutcome& other) {
  const auto inner = passing(one), outer = passing(other);
  return one.check.metric() == other.check.metric() && inner != outer &&
         inner.first >= outer.first && inner.second <= outer.second;
}

// "Everything is placed, 11 of 16: not yet."
QString heard_condition(const QString& words, const QString& found, bool holds) {
  const QString whole = found.isEmpty() ? words : words + QStringLiteral(", ") + found;
  return holds ? Limits::tr("%1: reached.").arg(whole) : Limits::tr("%1: not yet.").arg(whole);
}

// "✓", or "✗" with what was found.
LessonPlayer::Condition condition(const QString& text, bool holds, const QString& found) {
  const QString heard = heard_condition(text, found, holds);
  if (holds)
    return {text, found.isEmpty() ? QStringLiteral("✓") : QStringLiteral("✓ ") + found, heard,
            true};
  return {text, found.isEmpty() ? QStringLiteral("✗") : QStringLiteral("✗ ") + found, heard, false};
}

// "Data must be 4"
QString demand_words(const QString& name, const std::string& op, const QString& wanted) {
  const QString words = op == "<="   ? Limits::tr("%1 must be at most %2")
                        : op == ">=" ? Limits::tr("%1 must be at least %2")
                        : op == "<"  ? Limits::tr("%1 must be less than %2")
                        : op == ">"  ? Limits::tr("%1 must be more than %2")
                        : op == "!=" ? Limits::tr("%1 must not be %2")
                                     : Limits::tr("%1 must be %2");
  return words.arg(name, wanted);
}

QString sign_of(const std::string& op) {
  if (op == "<=") return QStringLiteral("≤");
  if (op == ">=") return QStringLiteral("≥");
  if (op == "==") return QStringLiteral("=");
  if (op == "!=") return QStringLiteral("≠");
  return QString::fromStdString(op);
}

QString name_of_check(const Check& check) {
  if (check.of == "setup")
    if (const SetupSetting* row = find_setting(setup_settings(), check.key))
      return setting_words(row->label);
  const QString key = QString::fromStdString(check.metric());
  QString name = figure_name(key);
  if (!name.isEmpty()) name[0] = name[0].toUpper();
  return check.of_run() ? Limits::tr("%1, in a run").arg(name) : name;
}

std::string written(double value, std::string_view unit) {
  return value_text(value, unit).toStdString();
}

QString wanted_text(const CheckOutcome& outcome) {
  const bool word = !outcome.value && outcome.check.of == "setup";
  if (word) return QString::fromStdString(outcome.check.value);
  const QString wanted =
      figure_text(QString::fromStdString(outcome.check.metric()), outcome.wanted);
  return outcome.check.value == "predicted" ? Limits::tr("the predicted %1").arg(wanted) : wanted;
}

}  // namespace

QString condition_words(const CheckOutcome& outcome) {
  return name_of_check(outcome.check) + QChar(' ') + sign_of(outcome.check.op) + QChar(' ') +
         wanted_text(outcome);
}

const StepText& LessonPlayer::text(std::size_t step) const {
  static const StepText kNone;
  const auto& steps = lesson_->text(language()).steps;
  const auto found = steps.find(lesson_->steps[step].id);
  return found == steps.end() ? kNone : found->second;
}

QString LessonPlayer::filled(const std::string& markdown, const Symbols& symbols) const {
  const Result<std::string> text = fill_in(markdown, symbols, written);
  // Checked lessons never get here; a broken one says what is wrong with it.
  return text ? QString::fromStdString(*text) : sentence(text.error());
}

Symbols LessonPlayer::symbols_at(const Result<Settings>& at) const {
  Context context;
  context.settings = at ? *at : settings();
  context.drawn = drawn_;
  context.guess = latest_guess();
  return context.symbols();
}

// The body speaks of the step before the answer is revealed, whatever was set since.
Symbols LessonPlayer::body_symbols() const { return symbols_at(begun_at(at_)); }

Symbols LessonPlayer::part_symbols() const {
  if (state().judgement) return state().judgement->symbols;
  return symbols_at(begun_at(at_, true));
}

QString LessonPlayer::lesson_title() const {
  return QString::fromStdString(lesson_->text(language()).title);
}

QString LessonPlayer::title(std::size_t step) const {
  return QString::fromStdString(text(step).title);
}

QString LessonPlayer::body() const { return filled(text(at_).body, body_symbols()) + own_order(); }

QString LessonPlayer::option_text(const std::string& option) const {
  return filled(text(at_).part("option " + option), part_symbols());
}

QString LessonPlayer::part_text(const std::string& part) const {
  return filled(text(at_).part("part " + part), part_symbols());
}

QString LessonPlayer::counted(const std::string& part) const {
  return QString::fromStdString(text(at_).part(part.empty() ? "unit" : "unit " + part));
}

QString LessonPlayer::hint(int number) const {
  return filled(text(at_).part("hint " + std::to_string(number)), part_symbols());
}

QString LessonPlayer::model_answer() const {
  if (exam_) return {};
  const bool reads = step().kind == StepKind::kRead;
  return filled(text(at_).part(reads ? "notes" : "answer"), part_symbols());
}

QString LessonPlayer::missed_limits() const {
  if (step().kind != StepKind::kRun) return {};
  std::vector<CheckOutcome> missed;
  for (const CheckOutcome& outcome : state().judgement->checks)
    if (!outcome.holds && outcome.value && outcome.check.op != "!=") missed.push_back(outcome);
  QStringList limits;
  for (const CheckOutcome& outcome : missed)
    if (std::none_of(missed.begin(), missed.end(),
                     [&](const CheckOutcome& other) { return asks_more(other, outcome); }))
      limits << limit_sentence(outcome);
  if (state().unmet) limits << Limits::tr("You went on with this run: the check is **not met**.");
  return limits.join(QStringLiteral("\n\n"));
}

// Of a setup that cannot be nothing is predicted, but what is asked of its settings is known.
std::vector<CheckOutcome> LessonPlayer::outcomes() const {
  const Context now = context();
  std::vector<CheckOutcome> all;
  for (const Check& check : step().checks) {
    CheckOutcome& outcome = all.emplace_back();
    outcome.check = check;
    if (check.of == "predicted" && now.predicted.json().is_null()) {
      if (const Result<double> wanted = evaluate(check.value, now.symbols()))
        outcome.wanted = *wanted;
      continue;
    }
    Step alone;
    alone.kind = StepKind::kGoal;
    alone.checks = {check};
    const Result<Judgement> judged = judge(alone, {}, now);
    if (judged) outcome = judged->checks.front();
  }
  return all;
}

std::vector<LessonPlayer::Condition> LessonPlayer::conditions() const {
  if (!is_open()) return {};
  if (step().builds_order()) return order_conditions();
  std::vector<Condition> all;
  const bool sets = step().kind == StepKind::kGoal || step().sets_plan();
  if (!sets) return all;
  for (const CheckOutcome& outcome : outcomes()) {
    const QString key = QString::fromStdString(outcome.check.metric());
    // What a plan is predicted to cost is not told before it is committed.
    const QString demand =
        demand_words(name_of_check(outcome.check), outcome.check.op, wanted_text(outcome));
    if (step().sets_plan() && !state().solved && outcome.check.of != "setup") {
      all.push_back({condition_words(outcome), kHidden,
                     Limits::tr("%1: hidden until you commit.").arg(demand), false});
      continue;
    }
    const QString found = outcome.value ? figure_text(key, *outcome.value) : QString();
    all.push_back(condition(condition_words(outcome), outcome.holds, found));
    all.back().heard = heard_condition(
        demand, found.isEmpty() ? found : Limits::tr("is %1").arg(found), outcome.holds);
  }
  return all;
}

bool LessonPlayer::mended() const {
  if (!is_open() || state().solved || !state().judgement || !tells_verdict()) return false;
  if (step().kind != StepKind::kGoal && !step().builds_order()) return false;
  if (step().kind == StepKind::kGoal && !session_.prediction_is_current()) return false;
  const std::vector<Condition> all = conditions();
  return !all.empty() &&
         std::all_of(all.begin(), all.end(), [](const Condition& each) { return each.holds; });
}

std::vector<LessonPlayer::Condition> LessonPlayer::order_conditions() const {
  const OrderEdit& edit = session_.order_edit();
  if (!edit.open() || !edit.problem().isEmpty()) return {};
  const DraftTimes& times = edit.times();
  const bool waits = std::any_of(times.ranks.begin(), times.ranks.end(), [](const DraftRank& rank) {
    return rank.wait && rank.wait->for_ever;
  });
  const bool sound = !waits && edit.faults().empty(),
             whole = times.whole() && edit.faults().empty();
  double held = 0;
  for (const DraftRank& rank : times.ranks) held = std::max(held, rank.held);
  std::vector<Condition> all;
  const QString end = Limits::tr("Every rank comes to its end");
  all.push_back(condition(end, sound, sound ? QString() : Limits::tr("no")));
  all.back().heard = heard_condition(end, {}, sound);
  if (sound && !whole)
    all.back() = {end, Limits::tr("none is stuck"), Limits::tr("No rank is stuck so far."), false};
  all.push_back(condition(Limits::tr("Everything is placed"), times.placed >= times.wanted,
                          Limits::tr("%1 of %2").arg(times.placed).arg(times.wanted)));
  const Symbols symbols = symbols_at(settings());
  for (const Check& check : step().checks) {
    const Result<double> wanted = evaluate(check.value, symbols);
    if (check.of != "order" || !wanted) continue;
    if (check.key == "makespan") {
      const QString text = Limits::tr("At most %1 forwards long").arg(number_text(*wanted));
      if (!whole)
        all.push_back({text, Limits::tr("not yet known"),
                       heard_condition(text, Limits::tr("not yet known"), false), false});
      else
        all.push_back(
            condition(text, times.makespan <= *wanted * (1 + 1e-9), number_text(times.makespan)));
    } else if (check.key.starts_with("peak_in_flight.")) {
      const QString rank = QString::fromStdString(check.key).section(QLatin1Char('.'), 1);
      const bool every = rank == QLatin1String("*");
      const double now = every ? held : times.ranks.at(rank.toUInt()).held;
      all.push_back(condition(
          every ? Limits::tr("At most %1 held").arg(number_text(*wanted))
                : Limits::tr("At most %1 held on stage %2").arg(number_text(*wanted), rank),
          now <= *wanted + 1e-9, number_text(now)));
    }
  }
  return all;
}

QString LessonPlayer::feedback() const {
  if (!state().judgement || !tells_verdict()) return {};
  if (may_show_answer()) return feedback_before_answer();
  const Judgement& judgement = *state().judgement;
  const bool plain = judgement.feedback == "right" || judgement.feedback == "wrong" ||
                     judgement.feedback == "again";
  const std::string part = plain ? judgement.feedback : "feedback " + judgement.feedback;
  QString words;
  // Sentences about an order that is refused replace the lesson's words about a complete one.
  if (!exam_ && (judgement.reasons.empty() || step().kind == StepKind::kFind))
    words = filled(text(at_).part(part), judgement.symbols) + own_figures() + unit_remarks();
  if (const QString limits = missed_limits(); !limits.isEmpty())
    words += (words.isEmpty() ? QString() : QStringLiteral("\n\n")) + limits;
  if (const std::optional<Message> disturbed = disturbance())
    words += (words.isEmpty() ? QString() : QStringLiteral("\n\n")) + sentence(*disturbed);
  for (const Message& reason : judgement.reasons)
    words += (words.isEmpty() ? QString() : QStringLiteral("\n\n")) + sentence(reason);
  return words;
}

}  // namespace parallelarium
