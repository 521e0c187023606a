// SPDX-License-Identifier: GPL-3.0-or-later
// The answers to a question of several parts beside what is right: in the lesson, and on paper.
#pragma once

#include <QString>
#include <functional>
#include <string>
#include <vector>

#include "engine/lesson/teaching/grading/report.h"

namespace parallelarium {

// Rows of Markdown tables.
QString table_row(const QStringList& cells);
QString table_head(const QStringList& cells);
QString mark_of(bool right);  // "✓"

// A Markdown table. `words`: the text of "part …" and "option …" of that step.
QString figures_table(const Step& step, const std::vector<HandInPart>& parts,
                      const std::function<QString(const std::string&)>& words);

}  // namespace parallelarium
