// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/table.h"

#include <algorithm>

namespace parallelarium {

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

Table::Table(std::vector<std::string> titles) : titles_(std::move(titles)) {
  for (std::string& title : titles_) {
    right_.push_back(!title.empty() && title.front() == '>');
    if (right_.back()) title.erase(0, 1);
  }
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(titles_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < titles_.size(); ++column) {
    std::size_t width = width_of(titles_[column]);
    for (const auto& row : rows_) width = std::max(width, width_of(row[column]));
    widths.push_back(width);
  }
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string of_row;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const std::string padding(widths[column] - width_of(cells[column]), ' ');
      of_row += "  " + (right_[column] ? padding + cells[column] : cells[column] + padding);
    }
    of_row.erase(of_row.find_last_not_of(' ') + 1);
    text += of_row + "\n";
  };
  if (std::any_of(titles_.begin(), titles_.end(), [](const auto& title) { return !title.empty(); }))
    line(titles_);
  for (const auto& row : rows_) line(row);
  return text;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + width_of(word) > width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width_of(word);
  }
  return result;
}

}  // namespace parallelarium
