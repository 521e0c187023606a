// SPDX-License-Identifier: GPL-3.0-or-later
// "parallelarium-document/1": {format, setup, runs, view, lesson, collective}. A teacher sends one
// file that opens where it should. A bare setup and a PNG that holds one are read as well.
#pragma once

#include <QString>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "app/state/collective_session.h"
#include "app/state/session.h"
#include "engine/wire/messages.h"

namespace parallelarium {

// The text chunk of a PNG that holds the setup (with keyword and content as iTXt).
inline constexpr char kSetupChunk[] = "parallelarium-setup";

// The Collectives view's part: {choice, "runs", "sweep"}; null where nothing differs from a fresh
// start.
nlohmann::json collective_document(const CollectiveSession& collectives);
// A wrong choice is an error; runs and points that cannot be kept become notes.
Result<void> restore_collectives(CollectiveSession& collectives, const nlohmann::json& json,
                                 std::vector<Message>& notes);

// Of a document from a computer where the `auto` of `asked` meant something else.
Message meaning_note(const Setup& asked, const Setup& kept);

// What the session holds, as a document.
nlohmann::json document_of(const Session& session);

// Puts a document, or a bare setup, into the session. On an error the session is untouched. `notes`
// receives one sentence for each run that could not be kept.
Result<void> restore_document(Session& session, const nlohmann::json& json,
                              std::vector<Message>& notes);

// Reads a document, a setup, or a picture that the program exported.
Result<nlohmann::json> read_document(const QString& path);
// Written atomically.
Result<void> write_document(const QString& path, const nlohmann::json& document);

}  // namespace parallelarium
