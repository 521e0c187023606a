// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/quantities/step_quantities.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <set>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/look/words.h"
#include "app/views/shared/quantities/loss_quantity.h"

namespace parallelarium {

namespace {

struct Quantities {
  Q_DECLARE_TR_FUNCTIONS(quantities)
};

std::int64_t sent_bytes(const std::vector<TrafficRow>& rows) {
  std::int64_t sum = 0;
  for (const TrafficRow& row : rows) sum += row.sent_bytes;
  return sum;
}

// What stands in place of a difference of durations, or empty where durations may be compared.
QString no_difference(Source source) {
  switch (source) {
    case Source::kPaced:
      return set_text();
    case Source::kOversubscribed:
    case Source::kSharedGpu:
      return Quantities::tr("not evidence of speed");
    default:
      return {};
  }
}

}  // namespace

QString set_text() { return Quantities::tr("set"); }

std::optional<Message> lateness_of(const Observation& run) {
  return run.source == Source::kPaced ? delay_of(run) : std::nullopt;
}

QString late_text() { return Quantities::tr("late"); }

bool can_be_late(const QString& key) {
  return key == QLatin1String("step.seconds") || key == QLatin1String("bubble.of_total") ||
         key == QLatin1String("step.exposed_communication_seconds");
}

bool say_no_difference(Source source, Quantity& quantity) {
  const QString word = no_difference(source);
  if (word.isEmpty()) return false;
  quantity.difference = word;
  quantity.why_none = meaning_of(source == Source::kPaced ? "set" : name_of(source));
  return true;
}

namespace {

// "rehearsed: Real ranks …", for who hovers the word; empty for one that the glossary lacks.
QString explained(Source source) {
  const QString meaning = meaning_of(name_of(source));
  return meaning.isEmpty() ? meaning : QStringLiteral("%1: %2").arg(source_text(source), meaning);
}

// Everything the five quantities are made of, for one Setup.
struct Values {
  double seconds = 0, bubble = 0, exposed = 0;
  std::int64_t peak = 0, sent = 0;
};

// `fullest` and `sender`: indices in the prediction's ranks.
Values values_of(const Prediction& prediction, int fullest, int sender) {
  Values values;
  values.seconds = prediction.step.seconds;
  values.bubble = prediction.bubble.of_total;
  values.exposed = prediction.step.exposed_communication_seconds;
  const std::vector<MemoryRow> memory = memory_of(prediction.program);
  if (fullest < int(memory.size())) values.peak = memory[std::size_t(fullest)].peak_bytes;
  if (sender < int(prediction.program.ranks.size()))
    values.sent = sent_bytes(traffic_of(prediction.program, sender));
  return values;
}

Values values_of(const Observation& run, int fullest, int sender) {
  Values values;
  values.seconds = run.step.seconds;
  values.bubble = run.bubble.of_total;
  values.exposed = run.step.exposed_communication_seconds;
  if (fullest < int(run.memory.size())) values.peak = run.memory[std::size_t(fullest)].peak_bytes;
  if (sender < int(run.traffic.size())) values.sent = sent_bytes(run.traffic[std::size_t(sender)]);
  return values;
}

// "12.2 k tokens/s"; beside a run what it did, where its times say anything.
QString throughput_note(const Prediction& expected, const RunRecord* run, const QLocale& locale) {
  const QString predicted = tokens_rate_text(expected.step.tokens_per_second, locale);
  if (!run) return predicted;
  const Source source = run->observation.source;
  if (source == Source::kPaced) return Quantities::tr("%1, set").arg(predicted);
  return Quantities::tr("%1, %2 %3")
      .arg(predicted, source_text(source),
           tokens_rate_text(run->observation.step.tokens_per_second, locale));
}

// What each rank sends in a step, by its index in Program::ranks.
std::vector<std::int64_t> sent_by_rank(const Prediction& prediction) {
  std::vector<std::int64_t> sent;
  for (std::size_t rank = 0; rank < prediction.program.ranks.size(); ++rank)
    sent.push_back(sent_bytes(traffic_of(prediction.program, int(rank))));
  return sent;
}
int index_of_most(const std::vector<std::int64_t>& sent) {
  return int(std::max_element(sent.begin(), sent.end()) - sent.begin());
}
std::vector<std::int64_t> held_by_rank(const Prediction& prediction) {
  std::vector<std::int64_t> held;
  for (const MemoryRow& row : prediction.memory) held.push_back(row.peak_bytes);
  return held;
}
// Whether the figures of all ranks read the same: chunks of a collective may differ by a few bytes.
bool read_alike(const std::vector<std::int64_t>& bytes) {
  std::set<QString> texts;
  for (const std::int64_t each : bytes) texts.insert(bytes_text(each));
  return texts.size() < 2;
}

// What the five quantities are of.
struct StepSides {
  explicit StepSides(const Session& of, int rank)
      : session(of),
        record(of.runs().current()),
        run(record && !of.runs().current_is_stale() ? record : nullptr),
        shown(run ? *run->prediction : *of.subject().prediction()),
        rank_index(rank),
        sent(sent_by_rank(shown)),
        fullest(rank < 0 ? fullest_rank(shown) : rank),
        busiest(index_of_most(sent)),
        sender(rank < 0 ? busiest : rank),
        expected(values_of(shown, fullest, sender)) {}
  // Time, bubble or exposed communication, peak and sent, as they stand in the vector.
  std::vector<Quantity> predicted(const QLocale& locale) const;
  void add_run(const QLocale& locale, std::vector<Quantity>& all) const;
  void add_pin(const RunRecord& pin, const QLocale& locale, std::vector<Quantity>& all) const;
  // Ranks of one stage have no bubble; they wait for each other.
  bool has_bubble(const Prediction& of) const { return of.setup.mesh.pp > 1; }
  // Guesses, and what an invalid Setup and a lesson leave out.
  void finish(std::vector<Quantity>& all) const;

  const Session& session;
  const RunRecord* record;
  const RunRecord* run;  // the record where it is of the present Setup
  const Prediction& shown;
  int rank_index;
  std::vector<std::int64_t> sent;  // by each rank
  int fullest, busiest, sender;
  Values expected;
};

std::vector<Quantity> StepSides::predicted(const QLocale& locale) const {
  std::vector<Quantity> all(4);
  all[0].key = QStringLiteral("step.seconds");
  all[0].title = Quantities::tr("Step time");
  if (has_bubble(shown)) {
    all[1].key = QStringLiteral("bubble.of_total");
    all[1].title = Quantities::tr("Bubble of whole step");
  } else {
    all[1].key = QStringLiteral("step.exposed_communication_seconds");
    all[1].title = Quantities::tr("Exposed communication");
  }
  all[2].key = QStringLiteral("memory.peak_bytes");
  all[2].title = Quantities::tr("Peak memory, %1").arg(rank_place(shown, fullest));
  all[3].key = QStringLiteral("traffic.sent_bytes");
  all[3].title = Quantities::tr("Sent, %1").arg(rank_place(shown, sender));

  // Views show other ranks: it is said which one, and why that.
  if (shown.setup.mesh.ranks() > 1) {
    const bool chosen_is_fullest = rank_index < 0 || rank_index == fullest_rank(shown);
    const bool chosen_sends_most = sender == busiest;
    const QString chosen = Quantities::tr("chosen in this view");
    all[2].note = !chosen_is_fullest                ? chosen
                  : read_alike(held_by_rank(shown)) ? QString()
                                                    : Quantities::tr("the fullest of all");
    all[3].note = !chosen_sends_most ? chosen
                  : read_alike(sent) ? QString()
                                     : Quantities::tr("sends most of all");
  }
  if (has_bubble(shown))
    all[1].note =
        Quantities::tr("idle over ideal time: %1").arg(share_text(shown.bubble.over_ideal, locale));
  const QString word = prediction_source_text(shown.word);
  all[0].predicted = {seconds_text(expected.seconds, locale), word,
                      Quantities::tr("%1 s").arg(QString::number(expected.seconds, 'g', 12)) +
                          QLatin1Char('\n') + throughput_note(shown, nullptr, locale)};
  all[0].note = throughput_note(
      shown, run && !session.locks().hidden(QStringLiteral("lane.run")) ? run : nullptr, locale);
  if (has_bubble(shown))
    all[1].predicted = {
        share_text(expected.bubble, locale), word,
        Quantities::tr("idle time over idle plus busy time of all ranks, %1; idle over busy "
                       "(ideal) time is %2")
            .arg(share_text(expected.bubble, locale), share_text(shown.bubble.over_ideal, locale))};
  else
    all[1].predicted = {seconds_text(expected.exposed, locale), word,
                        Quantities::tr("of the busiest rank, where no computing hides it")};
  // Sizes follow from the program alone: no rate is assumed in them.
  const QString sized = Quantities::tr("predicted");
  all[2].predicted = {bytes_text(expected.peak, locale), sized,
                      exact_bytes_text(expected.peak, locale)};
  all[3].predicted = {bytes_text(expected.sent, locale), sized,
                      exact_bytes_text(expected.sent, locale)};
  all[0].predicted_value = expected.seconds;
  all[1].predicted_value = has_bubble(shown) ? expected.bubble : expected.exposed;
  all[2].predicted_value = double(expected.peak);
  all[3].predicted_value = double(expected.sent);
  return all;
}

void StepSides::add_run(const QLocale& locale, std::vector<Quantity>& all) const {
  if (!run) {
    for (Quantity& quantity : all)
      quantity.observed.source =
          record ? Quantities::tr("run is of other settings") : Quantities::tr("not run yet");
    return;
  }
  const Values seen = values_of(run->observation, fullest, sender);
  const QString source = source_text(run->observation.source);
  const std::optional<Message> delay = delay_of(run->observation);
  all[0].observed = {seconds_text(seen.seconds, locale), source,
                     Quantities::tr("median of %1 steps; shortest %2, longest %3")
                         .arg(run->observation.timeline.steps)
                         .arg(seconds_text(run->observation.step.seconds_min, locale),
                              seconds_text(run->observation.step.seconds_max, locale))};
  if (delay) all[0].observed.exact += QLatin1Char('\n') + sentence(*delay);
  const QString explanation = explained(run->observation.source);
  if (!explanation.isEmpty()) all[0].observed.exact += QLatin1Char('\n') + explanation;
  all[1].observed = {
      has_bubble(shown) ? share_text(seen.bubble, locale) : seconds_text(seen.exposed, locale),
      source, explanation};
  all[2].observed = {bytes_text(seen.peak, locale), Quantities::tr("counted"),
                     exact_bytes_text(seen.peak, locale)};
  const bool counted = sender >= int(run->observation.traffic.size()) ||
                       all_counted(run->observation.traffic[std::size_t(sender)]);
  all[3].observed = {bytes_text(seen.sent, locale),
                     counted ? Quantities::tr("counted") : Quantities::tr("partly by formula"),
                     exact_bytes_text(seen.sent, locale)};
  if (!say_no_difference(run->observation.source, all[0]))
    all[0].difference = relative_text(expected.seconds, seen.seconds, locale);
  if (has_bubble(shown))
    all[1].difference = share_difference_text(expected.bubble, seen.bubble, locale);
  else if (!say_no_difference(run->observation.source, all[1]))
    all[1].difference = relative_text(expected.exposed, seen.exposed, locale);
  if (const auto late = lateness_of(run->observation))
    for (Quantity& quantity : all)
      if (can_be_late(quantity.key)) {
        quantity.difference = late_text();
        quantity.why_none = sentence(*late);
      }
  all[2].difference = bytes_difference_text(expected.peak, seen.peak, locale);
  all[3].difference = bytes_difference_text(expected.sent, seen.sent, locale);
  all[0].observed_value = seen.seconds;
  all[1].observed_value = has_bubble(shown) ? seen.bubble : seen.exposed;
  all[2].observed_value = double(seen.peak);
  all[3].observed_value = double(seen.sent);
}

void StepSides::add_pin(const RunRecord& pin, const QLocale& locale,
                        std::vector<Quantity>& all) const {
  const bool both_ran = pin.observed() && run;
  // Fullest beside fullest, or the chosen rank beside itself, where the pin has it.
  const Prediction& then = *pin.prediction;
  const int fullest_then = rank_index < 0 ? fullest_rank(then) : rank_index;
  const int sender_then = rank_index < 0 ? busiest_sender(then) : rank_index;
  const Values before = both_ran ? values_of(pin.observation, fullest_then, sender_then)
                                 : values_of(then, fullest_then, sender_then);
  const Values now = both_ran ? values_of(run->observation, fullest, sender) : expected;
  const QString since =
      both_ran ? Quantities::tr("%1 since pinned run") : Quantities::tr("%1 since pin");
  const auto since_place = [&](int rank_then, int rank_now) {
    const QString there = rank_place(then, rank_then);
    return there == rank_place(shown, rank_now) ? since
                                                : Quantities::tr("%1 (%2)").arg(since, there);
  };
  const bool same_machine = then.machine == shown.machine;
  // Lengths that a rehearsal or a crowded computer sets are compared with nothing.
  const bool comparable = !both_ran || (no_difference(run->observation.source).isEmpty() &&
                                        no_difference(pin.observation.source).isEmpty());
  if (same_machine && comparable)
    all[0].since_pin = since.arg(seconds_difference_text(now.seconds - before.seconds, locale));
  if (has_bubble(shown) && has_bubble(then))
    all[1].since_pin = since.arg(share_difference_text(before.bubble, now.bubble, locale));
  else if (!has_bubble(shown) && same_machine && comparable)
    all[1].since_pin = since.arg(seconds_difference_text(now.exposed - before.exposed, locale));
  if (!rank_place(then, fullest_then).isEmpty())
    all[2].since_pin = since_place(fullest_then, fullest)
                           .arg(bytes_difference_text(before.peak, now.peak, locale));
  if (!rank_place(then, sender_then).isEmpty())
    all[3].since_pin =
        since_place(sender_then, sender).arg(bytes_difference_text(before.sent, now.sent, locale));
}

void StepSides::finish(std::vector<Quantity>& all) const {
  const bool valid = session.problems().empty();
  for (Quantity& quantity : all) {
    // A question is about the fullest rank and the busiest sender, not about any that is chosen.
    const bool of_another =
        rank_index >= 0 && ((&quantity == &all[2] && rank_index != fullest_rank(shown)) ||
                            (&quantity == &all[3] && rank_index != busiest));
    quantity.guess = of_another ? QString() : session.guess_at(quantity.key);
    if (!valid && quantity.key != QLatin1String("losses")) {
      quantity.predicted = {{}, Quantities::tr("settings are not valid"), {}};
      quantity.since_pin.clear();
      quantity.note.clear();
    }
    const QString group = quantity.key.section(QLatin1Char('.'), 0, 0);
    const bool all_hidden = session.locks().hidden(quantity.key) || session.locks().hidden(group);
    const auto hide = [&](Figure& figure) {
      if (!figure.text.isEmpty()) figure = hidden_figure();
    };
    if (all_hidden || session.locks().hidden(QStringLiteral("lane.predicted")))
      hide(quantity.predicted);
    if (all_hidden || session.locks().hidden(QStringLiteral("lane.run"))) hide(quantity.observed);
    if (quantity.predicted.hidden || quantity.observed.hidden) {
      quantity.difference.clear();
      quantity.since_pin.clear();
    }
    if (quantity.predicted.hidden) quantity.note.clear();
  }
}

}  // namespace

Figure hidden_figure() { return {kHidden, Quantities::tr("hidden for now"), {}, true}; }

QString shown_time(Nanoseconds time, bool hidden, const QLocale& locale) {
  return hidden ? kHidden : time_text(time, locale);
}

QString rank_place(const Prediction& prediction, int rank) {
  const auto& ranks = prediction.program.ranks;
  if (rank < 0 || rank >= int(ranks.size())) return {};
  const RankProgram& built = ranks[std::size_t(rank)];
  if (prediction.setup.mesh.pp == 1 || prediction.setup.mesh.ranks() > prediction.setup.mesh.pp)
    return Quantities::tr("rank %1").arg(built.rank);
  return Quantities::tr("stage %1").arg(built.stage);
}

int fullest_rank(const Prediction& prediction) {
  int fullest = 0;
  std::int64_t most = -1;
  for (const MemoryRow& row : prediction.memory) {
    if (row.peak_bytes <= most) continue;
    most = row.peak_bytes;
    for (std::size_t rank = 0; rank < prediction.program.ranks.size(); ++rank)
      if (prediction.program.ranks[rank].rank == row.rank) fullest = int(rank);
  }
  return fullest;
}

int busiest_sender(const Prediction& prediction) { return index_of_most(sent_by_rank(prediction)); }

std::vector<Quantity> step_quantities(const Session& session, const QLocale& locale,
                                      int rank_index) {
  const StepSides step(session, rank_index);
  std::vector<Quantity> all = step.predicted(locale);
  step.add_run(locale, all);
  if (const RunRecord* pin = session.runs().pinned()) step.add_pin(*pin, locale, all);
  all.push_back(loss_quantity(session, step.run, step.record && !step.run, locale));
  step.finish(all);
  return all;
}

}  // namespace parallelarium
