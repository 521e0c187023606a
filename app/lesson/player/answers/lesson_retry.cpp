// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that lets a wrong answer be tried again before the answer is shown, and
// what it says meanwhile.
#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "app/lesson/player/answers/guess_text.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/figures.h"
#include "app/look/sentence.h"

namespace parallelarium {

namespace {

// "27.3" of "27.3 %".
QString bare(const QString& figure) {
  static const QRegularExpression unit(QStringLiteral("[\\x{00a0}\\x{202f} ].*"));
  return QString(figure).remove(unit);
}

// Whether the sentence, with its numbers put in, has the answer as any of the window's texts would
// write it.
bool has_figure(const QString& sentence, double answer, const std::string& unit) {
  QStringList ways{bare(value_text(answer, unit)), bare(guess_text(answer, unit)),
                   bare(number_text(answer))};
  if (std::abs(answer) < 1e15 && answer == std::round(answer))
    ways << QString::number(std::llround(answer)) << QLocale().toString(std::llround(answer));
  return std::any_of(ways.begin(), ways.end(), [&](const QString& way) {
    const QRegularExpression whole(QStringLiteral("(?<![0-9.,])") +
                                   QRegularExpression::escape(way) +
                                   QStringLiteral("(?![.,]?[0-9])"));
    return whole.match(sentence).hasMatch();
  });
}

}  // namespace

bool LessonPlayer::may_retry() const {
  const StepKind kind = step().kind;
  return tells_verdict() && !step().sets_plan() &&
         (kind == StepKind::kPredict || kind == StepKind::kExplain);
}

bool LessonPlayer::may_show_answer() const {
  return is_open() && may_retry() && state().attempts > 0 && !state().solved;
}

void LessonPlayer::show_answer() {
  if (!may_show_answer()) return;
  reveal();
  Result<Judgement> judgement = judge(step(), state().answer, context());
  if (!judgement) return Q_EMIT failed(sentence(judgement.error()));
  states_[at_].judgement = std::move(*judgement);
  settle(true);
  Q_EMIT judged(false);
}

// What is said of a foreseen wrong number up to the first sentence that tells the answer, and how
// many parts are wrong. Of a wrong card the lesson's words name the right one, so that the next
// hint is said, though never the last, which is nearly the answer. Other wrong numbers have no
// words: those of the lesson derive the answer.
QString LessonPlayer::feedback_before_answer() const {
  const Judgement& judgement = *state().judgement;
  if (!step().parts.empty())
    return filled(text(at_).part("wrong"), judgement.symbols) + unit_remarks();
  if (!step().ask || step().ask->answer.empty()) {
    const int next = std::min(state().attempts, step().hints - 1);
    return next > state().hints ? hint(next) : QString();  // those that were asked for stand below
  }
  const auto answer = judgement.symbols.find("answer");
  if (judgement.feedback == "wrong" || answer == judgement.symbols.end()) return {};
  const QString words = QString::fromStdString(text(at_).part("feedback " + judgement.feedback));
  static const QRegularExpression end(QStringLiteral("[.!?](?=\\s|$)"));
  static const QRegularExpression tells(
      QStringLiteral("\\{\\{[^}]*\\b(?:answer|predicted|observed|found)\\b"));
  QString kept;
  for (qsizetype from = 0; from < words.size();) {
    const auto stop = end.match(words, from);
    const qsizetype to = stop.hasMatch() ? stop.capturedEnd() : words.size();
    const QString sentence = words.mid(from, to - from);
    if (tells.match(sentence).hasMatch()) break;
    const QString said = filled(sentence.toStdString(), judgement.symbols);
    if (has_figure(said, answer->second, step().ask->unit)) break;
    kept += said;
    from = to;
  }
  return kept.trimmed();
}

}  // namespace parallelarium
