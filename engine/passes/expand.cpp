// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/expand.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "engine/collectives/algorithm_names.h"
#include "engine/passes/build.h"

namespace parallelarium {

namespace {

// One algorithm for one size, made once and copied to every collective like it.
using Recipe = std::tuple<CollectiveKind, int, std::int64_t, DataType, Reduction>;

class Expander {
 public:
  Expander(const Program& program, AlgorithmNames names)
      : program_(program), names_(std::move(names)), result_(program) {}

  Result<Program> run() {
    for (std::size_t rank = 0; rank < program_.ranks.size(); ++rank) {
      if (Result<void> done = expand_rank(program_.ranks[rank], result_.ranks[rank]); !done)
        return done.error();
    }
    result_.batches = batches_;
    return std::move(result_);
  }

 private:
  Result<const Collective*> made(const Op& op, int ranks) {
    const Recipe recipe{op.collective, ranks, op.bytes, op.type, op.reduction};
    const auto known = made_.find(recipe);
    if (known != made_.end()) return &known->second;
    CollectiveSpec spec;
    spec.kind = op.collective;
    spec.algorithm = names_[static_cast<std::size_t>(op.collective)];
    spec.ranks = ranks;
    spec.bytes = op.bytes;
    spec.type = op.type;
    spec.reduction = op.reduction == Reduction::kNone ? Reduction::kSum : op.reduction;
    Result<Collective> collective = make_collective(spec);
    if (!collective) {
      Message why = collective.error();
      why.field = "collectives";
      return why;
    }
    return &made_.emplace(recipe, std::move(*collective)).first->second;
  }

  Result<void> expand_rank(const RankProgram& from, RankProgram& to) {
    to.ops.clear();
    to.after.clear();
    to.operands.clear();
    lane_scratch_.fill(0);
    std::vector<std::int32_t> first(from.ops.size()), last(from.ops.size());
    std::vector<std::pair<std::size_t, Lane>>
        scratch;  // new buffers, whose lane's place is to come
    std::int32_t batches = program_.batches;
    for (std::size_t index = 0; index < from.ops.size(); ++index) {
      const Op& op = from.ops[index];
      first[index] = static_cast<std::int32_t>(to.ops.size());
      const int ranks =
          op.kind == OpKind::kCollective
              ? static_cast<int>(program_.groups[static_cast<std::size_t>(op.group)].ranks.size())
              : 1;
      // How many expert tokens go where is not known here, so they are exchanged as a whole.
      const bool uneven = op.purpose == Purpose::kTokens || op.purpose == Purpose::kCounts;
      if (ranks > 1 && !uneven && !names_[static_cast<std::size_t>(op.collective)].empty()) {
        const Result<const Collective*> collective = made(op, ranks);
        if (!collective) return collective.error();
        write_steps(from, op, **collective, to, scratch, batches);
      } else {
        append(from, op, to);
      }
      last[index] = static_cast<std::int32_t>(to.ops.size()) - 1;
      // What the whole came after, its first op comes after.
      Op& begins = to.ops[static_cast<std::size_t>(first[index])];
      begins.after_first = static_cast<std::int32_t>(to.after.size());
      begins.after_count = op.after_count;
      for (const std::int32_t before : from.after_of(op))
        to.after.push_back(last[static_cast<std::size_t>(before)]);
    }
    for (std::size_t buffer = 0; buffer < from.buffers.size(); ++buffer) {
      Buffer& moved = to.buffers[buffer];
      if (moved.opened_by < 0) continue;
      const auto opener = static_cast<std::size_t>(moved.opened_by);
      moved.opened_by = first_writer(to, buffer, first[opener], last[opener]);
      moved.closed_by = last[static_cast<std::size_t>(moved.closed_by)];
    }
    std::array<std::int64_t, kLanes> place{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      place[lane] = to.arena_bytes;
      to.arena_bytes += lane_scratch_[lane];
    }
    for (const auto& [buffer, lane] : scratch)
      to.buffers[buffer].offset += place[static_cast<std::size_t>(lane)];
    batches_ = std::max(batches_, batches);
    return {};
  }

  // The first of these ops that writes the buffer: some steps of a collective come before the one
  // that opens its result.
  static std::int32_t first_writer(const RankProgram& rank, std::size_t buffer, std::int32_t first,
                                   std::int32_t last) {
    for (std::int32_t op = first; op <= last; ++op) {
      for (const Operand& operand : rank.operands_of(rank.ops[static_cast<std::size_t>(op)])) {
        if (operand.buffer == static_cast<std::int32_t>(buffer) &&
            operand.access != Access::kRead) {
          return op;
        }
      }
    }
    return first;
  }

  static void append(const RankProgram& from, const Op& op, RankProgram& to) {
    Op copy = op;
    copy.operand_first = static_cast<std::int32_t>(to.operands.size());
    for (const Operand& operand : from.operands_of(op)) to.operands.push_back(operand);
    copy.after_count = 0;
    to.ops.push_back(copy);
  }

  // Labels of the collective, work of its steps.
  Op labelled(const Op& whole, const Op& step) {
    Op op = whole;
    op.kind = step.kind;
    op.piece = step.kind == OpKind::kCompute ? Piece::kCombine : Piece::kTransfer;
    op.reduction = step.reduction;
    op.bytes = step.bytes;
    op.repeat = 1;
    op.after_first = op.after_count = op.operand_count = 0;
    return op;
  }

  void write_combine(const Op& whole, Reduction reduction, std::initializer_list<Operand> operands,
                     RankProgram& to) {
    Op op = labelled(whole, {});  // of a Compute
    op.reduction = reduction;
    op.operand_first = static_cast<std::int32_t>(to.operands.size());
    op.operand_count = static_cast<std::int32_t>(operands.size());
    const auto parts = static_cast<std::int64_t>(operands.size()) - 1;
    const Operand& target = *operands.begin();
    if (target.count == 0) return;
    op.work = work_of(target.count, parts, size_of(target.type));
    for (const Operand& operand : operands) to.operands.push_back(operand);
    to.ops.push_back(op);
  }

  std::int32_t work_of(std::int64_t count, std::int64_t parts, std::int64_t size) {
    const auto [entry, added] = works_.try_emplace({count * parts, count * (parts + 1) * size},
                                                   static_cast<std::int32_t>(result_.works.size()));
    if (added) {
      Work work;
      work.piece = Piece::kCombine;
      work.elements = count * parts;
      work.bytes = count * (parts + 1) * size;
      work.flops = static_cast<double>(count * (parts - 1));
      result_.works.push_back({work});
    }
    return entry->second;
  }

  // The operand that each buffer of a collective's steps becomes. Buffer 0 is its array; the others
  // lie one after another in the lane's scratch.
  std::vector<Operand> add_scratch(const RankProgram& steps, const Operand& array, Lane lane,
                                   RankProgram& to,
                                   std::vector<std::pair<std::size_t, Lane>>& scratch) {
    std::vector<Operand> base = {array};
    std::int64_t offset = 0;
    for (std::size_t buffer = 1; buffer < steps.buffers.size(); ++buffer) {
      Buffer added;
      added.bytes = steps.buffers[buffer].bytes;
      added.offset = offset;
      offset += (added.bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
      Operand cells = array;
      cells.buffer = static_cast<std::int32_t>(to.buffers.size());
      cells.offset = 0;
      base.push_back(cells);
      scratch.emplace_back(to.buffers.size(), lane);
      to.buffers.push_back(added);
    }
    std::int64_t& most = lane_scratch_[static_cast<std::size_t>(lane)];
    most = std::max(most, offset);
    return base;
  }

  // One step of the collective `op`, on the operands that its buffers became.
  void write_step(const Op& op, const RankProgram& steps, const Op& step,
                  const std::vector<Operand>& base, const Group& group, std::int32_t batches,
                  RankProgram& to) {
    Op made = labelled(op, step);
    if (step.kind == OpKind::kCompute) {
      const auto target = steps.operands_of(step)[0];
      made.work = work_of(target.count, step.operand_count - 1, size_of(op.type));
    } else {
      made.peer = group.ranks[static_cast<std::size_t>(step.peer)];
      made.batch = batches + step.batch;
    }
    made.operand_first = static_cast<std::int32_t>(to.operands.size());
    made.operand_count = step.operand_count;
    for (const Operand& cells : steps.operands_of(step)) {
      Operand operand = base[static_cast<std::size_t>(cells.buffer)];
      operand.access = cells.access;
      operand.offset += cells.offset;
      operand.count = cells.count;
      operand.shard = -1;
      to.operands.push_back(operand);
    }
    to.ops.push_back(made);
  }

  void write_steps(const RankProgram& from, const Op& op, const Collective& collective,
                   RankProgram& to, std::vector<std::pair<std::size_t, Lane>>& scratch,
                   std::int32_t& batches) {
    const Group& group = program_.groups[static_cast<std::size_t>(op.group)];
    const auto member =
        std::lower_bound(group.ranks.begin(), group.ranks.end(), from.rank) - group.ranks.begin();
    const RankProgram& steps = collective.program.ranks[static_cast<std::size_t>(member)];
    const auto operands = from.operands_of(op);
    const auto begun = static_cast<std::int32_t>(to.ops.size());
    const std::size_t first_scratch = to.buffers.size();
    const std::vector<Operand> base = add_scratch(steps, operands[0], op.lane, to, scratch);

    const ChunkRange own = chunk_of(op.bytes / size_of(op.type),
                                    static_cast<int>(group.ranks.size()), static_cast<int>(member));
    Operand mine = operands[0];
    mine.offset += own.begin;
    mine.count = own.end - own.begin;
    mine.shard = -1;
    const auto with = [](Operand operand, Access access) {
      operand.access = access;
      return operand;
    };
    const bool elsewhere = operands.size() > 1;
    if (elsewhere && op.collective == CollectiveKind::kAllGather)
      write_combine(op, Reduction::kNone,
                    {with(mine, Access::kWrite), with(operands[1], Access::kRead)}, to);
    for (const Op& step : steps.ops) write_step(op, steps, step, base, group, batches, to);
    batches += collective.program.batches;
    if (op.collective == CollectiveKind::kAllToAll) {
      Operand whole = operands[0], result = base[1];
      whole.count = result.count = op.bytes / size_of(op.type);
      write_combine(op, Reduction::kNone,
                    {with(whole, Access::kWrite), with(result, Access::kRead)}, to);
    }
    if (elsewhere && op.collective == CollectiveKind::kReduceScatter) {
      if (operands[1].access == Access::kAccumulate) {
        write_combine(op, Reduction::kSum,
                      {with(operands[1], Access::kAccumulate), with(operands[1], Access::kRead),
                       with(mine, Access::kRead)},
                      to);
      } else {
        write_combine(op, Reduction::kNone,
                      {with(operands[1], Access::kWrite), with(mine, Access::kRead)}, to);
      }
    }
    for (auto step = static_cast<std::size_t>(begun); step < to.ops.size(); ++step)
      to.ops[step].steps_from = begun;
    open_scratch(begun, first_scratch, to);
  }

  // Scratch is open from the op that first touches it to the last. What no op touches, as of two
  // ranks that park nothing on the way, takes no bytes.
  static void open_scratch(std::int32_t begun, std::size_t first_scratch, RankProgram& to) {
    for (auto index = static_cast<std::size_t>(begun); index < to.ops.size(); ++index) {
      for (const Operand& operand : to.operands_of(to.ops[index])) {
        const auto buffer = static_cast<std::size_t>(operand.buffer);
        if (buffer < first_scratch) continue;
        if (to.buffers[buffer].opened_by < 0)
          to.buffers[buffer].opened_by = static_cast<std::int32_t>(index);
        to.buffers[buffer].closed_by = static_cast<std::int32_t>(index);
      }
    }
    for (std::size_t buffer = first_scratch; buffer < to.buffers.size(); ++buffer)
      if (to.buffers[buffer].opened_by < 0) to.buffers[buffer].bytes = 0;
  }

  const Program& program_;
  const AlgorithmNames names_;
  Program result_;
  std::map<Recipe, Collective> made_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> works_;
  std::array<std::int64_t, kLanes> lane_scratch_{};
  std::int32_t batches_ = 0;
};

}  // namespace

Result<Program> expand(const Program& program, const std::string& algorithms) {
  Result<AlgorithmNames> names = algorithm_names(algorithms);
  if (!names) return names.error();
  return Expander(program, std::move(*names)).run();
}

}  // namespace parallelarium
