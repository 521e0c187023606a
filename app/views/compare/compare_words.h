// SPDX-License-Identifier: GPL-3.0-or-later
// The words of the Compare view.
#pragma once

#include "app/views/compare/compare_data.h"

namespace parallelarium {

QString compared_text(const std::string& metric);  // "step", "memory of the fullest rank"
QString compared_value(double value, const std::string& unit);
// `to` less `from`, with its sign.
QString compared_difference(double from, double to, const std::string& unit);
// What was published of the columns that are cases: rows of a title and a cell for each column,
// three for each figure: published, predicted, and the error.
std::vector<QStringList> published_rows(const ComparedEntries& comparison);
// Why a cell of the table has no value, or no difference; empty: it has.
QString why_no_value(const ComparedEntries& comparison, std::size_t row, std::size_t column);
QString why_no_difference(const ComparedEntries& comparison, std::size_t row, std::size_t column);
// The cell of the table: a value, "?", or in a word why there is none.
QString value_cell(const ComparedEntries& comparison, std::size_t row, std::size_t column);
QString difference_cell(const ComparedEntries& comparison, std::size_t row, std::size_t column);
// Whether that cell is a difference, not "?" or a word.
bool difference_stands(const ComparedEntries& comparison, std::size_t row, std::size_t column);
// How much later an action is in that column than in the first, or the word of the step's cell that
// says why it is not told.
QString later_text(const ComparedEntries& comparison, std::size_t column, Nanoseconds later);
// What the cells that stand for sentences mean, each once.
QStringList compare_notes(const ComparedEntries& comparison);
// What to know of the columns before their figures, such as that they make different batches.
QStringList compare_remarks(const ComparedEntries& comparison);
// "Why B is slower than A", or that there is nothing to compare.
QString compare_title(const ComparedEntries& comparison);
QString causes_title(const ComparedEntries& comparison);
// The whole view in words: columns, table and causes.
QString compare_description(const ComparedEntries& comparison);
// The same as rows of cells, the first of them titles.
std::vector<QStringList> compare_table(const ComparedEntries& comparison);

}  // namespace parallelarium
