// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/origin.h"

#include <algorithm>
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

// Kinds that may do without a source.
constexpr Kind kAlone[] = {Kind::kAssumed, Kind::kSpecification, Kind::kFitted,
                           Kind::kMeasuredHere};

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

}  // namespace

Origin origin_of(std::string_view line) {
  // "assumed: notes", as nothing stands before them.
  constexpr std::string_view assumed = "assumed: ";
  if (line.starts_with(assumed)) return {Kind::kAssumed, {}, notes_of(line.substr(assumed.size()))};
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
  return {Kind::kOther, std::string(line), {}};
}

Message message_of(const Origin& origin) {
  if (origin.kind == Kind::kOther) return plain(origin.source);
  const auto* const lead = std::find_if(std::begin(kLeads), std::end(kLeads),
                                        [&](const Lead& of) { return of.kind == origin.kind; });
  Message said = origin.source.empty() || lead == std::end(kLeads) ? alone(origin.kind)
                                                                   : lead->with(origin.source);
  if (origin.notes.empty()) return said;
  Message notes = message_of(origin.notes.front());
  for (std::size_t at = 1; at < origin.notes.size(); ++at)
    notes = message("origin-notes", "{}; {}", std::move(notes), message_of(origin.notes[at]));
  return origin.kind == Kind::kAssumed
             ? message("origin-assumed", "{}: {}", std::move(said), std::move(notes))
             : message("origin-noted", "{} ({})", std::move(said), std::move(notes));
}

Origin measured_here(std::string date) { return {Kind::kMeasuredHere, std::move(date), {}}; }

std::string text_of(const Origin& origin) { return message_of(origin).text; }

Message word_of(const Origin& origin) {
  return origin.kind == Kind::kOther ? plain(origin.source) : word_of(origin.kind);
}

}  // namespace parallelarium
