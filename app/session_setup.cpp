// SPDX-License-Identifier: GPL-3.0-or-later
// The Setup of a Session, its undo steps and its prediction.
#include <QCoreApplication>
#include <algorithm>
#include <functional>
#include <tuple>

#include "app/session.h"
#include "app/session_state.h"
#include "engine/passes/build.h"
#include "engine/predict/local_prediction.h"

namespace parallelarium {

namespace {

constexpr double kFrameBudgetSeconds = 0.012;  // of 16 ms, the rest is for painting
constexpr int kMergeMs = 1000;

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
    const auto* next = static_cast<const SetupCommand*>(other);
    if (age_.elapsed() > kMergeMs) return false;
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

const Machine& Session::machine() const {
  // Once the engine has told, `auto` means GPUs where takes_gpus() says so and not otherwise.
  const bool may_take_gpus = !state_->gpu_ranks && has_nvidia_driver();
  const std::string name = machine_name_of(resolved(state_->setup), may_take_gpus);
  auto found = state_->machines.find(name);
  if (found == state_->machines.end()) {
    Result<Machine> machine = find_machine(name);
    found =
        state_->machines.emplace(name, machine ? std::move(*machine) : uncalibrated_local_machine())
            .first;
  }
  return found->second;
}

std::optional<Message> Session::outdated_rates() const {
  return parallelarium::outdated_rates(state_->setup, machine(), state_->bf16_products);
}

// What choose_backend() of engine/run decides, from what the engine tells.
bool Session::takes_gpus(const Setup& setup) const {
  return setup.machine == "local" && takes_gpus(setup.run, setup.mesh.ranks());
}

bool Session::takes_gpus(const RunSettings& run, int ranks) const {
  if (run.backend != Backend::kAuto) return run.backend == Backend::kCuda;
  const Result<std::vector<int>> chosen = device_list(run.devices);
  return chosen && (chosen->empty() || int(chosen->size()) >= ranks) &&
         state_->gpu_ranks.value_or(0) >= ranks;
}

// One is shared where it is the only one given, as choose_backend() decides. Where there are none,
// or too few, a collective takes cores whatever the Setup wants: its view does not show that, and
// what it shows needs no GPU.
int Session::collective_gpus(int ranks) const {
  const RunSettings& run = state_->setup.run;
  if (!takes_gpus(run, ranks)) return 0;
  const Result<std::vector<int>> chosen = device_list(run.devices);
  const int each = state_->gpu_ranks.value_or(ranks);  // that could have one of their own
  const int given =
      chosen && !chosen->empty() ? int(chosen->size()) : state_->gpu_count.value_or(each);
  if (std::min(given, each) >= ranks) return ranks;
  return given == 1 && each > 0 ? 1 : 0;
}

int Session::gpus() const {
  if (machine().name == kLocalGpus) return machine().devices_per_node;
  return takes_gpus(state_->setup) ? state_->gpu_ranks.value_or(0) : 0;
}

Setup Session::resolved(Setup setup) const {
  if (takes_gpus(setup)) setup.run.backend = Backend::kCuda;
  return setup;
}

bool Session::asks_for_gpus() const { return state_->asks_for_gpus; }

// Only the engine knows of GPUs: it is asked as soon as they are wanted, or may be there.
void Session::ask_for_gpus() {
  const Backend backend = state_->setup.run.backend;
  const bool wanted = backend == Backend::kCuda && state_->engine->greeting().is_null();
  const bool possible = backend == Backend::kAuto && !state_->gpu_ranks && has_nvidia_driver();
  if (state_->asks_for_gpus || !(wanted || possible)) return;
  state_->asks_for_gpus = true;
  state_->engine->request("devices", nlohmann::json::object(), [this](const auto&) {
    state_->asks_for_gpus = false;
    Q_EMIT run_state_changed();
  });
}

void Session::hear_of_devices() {
  const auto ranks_are_on = [this] {
    return std::tuple(takes_gpus(state_->setup), machine().name, gpus());
  };
  const auto before = ranks_are_on();
  const bool was_outdated = outdated_rates().has_value();
  state_->gpu_ranks = 0;
  if (const nlohmann::json* cuda = greeted_backend("cuda"))
    if (const auto ranks = cuda->find("ranks"); ranks != cuda->end() && ranks->is_number_integer())
      state_->gpu_ranks = ranks->get<int>();
  if (const nlohmann::json* devices = greeted_devices()) {
    if (const auto all = devices->find("gpus"); all != devices->end() && all->is_array())
      state_->gpu_count = int(all->size());
    if (const auto way = devices->find("bf16_products"); way != devices->end() && way->is_string())
      state_->bf16_products = way->get<std::string>();
  }
  const bool elsewhere = ranks_are_on() != before;
  if (elsewhere) refresh_prediction();
  state_->collectives.refresh_place();
  if (elsewhere || outdated_rates().has_value() != was_outdated) Q_EMIT setup_changed();
  Q_EMIT run_state_changed();
}

void Session::refresh_prediction() {
  state_->problems = validate(state_->setup);
  ask_for_gpus();
  if (!state_->problems.empty()) {
    state_->wanted.reset();
    Q_EMIT prediction_changed();
    return;
  }
  const double estimate = estimated_ops(state_->setup) * state_->seconds_per_op;
  if (state_->working || estimate > kFrameBudgetSeconds) {
    state_->wanted = state_->setup;
    start_worker();
    return;
  }
  QElapsedTimer timer;
  timer.start();
  std::optional<Message> too_fast;
  Result<Prediction> result =
      predict_as_shown(state_->setup, machine(), false, &too_fast, takes_gpus(state_->setup));
  const double measured = double(timer.nsecsElapsed()) / 1e9 / estimated_ops(state_->setup);
  state_->seconds_per_op = 0.5 * (state_->seconds_per_op + measured);
  accept_prediction(std::move(result), std::move(too_fast));
}

void Session::start_worker() {
  if (state_->working || !state_->wanted) return;
  state_->working = true;
  const auto setup = std::make_shared<Setup>(*state_->wanted);
  state_->wanted.reset();
  const auto on = std::make_shared<Machine>(machine());
  state_->worker.start([this, setup, on, on_gpus = takes_gpus(*setup)] {
    const auto too_fast = std::make_shared<std::optional<Message>>();
    const auto result = std::make_shared<Result<Prediction>>(
        predict_as_shown(*setup, *on, false, too_fast.get(), on_gpus));
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

void Session::accept_prediction(Result<Prediction> result, std::optional<Message> too_fast) {
  state_->too_fast = std::move(too_fast);
  if (result) {
    state_->prediction = std::make_shared<const Prediction>(std::move(*result));
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
