// SPDX-License-Identifier: GPL-3.0-or-later
// "parallelarium-document/1": {format, setup, runs, view, lesson, collective}. A teacher sends one
// file that opens where it should. A bare setup, a PNG that holds one and a model's config.json of
// Hugging Face are read as well.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/state/collective/collective_session.h"
#include "app/state/session.h"
#include "engine/wire/messages.h"

namespace parallelarium {

// The text chunk of a PNG that holds the setup (with keyword and content as iTXt).
inline constexpr char kSetupChunk[] = "parallelarium-setup";

// What a document keeps of the Collectives view.
struct CollectivesKept {
  CollectiveChoice choice;
  std::vector<CollectiveRun> runs;
  std::vector<MeasuredPoint> sweep;
};

// {choice, "runs", "sweep"}; null where nothing differs from a fresh start.
nlohmann::json collective_document(const CollectiveSession& collectives);
// A wrong choice is an error; runs that cannot be kept become notes.
Result<CollectivesKept> collectives_from_json(const nlohmann::json& json,
                                              std::vector<Message>& notes);

// A document, or a bare setup, that was read.
struct Document {
  bool is_bare = false;  // a setup or a picture: nothing to be saved over
  Setup setup;
  std::optional<Setup> there;  // what it meant where it was saved
  std::vector<RunRecord> runs;
  std::optional<RunRecord> pinned;
  nlohmann::json view, lesson;
  QString tab;  // the id of the view that was in front, or empty
  std::optional<CollectivesKept> collectives;
  std::vector<Message> notes;  // one sentence for each run that could not be kept
};

// Predicts what each run was predicted to be, so it may take seconds; safe on any thread.
Result<Document> document_from_json(const nlohmann::json& json);

// Of a document from a computer where the `auto` of `asked` meant something else.
Message meaning_note(const Setup& asked, const Setup& kept);

// What the session holds, as a document.
nlohmann::json document_of(const Session& session);

// Puts a document into the session. Returns its notes, and one where its `auto` means something
// else here.
std::vector<Message> restore_document(Session& session, Document document);
// The same of JSON. On an error the session is untouched.
Result<void> restore_document(Session& session, const nlohmann::json& json,
                              std::vector<Message>& notes);

// Reads a document, a setup, or a picture that the program exported.
Result<nlohmann::json> read_document(const QString& path);
// Written atomically.
Result<void> write_document(const QString& path, const nlohmann::json& document);

}  // namespace parallelarium
