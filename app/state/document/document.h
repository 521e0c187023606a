// SPDX-License-Identifier: GPL-3.0-or-later
// "parallelarium-document/1": {format, setup, runs, view, lesson, collective}. A teacher sends one
// file that opens at the right place. The program also reads a bare setup, a PNG that holds one,
// and a model's config.json of Hugging Face.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/state/collective/collective_session.h"
#include "app/state/plan/plan_wish.h"
#include "app/state/session.h"
#include "engine/wire/messages.h"

namespace parallelarium {

// The text chunk of a PNG that holds the setup (with keyword and content as iTXt).
inline constexpr char kSetupChunk[] = "parallelarium-setup";
// The key of a document that read_document() found in a picture.
inline constexpr char kOfPicture[] = "of_picture";

// The part of a document that belongs to the Collectives view.
struct CollectivesKept {
  CollectiveChoice choice;
  std::vector<CollectiveRun> runs;
  std::vector<MeasuredPoint> sweep;
};

// {choice, "runs", "sweep"}; null if nothing differs from a fresh start.
nlohmann::json collective_document(const CollectiveSession& collectives);
// A wrong choice is an error. Runs that cannot be kept become notes.
Result<CollectivesKept> collectives_from_json(const nlohmann::json& json,
                                              std::vector<Message>& notes);

// A document, or a bare setup, that was read.
struct Document {
  bool is_bare = false;  // a setup or a picture, which must not be overwritten
  Setup setup;
  std::optional<Setup> there;  // what `setup` meant where it was saved
  std::vector<RunRecord> runs;
  std::optional<RunRecord> pinned;
  nlohmann::json view, lesson;
  QString tab;  // the id of the view that was in front, or empty
  std::optional<CollectivesKept> collectives;
  std::optional<PlanWish> plan;  // what the search was asked
  std::vector<Message> notes;    // one sentence for each run that could not be kept
};

// Makes the prediction of each run again, so it may take seconds. Safe on any thread.
Result<Document> document_from_json(const nlohmann::json& json);

// The note on a document from a computer where the `auto` of `asked` meant something else.
Message meaning_note(const Setup& asked, const Setup& kept);

// The contents of the session as a document.
nlohmann::json document_of(const Session& session);

// Puts a document into the session. Returns its notes, and one more if its `auto` means something
// else here.
std::vector<Message> restore_document(Session& session, Document document);
// The same from JSON. On an error the session is unchanged.
Result<void> restore_document(Session& session, const nlohmann::json& json,
                              std::vector<Message>& notes);

// Reads a document, a setup, or a picture that the program exported.
Result<nlohmann::json> read_document(const QString& path);
// Writes atomically.
Result<void> write_document(const QString& path, const nlohmann::json& document);

}  // namespace parallelarium
