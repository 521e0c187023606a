// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/rates/origin.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

namespace parallelarium {
namespace {

using Kind = OriginKind;

// What a line says before its notes. `with` has the place of the source.
struct Lead {
  Kind kind;
  Message (*with)(const std::string& source);
};

constexpr Lead kLeads[] = {
    {Kind::kAssumedFitted,
     [](const std::string& source) {
       return message("origin-assumed-fitted", "assumed as fitted on {}", source);
     }},
    {Kind::kAssumedMeasured,
     [](const std::string& source) {
       return message("origin-assumed-measured", "assumed as measured with {}", source);
     }},
    {Kind::kAssumedAs,
     [](const std::string& source) {
       return message("origin-assumed-as", "assumed as of {}", source);
     }},
    {Kind::kSpecification,
     [](const std::string& source) {
       return message("origin-specification", "specification: {}", source);
     }},
    {Kind::kPublished,
     [](const std::string& source) {
       return message("origin-published", "published in {}", source);
     }},
    {Kind::kFitted,
     [](const std::string& source) { return message("origin-fitted", "fitted on {}", source); }},
    {Kind::kDerived,
     [](const std::string& source) {
       return message("origin-derived", "derived from {}", source);
     }},
    {Kind::kMeasuredHere,
     [](const std::string& source) {
       return message("origin-measured-here", "measured on this computer on {}", source);
     }},
    {Kind::kMeasured,
     [](const std::string& source) {
       return message("origin-measured", "measured with {}", source);
     }},
    {Kind::kTold,
     [](const std::string& source) { return message("origin-told", "told by {}", source); }},
};

// Kinds that may do without a source. What kMeasuredHere says begins with the word of kMeasured.
constexpr Kind kAlone[] = {Kind::kAssumed, Kind::kSpecification, Kind::kPublished, Kind::kFitted,
                           Kind::kDerived, Kind::kMeasuredHere,  Kind::kMeasured,  Kind::kTold};

// What older versions of this program wrote before a note that has since come into brackets.
struct Older {
  std::string_view begin;
  Kind kind;
  std::string_view note;  // how its id begins
};

constexpr Older kOlder[] = {
    {"fitted on ", Kind::kFitted, "origin-note-measured-step"},
    {"measured on this computer: ", Kind::kMeasuredHere, "origin-note-shared"},
};

Message word_of(Kind kind) {
  switch (kind) {
    case Kind::kSpecification:
      return message("origin-word-specification", "specification");
    case Kind::kPublished:
      return message("origin-word-published", "published");
    case Kind::kFitted:
      return message("origin-word-fitted", "fitted");
    case Kind::kDerived:
      return message("origin-word-derived", "derived");
    case Kind::kMeasured:
    case Kind::kMeasuredHere:
      return message("origin-word-measured", "measured");
    case Kind::kTold:
      return message("origin-word-told", "told");
    default:
      return message("origin-word-assumed", "assumed");
  }
}

// What the line says of the kind without a source.
Message alone(Kind kind) {
  return kind == Kind::kMeasuredHere ? message("origin-here", "measured on this computer")
                                     : word_of(kind);
}

std::vector<OriginNote> notes_of(std::string_view text) {
  std::vector<OriginNote> notes;
  for (std::size_t end; (end = text.find("; ")) != text.npos; text.remove_prefix(end + 2))
    notes.push_back(origin_note_of(text.substr(0, end)));
  notes.push_back(origin_note_of(text));
  return notes;
}

// Where the last bracket of the text opens, if the text ends with it and has something before it.
std::size_t bracket_of(std::string_view text) {
  if (!text.ends_with(')')) return text.npos;
  int depth = 0;
  for (std::size_t at = text.size(); at-- > 1;) {
    depth += text[at] == ')' ? 1 : text[at] == '(' ? -1 : 0;
    if (depth == 0) return text[at - 1] == ' ' && at > 1 ? at : text.npos;
  }
  return text.npos;
}

std::optional<Origin> of_older_version(std::string_view line) {
  for (const Older& older : kOlder) {
    if (!line.starts_with(older.begin)) continue;
    OriginNote note = origin_note_of(line.substr(older.begin.size()));
    const bool number = std::isdigit(static_cast<unsigned char>(note.arguments.front()[0])) != 0;
    if (number && note.id.starts_with(older.note)) return Origin{older.kind, {}, {std::move(note)}};
  }
  return std::nullopt;
}

// A line in the words of this program.
std::optional<Origin> of_known_words(std::string_view line) {
  // "assumed: notes", as nothing stands before them.
  constexpr std::string_view assumed = "assumed: ";
  if (line.starts_with(assumed))
    return Origin{Kind::kAssumed, {}, notes_of(line.substr(assumed.size()))};
  Origin origin;
  std::string_view said = line;
  if (const std::size_t bracket = bracket_of(line); bracket != line.npos) {
    origin.notes = notes_of(line.substr(bracket + 1, line.size() - bracket - 2));
    said = line.substr(0, bracket - 1);
  }
  for (const Kind kind : kAlone)
    if (said == alone(kind).text) {
      origin.kind = kind;
      return origin;
    }
  for (const Lead& lead : kLeads) {
    const std::string begin = lead.with("").text;
    if (!said.starts_with(begin) || said.size() == begin.size()) continue;
    origin.kind = lead.kind;
    origin.source = said.substr(begin.size());
    return origin;
  }
  return std::nullopt;
}

Kind kind_of_beginning(std::string_view line) {
  for (const Kind kind : kAlone) {
    const std::string word = alone(kind).text;
    if (line.starts_with(word) &&
        (line.size() == word.size() ||
         std::isalnum(static_cast<unsigned char>(line[word.size()])) == 0))
      return kind;
  }
  return Kind::kOther;
}

}  // namespace

Origin origin_of(std::string_view line) {
  if (std::optional<Origin> older = of_older_version(line)) return std::move(*older);
  std::optional<Origin> known = of_known_words(line);
  if (known && text_of(*known) == line) return std::move(*known);
  return {kind_of_beginning(line), {}, {}, std::string(line)};
}

Message message_of(const Origin& origin) {
  const bool own_words = origin.kind == Kind::kOther || !origin.written.empty();
  const auto* const lead = std::find_if(std::begin(kLeads), std::end(kLeads),
                                        [&](const Lead& of) { return of.kind == origin.kind; });
  Message said = own_words                                           ? plain(origin.written)
                 : origin.source.empty() || lead == std::end(kLeads) ? alone(origin.kind)
                                                                     : lead->with(origin.source);
  if (origin.notes.empty()) return said;
  Message notes = message_of(origin.notes.front());
  for (std::size_t at = 1; at < origin.notes.size(); ++at)
    notes = message("origin-notes", "{}; {}", std::move(notes), message_of(origin.notes[at]));
  return origin.kind == Kind::kAssumed && !own_words
             ? message("origin-assumed", "{}: {}", std::move(said), std::move(notes))
             : message("origin-noted", "{} ({})", std::move(said), std::move(notes));
}

Origin measured_here(std::string date) { return {Kind::kMeasuredHere, std::move(date), {}}; }

std::string text_of(const Origin& origin) { return message_of(origin).text; }

Message word_of(const Origin& origin) {
  return origin.kind == Kind::kOther ? plain(origin.written) : word_of(origin.kind);
}

}  // namespace parallelarium
