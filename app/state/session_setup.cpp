// SPDX-License-Identifier: GPL-3.0-or-later
// The Setup of a Session, its undo steps and its prediction.
#include <QCoreApplication>
#include <algorithm>
#include <functional>
#include <tuple>

#include "app/look/sentence.h"
#include "app/state/document.h"
#include "app/state/session.h"
#include "app/state/session_state.h"
#include "engine/passes/build.h"
#include "engine/predict/local_prediction.h"

namespace parallelarium {

namespace {

constexpr double kFrameBudgetSeconds = 0.012;  // of 16 ms, the rest is for painting

// How many ops a Setup's Program has, roughly: only to decide whether to predict at once.
double estimated_ops(const Setup& setup) {
  const double built = setup.mesh.ranks() <= kMostBuiltRanks ? setup.mesh.ranks() : setup.mesh.pp;
  const double layers = std::max(1.0, double(setup.model.layers) / std::max(1, setup.mesh.pp));
  const double pieces = built * layers * setup.microbatches * 24;
  return pieces <= double(kMostPieceOps) ? pieces : built * setup.microbatches * 6.0;
}

// The dotted keys in which two Setups differ, as one number: equal for two edits of the same field.
int difference_id(const nlohmann::json& before, const nlohmann::json& after) {
  std::string keys;
  for (const auto& change : nlohmann::json::diff(before, after))
    keys += change.at("path").get<std::string>() + '\n';
  return static_cast<int>(std::hash<std::string>{}(keys)&0x7fffffff);
}

}  // namespace

// One edit of the Setup.
class SetupCommand : public QUndoCommand {
 public:
  SetupCommand(Session& session, const Setup& before, const Setup& after, const QString& what)
      : QUndoCommand(what),
        session_(session),
        before_(before),
        after_(after),
        id_(difference_id(to_json(before), to_json(after))) {
    age_.start();
  }
  void undo() override { session_.apply_setup(before_); }
  void redo() override { session_.apply_setup(after_); }
  int id() const override { return id_; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const SetupCommand*>(other);  // ids are hashes
    if (!next || age_.elapsed() > kMergeMs) return false;
    age_.restart();
    after_ = next->after_;
    setText(next->text());
    setObsolete(after_ == before_);
    return true;
  }

 private:
  Session& session_;
  Setup before_, after_;
  int id_;
  QElapsedTimer age_;
};

const Setup& Session::setup() const { return state_->setup; }
QUndoStack& Session::undo_stack() { return state_->undo; }
const std::vector<Message>& Session::problems() const { return state_->problems; }

const Setup& Session::base() const { return state_->base; }

void Session::set_base(const Setup& base) {
  if (base == state_->base) return;
  state_->base = base;
  Q_EMIT setup_changed();
}

void Session::change_setup(const Setup& setup, const QString& what) {
  if (setup == state_->setup) return;
  state_->undo.push(new SetupCommand(*this, state_->setup, setup, what));
}

void Session::apply_setup(const Setup& setup) {
  state_->setup = setup;
  refresh_prediction();
  state_->collectives.refresh_place();
  Q_EMIT setup_changed();
  Q_EMIT run_changed();
  Q_EMIT run_state_changed();  // the label and the refusal of Run
}

std::shared_ptr<const Prediction> Session::prediction() const { return state_->prediction; }

bool Session::prediction_is_current() const {
  return state_->problems.empty() && !state_->wanted && !state_->working;
}

const Machine& Session::machine() const { return state_->situation.machine; }
const Computer& Session::computer() const { return state_->computer; }
const Setup& Session::resolved() const { return state_->situation.setup; }
Setup Session::resolved(const Setup& setup) const { return situation_of(setup).setup; }

std::optional<Message> Session::outdated_rates() const {
  return parallelarium::outdated_rates(resolved(), machine(), state_->bf16_products);
}

// A Setup whose machine is unknown has a place, too: validate() says what is wrong with it.
Situation Session::situation_of(const Setup& setup) const {
  const FindMachine find = [this](const std::string& name) {
    const auto found = state_->machines.find(name);
    if (found != state_->machines.end()) return found->second;
    return state_->machines.emplace(name, find_machine(name)).first->second;
  };
  Result<Situation> situation = parallelarium::situation_of(setup, state_->computer, find);
  if (situation) return std::move(*situation);
  const Machine machine = uncalibrated_local_machine();
  return {setup, resolve(setup, machine), machine, std::nullopt, situation.error()};
}

void Session::resolve_setup() { state_->situation = situation_of(state_->setup); }

bool Session::takes_gpus() const {
  return state_->setup.machine == "local" && resolved().run.backend == Backend::kCuda;
}

// Where there are no GPUs, or too few, a collective takes cores whatever the Setup wants: its view
// does not show that, and what it shows needs no GPU.
Placement Session::collective_placement(int ranks) const {
  RunSettings run = state_->setup.run;
  if (run.backend == Backend::kPaced) run.backend = Backend::kCpu;
  Result<Placement> placed = place(run, ranks, state_->computer, Pacing::kNever);
  if (placed) return std::move(*placed);
  run = RunSettings();
  run.backend = Backend::kCpu;
  placed = place(run, ranks, state_->computer, Pacing::kNever);
  return placed ? std::move(*placed) : Placement();
}

int Session::collective_gpus(int ranks) const {
  const Placement placed = collective_placement(ranks);
  if (!placed.on_gpus()) return 0;
  return placed.source == Source::kSharedGpu ? 1 : ranks;
}

int Session::gpus() const {
  if (machine().name == kLocalGpus) return machine().devices_per_node;
  return takes_gpus() ? most_gpu_ranks(state_->computer) : 0;
}

bool Session::asks_for_gpus() const { return state_->asks_for_gpus; }

// Only the engine knows of GPUs: it is asked as soon as they are wanted, or may be there.
void Session::ask_for_gpus() {
  const Backend backend = state_->setup.run.backend;
  const bool wanted = backend == Backend::kCuda && state_->engine->greeting().is_null();
  const bool possible = backend == Backend::kAuto && !state_->told && has_nvidia_driver();
  if (state_->asks_for_gpus || !(wanted || possible)) return;
  state_->asks_for_gpus = true;
  state_->engine->request("devices", nlohmann::json::object(), [this](const auto&) {
    state_->asks_for_gpus = false;
    Q_EMIT run_state_changed();
  });
}

void Session::hear_of_devices() {
  const auto ranks_are_on = [this] {
    return std::tuple(setup(), resolved(), machine().name, gpus());
  };
  const auto before = ranks_are_on();
  const bool was_outdated = outdated_rates().has_value();
  state_->told = true;
  if (const nlohmann::json* devices = greeted_devices()) {
    state_->computer = computer_from_json(*devices);
    if (const auto way = devices->find("bf16_products"); way != devices->end() && way->is_string())
      state_->bf16_products = way->get<std::string>();
  }
  resolve_setup();
  keep_meaning();
  const bool elsewhere = ranks_are_on() != before;
  if (elsewhere) refresh_prediction();
  state_->collectives.refresh_place();
  if (elsewhere || outdated_rates().has_value() != was_outdated) Q_EMIT setup_changed();
  Q_EMIT run_state_changed();
}

void Session::keep_meaning() {
  // Until the engine tells, `auto` of the backend is not known where there may be GPUs.
  const bool open = state_->setup.run.backend == Backend::kAuto && !state_->told;
  if (!state_->meant || (open && (state_->asks_for_gpus || has_nvidia_driver()))) return;
  const Setup asked = state_->setup;
  const Setup kept = kept_meaning(state_->setup, *state_->meant, resolved());
  state_->meant.reset();
  state_->setup = kept;
  resolve_setup();
  if (kept != asked) Q_EMIT meaning_kept(sentence(meaning_note(asked, kept)));
}

void Session::refresh_prediction() {
  resolve_setup();
  state_->problems = validate(resolved());
  ask_for_gpus();
  if (!state_->problems.empty()) {
    state_->wanted.reset();
    Q_EMIT prediction_changed();
    return;
  }
  const double estimate = estimated_ops(resolved()) * state_->seconds_per_op;
  if (state_->working || estimate > kFrameBudgetSeconds) {
    state_->wanted = resolved();
    start_worker();
    return;
  }
  QElapsedTimer timer;
  timer.start();
  std::optional<Message> too_fast;
  Result<Prediction> result = predict_as_shown(resolved(), machine(), false, &too_fast);
  const double measured = double(timer.nsecsElapsed()) / 1e9 / estimated_ops(resolved());
  state_->seconds_per_op = 0.5 * (state_->seconds_per_op + measured);
  accept_prediction(std::move(result), std::move(too_fast));
}

void Session::start_worker() {
  if (state_->working || !state_->wanted) return;
  state_->working = true;
  const auto setup = std::make_shared<Setup>(*state_->wanted);
  state_->wanted.reset();
  const auto on = std::make_shared<Machine>(machine());
  state_->worker.start([this, setup, on] {
    const auto too_fast = std::make_shared<std::optional<Message>>();
    const auto result =
        std::make_shared<Result<Prediction>>(predict_as_shown(*setup, *on, false, too_fast.get()));
    QMetaObject::invokeMethod(
        this,
        [this, result, too_fast] {
          state_->working = false;
          if (state_->wanted) {  // a newer one waits: this one is of no use any more
            start_worker();
          } else if (state_->problems.empty()) {
            accept_prediction(std::move(*result), std::move(*too_fast));
          }
        },
        Qt::QueuedConnection);
  });
}

void Session::wait_for_prediction() {
  while (state_->working || state_->wanted) {
    state_->worker.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

// A run may have found that the cores need a slower pace than was predicted: both are then shown in
// its time.
void Session::take_pace_of_run() {
  const RunRecord* run = run_record();
  if (!run || run_is_stale() || !state_->problems.empty()) return;
  const Prediction& ours = *state_->prediction;
  const Prediction& seen = *run->prediction;
  if (seen.setup == ours.setup && seen.machine == ours.machine &&
      seen.pace_factor > ours.pace_factor * kSamePace)
    state_->prediction = run->prediction;
}

void Session::accept_prediction(Result<Prediction> result, std::optional<Message> too_fast) {
  state_->too_fast = std::move(too_fast);
  if (result) {
    state_->prediction = std::make_shared<const Prediction>(std::move(*result));
    take_pace_of_run();
    const OpRef chosen = state_->selected;
    const auto& ranks = state_->prediction->program.ranks;
    if (chosen.rank >= int(ranks.size()) ||
        (chosen.rank >= 0 && chosen.op >= int(ranks[std::size_t(chosen.rank)].ops.size())))
      select({}, false);
  } else {
    state_->problems = {result.error()};
    Q_EMIT setup_changed();
  }
  horizon_changed();
  Q_EMIT prediction_changed();
  Q_EMIT run_state_changed();
}

}  // namespace parallelarium
