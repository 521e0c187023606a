// SPDX-License-Identifier: GPL-3.0-or-later
// Where files go that a person saves.
#pragma once

#include <QString>

namespace parallelarium {

// The path that a dialog offers for a new file of this name: in the user's documents, or where
// there is no such folder at home.
QString in_documents(const QString& name);

}  // namespace parallelarium
