// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/export/csv.h"

#include <fmt/format.h>

#include <iterator>

namespace parallelarium {
namespace {

std::string seconds(Nanoseconds time) {
  const auto count = time.count();
  const auto magnitude = count < 0 ? -count : count;
  return fmt::format("{}{}.{:09}", count < 0 ? "-" : "", magnitude / 1'000'000'000,
                     magnitude % 1'000'000'000);
}

std::string or_empty(std::int64_t value, bool there) {
  return there ? fmt::format("{}", value) : std::string();
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

std::string to_csv(const Program& program, const Timeline& timeline) {
  std::string text =
      "rank,stage,lane,op,kind,phase,piece,layer,microbatch,chunk,purpose,peer,bytes,"
      "begin_seconds,end_seconds,source\n";
  auto out = std::back_inserter(text);
  for (std::size_t index = 0; index < program.ranks.size(); ++index) {
    const RankProgram& rank = program.ranks[index];
    for (std::size_t at = 0; at < rank.ops.size(); ++at) {
      const Op& op = rank.ops[at];
      const Span& span = timeline.ranks[index].spans[at];
      const bool computes = op.kind == OpKind::kCompute;
      const std::string_view kind =
          op.kind == OpKind::kCollective ? name_of(op.collective) : name_of(op.kind);
      fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", rank.rank,
                     rank.stage, name_of(op.lane), at, kind, name_of(op.phase), name_of(op.piece),
                     or_empty(op.layer, op.layer >= 0), or_empty(op.microbatch, op.microbatch >= 0),
                     or_empty(op.chunk, op.microbatch >= 0), computes ? "" : name_of(op.purpose),
                     or_empty(op.peer, op.peer >= 0), or_empty(op.bytes, !computes),
                     seconds(span.begin), seconds(span.end), name_of(timeline.source));
    }
  }
  return text;
}

}  // namespace parallelarium
