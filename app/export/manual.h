// SPDX-License-Identifier: GPL-3.0-or-later
// The manual page of the window's program, and its completion for shells.
#pragma once

#include <QCommandLineOption>
#include <QList>
#include <string>
#include <string_view>

#include "engine/plan/result.h"

namespace parallelarium {

// `format` is one of manual_text(). Error: no such format.
Result<std::string> manual_of(const QList<QCommandLineOption>& options, std::string_view format);

}  // namespace parallelarium
