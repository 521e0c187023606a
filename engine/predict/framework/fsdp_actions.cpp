// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/framework/fsdp_actions.h"

#include <algorithm>

#include "engine/passes/shard/shard.h"

namespace parallelarium {

namespace {

using What = FsdpEvent::What;

// A fused weight is several parameters in PyTorch: queries, keys and values; gate and up.
std::vector<std::int64_t> parameters_of(const Setup& setup, const Shape& shape,
                                        const ParameterSlice& slice) {
  const bool heads = slice.parameter == Parameter::kQkvWeight && setup.model.latent.kv_rank == 0;
  if (heads) {
    const std::int64_t keys = shape.K * shape.D * shape.C;
    return {slice.count - 2 * keys, keys, keys};
  }
  if (slice.parameter == Parameter::kMlpInWeight && setup.model.mlp == Mlp::kSwiglu)
    return {slice.count / 2, slice.count / 2};
  return {slice.count};
}

class ActionWriter {
 public:
  ActionWriter(const Setup& setup, const Program& program, const RankProgram& lone,
               const Chunk& chunk, bool op_by_op)
      : setup_(setup), program_(program), lone_(lone), chunk_(chunk), op_by_op_(op_by_op) {}

  FsdpActions write() {
    add_groups();
    for (const Buffer& buffer : lone_.buffers) {
      const bool gathered =
          buffer.tensor == Tensor::kKeysValues || buffer.tensor == Tensor::kGradKeysValues;
      const std::int64_t bytes = gathered ? buffer.bytes * heads_of_a_key() : buffer.bytes;
      written_.slot_bytes.push_back(
          is_gathered_in_fp8(buffer) ? bytes / setup_.precision.activation_bytes() : bytes);
    }
    list_buffers();
    int action = -1;
    std::size_t first = 0;
    for (std::size_t at = 0; at <= lone_.ops.size(); ++at) {
      const bool ends = at == lone_.ops.size();
      const int next = ends ? -1 : action_at(at, action);
      if (!ends && next == action) continue;
      if (action >= 0)
        write_action(lone_.actions[static_cast<std::size_t>(action)].kind, first, at);
      action = next;
      first = at;
    }
    return std::move(written_);
  }

 private:
  bool pipelined() const { return setup_.mesh.pp > 1; }
  bool loss_in_fp32() const { return setup_.loss_copies == LossCopies::kFp32; }
  bool is_transfer(const Op& op, OpKind kind) const { return op.action < 0 && op.kind == kind; }

  void add_groups() {
    written_.groups.resize(chunk_.layers.size() + 1);
    const std::vector<Bucket> buckets = make_buckets(setup_, lone_.parameters);
    for (const ParameterSlice& slice : lone_.parameters) {
      int shards = 1;
      for (const Bucket& bucket : buckets)
        if (slice.offset >= bucket.begin && slice.offset < bucket.begin + bucket.count)
          shards = static_cast<int>((bucket.count + bucket.own_count - 1) / bucket.own_count);
      auto& group = written_.groups[static_cast<std::size_t>(group_of(slice.layer))];
      std::int64_t offset = slice.offset;
      for (const std::int64_t count : parameters_of(setup_, program_.shape, slice)) {
        places_.push_back({offset, group_of(slice.layer), static_cast<int>(group.size())});
        group.push_back({count, shards});
        offset += count;
      }
    }
  }
  int group_of(int layer) const { return layer < 0 ? 0 : layer - chunk_.begin + 1; }

  void list_buffers() {
    kept_.resize(written_.groups.size());
    repeated_.resize(written_.groups.size());
    opened_.resize(lone_.ops.size());
    closed_.resize(lone_.ops.size());
    for (std::size_t at = 0; at < lone_.buffers.size(); ++at) {
      const Buffer& buffer = lone_.buffers[at];
      if (buffer.opened_by >= 0) {
        opened_[static_cast<std::size_t>(buffer.opened_by)].push_back(static_cast<int>(at));
        closed_[static_cast<std::size_t>(buffer.closed_by)].push_back(static_cast<int>(at));
      } else if (buffer.category == Category::kBuffers) {
        written_.held_bytes.push_back(buffer.bytes);
      }
    }
  }

  // A receive comes before the ops of its action, a send behind them.
  int action_at(std::size_t op, int before) const {
    if (lone_.ops[op].action >= 0) return lone_.ops[op].action;
    return lone_.ops[op].kind == OpKind::kRecv ? before + 1 : before;
  }

  void emit(What what, int index, int tensor = 0) { events_->push_back({what, index, tensor}); }
  // A temporary beside the buffers.
  int add_slot(std::int64_t bytes) {
    written_.slot_bytes.push_back(bytes);
    return static_cast<int>(written_.slot_bytes.size()) - 1;
  }
  int open(std::int64_t bytes) {
    const int slot = add_slot(bytes);
    emit(What::kOpen, slot);
    return slot;
  }

  void write_action(ActionKind kind, std::size_t first, std::size_t last) {
    const bool forward = kind == ActionKind::kForward;
    const bool all_gradients = kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad;
    events_ = &written_.events[static_cast<std::size_t>(kind)];
    const std::size_t groups = written_.groups.size();
    std::vector<std::size_t> begins(groups, last), ends(groups, last);
    for (std::size_t at = last; at-- > first;) {
      if (!chunk_.holds(lone_.ops[at].layer)) continue;
      const auto group = static_cast<std::size_t>(group_of(lone_.ops[at].layer));
      begins[group] = at;
      if (ends[group] == last) ends[group] = at;
    }
    if (kind != ActionKind::kWeightGrad) emit(What::kGather, 0);
    for (std::size_t at = first; at < last; ++at) {
      const Op& op = lone_.ops[at];
      const int group = chunk_.holds(op.layer) ? group_of(op.layer) : 0;
      const auto number = static_cast<std::size_t>(group);
      if (group > 0 && begins[number] == at && kind != ActionKind::kWeightGrad)
        emit(What::kGather, group);
      write_op(op, at, forward);
      if (group == 0 || ends[number] != at) continue;
      if (forward && number + 1 < groups) emit(What::kRelease, group);
      if (!all_gradients) continue;
      for (const int slot : kept_[number]) emit(What::kClose, slot);
      emit(What::kReduce, group);
    }
    if (all_gradients) emit(What::kReduce, 0);
  }

  // How many heads of queries share a key. PyTorch repeats keys and values for each.
  std::int64_t heads_of_a_key() const { return program_.shape.H / program_.shape.K; }

  // Repeated keys and values are there while attention computes. What is computed again for the
  // backward stays until then, and gradients come beside it.
  void repeat_keys(const Op& op) {
    if (op.piece != Piece::kAttention || op.kind != OpKind::kCompute) return;
    if (heads_of_a_key() == 1) return;
    std::vector<int>& repeated = repeated_[static_cast<std::size_t>(group_of(op.layer))];
    const Shape& shape = program_.shape;
    const std::int64_t bytes =
        shape.B * shape.T * shape.H * shape.D * setup_.precision.activation_bytes();
    const bool again = op.phase == Phase::kRecompute, backward = op.phase == Phase::kInputGrad;
    if (repeated.empty() && setup_.mesh.cp == 1) repeated = {open(bytes), open(bytes)};
    if (backward && setup_.mesh.cp == 1)
      for (int gradient = 0; gradient < 2; ++gradient) passing_.push_back(open(bytes));
    if (again) return;
    passing_.insert(passing_.end(), repeated.begin(), repeated.end());
    repeated.clear();
  }

  bool is_gathered_in_fp8(const Buffer& buffer) const {
    const bool gathered =
        buffer.tensor == Tensor::kSequenceInput || buffer.tensor == Tensor::kSequenceGradient;
    return gathered && buffer.layer >= 0 && setup_.products == ProductType::kFp8 &&
           setup_.model.experts.count == 0;
  }

  // What an all-gather leaves before it is put in the order of tokens, and what a reduce-scatter
  // adds up once it is in that of ranks.
  void copy_tokens(const Op& op, std::size_t at) {
    const bool gathers = op.collective == CollectiveKind::kAllGather;
    const bool scatters = op.collective == CollectiveKind::kReduceScatter;
    if (op.kind != OpKind::kCollective || !(gathers || scatters)) return;
    if (program_.groups[static_cast<std::size_t>(op.group)].axis != Axis::kTp) return;
    if (op.purpose == Purpose::kTokens || !setup_.sequence_parallel) return;
    const bool fused = op.layer >= 0 && (gathers || op.phase != Phase::kInputGrad);
    if (setup_.ring_tensor && fused) return;
    std::int64_t bytes = op.bytes;
    if (gathers && !opened_[at].empty())
      bytes = written_.slot_bytes[static_cast<std::size_t>(opened_[at].front())];
    passing_.push_back(open(bytes));
  }

  void write_op(const Op& op, std::size_t at, bool forward) {
    passing_.clear();
    repeat_keys(op);
    copy_tokens(op, at);
    for (const int buffer : opened_[at]) open_buffer(op, buffer, forward);
    for (const Operand& operand : lone_.operands_of(op)) write_gradients(operand);
    int last_gradient = -1;
    for (const int buffer : closed_[at]) {
      const bool gradient =
          lone_.buffers[static_cast<std::size_t>(buffer)].tensor == Tensor::kGradLogits;
      if (gradient && loss_in_fp32()) {
        if (last_gradient >= 0) emit(What::kClose, last_gradient);
        last_gradient = buffer;
      } else {
        close_buffer(op, buffer, forward);
      }
    }
    for (const int slot : passing_) emit(What::kClose, slot);
    if (last_gradient < 0) return;
    gradient_of_logits_ = last_gradient;
    if (!casts_logits()) return;
    gradient_of_logits_ = open(lone_.buffers[static_cast<std::size_t>(logits_)].bytes);
    emit(What::kClose, last_gradient);
  }

  bool casts_logits() const { return setup_.precision.activation_bytes() < 4; }

  void open_buffer(const Op& op, int index, bool forward) {
    const Buffer& buffer = lone_.buffers[static_cast<std::size_t>(index)];
    const std::int64_t in_fp32 = buffer.bytes * 4 / setup_.precision.activation_bytes();
    switch (buffer.tensor) {
      case Tensor::kNorm1Out:
      case Tensor::kNorm2Out:
        for (int copy = 0; op_by_op_ && copy < 3; ++copy) passing_.push_back(open(in_fp32));
        break;
      case Tensor::kFinalNormOut:
        if (loss_in_fp32() && casts_logits()) beside_norm_ = {open(in_fp32), open(buffer.bytes)};
        break;
      case Tensor::kLogits:
        logits_ = index;
        written_.logits_bytes = buffer.bytes;
        break;
      case Tensor::kLossLogits:
        return open_log_probabilities(index);
      default:
        break;
    }
    if (is_transfer(op, OpKind::kRecv)) {
      written_.received_bytes.push_back(buffer.bytes);
      if (forward) return;  // what a backward receives becomes the gradient of the chunk's input
    }
    emit(What::kOpen, index);
  }

  void open_log_probabilities(int index) {
    const std::int64_t bytes = lone_.buffers[static_cast<std::size_t>(index)].bytes;
    std::vector<int> copies;
    if (casts_logits()) copies.push_back(open(bytes));
    if (program_.shape.cuts_vocabulary()) {
      copies.push_back(open(bytes));    // less their maximum
      emit(What::kClose, open(bytes));  // exponentials
    }
    emit(What::kOpen, index);
    for (const int copy : copies) emit(What::kClose, copy);
    emit(pipelined() ? What::kHold : What::kClose, logits_);
  }

  void close_buffer(const Op& op, int index, bool forward) {
    const Buffer& buffer = lone_.buffers[static_cast<std::size_t>(index)];
    const Op& opener = lone_.ops[static_cast<std::size_t>(buffer.opened_by)];
    if (is_transfer(opener, OpKind::kRecv) && opener.purpose == Purpose::kActivations) return;
    if (is_transfer(op, OpKind::kSend) && (forward || !chunk_.first))
      return emit(What::kHold, index);
    const bool selective = names(setup_.recompute, Recompute::kSecondProducts);
    if (buffer.tensor == Tensor::kMlpOutOut && forward && op_by_op_ && selective)
      return kept_[static_cast<std::size_t>(group_of(op.layer))].push_back(index);
    if (buffer.tensor == Tensor::kFinalNormOut)
      for (const int slot : beside_norm_) emit(What::kClose, slot);
    if (buffer.tensor == Tensor::kLogits) {
      if (loss_in_fp32()) return emit(What::kClose, gradient_of_logits_);
      if (pipelined()) return emit(What::kHold, index);
    }
    emit(What::kClose, index);
  }

  void write_gradients(const Operand& operand) {
    if (operand.access != Access::kAccumulate) return;
    if (lone_.buffers[static_cast<std::size_t>(operand.buffer)].tensor != Tensor::kGradients)
      return;
    for (const Place& place : places_)
      if (place.offset >= operand.offset && place.offset < operand.offset + operand.count)
        emit(What::kGradient, place.group, place.tensor);
  }

  struct Place {
    std::int64_t offset = 0;  // in the gradients, as operands count
    int group = 0, tensor = 0;
  };

  const Setup& setup_;
  const Program& program_;
  const RankProgram& lone_;
  const Chunk& chunk_;
  const bool op_by_op_;
  std::vector<Place> places_;
  std::vector<std::vector<int>> opened_, closed_;  // buffers by op
  std::vector<std::vector<int>> kept_;             // slots by group, until its backward ends
  std::vector<std::vector<int>> repeated_;         // keys and values: slots by group
  std::vector<int> passing_;                       // slots until the op ends
  std::vector<int> beside_norm_;
  int logits_ = -1, gradient_of_logits_ = -1;  // slots
  std::vector<FsdpEvent>* events_ = nullptr;
  FsdpActions written_;
};

}  // namespace

FsdpActions fsdp_actions(const Setup& setup, const Program& program, const RankProgram& lone,
                         const Chunk& chunk, bool op_by_op) {
  return ActionWriter(setup, program, lone, chunk, op_by_op).write();
}

}  // namespace parallelarium
