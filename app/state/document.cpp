// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/document.h"

#include <QFile>
#include <QImageReader>
#include <QSaveFile>
#include <cmath>
#include <optional>

#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/local_prediction.h"

namespace parallelarium {

namespace {

constexpr qint64 kMostBytes = qint64(1) << 30;

nlohmann::json record_json(const RunRecord& record) {
  nlohmann::json json{{"machine", to_json(record.prediction->machine)}};
  if (record.observed()) {
    json["observation"] = to_json(record.observation);
  } else {
    json["setup"] = to_json(record.prediction->setup);
  }
  if (record.proof) json["proof"] = *record.proof;
  return json;
}

Result<RunRecord> record_from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("machine"))
    return message("document-run", "A run in the document has no \"machine\".");
  Result<Machine> machine = machine_from_json(json["machine"]);
  if (!machine) return machine.error();
  RunRecord record;
  if (json.contains("observation")) {
    Result<Observation> observation = observation_from_json(json["observation"]);
    if (!observation) return observation.error();
    Result<RunRecord> made = make_run_record(std::move(*observation), *machine);
    if (!made) return made.error();
    record = std::move(*made);
  } else if (json.contains("setup")) {
    Result<Setup> setup = setup_from_json(json["setup"]);
    if (!setup) return setup.error();
    // Older versions kept pins as they were asked for, and beside that whether GPUs were meant.
    if (json.contains("cores_for_gpus") && setup->run.backend == Backend::kAuto)
      setup->run.backend = Backend::kCuda;
    *setup = resolve(std::move(*setup), *machine);
    Result<Prediction> prediction = predict_as_shown(*setup, *machine);
    if (!prediction) return prediction.error();
    record.observation.setup = *setup;
    record.prediction = std::make_shared<const Prediction>(std::move(*prediction));
  } else {
    return message("document-run.observation", "A run in the document has no \"observation\".");
  }
  if (json.contains("proof") && json["proof"].is_object()) record.proof = json["proof"];
  return record;
}

std::optional<Nanoseconds> nanoseconds(const nlohmann::json& json) {
  if (!json.is_number_integer()) return std::nullopt;
  return Nanoseconds(json.get<std::int64_t>());
}

void restore_view(Session& session, const nlohmann::json& view) {
  if (!view.is_object()) return;
  const auto visible = view.find("visible_nanoseconds");
  if (visible != view.end() && visible->is_array() && visible->size() == 2) {
    const auto begin = nanoseconds((*visible)[0]), end = nanoseconds((*visible)[1]);
    if (begin && end && *end > *begin) session.set_visible({*begin, *end});
  }
  const auto marks = view.find("marks_nanoseconds");
  if (marks != view.end() && marks->is_array()) {
    std::vector<Nanoseconds> times;
    for (const nlohmann::json& mark : *marks)
      if (const auto time = nanoseconds(mark)) times.push_back(*time);
    session.set_marks(std::move(times));
  }
  if (view.contains("playhead_nanoseconds"))
    if (const auto time = nanoseconds(view["playhead_nanoseconds"])) session.set_playhead(*time);
}

}  // namespace

Message meaning_note(const Setup& asked, const Setup& kept) {
  std::vector<Message> settings;
  if (asked.precision != kept.precision)
    settings.push_back(message("auto-precision", "precision {}", kept.precision.name));
  if (asked.attention != kept.attention)
    settings.push_back(
        message("auto-attention", "attention {}", word_of(kAttentions, kept.attention)));
  if (asked.run.backend != kept.run.backend)
    settings.push_back(message("auto-backend", "backend {}", word_of(kBackends, kept.run.backend)));
  return message("document-auto",
                 "Auto meant {} where this was saved, and that stays; set auto again to let this "
                 "computer choose.",
                 listed(settings));
}

nlohmann::json document_of(const Session& session) {
  nlohmann::json json{{"format", kDocumentFormat},
                      {"setup", to_json(session.setup())},
                      {"resolved", to_json(session.resolved())},
                      {"runs", nlohmann::json::array()}};
  for (const RunRecord& run : session.runs()) json["runs"].push_back(record_json(run));
  nlohmann::json view{{"playhead_nanoseconds", session.playhead().count()},
                      {"marks_nanoseconds", nlohmann::json::array()}};
  const TimeRange visible = session.visible();
  if (visible != TimeRange{Nanoseconds(0), session.horizon()})
    view["visible_nanoseconds"] = {visible.begin.count(), visible.end.count()};
  for (const Nanoseconds mark : session.marks()) view["marks_nanoseconds"].push_back(mark.count());
  if (session.pinned()) view["pin"] = record_json(*session.pinned());
  json["view"] = std::move(view);
  if (!session.lesson_state().is_null()) json["lesson"] = session.lesson_state();
  nlohmann::json collective = collective_document(session.collectives());
  if (!collective.is_null()) json["collective"] = std::move(collective);
  return json;
}

Result<void> restore_document(Session& session, const nlohmann::json& json,
                              std::vector<Message>& notes) {
  if (!json.is_object())
    return message("document-object", "The file holds no JSON object, so it is no document.");
  const bool document = json.contains("format") && json["format"] == kDocumentFormat;
  Result<Setup> setup = setup_from_json(document && json.contains("setup") ? json["setup"] : json);
  if (!setup) return setup.error();
  const Result<std::optional<Setup>> there = resolved_from_json(json);
  if (!there) return there.error();
  std::vector<RunRecord> runs;
  std::optional<RunRecord> pinned;
  const nlohmann::json view = document && json.contains("view") ? json["view"] : nlohmann::json();
  if (document && json.contains("runs") && json["runs"].is_array()) {
    for (const nlohmann::json& run : json["runs"]) {
      Result<RunRecord> record = record_from_json(run);
      if (record)
        runs.push_back(std::move(*record));
      else
        notes.push_back(record.error());
    }
  }
  if (view.is_object() && view.contains("pin")) {
    Result<RunRecord> record = record_from_json(view["pin"]);
    if (record)
      pinned = std::move(*record);
    else
      notes.push_back(record.error());
  }
  std::optional<CollectiveSession> collectives;
  if (document && json.contains("collective")) {
    collectives.emplace(session.undo_stack());
    const Result<void> good = restore_collectives(*collectives, json["collective"], notes);
    if (!good) return good.error();
  }
  // From here on nothing fails: an error leaves the session as it was.
  session.set_lesson_state(document && json.contains("lesson") ? json["lesson"] : nlohmann::json());
  session.restore(*setup, std::move(runs), std::move(pinned), *there);
  if (collectives)
    session.collectives().restore(collectives->choice(), collectives->runs(),
                                  collectives->all_sweeps());
  if (session.setup() != *setup) notes.push_back(meaning_note(*setup, session.setup()));
  session.wait_for_prediction();
  restore_view(session, view);
  Q_EMIT session.restored();
  return {};
}

QString tab_of(const nlohmann::json& document) {
  const auto view = document.find("view");
  if (view == document.end() || !view->is_object()) return {};
  const auto tab = view->find("tab");
  if (tab == view->end() || !tab->is_string()) return {};
  return QString::fromStdString(tab->get<std::string>());
}

Result<nlohmann::json> read_document(const QString& path) {
  const std::string name = path.toStdString();
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    return message("document-open", "{} cannot be opened: {}.", name,
                   file.errorString().toStdString());
  if (file.size() > kMostBytes)
    return message("document-size", "{} is too large to be a document.", name);
  if (file.peek(4) == QByteArray("\x89PNG", 4)) {
    QImageReader reader(&file, "png");
    const QString setup = reader.text(QLatin1String(kSetupChunk));
    if (setup.isEmpty())
      return message(
          "document-picture",
          "{} is a picture without a setup inside; open one that was exported from here.", name);
    nlohmann::json json = nlohmann::json::parse(setup.toStdString(), nullptr, false);
    if (json.is_discarded())
      return message("document-picture-json", "The setup inside {} is damaged.", name);
    return json;
  }
  const QByteArray bytes = file.readAll();
  nlohmann::json json = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  if (json.is_discarded())
    return message("document-json", "{} is not JSON, so it is neither a document nor a setup.",
                   name);
  return json;
}

Result<void> write_document(const QString& path, const nlohmann::json& document) {
  QSaveFile file(path);
  const std::string text =
      document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  if (!file.open(QIODevice::WriteOnly) ||
      file.write(text.data(), qint64(text.size())) != qint64(text.size()) || !file.commit())
    return message("document-write", "{} cannot be written: {}.", path.toStdString(),
                   file.errorString().toStdString());
  return {};
}

}  // namespace parallelarium
