// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/layer/context/layer_context.h"

#include <algorithm>

#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/layer/layer_tensor.h"

namespace parallelarium {

namespace {

using Ranges = std::vector<ChunkRange>;

bool contains(const Ranges& ranges, const ChunkRange& run) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const ChunkRange& range) {
    return range.begin <= run.begin && run.end <= range.end;
  });
}

std::int64_t length_of(const ChunkRange& range) { return range.end - range.begin; }

const TensorDimension* dimension_of(const OpTensor& tensor, const char* name) {
  for (const TensorDimension& dimension : tensor.dimensions)
    if (dimension.name == name) return &dimension;
  return nullptr;
}

// The positions of queries and keys whose scores one op computes, and the heads.
struct Attended {
  Ranges queries, keys, heads, key_heads;
};

bool begins_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

Attended attended_by(const std::vector<OpTensor>& tensors) {
  Attended out;
  const auto set = [](Ranges& ranges, const TensorDimension* dimension) {
    if (dimension) ranges = dimension->held();
  };
  for (const OpTensor& tensor : tensors) {
    if (tensor.name == "context" || begins_with(tensor.name, "dq")) {
      set(out.queries, dimension_of(tensor, "T"));
      set(out.heads, dimension_of(tensor, "H"));
    }
    if (tensor.name == "k" || begins_with(tensor.name, "k-step")) {
      set(out.keys, dimension_of(tensor, "T"));
      set(out.key_heads, dimension_of(tensor, "K"));
    }
  }
  // Where scores are kept, they say it.
  for (const OpTensor& tensor : tensors)
    if (tensor.name == "probabilities") out.keys = tensor.dimensions.back().held();
  return out;
}

class ContextReader {
 public:
  ContextReader(const Setup& setup, const Program& program, const LayerSteps& layer)
      : setup_(setup), program_(program), layer_(layer) {}

  LayerContext read() {
    for (int cp = 0; cp < setup_.mesh.cp; ++cp) {
      const PositionRuns of = positions_of(program_.shape, cp);
      for (int run = 0; run < of.runs; ++run)
        out_.runs.push_back({cp, {of.begin[run], of.begin[run] + of.length}});
    }
    std::sort(out_.runs.begin(), out_.runs.end(),
              [](const TokenRun& a, const TokenRun& b) { return a.tokens.begin < b.tokens.begin; });
    for (const TokenRun& run : out_.runs) longest_ = std::max(longest_, length_of(run.tokens));
    out_.blocks_of.assign(static_cast<std::size_t>(setup_.mesh.cp), 0);
    for (std::size_t step = 0; step < layer_.steps.size(); ++step) add_step(static_cast<int>(step));
    for (const double blocks : out_.blocks_of) out_.even += blocks / setup_.mesh.cp;
    return std::move(out_);
  }

 private:
  void add_step(int index) {
    const LayerStep& step = layer_.steps[static_cast<std::size_t>(index)];
    const bool attends = step.kind == LayerStepKind::kCompute && step.piece == Piece::kAttention;
    if (!attends && step.purpose != Purpose::kKeysValues) return;
    if (out_.first_step < 0) out_.first_step = index;
    out_.last_step = index;
    if (!attends) return add_move(index, step);
    if (step.phase == Phase::kRecompute) return;
    ContextRound round{index, {}, {}, 0};
    for (int cp = 0; cp < setup_.mesh.cp; ++cp) add_rank(round, step, cp);
    for (std::size_t cp = 0; cp < round.blocks.size(); ++cp) {
      out_.blocks_of[cp] += round.blocks[cp];
      round.most = std::max(round.most, round.blocks[cp]);
    }
    out_.waited += round.most;
    out_.rounds.push_back(std::move(round));
  }

  void add_move(int index, const LayerStep& step) {
    const int first = step.ranks.front().first_op;
    if (first < 0) return;
    const RankProgram& built = program_.ranks[static_cast<std::size_t>(layer_.ranks.front().built)];
    const auto operands = built.operands_of(built.ops[static_cast<std::size_t>(first)]);
    const bool gradient =
        !operands.empty() && built.buffers[static_cast<std::size_t>(operands[0].buffer)].tensor ==
                                 Tensor::kGradKeysValues;
    const int next = static_cast<int>(out_.rounds.size());
    // A gradient follows the round that added to it.
    out_.moves.push_back({index, std::max(0, gradient ? next - 1 : next), gradient});
  }

  void add_rank(ContextRound& round, const LayerStep& step, int cp) {
    round.keys_from.push_back(-1);
    round.blocks.push_back(0);
    const std::size_t index = static_cast<std::size_t>(cp) * setup_.mesh.tp;
    const LayerRank& rank = layer_.ranks[index];
    const RankProgram& built = program_.ranks[static_cast<std::size_t>(rank.built)];
    if (step.ranks[index].first_op < 0) return;
    const Op& op = built.ops[static_cast<std::size_t>(step.ranks[index].first_op)];
    const Attended of = attended_by(op_tensors_at(setup_, program_.shape, built, op, rank.at));
    // Ulysses cuts queries by heads along CP, where all else cuts them by tokens.
    const bool whole =
        of.queries.size() == 1 && length_of(of.queries[0]) == program_.shape.sequence;
    if (whole) {
      out_.by_heads = true;
      out_.heads.push_back(of.heads);
      out_.key_heads.push_back(of.key_heads);
    }
    round.keys_from.back() = holder_of(of.keys);
    for (std::size_t queries = 0; queries < out_.runs.size(); ++queries)
      for (std::size_t keys = 0; keys <= queries; ++keys)
        if (contains(of.queries, out_.runs[queries].tokens) &&
            contains(of.keys, out_.runs[keys].tokens))
          add_block(round, cp, static_cast<int>(queries), static_cast<int>(keys), whole);
  }

  void add_block(ContextRound& round, int cp, int queries, int keys, bool by_heads) {
    const auto rows = length_of(out_.runs[static_cast<std::size_t>(queries)].tokens);
    const auto columns = length_of(out_.runs[static_cast<std::size_t>(keys)].tokens);
    const bool diagonal = queries == keys;
    round.blocks.back() += (diagonal ? 0.5 : 1.0) * static_cast<double>(rows * columns) /
                           static_cast<double>(longest_ * longest_);
    if (by_heads) return;
    const std::int64_t scores = diagonal ? rows * (rows + 1) / 2 : rows * columns;
    out_.blocks.push_back({queries, keys, cp, static_cast<int>(out_.rounds.size()), scores});
  }

  // The CP rank that holds exactly these positions.
  int holder_of(const Ranges& keys) const {
    std::int64_t count = 0;
    for (const ChunkRange& range : keys) count += length_of(range);
    for (const TokenRun& run : out_.runs) {
      std::int64_t own = 0;
      bool all = true;
      for (const TokenRun& other : out_.runs)
        if (other.cp == run.cp) {
          own += length_of(other.tokens);
          all = all && contains(keys, other.tokens);
        }
      if (all && own == count) return run.cp;
    }
    return -1;
  }

  const Setup& setup_;
  const Program& program_;
  const LayerSteps& layer_;
  std::int64_t longest_ = 1;
  LayerContext out_;
};

}  // namespace

bool LayerContext::repeats_keys() const {
  for (std::size_t rank = 1; rank < key_heads.size(); ++rank)
    if (!key_heads[rank].empty() && !key_heads[rank - 1].empty() &&
        key_heads[rank].front().begin == key_heads[rank - 1].front().begin)
      return true;
  return false;
}

LayerContext layer_context(const Setup& setup, const Program& program, const LayerSteps& layer) {
  if (setup.mesh.cp == 1 || layer.steps.empty()) return {};
  return ContextReader(setup, program, layer).read();
}

}  // namespace parallelarium
