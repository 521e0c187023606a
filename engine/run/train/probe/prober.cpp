// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/prober.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/base/bf16.h"

namespace parallelarium {

namespace {

// Elements of the copy of an operand from `first` on, in the tensor's order; bf16 widened.
ProbedTensor picked(const OpTensor& tensor, const std::vector<std::byte>& copy,
                    std::int64_t first) {
  ProbedTensor result;
  result.what = tensor;
  const bool widens = tensor.type == DataType::kBf16;
  result.type = widens ? DataType::kF32 : tensor.type;
  const auto size = static_cast<std::size_t>(size_of(tensor.type));
  const auto each = static_cast<std::size_t>(size_of(result.type));
  result.bytes.resize(static_cast<std::size_t>(tensor.elements()) * each);
  std::byte* to = result.bytes.data();
  tensor.for_each_element([&](std::int64_t at) {
    const std::byte* const from = copy.data() + static_cast<std::size_t>(at - first) * size;
    if (widens) {
      Bf16 stored;
      std::memcpy(&stored, from, sizeof stored);
      const float value = widen(stored);
      std::memcpy(to, &value, sizeof value);
    } else {
      std::memcpy(to, from, size);
    }
    to += each;
  });
  return result;
}

// The elements of its operand from the first of a ring's block to its last.
std::int64_t span_of(const OpTensor& block) {
  std::int64_t last = 0;
  for (const TensorDimension& dimension : block.dimensions)
    last += (dimension.size - 1) * dimension.stride;
  return last + 1;
}

// The blocks of a ring as one tensor, which has the tokens of all ranks of TP.
ProbedTensor joined(const std::vector<ProbedTensor>& blocks) {
  ProbedTensor whole = blocks.front();
  for (std::size_t block = 1; block < blocks.size(); ++block)
    whole.bytes.insert(whole.bytes.end(), blocks[block].bytes.begin(), blocks[block].bytes.end());
  const auto of_tp = [](const TensorCut& cut) { return cut.axis == Axis::kTp; };
  bool is_cut = false;
  for (TensorDimension& dimension : whole.what.dimensions) {
    auto& cuts = dimension.cuts;
    const auto cut = std::find_if(cuts.begin(), cuts.end(), of_tp);
    if (cut == cuts.end()) continue;
    if (dimension.counts_tokens()) {
      dimension.size *= static_cast<std::int64_t>(blocks.size());
      cuts.erase(cut);
    } else {
      is_cut = true;
    }
  }
  const std::vector<Axis>& partial = whole.what.partial;
  if (!is_cut && std::find(partial.begin(), partial.end(), Axis::kTp) == partial.end())
    whole.what.replicated.insert(whole.what.replicated.begin(), Axis::kTp);
  whole.what.block = -1;
  return whole;
}

}  // namespace

Prober::Prober(const Setup& setup, const Shape& shape, const RankProgram& rank, const Arena& arena,
               const std::vector<Probe>& probes)
    : setup_(setup), shape_(shape), rank_(rank), arena_(arena), probed_(rank.ops.size(), false) {
  for (auto probe = probes.begin(); probe != probes.end(); ++probe)
    if (std::find(probes.begin(), probe, *probe) == probe) want(*probe);
  for (const Copy& copy : copies_) bytes_ += static_cast<std::int64_t>(copy.to.size());
}

void Prober::want(const Probe& probe) {
  std::vector<Wanted> wanted;
  std::int32_t dispatch = -1;
  for (std::size_t i = 0; i < rank_.ops.size(); ++i) {
    const Op& op = rank_.ops[i];
    // Later the place of the routes may be another's.
    if (op.kind == OpKind::kCompute && op.piece == Piece::kDispatch &&
        op.phase == Phase::kForward && op.layer == probe.layer && op.microbatch == probe.microbatch)
      dispatch = static_cast<std::int32_t>(i);
    if (op.piece != probe.piece || op.phase != probe.phase || op.layer != probe.layer ||
        op.microbatch != probe.microbatch || !is_probed(setup_, shape_, rank_, op))
      continue;
    for (OpTensor& tensor : tensors_of(setup_, shape_, rank_, op)) {
      // How many rows there are is known later, in name_rows().
      if (tensor.by_row()) {
        TensorDimension& rows = tensor.dimensions.front();
        rows.size = rank_.operands_of(op)[tensor.operand].count / rows.stride;
      }
      want(std::move(tensor), probe.step, static_cast<std::int32_t>(i), wanted);
    }
  }
  if (wanted.empty()) return;
  std::stable_sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return !a.tensor().written && b.tensor().written;
  });
  const bool rows = std::any_of(wanted.begin(), wanted.end(),
                                [](const Wanted& each) { return each.tensor().by_row(); });
  constexpr std::size_t kRoutesOfDispatch = 1;
  const int routes =
      rows ? static_cast<int>(add(whole_operand(probe.step, dispatch, false, kRoutesOfDispatch)))
           : -1;
  wanted_.push_back({probe, std::move(wanted), routes});
  for (Copy& copy : copies_) {
    const Operand& operand = operand_of(copy);
    copy.from = arena_.address(operand) + copy.first * size_of(operand.type);
    copy.to.resize(static_cast<std::size_t>(copy.count * size_of(operand.type)));
    probed_[static_cast<std::size_t>(copy.op)] = true;
  }
}

// Several ops may be of one probe, the steps of a ring: what the first of them finds goes in, and
// what the last of them leaves comes out. Blocks of a ring of TP are parts of one tensor.
void Prober::want(OpTensor tensor, int step, std::int32_t op, std::vector<Wanted>& wanted) {
  Copy copy = whole_operand(step, op, tensor.written, tensor.operand);
  if (tensor.block >= 0) {
    copy.first = tensor.offset;
    copy.count = span_of(tensor);
  }
  const auto known = std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& other) {
    return other.tensor().name == tensor.name;
  });
  if (known == wanted.end()) {
    const std::size_t place = add(std::move(copy));
    wanted.push_back({{{std::move(tensor), place}}});
  } else if (tensor.block >= 0) {
    const auto behind =
        std::find_if(known->parts.begin(), known->parts.end(),
                     [&](const Part& part) { return part.tensor.block > tensor.block; });
    const std::size_t place = add(std::move(copy));
    known->parts.insert(behind, {std::move(tensor), place});
  } else if (tensor.written) {
    // The last one takes over; nobody else asks for what the earlier one left.
    copies_[known->parts.front().copy] = std::move(copy);
    known->parts.front().tensor = std::move(tensor);
  }
}

const Operand& Prober::operand_of(const Copy& copy) const {
  return rank_.operands_of(rank_.ops[static_cast<std::size_t>(copy.op)])[copy.operand];
}

Prober::Copy Prober::whole_operand(int step, std::int32_t op, bool written,
                                   std::size_t operand) const {
  Copy copy{step, op, written, operand, 0, 0, nullptr, {}};
  copy.count = operand_of(copy).count;
  return copy;
}

std::size_t Prober::add(Copy copy) {
  const auto known = std::find_if(copies_.begin(), copies_.end(),
                                  [&](const Copy& other) { return other.is_of(copy); });
  if (known != copies_.end()) return static_cast<std::size_t>(known - copies_.begin());
  copies_.push_back(std::move(copy));
  return copies_.size() - 1;
}

bool Prober::looks_at(int step) const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [step](const Copy& copy) { return copy.step == step; });
}

void Prober::copy(std::int32_t op, bool written, Device& device) {
  if (!probed_[static_cast<std::size_t>(op)]) return;
  for (Copy& copy : copies_) {
    if (copy.op != op || copy.written != written || copy.step != step_) continue;
    device.copy_to_host(copy.to.data(), copy.from, static_cast<std::int64_t>(copy.to.size()));
  }
}

Result<void> Prober::before(std::int32_t op, Device& device) {
  copy(op, false, device);
  return device.launched();
}

Result<void> Prober::after(std::int32_t op, Device& device) {
  copy(op, true, device);
  return device.launched();
}

std::vector<ProbedRank> Prober::take() {
  std::vector<ProbedRank> probed;
  for (const ProbeCopies& of : wanted_) {
    ProbedRank& rank = probed.emplace_back();
    rank.rank = rank_.rank;
    rank.replica = rank_.at.dp;
    rank.probe = of.probe;
    for (const Wanted& each : of.tensors) {
      std::vector<ProbedTensor> parts;
      for (const Part& part : each.parts) {
        const Copy& copy = copies_[part.copy];
        parts.push_back(picked(part.tensor, copy.to, copy.first));
      }
      // Of a ring's sums each step has one block alone.
      rank.tensors.push_back(parts.size() == 1 ? std::move(parts.front()) : joined(parts));
    }
    if (of.routes < 0) continue;
    const std::vector<std::byte>& routes = copies_[static_cast<std::size_t>(of.routes)].to;
    rank.routes.resize(static_cast<std::size_t>(2 * shape_.B * shape_.T *
                                                shape_.experts.model.top_k));  // experts and rows
    std::memcpy(rank.routes.data(), routes.data(), rank.routes.size() * sizeof(std::int32_t));
  }
  return probed;
}

}  // namespace parallelarium
