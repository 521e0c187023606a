// SPDX-License-Identifier: GPL-3.0-or-later
// Context parallelism in words.
#include <QCoreApplication>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/shared/quantities/quantities.h"
#include "engine/plan/layer/context/context_times.h"

namespace parallelarium {
namespace {

constexpr int kMostRatios = 8;

struct ContextTexts {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

QString rank_text(const LayerPicture& picture, int cp) {
  const auto rank = std::size_t(context_rank(picture, cp));
  return ContextTexts::tr("rank %1").arg(picture.layer->ranks[rank].rank);
}

}  // namespace

QString context_method_text(const LayerContext& context, ContextSplit split) {
  if (!context.drawn()) return {};
  if (context.by_heads) return ContextTexts::tr("Ulysses");
  const QString method = context.rounds.size() > 1 ? ContextTexts::tr("ring")
                         : context.moves.empty()   ? ContextTexts::tr("own keys only")
                                                   : ContextTexts::tr("all-gather");
  return method + QStringLiteral(", ") +
         (split == ContextSplit::kZigzag ? ContextTexts::tr("zigzag")
                                         : ContextTexts::tr("contiguous"));
}

QString context_tokens_text(const LayerContext& context, int cp) {
  std::vector<ChunkRange> ranges;
  for (const TokenRun& run : context.runs)
    if (run.cp == cp) ranges.push_back(run.tokens);
  return ContextTexts::tr("tokens %1").arg(layer_places_text(ranges));
}

QString context_blocks_text(const LayerPicture& picture, double blocks) {
  return picture.hides_blocks ? kHidden : number_text(blocks);
}

QStringList context_ratio_lines(const LayerPicture& picture) {
  const auto ratios = [&](const std::vector<double>& of) {
    QStringList words;
    for (const double ratio : of)
      words << (picture.hides_blocks ? kHidden : number_text(std::round(ratio * 100) / 100));
    if (words.size() > kMostRatios)
      words = QStringList{words[0], words[1], QStringLiteral("\u2026"), words.back()};
    return words.join(QStringLiteral(" : "));
  };
  const std::vector<double> work = over_least(picture.layer->context.blocks_of);
  QStringList lines;
  if (!work.empty()) lines << ContextTexts::tr("Work of the ranks %1").arg(ratios(work));
  if (!picture.attention_ratios.empty() && picture.observed)
    lines << ContextTexts::tr("Time of their attention %1, %2")
                 .arg(ratios(picture.attention_ratios), source_text(picture.observed->source));
  return lines;
}

QString context_sentence(const LayerPicture& picture) {
  const LayerContext& context = picture.layer->context;
  QStringList lines;
  for (int cp = 0; cp < int(context.blocks_of.size()); ++cp) {
    QStringList parts{context_tokens_text(context, cp)};
    if (context.by_heads) {
      parts << ContextTexts::tr("attention of heads %1 over all tokens")
                   .arg(layer_places_text(context.heads[std::size_t(cp)]));
      parts << (context.repeats_keys()
                    ? ContextTexts::tr("a copy of K/V head %1, which neighbours have too")
                    : ContextTexts::tr("K/V heads %1"))
                   .arg(layer_places_text(context.key_heads[std::size_t(cp)]));
    } else {
      for (std::size_t round = 0; round < context.rounds.size(); ++round) {
        const ContextRound& of = context.rounds[round];
        const QString blocks = context_blocks_text(picture, of.blocks[std::size_t(cp)]);
        const int from = of.keys_from[std::size_t(cp)];
        parts << (from < 0
                      ? ContextTexts::tr("%1 blocks with keys and values of all ranks").arg(blocks)
                      : ContextTexts::tr("step %1: %2 blocks with keys and values of %3")
                            .arg(round + 1)
                            .arg(blocks, rank_text(picture, from)));
      }
      if (context.rounds.size() > 1)
        parts << ContextTexts::tr("together %1")
                     .arg(context_blocks_text(picture, context.blocks_of[std::size_t(cp)]));
    }
    lines << ContextTexts::tr("%1: %2.").arg(rank_text(picture, cp),
                                             parts.join(QStringLiteral("; ")));
  }
  if (!context.by_heads)
    lines << ContextTexts::tr("Time over an even share: %1.")
                 .arg(context_blocks_text(picture, context.over_even()));
  for (const QString& line : context_ratio_lines(picture)) lines << line + QLatin1Char('.');
  return lines.join(QLatin1Char(' '));
}

QString context_move_text(const LayerPicture& picture, int step) {
  const bool exchange = picture.layer->steps[std::size_t(step)].kind == LayerStepKind::kExchange;
  for (const ContextMove& move : picture.layer->context.moves) {
    if (!exchange || move.step != step) continue;
    return move.gradient
               ? ContextTexts::tr("gradients of K, V after ring step %1").arg(move.round + 1)
               : ContextTexts::tr("K, V for ring step %1").arg(move.round + 2);
  }
  return {};
}

std::vector<FactLine> context_facts(const LayerPicture& picture, int step, int rank) {
  const LayerContext& context = picture.layer->context;
  const int cp = picture.layer->ranks[std::size_t(rank)].at.cp;
  std::vector<FactLine> facts;
  for (std::size_t at = 0; at < context.rounds.size(); ++at) {
    const ContextRound& round = context.rounds[at];
    if (round.step != step) continue;
    facts.push_back({ContextTexts::tr("queries"), context_tokens_text(context, cp)});
    const int from = round.keys_from[std::size_t(cp)];
    facts.push_back({ContextTexts::tr("keys and values"),
                     from < 0
                         ? ContextTexts::tr("of all ranks")
                         : ContextTexts::tr("of %1, %2")
                               .arg(rank_text(picture, from), context_tokens_text(context, from))});
    facts.push_back({ContextTexts::tr("blocks of scores"),
                     context_blocks_text(picture, round.blocks[std::size_t(cp)])});
  }
  for (const ContextMove& move : context.moves) {
    if (move.step != step || context_move_text(picture, step).isEmpty()) continue;
    const int of = context.rounds[std::size_t(move.round)].keys_from[std::size_t(cp)];
    facts.push_back({move.gradient ? ContextTexts::tr("gradients of keys and values")
                                   : ContextTexts::tr("keys and values"),
                     ContextTexts::tr("of %1, %2")
                         .arg(rank_text(picture, of), context_tokens_text(context, of))});
  }
  return facts;
}

}  // namespace parallelarium
