// SPDX-License-Identifier: GPL-3.0-or-later
// `parallelarium-engine serve` as a child process. It may die at any time; that is why it is a
// process. Every open request is then answered with one sentence, and the next request starts a new
// process. Its messages are parsed on a thread, since the answer of a run can be megabytes.
#pragma once

#include <QMutex>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QThreadPool>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/plan/result.h"
#include "engine/wire/messages.h"

namespace parallelarium {

Message cancelled_message();

class EngineProcess : public QObject {
  Q_OBJECT

 public:
  // The result of a request, or one sentence that says why there is none.
  using Reply = std::function<void(Result<nlohmann::json>)>;

  explicit EngineProcess(QObject* parent = nullptr);
  // Asks the engine to leave, waits 300 ms, then kills it. Leaves no zombie.
  ~EngineProcess() override;

  // Sends a request. If there is no process, it starts one first. `reply` is called exactly once,
  // from the event loop. Returns the request's id, which is never reused.
  int request(const std::string& method, nlohmann::json params, Reply reply);
  // Asks the engine to give up request `id`. If there is no answer within `grace_ms`, the process
  // is killed, and the request is answered with the error "cancelled".
  static constexpr int kGraceMs = 500;
  void cancel(int id, int grace_ms = kGraceMs);

  bool is_running() const;
  qint64 process_id() const;  // 0 when there is none
  // The answer to `initialize`: {version, engine, host, devices}; null before it. `devices` are
  // those that the engine sent last.
  const nlohmann::json& greeting() const { return greeting_; }

  // The engine's program: the one that PARALLELARIUM_ENGINE names (another build, a stand-in of the
  // tests), else the one beside this program, else the one in PATH. Empty: there is none.
  static QString find_program();

 Q_SIGNALS:
  // The progress of request `id`: its phase ("calibrating", "running", "proving"), the share of the
  // phase from 0 to 1, and what is being done.
  void progressed(int id, const QString& phase, double share, const QString& what);
  // The losses of the latest training steps of run `id`; the last is that of `step` (from 1). If a
  // step comes a second time, the run has begun again.
  void losses_told(int id, int step, const std::vector<double>& losses);
  void greeted();  // and each time that the engine sends its devices again
  void ended();    // greeting() is null again

 private:
  void start();
  void write(const nlohmann::json& message);
  void read_output();
  void parse(const QByteArray& bytes);  // on the thread
  void handle_parsed();
  void handle(nlohmann::json& message, std::map<int, Reply>& open);
  void process_ended(const QString& how);
  void answer(int id, Result<nlohmann::json> result, std::map<int, Reply>& open);

  std::unique_ptr<QProcess> process_;
  FrameReader reader_;  // used by the thread while there is a process
  QMutex parsed_mutex_;
  // The messages in order; an error for bytes that are not our protocol.
  std::vector<Result<nlohmann::json>> parsed_;
  std::map<int, Reply> open_;
  std::map<int, bool> cancelled_;
  nlohmann::json greeting_;
  QByteArray last_error_lines_;
  int next_id_ = 1;
  QThreadPool parser_;  // one thread; last, since it uses the others
};

}  // namespace parallelarium
