// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs of the engine, one at a time: a run, a calibration, a collective, a sweep. Answers are
// read and records are made on a separate thread.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <functional>
#include <optional>
#include <vector>

#include "app/state/run/engine_process.h"
#include "app/state/run/run_record.h"
#include "app/state/run/run_request.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {

enum class RunState { kIdle, kStarting, kCalibrating, kRunning, kCancelling };

class EngineJobs : public QObject {
  Q_OBJECT

 public:
  explicit EngineJobs(QObject* parent = nullptr);
  ~EngineJobs() override;

  EngineProcess& process() { return process_; }
  const EngineProcess& process() const { return process_; }

  RunState state() const { return state_; }
  double progress() const { return progress_; }  // 0 to 1
  const QString& progress_text() const { return progress_text_; }
  bool verifies() const { return verifies_; }  // whether the run under way is a "Prove it"
  // The losses of the training steps that the run under way has done, warm-up included.
  const std::vector<double>& live_losses() const { return live_losses_; }
  QString live_step_text() const;  // the last of these steps: "step 3 of 5", "warm-up step 1 of 1"
  // One sentence about the last failure (engine died, run refused, ...), or empty.
  const QString& last_error() const { return last_error_; }
  // The same with what would help, if the engine said that.
  const std::optional<Message>& last_problem() const { return last_problem_; }
  void dismiss_error();

  void calibrate();  // does nothing while a job is under way
  // Each starts a job and requires that none is under way. `keep` receives the result; it is not
  // called if the job failed or was cancelled. An error of `keep` is the job's error.
  void run(const Setup& setup, bool verify, std::function<void(RunRecord)> keep);
  void run(const EngineRequest& request);  // keeps the result before finished()
  using KeepObservation = std::function<Result<void>(const CollectiveSpec&, CollectiveObservation)>;
  // Makes the requests one after the other. A wrong result ends the sweep. There must be at least
  // one request.
  void sweep(std::vector<CollectiveRequest> requests, KeepObservation keep);
  void cancel();

  // Asks for the devices of this computer, which are in the engine's greeting.
  void ask_for_devices();
  bool asks_for_devices() const { return asks_for_devices_; }

 Q_SIGNALS:
  void state_changed();  // state, progress, live_losses, last_error, asks_for_devices
  // A job has ended in some way; state() is kIdle. `keep` and state_changed() follow.
  void finished();

 private:
  void hear_progress(int id, const QString& phase, double share, const QString& what);
  void begin(const QString& what);
  void fail(const Message& problem);
  void finish(const QString& error, const std::function<void()>& keep = {});
  // Calls `work` on the thread, then `then` with its result on this one.
  template <class Work, class Then>
  void off_thread(Work work, Then then);
  // Calls `read` with the answer on the thread, then `then` with the result on this one.
  template <class Read, class Then>
  void ask(const std::string& method, const nlohmann::json& parameters, Read read, Then then);
  void continue_sweep();
  QString sweep_text() const;  // says which point is being measured

  EngineProcess process_;
  RunState state_ = RunState::kIdle;
  double progress_ = 0;
  QString progress_text_, last_error_;
  std::optional<Message> last_problem_;
  std::vector<double> live_losses_;
  RunSettings run_settings_;
  bool verifies_ = false, asks_for_devices_ = false, answers_cancel_ = false;
  int request_ = 0;
  // Requests that are left, with the present one; last first.
  std::vector<CollectiveRequest> sweep_;
  std::size_t sweep_size_ = 0;  // size of the whole sweep; 0: there is none
  KeepObservation keep_sweep_;
  QThreadPool worker_;  // one thread
};

}  // namespace parallelarium
