// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/engine_jobs.h"

#include <algorithm>
#include <memory>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/collective/collective_plan.h"

namespace parallelarium {

namespace {

// A search ends the predictions that are under way, and tells what is tied.
constexpr int kAnswerGraceMs = 15'000;

}  // namespace

EngineJobs::EngineJobs(QObject* parent) : QObject(parent) {
  worker_.setMaxThreadCount(1);
  connect(&process_, &EngineProcess::progressed, this, &EngineJobs::hear_progress);
  connect(&process_, &EngineProcess::losses_told, this,
          [this](int id, int step, const std::vector<double>& losses) {
            if (id != request_) return;
            const auto before = std::size_t(std::max(0, step - int(losses.size())));
            if (before > live_losses_.size()) return;
            live_losses_.resize(before);
            live_losses_.insert(live_losses_.end(), losses.begin(), losses.end());
          });
}

EngineJobs::~EngineJobs() {
  process_.disconnect(this);
  worker_.waitForDone();
}

QString EngineJobs::live_step_text() const {
  const int done = int(live_losses_.size());
  return done <= run_settings_.warmup
             ? tr("warm-up step %1 of %2").arg(done).arg(run_settings_.warmup)
             : tr("step %1 of %2").arg(done - run_settings_.warmup).arg(run_settings_.steps);
}

void EngineJobs::dismiss_error() {
  if (last_error_.isEmpty()) return;
  last_error_.clear();
  last_problem_.reset();
  Q_EMIT state_changed();
}

void EngineJobs::hear_progress(int id, const QString& phase, double share, const QString& what) {
  if (id != request_) return;
  if (state_ != RunState::kCancelling)
    state_ = phase == QLatin1String("calibrating") ? RunState::kCalibrating : RunState::kRunning;
  progress_ = std::clamp(share, 0.0, 1.0);
  progress_text_ = what;
  if (sweep_size_ > 0) {
    const auto whole = double(sweep_size_);
    progress_ = (whole - double(sweep_.size()) + progress_) / whole;
    progress_text_ = sweep_text();
  }
  Q_EMIT state_changed();
}

template <class Work, class Then>
void EngineJobs::off_thread(Work work, Then then) {
  worker_.start([this, work = std::move(work), then = std::move(then)] {
    auto made = std::make_shared<decltype(work())>(work());
    QMetaObject::invokeMethod(
        this, [made, then] { then(std::move(*made)); }, Qt::QueuedConnection);
  });
}

void EngineJobs::begin(const QString& what) {
  answers_cancel_ = false;
  state_ = RunState::kStarting;
  progress_ = 0;
  progress_text_ = what;
  last_error_.clear();
  last_problem_.reset();
  live_losses_.clear();
  Q_EMIT state_changed();
}

void EngineJobs::fail(const Message& problem) {
  last_problem_ = problem;
  finish(sentence(problem));
}

void EngineJobs::finish(const QString& error, const std::function<void()>& keep) {
  state_ = RunState::kIdle;
  progress_ = 0;
  progress_text_.clear();
  last_error_ = error;
  live_losses_.clear();
  request_ = 0;
  sweep_.clear();
  sweep_size_ = 0;
  Q_EMIT finished();
  if (keep) keep();
  Q_EMIT state_changed();
}

void EngineJobs::run(const Setup& setup, bool verify, std::function<void(RunRecord)> keep) {
  run_settings_ = setup.run;
  verifies_ = verify;
  begin(tr("Starting the ranks"));
  request_ = process_.request(
      "run", {{"setup", to_json(setup)}, {"verify", verify}},
      [this, keep = std::move(keep)](Result<nlohmann::json> result) {
        if (!result) return fail(result.error());
        const auto answer = std::make_shared<const nlohmann::json>(std::move(*result));
        off_thread([answer] { return record_of_answer(*answer); },
                   [this, keep, answer](Result<RunRecord> record) {
                     if (state_ == RunState::kCancelling) return fail(cancelled_message());
                     if (!record) return fail(record.error());
                     // The run is there, but one rank could not repeat it: say why.
                     QString said;
                     if (answer->contains("unproven"))
                       said = sentence(message_from_json((*answer)["unproven"]));
                     finish(said, [&] { keep(std::move(*record)); });
                   });
      });
}

void EngineJobs::calibrate() {
  if (state_ != RunState::kIdle) return;
  verifies_ = false;
  begin(tr("Measuring this computer"));
  request_ = process_.request("calibrate", nlohmann::json::object(),
                              [this](const Result<nlohmann::json>& result) {
                                if (result) return finish({});
                                fail(result.error());
                              });
}

template <class Read, class Then>
void EngineJobs::ask(const std::string& method, const nlohmann::json& parameters, Read read,
                     Then then) {
  request_ = process_.request(
      method, parameters,
      [this, read = std::move(read), then = std::move(then)](Result<nlohmann::json> result) {
        if (!result) return fail(result.error());
        const auto answer = std::make_shared<const nlohmann::json>(std::move(*result));
        off_thread([answer, read] { return read(*answer); },
                   [this, then](auto made) {
                     if (state_ == RunState::kCancelling && !answers_cancel_)
                       return fail(cancelled_message());
                     if (!made) return fail(made.error());
                     then(std::move(*made));
                   });
      });
}

void EngineJobs::run(const EngineRequest& request) {
  verifies_ = false;
  begin(tr("Starting the ranks"));
  answers_cancel_ = request.answers_cancel;
  ask(request.method, request.parameters, request.read, [this](const EngineRequest::Keep& keep) {
    if (const Result<void> kept = keep(); !kept) return fail(kept.error());
    finish({});
  });
}

void EngineJobs::sweep(std::vector<CollectiveRequest> requests, KeepObservation keep) {
  std::reverse(requests.begin(), requests.end());
  sweep_ = std::move(requests);
  sweep_size_ = sweep_.size();
  keep_sweep_ = std::move(keep);
  verifies_ = false;
  begin(sweep_text());
  continue_sweep();
}

QString EngineJobs::sweep_text() const {
  if (sweep_.empty()) return {};
  const CollectiveSpec& spec = sweep_.back().spec;
  return tr("%1, %2").arg(algorithm_title(spec), bytes_text(spec.bytes));
}

// One request after the other: each is short, so that Cancel acts at once.
void EngineJobs::continue_sweep() {
  const CollectiveRequest& request = sweep_.back();
  ask("collective", to_json(request), collective_observation_from_json,
      [this, spec = request.spec](CollectiveObservation seen) {
        if (!seen.correct)
          return finish(tr("%1: %2 cells of the result are wrong, so the measuring ends.")
                            .arg(algorithm_title(spec))
                            .arg(seen.wrong_cells));
        if (const Result<void> kept = keep_sweep_(spec, std::move(seen)); !kept)
          return fail(kept.error());
        sweep_.pop_back();
        if (sweep_.empty()) return finish({});
        state_ = RunState::kRunning;
        progress_ = 1 - double(sweep_.size()) / double(sweep_size_);
        progress_text_ = sweep_text();
        Q_EMIT state_changed();
        continue_sweep();
      });
}

void EngineJobs::cancel() {
  if (state_ == RunState::kIdle || state_ == RunState::kCancelling) return;
  state_ = RunState::kCancelling;
  progress_text_ = tr("Cancelling");
  process_.cancel(request_, answers_cancel_ ? kAnswerGraceMs : EngineProcess::kGraceMs);
  Q_EMIT state_changed();
}

void EngineJobs::ask_for_devices() {
  if (asks_for_devices_) return;
  asks_for_devices_ = true;
  process_.request("devices", nlohmann::json::object(), [this](const auto&) {
    asks_for_devices_ = false;
    Q_EMIT state_changed();
  });
}

}  // namespace parallelarium
