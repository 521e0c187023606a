// SPDX-License-Identifier: Apache-2.0
// Chunks of a sequence on the ranks of context parallelism. Ranks compute causal attention for the
// tokens that they were given: queries stay, keys and values of all tokens come to every rank. What
// each computes is counted while it does.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/lesson/assign/assignment.h"
#include "engine/lesson/assign/rank_team.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kChunkTokens = 8, kHeadWide = 4;

using Positions = std::vector<std::int64_t>;  // of tokens, in the order in which a rank has them

struct AttentionOfRank {
  RankMatrix out;           // a row for each of its queries
  std::int64_t scores = 0;  // computed
};

RankMatrix rows_at(const RankMatrix& whole, const Positions& positions) {
  RankMatrix made{0, whole.columns, {}};
  for (const std::int64_t position : positions) {
    const auto row = whole.cells.begin() + position * whole.columns;
    made.cells.insert(made.cells.end(), row, row + whole.columns);
    ++made.rows;
  }
  return made;
}

// Of queries at `own` positions with keys and values of tokens at `others`: later ones are masked.
AttentionOfRank causal_attention(const RankMatrix& queries, const Positions& own,
                                 const RankMatrix& keys, const RankMatrix& values,
                                 const Positions& others) {
  AttentionOfRank made;
  made.out = {queries.rows, values.columns,
              std::vector<double>(static_cast<std::size_t>(queries.rows * values.columns))};
  for (std::int64_t query = 0; query < queries.rows; ++query) {
    double sum = 0;
    for (std::int64_t key = 0; key < keys.rows; ++key) {
      if (others[static_cast<std::size_t>(key)] > own[static_cast<std::size_t>(query)]) continue;
      double score = 0;
      for (std::int64_t at = 0; at < keys.columns; ++at)
        score += queries.at(query, at) * keys.at(key, at);
      ++made.scores;
      const double weight = std::exp(score / std::sqrt(double(keys.columns)));
      sum += weight;
      for (std::int64_t at = 0; at < values.columns; ++at)
        made.out.at(query, at) += weight * values.at(key, at);
    }
    for (std::int64_t at = 0; at < values.columns; ++at) made.out.at(query, at) /= sum;
  }
  return made;
}

std::size_t number_of(const std::string& name) {
  return std::strtoul(name.c_str() + name.rfind('-') + 1, nullptr, 10);
}

Positions positions_of_chunks(const std::vector<std::size_t>& chunks) {
  Positions made;
  for (const std::size_t chunk : chunks)
    for (std::int64_t token = 0; token < kChunkTokens; ++token)
      made.push_back(static_cast<std::int64_t>(chunk) * kChunkTokens + token);
  return made;
}

}  // namespace

AssignmentFacts chunk_facts(const Assignment& assignment) {
  const std::size_t ranks = assignment.size() / 2;
  std::vector<std::vector<std::size_t>> chunks(ranks);
  for (const auto& [slot, value] : assignment)
    chunks.at(number_of(value)).push_back(number_of(slot));
  std::vector<Positions> positions;
  Positions of_all;  // as the ranks' keys stand one after another where they are gathered
  for (const auto& own : chunks) {
    positions.push_back(positions_of_chunks(own));
    of_all.insert(of_all.end(), positions.back().begin(), positions.back().end());
  }

  const auto tokens = static_cast<std::int64_t>(assignment.size()) * kChunkTokens;
  const RankMatrix queries = test_matrix(tokens, kHeadWide, 1),
                   keys = test_matrix(tokens, kHeadWide, 2),
                   values = test_matrix(tokens, kHeadWide, 3);
  std::vector<AttentionOfRank> computed(ranks);
  RankTeam team(static_cast<int>(ranks));
  team.run([&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    RankMatrix all_keys = rows_at(keys, positions[at]), all_values = rows_at(values, positions[at]);
    team.all_gather_rows(rank, all_keys);
    team.all_gather_rows(rank, all_values);
    computed[at] = causal_attention(rows_at(queries, positions[at]), positions[at], all_keys,
                                    all_values, of_all);
  });

  Positions in_order(static_cast<std::size_t>(tokens));
  for (std::size_t at = 0; at < in_order.size(); ++at) in_order[at] = static_cast<std::int64_t>(at);
  const RankMatrix whole = causal_attention(queries, in_order, keys, values, in_order).out;
  std::vector<std::int64_t> work;
  std::vector<std::size_t> count;
  std::int64_t all = 0;
  bool as_one_rank = true;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    as_one_rank = as_one_rank && agree(computed[rank].out, rows_at(whole, positions[rank]));
    work.push_back(computed[rank].scores);
    count.push_back(chunks[rank].size());
    all += work.back();
  }
  const auto most = std::max_element(work.begin(), work.end());
  const auto least = std::min_element(work.begin(), work.end());
  const auto fullest = std::max_element(count.begin(), count.end());
  AssignmentFacts out;
  out.facts = {{"work", work},
               {"chunks", count},
               {"most_chunks", *fullest},
               {"over_even", double(*most) * double(ranks) / double(all)},
               {"sent_bytes", team.sent_bytes()},
               {"as_one_rank", as_one_rank ? 1 : 0}};
  if (*fullest > 2)
    out.reasons.push_back(message("assign-chunks.memory",
                                  "Rank {} holds {} of {} chunks, and an even share is 2: it needs "
                                  "more memory than the others.",
                                  fullest - count.begin(), *fullest, assignment.size()));
  if (*most > *least)
    out.reasons.push_back(
        message("assign-chunks.computed",
                "With {} tokens in a chunk rank {} computed {} scores and rank {} only {}: all "
                "wait for rank {}.",
                kChunkTokens, most - work.begin(), *most, least - work.begin(), *least,
                most - work.begin()));
  return out;
}

}  // namespace parallelarium
