// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/pieces/work_seconds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/predict/cost/pieces/executed_work.h"
#include "engine/predict/cost/pieces/measured_rates.h"
#include "engine/predict/cost/pieces/shipped_rates.h"

namespace parallelarium {

namespace {

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
  const bool takes_turns = work.piece == Piece::kAttention && !on_cores && !shape.fused;
  return takes_turns ? static_cast<double>(turns_of_attention(shape)) : 1;
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
double expert_rate(const std::vector<MatmulPoint>& points, std::string_view type, const Work& work,
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

// A forward's host reads how many rows each has, for which the device has to come to it and is
// idle.
bool reads_rows(const Work& work) {
  return work.piece == Piece::kExpert &&
         (work.phase == Phase::kForward || work.phase == Phase::kRecompute);
}
// Of an unfused attention's forward, as it is measured of one sequence, what all share: the
// softmax, and dropout.
double launched_once(const Work& work, const Shape& shape) {
  const bool forward = work.phase == Phase::kForward || work.phase == Phase::kRecompute;
  if (work.piece != Piece::kAttention || shape.fused || !forward) return 0;
  return shape.dropout > 0 ? 2 : 1;
}

// What a GPU's host needs for such a call, or `unknown`.
double host_call(const Machine& machine, std::string_view call, double unknown) {
  for (const HostCall& known : machine.host_calls)
    if (known.call == call) return known.seconds.value;
  return unknown;
}

}  // namespace

double work_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                    ProductType products) {
  if (work.piece == Piece::kOffload)
    return over(static_cast<double>(work.bytes), machine.host_bytes_per_second.value);
  double fixed = machine.launch_seconds.value;
  const DataType measured = measured_type(machine.kernels, type);
  const bool on_cores = machine.ranks_share_memory();
  const KernelBeside beside = kernel_beside(work, shape, on_cores);
  const double calls = alike(work, shape, on_cores);
  if (work.piece == Piece::kExpert && machine.local && !on_cores) {  // as this engine does it
    fixed += machine.launch_seconds.value *
             (static_cast<double>(launches_of_expert(work.phase)) * calls - 1);
    if (reads_rows(work)) fixed += host_call(machine, kHostRead, 0);
  }
  fixed += over(beside.elements,
                machine.sustained.value *
                    kernel_rate(machine, beside.kernel, shape, measured, beside.elements / calls));
  const auto elements = static_cast<double>(work.elements);
  const double rate = kernel_rate(machine, kernel_of(work.piece, work.phase), shape, measured,
                                  elements / (calls * turns(work, shape, on_cores)));
  if (rate > 0) return fixed + elements / (rate * machine.sustained.value);
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  if (product && !machine.matmuls.empty()) {
    const std::string_view of = measured_product(machine.matmuls, type, is_fp8(work, products));
    const double flops =
        work.piece == Piece::kExpert
            ? expert_rate(machine.matmuls, of, work, shape)
            : matmul_rate(machine.matmuls, of, phase_of(machine.matmuls, work, shape), work.m,
                          work.n, work.k);
    if (flops > 0) return fixed + work.flops / (flops * machine.sustained.value);
  }
  return fixed + shipped_seconds(work, shape, machine, type, products);
}

DataType storage_of(const Work& work, const Setup& setup) {
  const bool gradients = work.piece == Piece::kZeroGrad || work.piece == Piece::kGradNorm;
  const int bytes = gradients ? setup.precision.gradient_bytes : setup.precision.activation_bytes();
  return bytes == 2 ? DataType::kBf16 : DataType::kF32;
}

RateKind rate_kind(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                   ProductType products) {
  const bool on_cores = machine.ranks_share_memory();
  const std::string_view kernel = kernel_of(work.piece, work.phase);
  const double calls = alike(work, shape, on_cores);
  const double each = static_cast<double>(work.elements) / (calls * turns(work, shape, on_cores));
  const std::string_view variant = kernel.empty() ? kernel : variant_of(kernel, shape);
  bool known = false;
  for (const KernelRate& rate : machine.kernels) {
    if (kernel.empty() || (rate.kernel != kernel && rate.kernel != variant)) continue;
    if (rate.elements == 0 || std::abs(rate.elements / each - 1) < 1e-9) return RateKind::kMeasured;
    known = true;
  }
  if (known) return RateKind::kInterpolated;
  const bool product = work.m > 0 && work.n > 0 && work.k > 0;
  if (product && !machine.matmuls.empty()) {
    const std::string_view of = measured_product(machine.matmuls, type, is_fp8(work, products));
    const bool exact =
        std::any_of(machine.matmuls.begin(), machine.matmuls.end(), [&](const MatmulPoint& point) {
          return is_product_of(point, of) && point.m == work.m && point.n == work.n &&
                 point.k == work.k;
        });
    return exact ? RateKind::kMeasured : RateKind::kInterpolated;
  }
  return shipped_kind(work, shape, machine, type, products);
}

double work_host_seconds(const Work& work, const Shape& shape, const Machine& machine) {
  const double op = machine.host_seconds.value;
  const double launch = host_call(machine, kHostLaunch, op);
  const std::string_view kernel = kernel_of(work.piece, work.phase);
  std::string_view own =
      kernel.empty() ? phase_of(machine.matmuls, work, shape) : variant_of(kernel, shape);
  std::string in_fp8;
  if (shape.fp8 && multiplies_fp8(work.piece)) {
    in_fp8 = fmt::format("{} {}", kFp8Product, own);
    if (host_call(machine, in_fp8, 0) > 0) own = in_fp8;
  }
  const KernelBeside beside = kernel_beside(work, shape, false);
  const double calls = alike(work, shape, false) * turns(work, shape, false);
  if (work.piece == Piece::kExpert) {
    double each = 2 * host_call(machine, own, launch);
    if (!beside.kernel.empty())
      each += host_call(machine, variant_of(beside.kernel, shape), launch);
    const double read = reads_rows(work) ? host_call(machine, kHostRead, op) : 0;
    return op + read + calls * each;
  }
  double seconds = op;  // with one launch, for which stand its calls where they were measured
  if (const double each = host_call(machine, own, 0); each > 0)
    seconds += calls * each - (1 + (calls - 1) * launched_once(work, shape)) * launch;
  // Of the masks of a turn one has been measured.
  if (work.piece == Piece::kAttention && work.phase == Phase::kInputGrad && !shape.fused &&
      shape.dropout > 0)
    seconds += calls * static_cast<double>(masks_of_turn(shape) - 1) * launch;
  return seconds + host_call(machine, variant_of(beside.kernel, shape), 0);
}

double combine_rate(const Machine& machine, DataType type) {
  return kernel_rate(machine, kReduceKernel, measured_type(machine.kernels, type),
                     std::numeric_limits<double>::max());
}

}  // namespace parallelarium
