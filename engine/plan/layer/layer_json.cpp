// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/layer_json.h"

#include <nlohmann/json.hpp>

namespace parallelarium {

namespace {

using nlohmann::json;

const char* name_of(TensorRole role) {
  return role == TensorRole::kWeight           ? "weight"
         : role == TensorRole::kWeightGradient ? "weight-gradient"
                                               : "activation";
}

const char* name_of(LayerStepKind kind) {
  switch (kind) {
    case LayerStepKind::kCompute:
      return "compute";
    case LayerStepKind::kCollective:
      return "collective";
    case LayerStepKind::kExchange:
      return "exchange";
    case LayerStepKind::kNothingSent:
      break;
  }
  return "nothing-sent";
}

const char* name_of(KeptBecause because) {
  switch (because) {
    case KeptBecause::kHeld:
      return "held";
    case KeptBecause::kNoDropout:
      return "no-dropout";
    case KeptBecause::kFused:
      return "fused";
    case KeptBecause::kRecomputed:
      break;
  }
  return "recomputed";
}

const char* name_of(KeptDiffers differs) {
  switch (differs) {
    case KeptDiffers::kSharedKeys:
      return "shared-keys";
    case KeptDiffers::kLatent:
      return "latent-attention";
    case KeptDiffers::kGated:
      return "swiglu";
    case KeptDiffers::kInnerWidth:
      return "inner-width";
    case KeptDiffers::kExperts:
      break;
  }
  return "experts";
}

json ranges_json(const std::vector<ChunkRange>& ranges) {
  json list = json::array();
  for (const ChunkRange& range : ranges) list.push_back({range.begin, range.end});
  return list;
}

json tensor_json(const LayerTensor& tensor) {
  json out = {{"name", tensor.name},
              {"written", tensor.written},
              {"role", name_of(tensor.role)},
              {"rows", tensor.rows},
              {"columns", tensor.columns},
              {"row_ranges", ranges_json(tensor.row_ranges)},
              {"column_ranges", ranges_json(tensor.column_ranges)},
              {"bytes", tensor.bytes},
              {"shard", tensor.is_shard()},
              {"copy", tensor.copy},
              {"partial_sum", tensor.partial}};
  if (!tensor.heads.empty()) out["heads"] = ranges_json(tensor.heads);
  if (tensor.all_experts > 0) out["experts"] = ranges_json(tensor.experts);
  if (tensor.by_row) out["by_row"] = true;
  return out;
}

json part_json(const LayerSteps& layer, const LayerRankStep& part) {
  json tensors = json::array();
  for (const LayerTensor& tensor : part.tensors) tensors.push_back(tensor_json(tensor));
  json out = {{"flops", part.flops},
              {"moved_bytes", part.moved_bytes},
              {"sent_bytes", part.sent_bytes},
              {"kept_bytes", part.kept_bytes},
              {"tensors", std::move(tensors)}};
  if (part.sends_to >= 0)
    out["sends_to"] = layer.ranks[static_cast<std::size_t>(part.sends_to)].rank;
  return out;
}

json step_json(const LayerSteps& layer, const LayerStep& step) {
  json out = {{"kind", name_of(step.kind)}, {"phase", parallelarium::name_of(step.phase)}};
  if (layer.choice.place == LayerPlace::kLayer) out["half"] = step.attention ? "attention" : "mlp";
  if (step.kind == LayerStepKind::kCompute) {
    out["piece"] = parallelarium::name_of(step.piece);
  } else {
    out["axis"] = parallelarium::name_of(step.axis);
    if (step.kind == LayerStepKind::kCollective)
      out["collective"] = parallelarium::name_of(step.collective);
    if (step.kind != LayerStepKind::kNothingSent)
      out["purpose"] = parallelarium::name_of(step.purpose);
  }
  if (!step.symbol.empty()) out["symbol"] = step.symbol;
  if (!step.number.empty()) out["number"] = step.number;
  if (step.blocks > 1) out["block"] = step.block, out["blocks"] = step.blocks;
  // A rank that has no part in the step is null.
  json ranks = json::array();
  for (const LayerRankStep& part : step.ranks)
    ranks.push_back(part.first_op < 0 ? json(nullptr) : part_json(layer, part));
  out["ranks"] = std::move(ranks);
  return out;
}

json kept_json(const LayerKept& kept) {
  json terms = json::array();
  for (const KeptTerm& term : kept.terms)
    terms.push_back({{"tensor", parallelarium::name_of(term.tensor)},
                     {"sbh", term.sbh},
                     {"as2b", term.scores},
                     {"divided_by_tp", term.split},
                     {"because", name_of(term.because)},
                     {"held_bytes", term.held_bytes}});
  json differs = json::array();
  for (const KeptDiffers why : kept.differs) differs.push_back(name_of(why));
  return {{"terms", std::move(terms)},
          {"other_bytes", kept.other_bytes},
          {"number_bytes", kept.number_bytes},
          {"differs", std::move(differs)}};
}

json vocabulary_json(const LayerVocabulary& of, LayerPlace part) {
  json out = {{"words", of.words},
              {"held_words", of.held_words},
              {"tied", of.tied},
              {"two_tables", of.two_tables},
              {"tied_sent_bytes", of.tied_sent_bytes}};
  if (part == LayerPlace::kHead)
    out["loss"] = {{"tokens", of.tokens},
                   {"collectives", of.loss_collectives},
                   {"sent_bytes", of.loss_sent_bytes},
                   {"logits_bytes", of.logits_bytes},
                   {"whole_logits_bytes", of.whole_logits_bytes},
                   {"gathered_sent_bytes", of.gathered_sent_bytes}};
  return out;
}

json runs_of_all_json(const std::vector<std::vector<ChunkRange>>& by_rank) {
  json list = json::array();
  for (const std::vector<ChunkRange>& ranges : by_rank) list.push_back(ranges_json(ranges));
  return list;
}

// Ranks are places along CP; runs are numbered by their tokens, rounds by their order.
json context_json(const LayerContext& context) {
  json runs = json::array(), rounds = json::array(), moves = json::array(), blocks = json::array();
  for (const TokenRun& run : context.runs)
    runs.push_back({{"cp", run.cp}, {"tokens", {run.tokens.begin, run.tokens.end}}});
  for (const ContextRound& round : context.rounds) {
    json keys_from = json::array();
    for (const int cp : round.keys_from) keys_from.push_back(cp < 0 ? json("all") : json(cp));
    rounds.push_back({{"step", round.step},
                      {"keys_from", std::move(keys_from)},
                      {"work", round.blocks},
                      {"most", round.most}});
  }
  for (const ContextMove& move : context.moves)
    moves.push_back({{"step", move.step}, {"round", move.round}, {"gradient", move.gradient}});
  for (const ScoreBlock& block : context.blocks)
    blocks.push_back({{"queries", block.queries},
                      {"keys", block.keys},
                      {"cp", block.cp},
                      {"round", block.round},
                      {"scores", block.scores}});
  json out = {{"by_heads", context.by_heads}, {"runs", std::move(runs)},
              {"rounds", std::move(rounds)},  {"moves", std::move(moves)},
              {"blocks", std::move(blocks)},  {"work", context.blocks_of},
              {"even", context.even},         {"over_even", context.over_even()}};
  if (context.by_heads) {
    out["heads"] = runs_of_all_json(context.heads);
    out["key_heads"] = runs_of_all_json(context.key_heads);
  }
  return out;
}

}  // namespace

std::string_view name_of(LayerPlace part) {
  return part == LayerPlace::kEmbedding ? "embedding"
         : part == LayerPlace::kHead    ? "head"
                                        : "layer";
}

json to_json(const LayerSteps& layer) {
  const LayerChoice& choice = layer.choice;
  json ranks = json::array(), steps = json::array();
  for (const LayerRank& rank : layer.ranks)
    ranks.push_back({{"rank", rank.rank}, {"tp", rank.at.tp}, {"cp", rank.at.cp}});
  // Ranks of the EP group are those of its replicas, one after another.
  if (layer.experts)
    for (std::size_t at = 0; at < ranks.size(); ++at) ranks[at]["ep"] = layer.ranks[at].at.dp;
  for (const LayerStep& step : layer.steps) steps.push_back(step_json(layer, step));
  json out = {{"part", name_of(choice.place)},
              {"microbatch", choice.microbatch},
              {"direction", choice.backward ? "backward" : "forward"},
              {"ranks", std::move(ranks)},
              {"steps", std::move(steps)}};
  if (choice.place == LayerPlace::kLayer) {
    out["layer"] = choice.layer;
    if (!layer.kept.terms.empty() || !layer.kept.differs.empty())
      out["kept"] = kept_json(layer.kept);
    if (layer.context.drawn()) out["context"] = context_json(layer.context);
  } else {
    out["vocabulary"] = vocabulary_json(layer.vocabulary, choice.place);
  }
  return out;
}

}  // namespace parallelarium
