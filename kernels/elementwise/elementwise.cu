// SPDX-License-Identifier: Apache-2.0
// Kernels whose every result depends on one element of each operand, and those on rows [N,C] where
// a whole row shares a second operand. All are memory-bound: 16 bytes per access, enough threads.
#include "kernels/base/pitch.h"
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kMostBlocks = 4096;  // the loop over the grid covers the rest
constexpr std::size_t kMostRowBlocks = 8192;

template <int W, class Op, class Out, class... In>
__device__ inline void map_pack(const Op& op, Out* out, const Numbers<In, W>... values) {
  Numbers<Wide<Out>, W> result;
#pragma unroll
  for (int i = 0; i < W; ++i) result.at[i] = op(values.at[i]...);
  store(out, result);
}

// out[i] = op(in[i]...), in fp32 (double and integers as themselves).
template <int W, class Op, class Out, class... In>
__global__ void map_kernel(Op op, std::size_t count, bool wide, Out* out, const In*... in) {
  for_elements<W>(count, wide, [&](std::size_t at, auto width) {
    constexpr int N = decltype(width)::value;
    map_pack<N>(op, out + at, load<N>(in + at)...);
  });
}

template <class Op, class Out, class... In>
cudaError_t map(const Op& op, std::size_t count, cudaStream_t stream, Out* out, const In*... in) {
  if (count == 0) return cudaSuccess;
  // As many elements as 16 bytes of the result hold, so that the threads of a warp write one piece.
  constexpr int kElements = static_cast<int>(16 / sizeof(Out));
  const bool wide = (is_wide(out) && ... && is_wide(in));
  return launch(map_kernel<kElements, Op, Out, In...>,
                dim3(blocks_for(count, kThreads * kElements, kMostBlocks)), dim3(kThreads), 0,
                stream, op, count, wide, out, in...);
}

struct Add {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Constant {
  float value;
  __device__ float operator()() const { return value; }
};
struct Same {
  __device__ float operator()(float value) const { return value; }
};

constexpr float kTwice = 2.0F * 0.7978845608028654F;  // 2 sqrt(2 / pi)
constexpr float kCubic = 0.044715F;
__device__ inline float sigmoid(float x) { return __fdividef(1.0F, 1.0F + __expf(-x)); }

struct Gelu {
  __device__ float operator()(float x) const {
    return x * sigmoid(kTwice * (x + kCubic * x * x * x));
  }
};
struct GeluGrad {
  __device__ float operator()(float d, float x) const {
    const float s = sigmoid(kTwice * (x + kCubic * x * x * x));
    const float slope = kTwice * (1.0F + 3.0F * kCubic * x * x);
    return d * (s + x * s * (1.0F - s) * slope);
  }
};

// Calls body(row, column, width) as RowBlocks shares the cells: rows among blockIdx.y, the parts of
// a row among blockIdx.x.
template <int W, class Body>
__device__ inline void for_cells(std::int64_t rows, std::int64_t columns, bool wide, unsigned lanes,
                                 const Body& body) {
  const unsigned of_block = blockDim.x / lanes;
  const unsigned row = threadIdx.x / lanes;
  if (row >= of_block) return;
  const std::int64_t lane = std::int64_t{blockIdx.x} * lanes + (threadIdx.x - row * lanes);
  const std::int64_t step = std::int64_t{gridDim.x} * lanes;
  for (std::int64_t n = std::int64_t{blockIdx.y} * of_block + row; n < rows;
       n += std::int64_t{gridDim.y} * of_block) {
    if (wide)
      for (std::int64_t c = lane * W; c < columns; c += step * W)
        body(n, c, std::integral_constant<int, W>{});
    else
      for (std::int64_t c = lane; c < columns; c += step)
        body(n, c, std::integral_constant<int, 1>{});
  }
}
// Puts a kernel on the stream that goes over cells; it learns last how many, and how.
template <class T, class... Parameters, class... Arguments>
cudaError_t launch_cells(void (*kernel)(Parameters...), std::int64_t rows, std::int64_t columns,
                         bool wide, cudaStream_t stream, Arguments... arguments) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  const RowBlocks blocks =
      row_blocks(static_cast<std::size_t>(columns), wide ? kWidth<T> : 1, kThreads);
  return launch(
      kernel,
      dim3(blocks.parts, blocks_for(static_cast<std::size_t>(rows), blocks.rows, kMostRowBlocks)),
      dim3(blocks.threads), 0, stream, arguments..., rows, columns, wide, blocks.lanes);
}

template <class T>
__global__ void residual_bias_add_kernel(T* out, const T* stream, const T* branch, const T* bias,
                                         std::int64_t N, std::int64_t C, bool wide,
                                         unsigned lanes) {
  for_cells<kWidth<T>>(N, C, wide, lanes, [&](std::int64_t n, std::int64_t c, auto width) {
    constexpr int W = decltype(width)::value;
    auto sum = load<W>(stream + n * C + c);
    Floats<W> b{};
    if (branch != nullptr) b = load<W>(branch + n * C + c);
    const auto added = load<W>(bias + c);
#pragma unroll
    for (int i = 0; i < W; ++i) sum.at[i] += b.at[i] + added.at[i];
    store(out + n * C + c, sum);
  });
}

template <class T>
__global__ void fill_rows_kernel(T* to, std::int64_t stride, float value, std::int64_t rows,
                                 std::int64_t width, bool, unsigned lanes) {
  for_cells<1>(rows, width, false, lanes, [&](std::int64_t n, std::int64_t c, auto) {
    to[n * stride + c] = rounded<T>(value);
  });
}

template <class T>
__global__ void accumulate_rows_kernel(T* sum, std::int64_t sum_stride, const T* part,
                                       std::int64_t part_stride, std::int64_t rows,
                                       std::int64_t width, bool wide, unsigned lanes) {
  for_cells<kWidth<T>>(rows, width, wide, lanes, [&](std::int64_t n, std::int64_t c, auto pack) {
    constexpr int W = decltype(pack)::value;
    auto value = load<W>(sum + n * sum_stride + c);
    const auto more = load<W>(part + n * part_stride + c);
#pragma unroll
    for (int i = 0; i < W; ++i) value.at[i] += more.at[i];
    store(sum + n * sum_stride + c, value);
  });
}

template <class T>
__global__ void swiglu_forward_kernel(T* g, const T* u, const T* up, std::int64_t pitch,
                                      std::int64_t N, std::int64_t F, bool wide, unsigned lanes) {
  for_cells<kWidth<T>>(N, F, wide, lanes, [&](std::int64_t n, std::int64_t f, auto width) {
    constexpr int W = decltype(width)::value;
    const auto gate = load<W>(u + n * pitch + f);
    auto value = load<W>(up + n * pitch + f);
#pragma unroll
    for (int i = 0; i < W; ++i) value.at[i] *= gate.at[i] * sigmoid(gate.at[i]);
    store(g + n * F + f, value);
  });
}

template <class T>
__global__ void swiglu_backward_kernel(T* du, const T* dg, const T* u, const T* up,
                                       std::int64_t pitch, std::int64_t N, std::int64_t F,
                                       bool wide, unsigned lanes) {
  for_cells<kWidth<T>>(N, F, wide, lanes, [&](std::int64_t n, std::int64_t f, auto width) {
    constexpr int W = decltype(width)::value;
    auto gate = load<W>(u + n * pitch + f);
    auto value = load<W>(up + n * pitch + f);
    const auto d = load<W>(dg + n * F + f);
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const float s = sigmoid(gate.at[i]);
      const float through_value = d.at[i] * gate.at[i] * s;
      gate.at[i] = d.at[i] * value.at[i] * (s + gate.at[i] * s * (1.0F - s));
      value.at[i] = through_value;
    }
    store(du + n * 2 * F + f, gate);
    store(du + n * 2 * F + F + f, value);
  });
}

}  // namespace

template <class T>
cudaError_t accumulate(T* sum, const T* part, std::size_t count, cudaStream_t stream) {
  return map(Add{}, count, stream, sum, static_cast<const T*>(sum), part);
}
template <class T>
cudaError_t fill(T* values, float value, std::size_t count, cudaStream_t stream) {
  return map(Constant{value}, count, stream, values);
}
template <class T>
cudaError_t fill_rows(T* to, std::int64_t stride, float value, std::int64_t rows,
                      std::int64_t width, cudaStream_t stream) {
  return launch_cells<T>(fill_rows_kernel<T>, rows, width, false, stream, to, stride, value);
}
template <class T>
cudaError_t accumulate_rows(T* sum, std::int64_t sum_stride, const T* part,
                            std::int64_t part_stride, std::int64_t rows, std::int64_t width,
                            cudaStream_t stream) {
  const auto rows_wide = [&](const T* array, std::int64_t stride) {
    return rows_are_wide(array, static_cast<std::size_t>(stride), sizeof(T));
  };
  const bool wide =
      width % kWidth<T> == 0 && rows_wide(sum, sum_stride) && rows_wide(part, part_stride);
  return launch_cells<T>(accumulate_rows_kernel<T>, rows, width, wide, stream, sum, sum_stride,
                         part, part_stride);
}
template <class To, class From>
cudaError_t cast(To* to, const From* from, std::size_t count, cudaStream_t stream) {
  return map(Same{}, count, stream, to, from);
}
template <class T>
cudaError_t residual_add(T* out, const T* stream_in, const T* branch, std::size_t count,
                         cudaStream_t stream) {
  return map(Add{}, count, stream, out, stream_in, branch);
}
template <class T>
cudaError_t gelu_forward(T* g, const T* u, std::size_t count, cudaStream_t stream) {
  return map(Gelu{}, count, stream, g, u);
}
template <class T>
cudaError_t gelu_backward(T* du, const T* dg, const T* u, std::size_t count, cudaStream_t stream) {
  return map(GeluGrad{}, count, stream, du, dg, u);
}
template <class T>
cudaError_t residual_bias_add(T* out, const T* stream_in, const T* branch, const T* bias,
                              std::int64_t N, std::int64_t C, cudaStream_t stream) {
  const auto rows_wide = [&](const T* array) {
    return rows_are_wide(array, static_cast<std::size_t>(C), sizeof(T));
  };
  const bool wide = rows_wide(out) && rows_wide(stream_in) && rows_wide(branch) && is_wide(bias);
  return launch_cells<T>(residual_bias_add_kernel<T>, N, C, wide, stream, out, stream_in, branch,
                         bias);
}
template <class T>
cudaError_t swiglu_forward(T* g, const T* gate, const T* up, std::int64_t N, std::int64_t F,
                           std::int64_t pitch, cudaStream_t stream) {
  const auto F_ = static_cast<std::size_t>(F);
  const std::int64_t apart = pitch_of(F, pitch);
  const auto apart_ = static_cast<std::size_t>(apart);
  const bool wide = rows_are_wide(g, F_, sizeof(T)) && rows_are_wide(gate, apart_, sizeof(T)) &&
                    rows_are_wide(up, apart_, sizeof(T));
  return launch_cells<T>(swiglu_forward_kernel<T>, N, F, wide, stream, g, gate, up, apart);
}
template <class T>
cudaError_t swiglu_backward(T* du, const T* dg, const T* gate, const T* up, std::int64_t N,
                            std::int64_t F, std::int64_t pitch, cudaStream_t stream) {
  const auto F_ = static_cast<std::size_t>(F);
  const std::int64_t apart = pitch_of(F, pitch);
  const auto apart_ = static_cast<std::size_t>(apart);
  const bool wide = rows_are_wide(du, F_, sizeof(T)) && rows_are_wide(dg, F_, sizeof(T)) &&
                    rows_are_wide(gate, apart_, sizeof(T)) && rows_are_wide(up, apart_, sizeof(T));
  return launch_cells<T>(swiglu_backward_kernel<T>, N, F, wide, stream, du, dg, gate, up, apart);
}

template cudaError_t accumulate(float*, const float*, std::size_t, cudaStream_t);
template cudaError_t accumulate(Bf16*, const Bf16*, std::size_t, cudaStream_t);
template cudaError_t accumulate(double*, const double*, std::size_t, cudaStream_t);
template cudaError_t accumulate(std::int32_t*, const std::int32_t*, std::size_t, cudaStream_t);
template cudaError_t cast(float*, const Bf16*, std::size_t, cudaStream_t);
template cudaError_t cast(Bf16*, const float*, std::size_t, cudaStream_t);
#define PARALLELARIUM_FOR(T)                                                                   \
  template cudaError_t fill(T*, float, std::size_t, cudaStream_t);                             \
  template cudaError_t fill_rows(T*, std::int64_t, float, std::int64_t, std::int64_t,          \
                                 cudaStream_t);                                                \
  template cudaError_t accumulate_rows(T*, std::int64_t, const T*, std::int64_t, std::int64_t, \
                                       std::int64_t, cudaStream_t);                            \
  template cudaError_t residual_add(T*, const T*, const T*, std::size_t, cudaStream_t);        \
  template cudaError_t residual_bias_add(T*, const T*, const T*, const T*, std::int64_t,       \
                                         std::int64_t, cudaStream_t);                          \
  template cudaError_t gelu_forward(T*, const T*, std::size_t, cudaStream_t);                  \
  template cudaError_t gelu_backward(T*, const T*, const T*, std::size_t, cudaStream_t);       \
  template cudaError_t swiglu_forward(T*, const T*, const T*, std::int64_t, std::int64_t,      \
                                      std::int64_t, cudaStream_t);                             \
  template cudaError_t swiglu_backward(T*, const T*, const T*, const T*, std::int64_t,         \
                                       std::int64_t, std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium
