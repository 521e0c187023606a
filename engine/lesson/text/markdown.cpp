// SPDX-License-Identifier: Apache-2.0
// The part of text.h that reads Markdown, with md4c: the same parser that Qt has inside.
#include <md4c.h>

#include <algorithm>
#include <cctype>

#include "engine/lesson/text/text.h"

namespace parallelarium {

namespace {

// What QTextDocument asks of md4c in Qt 6.4: with the last, __x__ underlines.
constexpr unsigned kDialect = MD_DIALECT_GITHUB | MD_FLAG_UNDERLINE;

struct Reader {
  std::string_view markdown;
  std::vector<Message> faults;
  MarkdownLinks links;
  int in_code = 0, in_picture = 0;
  bool picture_has_words = false;
  int line = 1;  // of the latest text

  int line_of(const char* at) const {
    // md4c hands out constants too, such as the line break inside a code block.
    if (at < markdown.data() || at > markdown.data() + markdown.size()) return line;
    return 1 + static_cast<int>(std::count(markdown.data(), at, '\n'));
  }
  void fault(const Sentence& what, int at_line) {
    if (faults.size() >= 20) return;
    faults.push_back(message("lesson-line", "Line {}: {}.", at_line, message(what)));
    faults.back().kind = what.id.text;
  }
};

Reader& of(void* user) { return *static_cast<Reader*>(user); }

int enter_block(MD_BLOCKTYPE type, void*, void* user) {
  if (type == MD_BLOCK_CODE) ++of(user).in_code;
  return 0;
}
int leave_block(MD_BLOCKTYPE type, void*, void* user) {
  if (type == MD_BLOCK_CODE) --of(user).in_code;
  return 0;
}

std::string attribute(const MD_ATTRIBUTE& text) { return std::string(text.text, text.size); }

int enter_span(MD_SPANTYPE type, void* detail, void* user) {
  Reader& reader = of(user);
  if (type == MD_SPAN_CODE) ++reader.in_code;
  if (type == MD_SPAN_U)
    reader.fault(Sentence{"markdown-underline", "_x_ and __x__ underline; write *x* or **x**"},
                 reader.line);
  if (type == MD_SPAN_DEL)
    reader.fault(Sentence{"markdown-strike", "~x~ would be struck through"}, reader.line);
  if (type == MD_SPAN_A)
    reader.links.links.push_back(attribute(static_cast<MD_SPAN_A_DETAIL*>(detail)->href));
  if (type == MD_SPAN_IMG) {
    ++reader.in_picture;
    reader.picture_has_words = false;
    reader.links.pictures.push_back(attribute(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src));
  }
  return 0;
}
int leave_span(MD_SPANTYPE type, void*, void* user) {
  Reader& reader = of(user);
  if (type == MD_SPAN_CODE) --reader.in_code;
  if (type == MD_SPAN_IMG) {
    --reader.in_picture;
    if (!reader.picture_has_words) reader.links.picture_without_words = true;
  }
  return 0;
}

bool allowed_html(std::string_view tag) {
  for (std::string_view name : {"b", "i", "sub", "sup"})
    if (tag == "<" + std::string(name) + ">" || tag == "</" + std::string(name) + ">") return true;
  return false;
}

int text(MD_TEXTTYPE type, const MD_CHAR* at, MD_SIZE size, void* user) {
  Reader& reader = of(user);
  const std::string_view words(at, size);
  const int line = reader.line = reader.line_of(at);
  if (reader.in_picture && type == MD_TEXT_NORMAL && !words.empty())
    reader.picture_has_words = true;
  if (type == MD_TEXT_HTML && words != "\n" && !allowed_html(words))
    reader.fault(Sentence{"markdown-html", "HTML other than <b> <i> <sub> <sup> is not shown"},
                 line);
  if (type == MD_TEXT_BR)
    reader.fault(Sentence{"markdown-break", "a hard line break would split the paragraph"}, line);
  if (type != MD_TEXT_NORMAL || reader.in_code) return 0;
  const auto dollar = words.find('$');
  if (dollar != std::string_view::npos && words.find('$', dollar + 1) != std::string_view::npos)
    reader.fault(Sentence{"markdown-maths", "$maths$ would be shown as it stands"}, line);
  if (words.find("{#") != std::string_view::npos)
    reader.fault(Sentence{"markdown-anchor", "{#anchors} would be shown as they stand"}, line);
  if (words.find("[!") != std::string_view::npos)
    reader.fault(Sentence{"markdown-admonition", "[!NOTE] would be shown as it stands"}, line);
  return 0;
}

// A row of a table's rule with fewer than three dashes in a column.
bool short_table_rule(std::string_view line) {
  if (line.find('|') == std::string_view::npos || line.find('-') == std::string_view::npos)
    return false;
  if (line.find_first_not_of("|-: \t\r") != std::string_view::npos) return false;
  std::size_t dashes = 0;
  bool column = false;
  for (const char c : std::string(line) + "|") {
    if (c == '-') {
      ++dashes;
      column = true;
    } else if (c == '|') {
      if (column && dashes < 3) return true;
      dashes = 0;
      column = false;
    }
  }
  return false;
}

void read_lines(Reader& reader) {
  int number = 0;
  bool fenced = false;
  for (std::string_view rest = reader.markdown; !rest.empty();) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    ++number;
    if (line.substr(0, 3) == "```" || line.substr(0, 3) == "~~~") fenced = !fenced;
    if (fenced) continue;
    if (short_table_rule(line))
      reader.fault(Sentence{"markdown-table", "a table needs three dashes a column"}, number);
    if (line.find("[^") != std::string_view::npos)
      reader.fault(Sentence{"markdown-footnote", "footnotes are not shown"}, number);
    if (number == 1 && line.substr(0, 3) == "---")
      reader.fault(Sentence{"markdown-front-matter", "front matter would be shown as a heading"},
                   number);
  }
}

Reader read(std::string_view markdown) {
  Reader reader;
  reader.markdown = markdown;
  MD_PARSER parser{};
  parser.flags = kDialect;
  parser.enter_block = enter_block;
  parser.leave_block = leave_block;
  parser.enter_span = enter_span;
  parser.leave_span = leave_span;
  parser.text = text;
  if (md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, &reader) != 0)
    reader.fault(Sentence{"markdown", "the text cannot be read"}, 1);
  return reader;
}

}  // namespace

std::vector<Message> markdown_faults(std::string_view markdown) {
  Reader reader = read(markdown);
  read_lines(reader);
  return std::move(reader.faults);
}

MarkdownLinks links_of(std::string_view markdown) { return std::move(read(markdown).links); }

}  // namespace parallelarium
