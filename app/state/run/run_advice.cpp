// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/run_advice.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/run/small_copy.h"
#include "app/state/topic.h"
#include "engine/predict/rehearsal.h"

namespace parallelarium {

namespace {

struct RunAdvice {
  Q_DECLARE_TR_FUNCTIONS(run_advice)
};

QString question_refusal(const Session& session) {
  if (!session.locks().question_open()) return {};
  return session.locks().run_answers()
             ? RunAdvice::tr("A run would show the answer: commit yours in the lesson first.")
             : RunAdvice::tr("Commit your answer in the lesson first.");
}

// What would shrink what does not fit, of what is not used up; in a lesson nothing, whose task it
// may be to find that. `together`: the ranks share one memory.
QString shrinking_advice(const Session& session, bool together) {
  if (!session.locks().lesson_state().is_null()) return {};
  const Setup& setup = session.subject().prediction()->setup;
  QStringList ways;
  if (together) {
    ways << RunAdvice::tr("fewer ranks") << RunAdvice::tr("a smaller model")
         << RunAdvice::tr("a smaller micro-batch");
  } else {
    ways << RunAdvice::tr("more stages") << RunAdvice::tr("more TP");
    if (setup.attention == Attention::kUnfused) ways << RunAdvice::tr("fused attention");
    if (setup.mesh.dp * setup.mesh.cp > 1 && setup.zero < 3) ways << RunAdvice::tr("ZeRO");
    if (setup.recompute != Recompute::kFull) ways << RunAdvice::tr("recompute");
  }
  return RunAdvice::tr("What would shrink it: %1.").arg(ways.join(QStringLiteral(", ")));
}

QString small_copy_offer(const Session& session, const Setup& of) {
  const Result<Setup> copy = small_copy(of, session.placer().computer());
  if (!copy) return small_copy_refusal(session, of);
  const QString reduced = reduced_degrees(of, *copy);
  return reduced.isEmpty()
             ? RunAdvice::tr("Run a small copy here instead, with the same mesh and schedule.")
             : RunAdvice::tr("Run a small copy here instead; fewer ranks run at once here: %1.")
                   .arg(reduced);
}

QString rehearsal_note(const Session& session) {
  const double seconds = session.prediction_is_current() ? session.rehearsal_seconds() : 0;
  if (seconds <= 0) return RunAdvice::tr("Durations are set as predicted.");
  const QString takes = RunAdvice::tr("Durations are set as predicted; the rehearsal takes %1.")
                            .arg(seconds_text(seconds));
  if (seconds <= kPatienceSeconds) return takes;
  const QString less =
      small_copy_refusal(session, session.setup()).isEmpty()
          ? RunAdvice::tr("Fewer timed steps, or “Run a small copy here”, take less.")
          : RunAdvice::tr("Fewer timed steps take less.");
  return takes + QLatin1Char(' ') + less;
}

}  // namespace

bool machine_is_elsewhere(const Session& session) {
  return session.topic().is_step() && expected_source(session) == Source::kPredicted;
}

Source expected_source(const Session& session) {
  const Topic& topic = session.topic();
  if (!topic.is_step())
    return session.placer().of_collective(session.setup().run, topic.ranks()).source;
  return expected_source(session.resolved(), session.machine());
}

QString run_refusal(const Session& session) {
  if (const std::optional<Message> problem = session.topic().problem()) return sentence(*problem);
  if (!session.topic().is_step()) return question_refusal(session);
  if (machine_is_elsewhere(session)) return elsewhere_text(session, session.setup());
  if (const std::optional<Message> problem = run_problem(session)) return sentence(*problem);
  return question_refusal(session);
}

QString elsewhere_text(const Session& session, const Setup& of) {
  const Result<Machine> machine = machine_of(of.machine);
  return RunAdvice::tr("%1 is not this computer, so nothing can run on it from here. %2")
      .arg(machine ? sentence(title_of(*machine)) : QString::fromStdString(of.machine.name()),
           small_copy_offer(session, of));
}

// As the engine decides it, which calibrates where a run would have rates of nobody.
QString measuring_note(const Session& session) {
  const Situation& here = session.situation();
  if (!session.topic().is_step() || machine_is_elsewhere(session)) return {};
  if (here.on_local_gpus())
    return here.machine.name == kLocalGpus
               ? QString()
               : RunAdvice::tr(
                     "A run measures the GPUs of this computer first, once: some 25 s, "
                     "and 20 s for every further kind.");
  const bool measured = !here.machine.calibrated.empty() && !session.placer().outdated_rates(here);
  if (!here.machine.local) return {};
  if (!measured)
    return RunAdvice::tr(
        "A run measures the cores of this computer first, once: some 5 s, longer while other "
        "programs run.");
  const std::optional<Message> disturbed = disturbed_calibration(here.machine);
  return disturbed ? sentence(*disturbed) : QString();
}

QString job_text(const Session& session) {
  const EngineJobs& jobs = session.jobs();
  if (jobs.state() != RunState::kCalibrating) return jobs.progress_text();
  const QString percent = share_text(jobs.progress());
  return jobs.progress_text().isEmpty()
             ? RunAdvice::tr("Measuring this computer first, %1").arg(percent)
             : RunAdvice::tr("Measuring this computer first, %1: %2")
                   .arg(percent, jobs.progress_text());
}

std::optional<Message> run_problem(const Session& session) {
  if (!session.topic().is_step() || !session.problems().empty() || machine_is_elsewhere(session))
    return {};
  if (const Result<void> executable = can_execute(session.resolved()); !executable)
    return executable.error();
  if (session.setup().run.backend == Backend::kCuda)
    if (std::optional<Message> missing = session.placer().missing_backend("cuda")) return missing;
  if (!session.prediction_is_current()) return {};
  // What is free on the GPUs that a run would take is known to the engine alone.
  if (!session.situation().takes_gpus()) return memory_problem(session);
  return {};
}

// Ranks of this computer share its memory, ranks on one GPU that; elsewhere one rank has a device.
std::optional<Message> memory_problem(const Session& session) {
  if (!session.prediction_is_current() || session.subject().prediction()->fits()) return {};
  if (session.subject().prediction()->cores_for_gpus)
    return {};  // the memory of the cores is not theirs
  const Prediction& prediction = *session.subject().prediction();
  const bool together = prediction.memory_together();
  const QString how = shrinking_advice(session, together);
  const QString needed = bytes_text(prediction.needed_bytes);
  const QString capacity = bytes_text(prediction.capacity_bytes);
  QString said;
  if (session.locks().hidden(QStringLiteral("memory"))) {
    said = RunAdvice::tr("This does not fit in memory. %1").arg(how);
  } else if (together) {
    said = RunAdvice::tr("This does not fit in memory: the ranks need %1 together of %2. %3")
               .arg(needed, capacity, how);
  } else {
    const auto fullest = std::max_element(
        prediction.memory.begin(), prediction.memory.end(),
        [](const MemoryRow& a, const MemoryRow& b) { return a.peak_bytes < b.peak_bytes; });
    said = RunAdvice::tr("This does not fit in memory: stage %1 needs %2 of %3. %4")
               .arg(fullest->stage)
               .arg(needed, capacity, how);
  }
  return message("memory-full", "{}", said.trimmed().toStdString());
}

std::optional<Message> gpu_offer(const Session& session) {
  const std::optional<Placement>& placed = session.situation().placement;
  const bool fits = session.prediction_is_current() && session.topic().is_step() && placed &&
                    placed->on_gpus() && session.locks().lesson_state().is_null();
  const Result<Model> tiny = find_model("gpt-tiny");
  if (!fits || !tiny || session.setup().model.hidden > tiny->hidden) return {};
  Setup larger = session.setup();
  if (!set_field(larger, "model", "gpt2-124m") || !validate(session.resolved(larger)).empty())
    return {};
  Message offer =
      message("gpus-wait", "{}",
              RunAdvice::tr("These ranks are on GPUs, which %1 keeps waiting: gpt2-124m gives "
                            "them work.")
                  .arg(sentence(title_of(session.setup().model)))
                  .toStdString());
  offer.field = "model";
  offer.alternatives = {"gpt2-124m"};
  return offer;
}

QString run_label(const Session& session) {
  if (machine_is_elsewhere(session)) return small_copy_label();
  const int ranks = session.topic().ranks();
  if (expected_source(session) == Source::kPaced)
    return ranks == 1 ? RunAdvice::tr("Rehearse on 1 rank")
                      : RunAdvice::tr("Rehearse on %1 ranks").arg(ranks);
  const bool on_gpus = session.topic().is_step()
                           ? session.situation().on_local_gpus()
                           : session.placer().of_collective(session.setup().run, ranks).on_gpus();
  if (on_gpus)
    return ranks == 1 ? RunAdvice::tr("Run on 1 GPU rank")
                      : RunAdvice::tr("Run on %1 GPU ranks").arg(ranks);
  return ranks == 1 ? RunAdvice::tr("Run on 1 CPU rank")
                    : RunAdvice::tr("Run on %1 CPU ranks").arg(ranks);
}

QString run_verb(const Session& session) {
  if (machine_is_elsewhere(session)) return run_label(session);
  return expected_source(session) == Source::kPaced ? RunAdvice::tr("Rehearse")
                                                    : RunAdvice::tr("Run");
}

QString naming_run(QString markdown, const Session& session) {
  const QString bold = QStringLiteral("**%1**");
  return markdown.replace(bold.arg(RunAdvice::tr("Run")), bold.arg(run_verb(session)));
}

QString run_details(const Session& session) {
  if (machine_is_elsewhere(session)) return {};
  switch (expected_source(session)) {
    case Source::kPaced:
      return rehearsal_note(session);
    case Source::kOversubscribed:
      return RunAdvice::tr("Oversubscribed: ranks share cores, so times are no evidence of speed.");
    default:
      return {};
  }
}

QString small_copy_label() { return RunAdvice::tr("Run a small copy here"); }

QString small_copy_refusal(const Session& session, const Setup& of) {
  if (of == session.setup() && !session.problems().empty())
    return sentence(session.problems().front());
  const Result<Setup> copy = small_copy(of, session.placer().computer());
  return copy
             ? question_refusal(session)
             : RunAdvice::tr("A small copy cannot run here either: %1").arg(sentence(copy.error()));
}

void run_small_copy(Session& session, const Setup& of, bool verify) {
  if (!small_copy_refusal(session, of).isEmpty()) return;
  Result<Setup> copy = small_copy(of, session.placer().computer());
  if (!copy) return;
  session.history().change(*copy, RunAdvice::tr("Small copy"));
  session.wait_for_prediction();
  session.start_run(verify);
}

}  // namespace parallelarium
