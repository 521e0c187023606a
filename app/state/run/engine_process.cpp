// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/run/engine_process.h"

#include <signal.h>
#include <sys/prctl.h>

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>
#include <QTimer>
#include <limits>

#include "app/look/sentence.h"

namespace parallelarium {

namespace {

constexpr int kGoodbyeMs = 300;
constexpr int kEndMs = 2000;  // of an engine that said its last words
constexpr Sentence kAfterDeath{"engine-died.safe",
                               "Your settings are safe; the next run starts a fresh one."};

// The sentence inside a JSON-RPC error object.
Message error_of(const nlohmann::json& error) {
  if (error.is_object()) {
    const auto data = error.find("data");
    if (data != error.end() && data->is_object()) return message_from_json(*data);
    const auto text = error.find("message");
    if (text != error.end() && text->is_string())
      return message("engine-refused", "{}", text->get<std::string>());
  }
  return message("engine-refused.silent", "The engine refused the request without saying why.");
}

}  // namespace

Message cancelled_message() { return message("cancelled", "The run was cancelled."); }

EngineProcess::EngineProcess(QObject* parent) : QObject(parent) { parser_.setMaxThreadCount(1); }

EngineProcess::~EngineProcess() {
  parser_.waitForDone();
  if (!process_) return;
  process_->disconnect(this);
  if (process_->state() != QProcess::NotRunning) {
    write({{"jsonrpc", "2.0"}, {"id", next_id_++}, {"method", "shutdown"}});
    process_->closeWriteChannel();
    if (!process_->waitForFinished(kGoodbyeMs)) {
      process_->kill();
      process_->waitForFinished(2000);
    }
  }
}

QString EngineProcess::find_program() {
  const QFileInfo chosen(qEnvironmentVariable("PARALLELARIUM_ENGINE"));
  if (chosen.isFile() && chosen.isExecutable()) return chosen.absoluteFilePath();
  const QString name = QStringLiteral("parallelarium-engine");
  const QFileInfo beside(QCoreApplication::applicationDirPath() + QLatin1Char('/') + name);
  if (beside.isExecutable()) return beside.absoluteFilePath();
  return QStandardPaths::findExecutable(name);
}

bool EngineProcess::is_running() const {
  return process_ && process_->state() != QProcess::NotRunning;
}

qint64 EngineProcess::process_id() const { return process_ ? process_->processId() : 0; }

void EngineProcess::start() {
  process_ = std::make_unique<QProcess>();
  reader_ = FrameReader();
  greeting_ = nullptr;
  last_error_lines_.clear();
  process_->setProgram(find_program());
  process_->setArguments({QStringLiteral("serve")});
  // The engine must not outlive a window that crashed.
  process_->setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGKILL); });
  connect(process_.get(), &QProcess::readyReadStandardOutput, this, &EngineProcess::read_output);
  connect(process_.get(), &QProcess::readyReadStandardError, this, [this] {
    last_error_lines_.append(process_->readAllStandardError());
    last_error_lines_ = last_error_lines_.right(4096);
  });
  connect(process_.get(), &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    process_ended(status == QProcess::CrashExit ? tr("killed by signal %1").arg(code)
                                                : tr("exit status %1").arg(code));
  });
  connect(process_.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) process_ended(process_->errorString());
  });
  process_->start();
  if (!is_running()) return;

  const int id = next_id_++;
  open_[id] = [this](Result<nlohmann::json> result) {
    if (!result) return;
    greeting_ = *result;
    Q_EMIT greeted();
  };
  write({{"jsonrpc", "2.0"},
         {"id", id},
         {"method", "initialize"},
         {"params", {{"version", kProtocolVersion}}}});
}

int EngineProcess::request(const std::string& method, nlohmann::json params, Reply reply) {
  const int id = next_id_++;
  open_[id] = std::move(reply);
  const auto refuse = [&](Message why) {
    QTimer::singleShot(0, this, [this, id, why = std::move(why)] { answer(id, why, open_); });
    return id;
  };
  if (!is_running()) {
    if (find_program().isEmpty())
      return refuse(message("engine-missing",
                            "The program parallelarium-engine is not beside {}; install or build "
                            "it there to run.",
                            QCoreApplication::applicationFilePath().toStdString()));
    start();
    if (!is_running())
      return refuse(message("engine-start", "{} does not start; see Help, Doctor.",
                            find_program().toStdString()));
  }
  write({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  return id;
}

void EngineProcess::cancel(int id, int grace_ms) {
  if (!open_.count(id)) return;
  cancelled_[id] = true;
  if (is_running())
    write({{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", id}}}});
  QTimer::singleShot(grace_ms, this, [this, id] {
    if (open_.count(id) && process_) process_->kill();
  });
}

void EngineProcess::write(const nlohmann::json& message) {
  const std::string bytes = frame(message);
  process_->write(bytes.data(), static_cast<qint64>(bytes.size()));
}

void EngineProcess::read_output() {
  const QByteArray bytes = process_->readAllStandardOutput();
  parser_.start([this, bytes] { parse(bytes); });
}

void EngineProcess::parse(const QByteArray& bytes) {
  reader_.append({bytes.constData(), static_cast<std::size_t>(bytes.size())});
  bool some = false, whole = true;
  while (whole) {
    Result<std::optional<nlohmann::json>> next = reader_.next();
    whole = next && next->has_value();
    if (next && !whole) break;
    const QMutexLocker lock(&parsed_mutex_);
    parsed_.push_back(next ? Result<nlohmann::json>(std::move(**next))
                           : Result<nlohmann::json>(next.error()));
    some = true;
  }
  if (some) QMetaObject::invokeMethod(this, &EngineProcess::handle_parsed, Qt::QueuedConnection);
}

void EngineProcess::handle_parsed() {
  std::vector<Result<nlohmann::json>> parsed;
  {
    const QMutexLocker lock(&parsed_mutex_);
    parsed.swap(parsed_);
  }
  for (Result<nlohmann::json>& message : parsed) {
    if (message)
      handle(*message, open_);
    else if (process_)
      return process_->kill();  // not our protocol: nothing that follows can be trusted
  }
}

void EngineProcess::handle(nlohmann::json& message, std::map<int, Reply>& open) {
  if (!message.is_object()) return;
  if (message.contains("method")) {
    const auto params = message.find("params");
    if (message["method"] == "$/devices" && params != message.end() && greeting_.is_object()) {
      greeting_["devices"] = *params;
      Q_EMIT greeted();
      return;
    }
    if (message["method"] != "$/progress" || params == message.end() || !params->is_object())
      return;
    const auto text = [&](const char* key) {
      const auto found = params->find(key);
      return found != params->end() && found->is_string()
                 ? QString::fromStdString(found->get<std::string>())
                 : QString();
    };
    const auto id = params->find("id"), share = params->find("share"), what = params->find("what");
    if (id == params->end() || !id->is_number_integer()) return;
    const auto step = params->find("step"), losses = params->find("losses");
    if (step != params->end() && step->is_number_integer() && losses != params->end() &&
        losses->is_array()) {
      std::vector<double> values;
      for (const nlohmann::json& loss : *losses)
        values.push_back(loss.is_number() ? loss.get<double>()
                                          : std::numeric_limits<double>::quiet_NaN());
      Q_EMIT losses_told(id->get<int>(), step->get<int>(), values);
    }
    Q_EMIT progressed(id->get<int>(), text("phase"),
                      share != params->end() && share->is_number() ? share->get<double>() : 0,
                      what != params->end() ? sentence(message_from_json(*what)) : QString());
    return;
  }
  const auto id = message.find("id");
  if (id == message.end() || !id->is_number_integer()) return;
  if (message.contains("ends") && is_running()) {
    // The reply may ask for more, which this engine would not do: process_ended() hands it on.
    const QMutexLocker lock(&parsed_mutex_);
    parsed_.push_back(std::move(message));
    QTimer::singleShot(kEndMs, process_.get(), [process = process_.get()] { process->kill(); });
    return;
  }
  const auto error = message.find("error");
  if (error != message.end()) {
    answer(id->get<int>(),
           cancelled_.count(id->get<int>()) ? cancelled_message() : error_of(*error), open);
    return;
  }
  const auto result = message.find("result");
  answer(id->get<int>(), result != message.end() ? std::move(*result) : nlohmann::json(), open);
}

void EngineProcess::answer(int id, Result<nlohmann::json> result, std::map<int, Reply>& open) {
  const auto found = open.find(id);
  if (found == open.end()) return;
  const Reply reply = std::move(found->second);
  open.erase(found);
  cancelled_.erase(id);
  reply(std::move(result));
}

void EngineProcess::process_ended(const QString& how) {
  // Kept until the event loop: this runs inside one of the process's own signals.
  if (process_) {
    process_->disconnect(this);
    process_.release()->deleteLater();
  }
  // A reply may start the next process, whose requests are not to be answered here.
  std::map<int, Reply> open;
  open.swap(open_);
  parser_.waitForDone();
  std::vector<Result<nlohmann::json>> said_last;
  said_last.swap(parsed_);
  for (Result<nlohmann::json>& message : said_last)
    if (message) handle(*message, open);
  greeting_ = nullptr;
  Q_EMIT ended();
  std::map<int, bool> cancelled;
  cancelled.swap(cancelled_);
  for (auto& [id, reply] : open)
    reply(cancelled.count(id) ? cancelled_message()
                              : message("engine-died", "The engine stopped unexpectedly ({}). {}",
                                        how.toStdString(), message(kAfterDeath)));
}

}  // namespace parallelarium
