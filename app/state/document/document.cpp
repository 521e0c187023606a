// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/document/document.h"

#include <QFile>
#include <QImageReader>
#include <QSaveFile>
#include <cmath>
#include <optional>

#include "app/state/plan/plan_search.h"
#include "engine/plan/model/hugging_face/hugging_face.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/predict.h"

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
    Result<Prediction> prediction = predict(*setup, *machine);
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
    if (begin && end && *end > *begin) session.subject().set_visible({*begin, *end});
  }
  const auto marks = view.find("marks_nanoseconds");
  if (marks != view.end() && marks->is_array()) {
    std::vector<Nanoseconds> times;
    for (const nlohmann::json& mark : *marks)
      if (const auto time = nanoseconds(mark)) times.push_back(*time);
    session.subject().set_marks(std::move(times));
  }
  if (view.contains("playhead_nanoseconds"))
    if (const auto time = nanoseconds(view["playhead_nanoseconds"]))
      session.playback().set_playhead(*time);
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
  for (const RunRecord& run : session.runs().all()) json["runs"].push_back(record_json(run));
  nlohmann::json view{{"playhead_nanoseconds", session.playback().playhead().count()},
                      {"marks_nanoseconds", nlohmann::json::array()}};
  const TimeRange visible = session.subject().visible();
  if (visible != TimeRange{Nanoseconds(0), session.subject().horizon()})
    view["visible_nanoseconds"] = {visible.begin.count(), visible.end.count()};
  for (const Nanoseconds mark : session.subject().marks())
    view["marks_nanoseconds"].push_back(mark.count());
  if (session.runs().pinned()) view["pin"] = record_json(*session.runs().pinned());
  json["view"] = std::move(view);
  if (!session.locks().lesson_state().is_null()) json["lesson"] = session.locks().lesson_state();
  nlohmann::json collective = collective_document(session.collectives());
  if (!collective.is_null()) json["collective"] = std::move(collective);
  if (const PlanSearch& search = PlanSearch::of(session); search.answer())
    json["plan"] = to_json(search.answered());
  return json;
}

Result<Document> document_from_json(const nlohmann::json& json) {
  if (!json.is_object())
    return message("document-object", "The file holds no JSON object, so it is no document.");
  Document document;
  const bool is_setup = !json.contains("format") || json["format"] != kDocumentFormat;
  document.is_bare = is_setup || json.contains(kOfPicture);
  const auto part = [&](const char* key) {
    return !is_setup && json.contains(key) ? json[key] : nlohmann::json();
  };
  if (is_hugging_face(json)) {
    Result<Model> model = import_hugging_face(json, document.notes);
    if (!model) return model.error();
    document.setup = new_setup();
    document.setup.model = std::move(*model);
    return document;
  }
  Result<Setup> setup = is_setup ? setup_from_file(json)
                                 : setup_from_json(json.contains("setup") ? json["setup"] : json);
  if (!setup) return setup.error();
  document.setup = std::move(*setup);
  Result<std::optional<Setup>> there = resolved_from_json(json);
  if (!there) return there.error();
  document.there = std::move(*there);
  if (const nlohmann::json collective = part("collective");
      !is_setup && json.contains("collective")) {
    Result<CollectivesKept> kept = collectives_from_json(collective, document.notes);
    if (!kept) return kept.error();
    document.collectives = std::move(*kept);
  }
  const auto record = [&](const nlohmann::json& run) -> std::optional<RunRecord> {
    Result<RunRecord> made = record_from_json(run);
    if (made) return std::move(*made);
    document.notes.push_back(made.error());
    return std::nullopt;
  };
  if (const nlohmann::json runs = part("runs"); runs.is_array())
    for (const nlohmann::json& run : runs)
      if (std::optional<RunRecord> made = record(run)) document.runs.push_back(std::move(*made));
  document.view = part("view");
  if (document.view.is_object()) {
    if (document.view.contains("pin")) document.pinned = record(document.view["pin"]);
    if (const auto tab = document.view.find("tab"); tab != document.view.end() && tab->is_string())
      document.tab = QString::fromStdString(tab->get<std::string>());
  }
  document.lesson = part("lesson");
  document.plan = wish_from_json(part("plan"));
  return document;
}

std::vector<Message> restore_document(Session& session, Document document) {
  session.locks().set_lesson_state(std::move(document.lesson));
  session.restore(document.setup, std::move(document.runs), std::move(document.pinned),
                  document.there);
  if (document.collectives)
    session.collectives().restore(document.collectives->choice,
                                  std::move(document.collectives->runs),
                                  std::move(document.collectives->sweep));
  if (session.setup() != document.setup)
    document.notes.push_back(meaning_note(document.setup, session.setup()));
  if (document.plan) PlanSearch::of(session).set_wish(*document.plan);
  session.wait_for_prediction();
  restore_view(session, document.view);
  Q_EMIT session.restored();
  return std::move(document.notes);
}

Result<void> restore_document(Session& session, const nlohmann::json& json,
                              std::vector<Message>& notes) {
  Result<Document> document = document_from_json(json);
  if (!document) return document.error();
  notes = restore_document(session, std::move(*document));
  return {};
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
    if (json.is_object()) json[kOfPicture] = true;
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
