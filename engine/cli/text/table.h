// SPDX-License-Identifier: Apache-2.0
// Text for people in aligned columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parallelarium {

// Columns of a terminal that a UTF-8 text takes (one for each code point).
std::size_t width_of(std::string_view text);

// Columns are separated by two spaces and lines indented by two. A column whose title begins with
// '>' is aligned to the right. Nothing follows the last column of a line.
class Table {
 public:
  explicit Table(std::vector<std::string> titles);  // all empty: no title line
  void add(std::vector<std::string> cells);         // missing cells are empty
  bool empty() const { return rows_.empty(); }
  std::string text() const;

 private:
  std::vector<std::string> titles_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// Breaks a text at spaces so that lines stay within `width`; further lines begin with `indent`
// spaces.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace parallelarium
