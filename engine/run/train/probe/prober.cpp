// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/prober.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/base/bf16.h"

namespace parallelarium {

namespace {

// Elements of the copy of an operand, in the tensor's order; bf16 widened.
ProbedTensor picked(const OpTensor& tensor, const std::vector<std::byte>& copy) {
  ProbedTensor result;
  result.what = tensor;
  const bool widens = tensor.type == DataType::kBf16;
  result.type = widens ? DataType::kF32 : tensor.type;
  const auto size = static_cast<std::size_t>(size_of(tensor.type));
  const auto each = static_cast<std::size_t>(size_of(result.type));
  result.bytes.resize(static_cast<std::size_t>(tensor.elements()) * each);
  std::byte* to = result.bytes.data();
  tensor.for_each_element([&](std::int64_t at) {
    const std::byte* const from = copy.data() + static_cast<std::size_t>(at) * size;
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

}  // namespace

Prober::Prober(const Setup& setup, const Shape& shape, const RankProgram& rank, const Arena& arena,
               const std::vector<Probe>& probes)
    : setup_(setup), shape_(shape), rank_(rank), arena_(arena), probed_(rank.ops.size(), false) {
  for (auto probe = probes.begin(); probe != probes.end(); ++probe)
    if (std::find(probes.begin(), probe, *probe) == probe) want(*probe);
  for (const Copy& copy : copies_) bytes_ += static_cast<std::int64_t>(copy.to.size());
}

// Several ops may be of one probe, the steps of a ring: what the first of them finds goes in, and
// what the last of them leaves comes out.
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
      const auto index = static_cast<std::int32_t>(i);
      // How many rows there are is known later, in name_rows().
      if (tensor.by_row()) {
        TensorDimension& rows = tensor.dimensions.front();
        rows.size = rank_.operands_of(op)[tensor.operand].count / rows.stride;
      }
      const auto known = std::find_if(wanted.begin(), wanted.end(), [&](const Wanted& other) {
        return other.tensor.name == tensor.name;
      });
      if (known == wanted.end()) {
        const std::size_t copy = copy_of(probe.step, index, tensor.written, tensor.operand);
        wanted.push_back({std::move(tensor), copy});
      } else if (tensor.written) {
        // The last one takes over; nobody else asks for what the earlier one left.
        Copy& copy = copies_[known->copy];
        copy.op = index;
        copy.operand = tensor.operand;
        known->tensor = std::move(tensor);
      }
    }
  }
  if (wanted.empty()) return;
  std::stable_sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) {
    return !a.tensor.written && b.tensor.written;
  });
  const bool rows = std::any_of(wanted.begin(), wanted.end(),
                                [](const Wanted& each) { return each.tensor.by_row(); });
  constexpr std::size_t kRoutesOfDispatch = 1;
  const int routes =
      rows ? static_cast<int>(copy_of(probe.step, dispatch, false, kRoutesOfDispatch)) : -1;
  wanted_.push_back({probe, std::move(wanted), routes});
  for (Copy& copy : copies_) {
    const Operand& operand =
        rank_.operands_of(rank_.ops[static_cast<std::size_t>(copy.op)])[copy.operand];
    copy.from = arena_.address(operand);
    copy.to.resize(static_cast<std::size_t>(operand.count * size_of(operand.type)));
    probed_[static_cast<std::size_t>(copy.op)] = true;
  }
}

std::size_t Prober::copy_of(int step, std::int32_t op, bool written, std::size_t operand) {
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    const Copy& copy = copies_[i];
    if (copy.step == step && copy.op == op && copy.written == written && copy.operand == operand)
      return i;
  }
  copies_.push_back({step, op, written, operand, nullptr, {}});
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
    for (const Wanted& each : of.tensors)
      rank.tensors.push_back(picked(each.tensor, copies_[each.copy].to));
    if (of.routes < 0) continue;
    const std::vector<std::byte>& routes = copies_[static_cast<std::size_t>(of.routes)].to;
    rank.routes.resize(static_cast<std::size_t>(2 * shape_.B * shape_.T *
                                                shape_.experts.model.top_k));  // experts and rows
    std::memcpy(rank.routes.data(), routes.data(), rank.routes.size() * sizeof(std::int32_t));
  }
  return probed;
}

}  // namespace parallelarium
