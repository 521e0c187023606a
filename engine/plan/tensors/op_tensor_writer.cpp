// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/tensors/op_tensor_writer.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace parallelarium {

namespace {

void append(std::vector<ChunkRange>& ranges, ChunkRange range) {
  if (range.begin >= range.end) return;
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

// What two ascending lists have in common.
std::vector<ChunkRange> common(const std::vector<ChunkRange>& a, const std::vector<ChunkRange>& b) {
  std::vector<ChunkRange> both;
  for (const ChunkRange& x : a)
    for (const ChunkRange& y : b)
      append(both, {std::max(x.begin, y.begin), std::min(x.end, y.end)});
  return both;
}

}  // namespace

std::vector<ChunkRange> TensorDimension::held() const {
  std::vector<ChunkRange> ranges = {{0, whole}};
  for (const TensorCut& cut : cuts) ranges = common(ranges, cut.ranges);
  return ranges;
}

std::int64_t OpTensor::elements() const {
  std::int64_t product = 1;
  for (const TensorDimension& dimension : dimensions) product *= dimension.size;
  return product;
}

std::string key_of(std::string_view name) {
  std::string key;
  for (const char c : name)
    key += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return key;
}

TensorDimension OpTensorWriter::share(const char* name, std::int64_t size) const {
  TensorDimension dimension = all(name, size);
  if (tp() == 1) return dimension;
  dimension.whole = size * tp();
  dimension.cuts = {{Axis::kTp, {{size * at_.tp, size * (at_.tp + 1)}}}};
  return dimension;
}

TensorDimension OpTensorWriter::kv_heads() const {
  if (!shares_kv_heads()) return share("K", s_.K);
  TensorDimension dimension = all("K", s_.K);
  const std::int64_t head = at_.tp / (tp() / model_.kv_heads);
  dimension.whole = model_.kv_heads;
  dimension.cuts = {{Axis::kTp, {{head, head + 1}}}};
  return dimension;
}

TensorDimension OpTensorWriter::vocabulary() const {
  TensorDimension dimension = all("V", s_.V);
  if (tp() == 1) return dimension;
  const std::int64_t begin = std::min(s_.vocab, s_.V * at_.tp);
  const std::int64_t end = std::min(s_.vocab, begin + s_.V);
  dimension.size = end - begin;
  dimension.whole = s_.vocab;
  dimension.cuts = {{Axis::kTp, {{begin, end}}}};
  return dimension;
}

std::vector<ChunkRange> OpTensorWriter::runs_of(int cp_rank) const {
  const PositionRuns runs = positions_of(s_, cp_rank);
  std::vector<ChunkRange> ranges;
  for (int run = 0; run < runs.runs; ++run)
    append(ranges, {runs.begin[run], runs.begin[run] + runs.length});
  return ranges;
}

// Rows [first, first + count) of the rank's own B T as rows of the whole B sequences.
std::vector<ChunkRange> OpTensorWriter::rows(std::int64_t first, std::int64_t count) const {
  std::vector<ChunkRange> ranges;
  const std::vector<ChunkRange> runs = runs_of(at_.cp);
  std::int64_t row = 0;
  for (std::int64_t sequence = 0; sequence < s_.B; ++sequence) {
    for (const ChunkRange& run : runs) {
      const std::int64_t length = run.end - run.begin, begin = sequence * s_.sequence + run.begin;
      const std::int64_t from = std::max(row, first), to = std::min(row + length, first + count);
      append(ranges, {begin + from - row, begin + to - row});
      row += length;
    }
  }
  return ranges;
}

OpTensorWriter::Dimensions OpTensorWriter::sequences(std::int64_t width, int cp_rank) const {
  TensorDimension batch = all("B", s_.B), position = all("T", s_.T);
  batch.stride = s_.T * width;
  position.stride = width;
  position.whole = s_.sequence;
  if (cp() > 1) position.cuts = {{Axis::kCp, runs_of(cp_rank)}};
  return {batch, position};
}

OpTensorWriter::Dimensions OpTensorWriter::tokens_of(bool own_alone, std::int64_t width) const {
  if (!own_alone && !block_) return sequences(width, at_.cp);
  const std::int64_t own = local_tokens() / tp();
  const TensorCut by_tp{Axis::kTp, rows(own * token_rank(), own)};
  if (s_.B == 1) {
    Dimensions dimensions = sequences(width, at_.cp);
    dimensions[1].size = own;
    dimensions[1].cuts.push_back(by_tp);
    return dimensions;
  }
  TensorDimension row{"N", own, s_.B * s_.sequence, width, {}, {}};
  if (cp() > 1) row.cuts.push_back({Axis::kCp, rows(0, local_tokens())});
  row.cuts.push_back(by_tp);
  return {row};
}

OpTensorWriter::Dimensions OpTensorWriter::whole_sequence(std::int64_t width) const {
  TensorDimension batch = all("B", s_.B), position = all("T", s_.sequence);
  batch.stride = s_.sequence * width;
  position.stride = width;
  return {batch, position};
}

OpTensorWriter::Dimensions OpTensorWriter::tokens_of_ring(std::int64_t width, int steps) const {
  return sequences(width, (at_.cp - steps % cp() + cp()) % cp());
}

OpTensor& OpTensorWriter::add(const std::string& name, std::size_t operand, bool written,
                              Dimensions outer, Dimensions inner, std::int64_t offset) {
  std::int64_t stride = 1;
  for (auto dimension = inner.rbegin(); dimension != inner.rend(); ++dimension) {
    if (dimension->stride == 0) dimension->stride = stride;
    stride = dimension->stride * dimension->size;
  }
  const bool in_ring = block_ && !outer.empty();
  if (in_ring) {
    const std::int64_t block = local_tokens() / tp() * outer.back().stride;
    if (operands_[operand].count > block) offset += block * block_->tp;
  }
  OpTensor tensor;
  tensor.name = name;
  tensor.written = written;
  tensor.operand = operand;
  tensor.offset = offset;
  if (in_ring) tensor.block = block_->tp;
  tensor.type = operands_[operand].type;
  tensor.dimensions = std::move(outer);
  tensor.dimensions.insert(tensor.dimensions.end(), inner.begin(), inner.end());
  kinds_.push_back(Kind::kActivation);
  return tensors_.emplace_back(std::move(tensor));
}

int OpTensorWriter::replicas_of(const Dimensions& dimensions) const {
  bool by_experts = false;
  for (const TensorDimension& dimension : dimensions)
    for (const TensorCut& cut : dimension.cuts) by_experts = by_experts || cut.axis == Axis::kEp;
  return by_experts ? setup_.mesh.expert_groups() : setup_.mesh.dp;
}

void OpTensorWriter::parameter(const std::string& name, std::size_t operand, Dimensions dimensions,
                               std::int64_t offset) {
  in(name, operand, {}, std::move(dimensions), offset);
  kinds_.back() = Kind::kParameter;
}

void OpTensorWriter::gradient(const std::string& name, std::size_t operand,
                              const Dimensions& dimensions, std::int64_t offset, bool tp_adds) {
  for (const bool written : {false, true}) {
    OpTensor& tensor =
        add(written ? name : name + "-before", operand, written, {}, dimensions, offset);
    kinds_.back() = Kind::kParameter;
    if (tp_adds) partial_over_tp(tensor);
    if (cp() > 1) tensor.partial.push_back(Axis::kCp);
    if (replicas_of(dimensions) > 1) tensor.partial.push_back(Axis::kDp);
  }
}

void OpTensorWriter::fill_replicated(OpTensor& tensor, Kind kind) const {
  if (kind == Kind::kAlone) return;
  const int replicas = kind == Kind::kParameter ? replicas_of(tensor.dimensions) : 1;
  const std::array<std::pair<Axis, int>, 3> axes = {
      {{Axis::kTp, tp()}, {Axis::kCp, cp()}, {Axis::kDp, replicas}}};
  for (const auto& [axis, ranks] : axes) {
    bool differs = ranks == 1 || std::find(tensor.partial.begin(), tensor.partial.end(), axis) !=
                                     tensor.partial.end();
    // EP takes the ranks of TP in where experts are whole.
    const bool of_experts = axis == Axis::kTp && has_whole_experts(setup_);
    for (const TensorDimension& dimension : tensor.dimensions)
      for (const TensorCut& cut : dimension.cuts)
        differs = differs || cut.axis == axis || (of_experts && cut.axis == Axis::kEp);
    if (!differs) tensor.replicated.push_back(axis);
  }
}

std::vector<OpTensor> OpTensorWriter::take() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) fill_replicated(tensors_[i], kinds_[i]);
  std::stable_sort(tensors_.begin(), tensors_.end(),
                   [](const OpTensor& a, const OpTensor& b) { return !a.written && b.written; });
  return std::move(tensors_);
}

}  // namespace parallelarium
