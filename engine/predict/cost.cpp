// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/plan/kernels_of_pieces.h"
#include "engine/predict/simulate.h"

namespace parallelarium {

namespace {

template <class Rate>
bool is_of(const Rate& rate, DataType type) {
  return rate.type.empty() ? type == DataType::kF32 : rate.type == name_of(type);
}
// The type whose rates stand for what is stored so: fp32 where nothing else was measured.
template <class Rate>
DataType measured_type(const std::vector<Rate>& rates, DataType type) {
  const bool is_measured =
      std::any_of(rates.begin(), rates.end(), [&](const Rate& rate) { return is_of(rate, type); });
  return is_measured ? type : DataType::kF32;
}

// Elements per second of calls of so many elements. Between two measured sizes their times are
// joined by a line, as of a kernel that has a fixed part and one that goes with its elements. Below
// the smallest the line of the two smallest goes on; beyond the largest, and where that line would
// have no fixed part, the nearest rate stands. 0 where none was measured.
double rate_of(const Machine& machine, std::string_view kernel, DataType type, double elements) {
  // The nearest below, and the two nearest that are as large or larger.
  const KernelRate *below = nullptr, *above = nullptr, *next = nullptr;
  for (const KernelRate& rate : machine.kernels) {
    if (rate.kernel != kernel || rate.elements_per_second.value <= 0) continue;
    if (!is_of(rate, type)) continue;
    if (rate.elements < elements) {
      if (below == nullptr || rate.elements > below->elements) below = &rate;
    } else if (above == nullptr || rate.elements < above->elements) {
      next = std::exchange(above, &rate);
    } else if (rate.elements > above->elements &&
               (next == nullptr || rate.elements < next->elements)) {
      next = &rate;
    }
  }
  if (above == nullptr) return below != nullptr ? below->elements_per_second.value : 0;
  const double nearest = above->elements_per_second.value;
  const bool smaller = below == nullptr || below->elements <= 0;  // a rate of no size is for all
  const KernelRate* const first = smaller ? above : below;
  const KernelRate* const second = smaller ? next : above;
  if (second == nullptr || first->elements <= 0 || elements <= 0) return nearest;
  const auto seconds_of = [](const KernelRate& rate) {
    return rate.elements / rate.elements_per_second.value;
  };
  const double seconds = seconds_of(*first) + (seconds_of(*second) - seconds_of(*first)) *
                                                  (elements - first->elements) /
                                                  (second->elements - first->elements);
  const double rate = seconds > 0 ? elements / seconds : nearest;
  return smaller ? std::min(rate, nearest) : rate;
}

// As models of this shape compute it, where that was measured.
double rate_of(const Machine& machine, std::string_view kernel, const Shape& shape, DataType type,
               double elements) {
  if (kernel.empty()) return 0;
  const std::string_view variant = variant_of(kernel, shape);
  for (const std::string_view name : {variant, former_of(variant), kernel, former_of(kernel)}) {
    if (name.empty()) continue;
    const DataType of = is_always_fp32(name) ? DataType::kF32 : type;
    if (const double rate = rate_of(machine, name, of, elements); rate > 0) return rate;
  }
  return 0;
}

// Sequences that an attention computes at once: fused on a GPU all of a micro-batch in one launch,
// else one after another, since each has products of its own.
double sequences_at_once(const Shape& shape, bool on_cores) {
  return shape.fused && !on_cores ? static_cast<double>(std::max<std::int64_t>(shape.B, 1)) : 1;
}

// Calls of equal size that an entry's elements are of: a matrix product's or kernel's repeats.
// Those of an attention are products inside its calls.
double alike(const Work& work, const Shape& shape, bool on_cores) {
  double calls = static_cast<double>(work.repeat);
  if (work.piece == Piece::kAttention) {
    const double scores =
        static_cast<double>(shape.H * work.m * work.n) * sequences_at_once(shape, on_cores);
    calls = scores > 0 ? static_cast<double>(work.elements) / scores : 1;
  }
  return std::max(calls, 1.0);
}

// Products that an attention was measured with as one: a GPU's go through one query head of each
// group of keys after another.
double turns(const Work& work, const Shape& shape, bool on_cores) {
  const bool shares = work.piece == Piece::kAttention && !on_cores && !shape.fused && shape.K > 0;
  return shares ? static_cast<double>(shape.H / shape.K) : 1;
}

// The rate of a product [m,k] x [k,n] from measured ones: the mean of the logarithms of the four
// nearest points' rates of the same phase, weighted by the inverse square of their distance in
// log-space. A change of aspect (a thin product beside a square one) counts twice a change of size.
double matmul_rate(const std::vector<MatmulPoint>& points, DataType type, std::string_view phase,
                   std::int64_t m, std::int64_t n, std::int64_t k) {
  struct Near {
    double distance = INFINITY, log_rate = 0;
  };
  std::array<Near, 4> nearest;
  for (const MatmulPoint& point : points) {
    if (!is_of(point, type) || (!point.phase.empty() && point.phase != phase)) continue;
    if (point.flops_per_second.value <= 0 || point.m <= 0 || point.n <= 0 || point.k <= 0) continue;
    const double dm = std::log2(static_cast<double>(m) / static_cast<double>(point.m));
    const double dn = std::log2(static_cast<double>(n) / static_cast<double>(point.n));
    const double dk = std::log2(static_cast<double>(k) / static_cast<double>(point.k));
    const double size = (dm + dn + dk) / 3;
    const auto square = [](double value) { return value * value; };
    const double aspect = square(dm - size) + square(dn - size) + square(dk - size);
    Near near{3 * size * size + 4 * aspect, std::log(point.flops_per_second.value)};
    for (Near& kept : nearest) {
      if (near.distance < kept.distance) std::swap(near, kept);
    }
  }
  if (nearest.front().distance < 1e-9) return std::exp(nearest.front().log_rate);
  double weights = 0, sum = 0;
  for (const Near& near : nearest) {
    if (!std::isfinite(near.distance)) continue;
    weights += 1 / near.distance;
    sum += near.log_rate / near.distance;
  }
  return weights > 0 ? std::exp(sum / weights) : 0;
}

// The phase that a work's products were measured in.
std::string_view phase_of(const std::vector<MatmulPoint>& points, const Work& work,
                          const Shape& shape) {
  if (work.phase == Phase::kRecompute) return name_of(Phase::kForward);
  const bool biased = shape.biases && work.piece != Piece::kHead && work.piece != Piece::kRouter &&
                      work.piece != Piece::kExpert;
  if (work.phase == Phase::kWeightGrad && !biased &&
      std::any_of(points.begin(), points.end(),
                  [](const MatmulPoint& point) { return point.phase == kWeightGradAlone; }))
    return kWeightGradAlone;
  return name_of(work.phase);
}

// An expert's op is two products for each expert, into its width and out of it; its Work counts
// them as one. Each has the rate of its own shape, which few rows keep low.
double expert_rate(const std::vector<MatmulPoint>& points, DataType type, const Work& work,
                   const Shape& shape) {
  const bool weights = work.phase == Phase::kWeightGrad;
  const std::string_view phase = phase_of(points, work, shape);
  const std::int64_t rows = weights ? work.k : work.m, C = weights ? work.n : work.k;
  const std::int64_t F = shape.experts.ffn, inner = (weights ? work.m : work.n) - F;
  double in = 0, out = 0;
  if (weights) {
    in = matmul_rate(points, type, phase, inner, C, rows);
    out = matmul_rate(points, type, phase, C, F, rows);
  } else if (work.phase == Phase::kInputGrad) {
    in = matmul_rate(points, type, phase, rows, C, inner);
    out = matmul_rate(points, type, phase, rows, F, C);
  } else {
    in = matmul_rate(points, type, phase, rows, inner, C);
    out = matmul_rate(points, type, phase, rows, C, F);
  }
  if (in <= 0 || out <= 0) return 0;
  return static_cast<double>(inner + F) /
         (static_cast<double>(inner) / in + static_cast<double>(F) / out);
}

double over(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

// Messages one after another in a collective of n ranks: a ring's, until a tree needs fewer.
double messages_of(CollectiveKind kind, int n) {
  const double tree = 2 * std::ceil(std::log2(static_cast<double>(n)));
  const double once = std::min<double>(n - 1, tree);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * once;
    case CollectiveKind::kAllToAll:
      return n - 1;
    default:
      return once;
  }
}

// How often an entry of a whole stage's work was launched.
double calls_of(const Work& work, const Shape& shape, bool on_cores) {
  const double calls = alike(work, shape, on_cores);
  return work.piece == Piece::kAttention
             ? calls * sequences_at_once(shape, on_cores) /
                   static_cast<double>(std::max<std::int64_t>(shape.B, 1))
             : calls;
}

// What a host does one after another for an entry. Of experts it reads how many rows each has, for
// which the device has to come to it, and launches two products and what is between them for each.
double host_calls_of(const Work& work, const Shape& shape) {
  if (work.piece != Piece::kExpert) return 1;
  const auto experts = static_cast<double>(shape.experts.model.count);
  return 2 + 3 * experts / static_cast<double>(std::max<std::int64_t>(shape.experts.ranks, 1));
}

}  // namespace

double work_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type) {
  double fixed = machine.launch_seconds.value;
  const DataType measured = measured_type(machine.kernels, type);
  const bool on_cores = machine.ranks_share_memory();
  const KernelBeside beside = kernel_beside(work, shape, on_cores);
  const double calls = alike(work, shape, on_cores);
  fixed += over(beside.elements,
                rate_of(machine, beside.kernel, shape, measured, beside.elements / calls));
  const auto elements = static_cast<double>(work.elements);
  const double rate = rate_of(machine, kernel_of(work.piece, work.phase), shape, measured,
                              elements / (calls * turns(work, shape, on_cores)));
  if (rate > 0) return fixed + elements / rate;
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  if (product && !machine.matmuls.empty()) {
    const DataType of = measured_type(machine.matmuls, type);
    const double flops =
        work.piece == Piece::kExpert
            ? expert_rate(machine.matmuls, of, work, shape)
            : matmul_rate(machine.matmuls, of, phase_of(machine.matmuls, work, shape), work.m,
                          work.n, work.k);
    if (flops > 0) return fixed + work.flops / flops;
  }
  // The slower of arithmetic and memory traffic (the roofline).
  const double peak = type == DataType::kBf16 ? machine.half_flops_per_second.value
                                              : machine.fp32_flops_per_second.value;
  const double arithmetic = over(work.flops, peak * machine.matmul_efficiency.value);
  const double traffic =
      over(static_cast<double>(work.bytes), machine.memory_bytes_per_second.value);
  return fixed + std::max(arithmetic, traffic);
}

double combine_rate(const Machine& machine, DataType type) {
  return rate_of(machine, kReduceKernel, measured_type(machine.kernels, type),
                 std::numeric_limits<double>::max());
}

CostModel::CostModel(const Program& program, const Machine& machine, const Setup& setup,
                     const ExpertRows* rows)
    : rows_(rows),
      intra_node_(machine.intra_node),
      inter_node_(machine.inter_node),
      // On this computer all ranks are neighbours.
      devices_per_node_(machine.local ? std::max(1, setup.mesh.ranks())
                                      : std::max(1, machine.devices_per_node)),
      on_cores_(machine.ranks_share_memory()),
      sharing_(machine.lanes_share_core          ? Sharing::kCore
               : ranks_share_gpu(setup, machine) ? Sharing::kGpu
                                                 : Sharing::kNone),
      pairs_(machine.pairs),
      collectives_(machine.collectives) {
  const auto stored_in = [](int bytes) { return bytes == 2 ? DataType::kBf16 : DataType::kF32; };
  const DataType activations = stored_in(setup.precision.activation_bytes());
  const DataType gradients = stored_in(setup.precision.gradient_bytes);
  // Ranks that share a GPU have a host each, so that while one waits for its own others work.
  const double host =
      machine.host_seconds.value / (sharing_ == Sharing::kGpu ? std::max(1, program.world) : 1);
  if (sharing_ == Sharing::kGpu) {
    // Ranks copy within its memory, and NCCL is not between them.
    intra_node_ = {machine.launch_seconds, {machine.memory_bytes_per_second.value / 2, {}}};
    pairs_.clear();
    collectives_.clear();
  } else if (const Result<std::vector<int>> gpus = device_list(setup.run.devices)) {
    gpus_ = *gpus;
    host_message_seconds_ = machine.host_message_seconds.value;
  }
  work_seconds_.reserve(program.works.size());
  for (const auto& works : program.works) {
    double seconds = 0, host_calls = 0;
    double launches = 0;  // beyond the first, which work_seconds counts
    for (const Work& work : works) {
      const bool of_gradients = work.piece == Piece::kZeroGrad || work.piece == Piece::kGradNorm;
      seconds += work_seconds(work, program.shape, machine, of_gradients ? gradients : activations);
      host_calls += host_calls_of(work, program.shape);
      if (works.size() > 1) launches += calls_of(work, program.shape, on_cores_) - 1;
    }
    seconds += launches * machine.launch_seconds.value;
    work_seconds_.push_back(std::max(seconds, host * (launches + host_calls)));
  }
  for (const Group& group : program.groups) {
    const Link& link = slowest_link(group.ranks);
    groups_.push_back({link.latency_seconds.value, link.bytes_per_second.value,
                       static_cast<int>(group.ranks.size())});
  }
  reduce_seconds_ = over(1, combine_rate(machine, DataType::kF32));
  reduce_half_seconds_ = over(1, combine_rate(machine, DataType::kBf16));
}

const Link& CostModel::link_between(int a, int b) const {
  const auto gpu_of = [&](int rank) {
    const auto at = static_cast<std::size_t>(rank);
    return at < gpus_.size() ? gpus_[at] : rank;
  };
  for (const PairLink& pair : pairs_)
    if (pair.from == gpu_of(a) && pair.to == gpu_of(b)) return pair.link;
  return a / devices_per_node_ == b / devices_per_node_ ? intra_node_ : inter_node_;
}

const Link& CostModel::slowest_link(const std::vector<int>& ranks) const {
  if (ranks.empty()) return intra_node_;
  // The ranks ascend, so the first and the last tell whether all share a node.
  const Link* slowest = &link_between(ranks.front(), ranks.back());
  for (std::size_t i = 0; i < ranks.size() && !pairs_.empty(); ++i) {
    for (std::size_t j = i + 1; j < ranks.size(); ++j) {
      const Link& link = link_between(ranks[i], ranks[j]);
      if (link.bytes_per_second.value < slowest->bytes_per_second.value) slowest = &link;
    }
  }
  return *slowest;
}

const Link* CostModel::measured(CollectiveKind kind, int ranks) const {
  const CollectiveRate* nearest = nullptr;
  for (const CollectiveRate& rate : collectives_) {
    if (rate.collective != name_of(kind) || rate.link.bytes_per_second.value <= 0) continue;
    // The fewest that are enough; where none are, the most.
    const bool better =
        nearest == nullptr ||
        (rate.ranks >= ranks ? nearest->ranks < ranks || rate.ranks < nearest->ranks
                             : nearest->ranks < ranks && rate.ranks > nearest->ranks);
    if (better) nearest = &rate;
  }
  // More ranks than cores are never run at their own speed: their messages are counted instead.
  if (nearest == nullptr || (on_cores_ && nearest->ranks < ranks)) return nullptr;
  return &nearest->link;
}

// What a rank launches and its GPU moves for it (run/cpu/direct.h): of n ranks that take turns each
// combines its own chunk of all n arrays, then copies the chunks of the others.
double CostModel::within_gpu_seconds(const Op& op, int ranks) const {
  const auto n = static_cast<double>(ranks);
  const double combine = n + 1, copy = 2;  // chunks read or written
  double launches = n - 1, chunks = copy * (n - 1);
  switch (op.collective) {
    case CollectiveKind::kAllReduce:
      launches = n;
      chunks += combine;
      break;
    case CollectiveKind::kReduceScatter:
      launches = 1;
      chunks = combine;
      break;
    case CollectiveKind::kBroadcast:
      launches = 1;
      chunks = copy * n;
      break;
    default:
      break;
  }
  return launches * intra_node_.latency_seconds.value +
         over(chunks * static_cast<double>(op.bytes) / n, 2 * intra_node_.bytes_per_second.value);
}

double CostModel::collective_seconds(const Op& op) const {
  if (op.group < 0) return 0;
  const GroupCost& group = groups_[static_cast<std::size_t>(op.group)];
  if (group.size <= 1) return 0;
  if (sharing_ == Sharing::kGpu) return within_gpu_seconds(op, group.size) * op.repeat;
  const Volume volume = collective_volume(op.collective, op.type, op.bytes, group.size, 0);
  const auto bytes = static_cast<double>(std::max(volume.sent, volume.received));
  if (const Link* link = measured(op.collective, group.size))
    return std::max(link->latency_seconds.value + bytes / link->bytes_per_second.value,
                    host_message_seconds_) *
           op.repeat;
  double seconds =
      messages_of(op.collective, group.size) * group.latency + over(bytes, group.bytes_per_second);
  if (op.reduction != Reduction::kNone) {
    const double array = static_cast<double>(op.bytes) / static_cast<double>(size_of(op.type));
    seconds += reduce_seconds(op.type) * array * (group.size - 1) / group.size;
  }
  return std::max(seconds, host_message_seconds_) * op.repeat;
}

double CostModel::seconds(const Op& op, int rank) const {
  const double seconds = even_seconds(op, rank);
  return rows_ == nullptr ? seconds : seconds * rows_->share(op, rank);
}

double CostModel::even_seconds(const Op& op, int rank) const {
  switch (op.kind) {
    case OpKind::kCompute:
      return op.work < 0 ? 0 : work_seconds_[static_cast<std::size_t>(op.work)];
    case OpKind::kSend:
    case OpKind::kRecv: {
      const Link& link = link_between(rank, op.peer);
      // Both sides of a transfer take the longer time, so the receiver alone may count this.
      const double combining =
          op.reduction == Reduction::kNone
              ? 0
              : reduce_seconds(op.type) * static_cast<double>(op.bytes / size_of(op.type));
      return std::max(link.latency_seconds.value +
                          over(static_cast<double>(op.bytes), link.bytes_per_second.value) +
                          combining,
                      host_message_seconds_);
    }
    case OpKind::kCollective:
      return collective_seconds(op);
  }
  return 0;
}

}  // namespace parallelarium
