// SPDX-License-Identifier: Apache-2.0
// The backward of block attention on bf16 tensor cores (block_tiles.cuh): as that of whole
// sequences (fused_attention_tiles_grad.cu), but adds to what other blocks gave.
#include "kernels/block_attention/block_attention_tiles.h"
#include "kernels/block_attention/block_tiles.cuh"

namespace parallelarium {
namespace {

using namespace tiles;

constexpr int kTileRows = 32;

// Gradients of 64 keys and their values: gathers from every query at or behind them, of every head
// that shares them. Its products are transposed: rows are keys, columns queries.
template <int kD>
__global__ void __launch_bounds__(kThreads)
    block_key_grad_kernel(Bf16* dkeys_values, const Bf16* dcontext, const Bf16* qkv,
                          const Bf16* keys_values, const Bf16* context, const float* lse,
                          Block block) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kTileRows * kPitch<kD>;
  Bf16* const keys = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const values = keys + kRows * kPitch<kD>;
  Bf16* const q = values + kRows * kPitch<kD>;  // two tiles of queries, then two of dcontext
  Bf16* const dout = q + 2 * kTile;
  float* const row_lse = reinterpret_cast<float*>(dout + 2 * kTile);  // [2, kTileRows]
  float* const row_delta = row_lse + 2 * kTileRows;
  // Which of a warp's 16 keys are kept for a query: [2, kWarps, kTileRows].
  auto* const kept_keys = reinterpret_cast<std::uint16_t*>(row_delta + 2 * kTileRows);
  const Strides& s = block.s;
  const auto all = block.keys.all<kRows>();
  const Work work(s.kv_heads, all.count());
  const int b = work.b;
  const Rows own = block.keys.rows<kRows>(all, work.tile);
  const auto seers = block.queries.from<kTileRows>(own.position);  // of the first key
  if (seers.count() == 0) return;
  const bool drops = block.dropout.dropout.drops();
  const int sharers = s.heads / s.kv_heads;
  const int steps = sharers * seers.count();
  const int values_at = s.kv_heads * s.D;  // from a key
  const std::int64_t begin = std::int64_t{b} * s.length;
  const std::int64_t own_at = (begin + own.token) * block.keys_values + work.h * s.D;
  const TileReader<kD> kept(keys_values + own_at, block.keys_values, own.left, s.D);
  kept.template read<kRows>(keys);
  kept.template read<kRows>(values, values_at);

  // Fetches the next tile of queries, those of one head after those of another. Returns the
  // position of its first.
  int head = work.h * sharers;
  int tile = 0;
  const auto fetch = [&](int buffer) {
    if (tile == seers.count()) {
      tile = 0;
      ++head;
    }
    const Rows rows = block.queries.rows<kTileRows>(seers, tile++);
    const std::int64_t token = begin + rows.token;
    const std::int64_t out_at = token * s.context + head * s.D;
    TileReader<kD>(qkv + token * s.qkv + head * s.D, s.qkv, rows.left, s.D)
        .template read<kTileRows>(q + buffer * kTile);
    TileReader<kD>(dcontext + out_at, s.context, rows.left, s.D)
        .template read<kTileRows>(dout + buffer * kTile);
    if (threadIdx.x < kTileRows) {
      const int of = static_cast<int>(threadIdx.x);
      // Past the end queries and dcontext are zeros, and add nothing by whatever probability.
      copy_async(row_lse + buffer * kTileRows + of,
                 lse + (std::int64_t{b} * s.heads + head) * s.length + rows.token + of,
                 of < rows.left);
    }
    static_assert(kThreads == kTileRows * 4 && kWarps == 4);
    const int row = static_cast<int>(threadIdx.x) / 4;
    const int part = static_cast<int>(threadIdx.x) % 4;
    const std::int64_t row_at = out_at + row * s.context;
    const float delta = delta_of(dcontext + row_at, context + row_at, s.D, row < rows.left);
    if (part == 0) row_delta[buffer * kTileRows + row] = delta;
    if (drops)
      kept_keys[(buffer * kWarps + part) * kTileRows + row] = static_cast<std::uint16_t>(
          kept_bits<16>(block.dropout.dropout, block.dropout.row(b, head, rows.position + row) +
                                                   own.position + part * 16));
    return rows.position;
  };
  int next = fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  // How far the lane's first key is behind the first query that it meets of the next tile.
  const int key = own.position + warp * 16 + lane / 4 - lane % 4 * 2;
  const float scale2 = block.scale * kLog2E;
  float dk[kD / 8][4] = {};
  float dv[kD / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait_for_copies();
    __syncthreads();
    const int buffer = step % 2;
    const int apart = key - next;
    if (step + 1 < steps) next = fetch(1 - buffer);
    const Bf16* const q_tile = q + buffer * kTile;
    const Bf16* const dout_tile = dout + buffer * kTile;
    float p[kTileRows / 8][4] = {};
    float ds[kTileRows / 8][4] = {};
    multiply_by_rows<kD, kTileRows>(p, keys + warp * 16 * kPitch<kD>, q_tile);
    multiply_by_rows<kD, kTileRows>(ds, values + warp * 16 * kPitch<kD>, dout_tile);
    if (apart + 8 > 0)
      hide<kTileRows>(p, [&](int row, int column) { return column < apart + row; });
    const auto* const kept_pairs = reinterpret_cast<const std::uint32_t*>(
        kept_keys + (buffer * kWarps + warp) * kTileRows + lane % 4 * 2);
#pragma unroll
    for (int at = 0; at < kTileRows / 8; ++at) {
      const std::uint32_t kept_pair = drops ? kept_pairs[at * 4] >> lane / 4 : 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int in_tile = buffer * kTileRows + at * 8 + lane % 4 * 2 + i % 2;
        const float probability = fast_exp2(p[at][i] * scale2 - row_lse[in_tile] * kLog2E);
        const bool stays = (kept_pair >> (i % 2 * 16 + i / 2 * 8) & 1) != 0;
        const float factor = !drops ? 1.0F : stays ? block.dropout.dropout.scale : 0.0F;
        p[at][i] = probability * factor;
        ds[at][i] = probability * (factor * ds[at][i] - row_delta[in_tile]);
      }
    }
    multiply_by_columns<kD, kTileRows>(dv, p, dout_tile);
    multiply_by_columns<kD, kTileRows>(dk, ds, q_tile);
  }
  const int left = own.left - warp * 16;
  Bf16* const to = dkeys_values + own_at + warp * 16 * block.keys_values;
  add_rows<kD>(to, block.keys_values, left, s.D, dk, block.scale);
  add_rows<kD>(to + values_at, block.keys_values, left, s.D, dv, 1.0F);
#endif
}

// Gradients of 64 queries: gathers from every key at or before them.
template <int kD>
__global__ void __launch_bounds__(kThreads)
    block_query_grad_kernel(Bf16* dqkv, const Bf16* dcontext, const Bf16* qkv,
                            const Bf16* keys_values, const Bf16* context, const float* lse,
                            Block block) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kTileRows * kPitch<kD>;
  Bf16* const q = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const dout = q + kRows * kPitch<kD>;
  Bf16* const keys = dout + kRows * kPitch<kD>;
  Bf16* const values = keys + 2 * kTile;
  // Which keys of a tile are kept for a query: [2, kRows] of 32 bits, drawn in halves.
  auto* const kept_keys = reinterpret_cast<std::uint16_t*>(values + 2 * kTile);
  const Strides& s = block.s;
  const auto all = block.queries.all<kRows>();
  const Work work(s.heads, all.count());
  const int b = work.b, h = work.h;
  const Rows own = block.queries.rows<kRows>(all, all.count() - 1 - work.tile);
  const auto seen = block.keys.before<kTileRows>(own.position + min(kRows, own.left));
  if (seen.count() == 0) return;
  const bool drops = block.dropout.dropout.drops();
  const std::int64_t token = std::int64_t{b} * s.length + own.token;
  const std::int64_t out_at = token * s.context + h * s.D;
  const Bf16* const k_from = keys_values + std::int64_t{b} * s.length * block.keys_values +
                             h / (s.heads / s.kv_heads) * s.D;
  const auto fetch = [&](int tile) {
    const Rows rows = block.keys.rows<kTileRows>(seen, tile);
    const TileReader<kD> reader(k_from + rows.token * block.keys_values, block.keys_values,
                                rows.left, s.D);
    reader.template read<kTileRows>(keys + tile % 2 * kTile);
    reader.template read<kTileRows>(values + tile % 2 * kTile, s.kv_heads * s.D);
    static_assert(kThreads == kRows * 2);
    if (drops)
      kept_keys[tile % 2 * kThreads + threadIdx.x] = static_cast<std::uint16_t>(
          kept_bits<16>(block.dropout.dropout,
                        block.dropout.row(b, h, own.position + static_cast<int>(threadIdx.x) / 2) +
                            rows.position + static_cast<int>(threadIdx.x) % 2 * 16));
  };
  TileReader<kD>(qkv + token * s.qkv + h * s.D, s.qkv, own.left, s.D).template read<kRows>(q);
  TileReader<kD>(dcontext + out_at, s.context, own.left, s.D).template read<kRows>(dout);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp * 16 + lane / 4;  // of the tile; and row + 8
  const float scale2 = block.scale * kLog2E;
  const std::int64_t stats = (std::int64_t{b} * s.heads + h) * s.length + own.token + row;
  float row_lse[2];
  float row_delta[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const bool there = row + 8 * half < own.left;
    const std::int64_t row_at = out_at + (row + 8 * half) * s.context;
    row_lse[half] = there ? lse[stats + 8 * half] * kLog2E : INFINITY;
    row_delta[half] = delta_of(dcontext + row_at, context + row_at, s.D, there);
  }
  float dq[kD / 8][4] = {};
  for (int tile = 0; tile < seen.count(); ++tile) {
    wait_for_copies();
    __syncthreads();
    if (tile + 1 < seen.count()) fetch(tile + 1);
    const int at = tile % 2 * kTile;
    float p[kTileRows / 8][4] = {};
    float ds[kTileRows / 8][4] = {};
    multiply_by_rows<kD, kTileRows>(p, q + warp * 16 * kPitch<kD>, keys + at);
    multiply_by_rows<kD, kTileRows>(ds, dout + warp * 16 * kPitch<kD>, values + at);
    hide_unseen_keys<kTileRows>(p, own.position + row, block.keys.rows<kTileRows>(seen, tile));
    if (drops) {
      const auto* const words =
          reinterpret_cast<const std::uint32_t*>(kept_keys + tile % 2 * kThreads) + row;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const std::uint32_t kept = words[8 * half] >> lane % 4 * 2;
#pragma unroll
        for (int of = 0; of < kTileRows / 8; ++of)
#pragma unroll
          for (int i = 0; i < 2; ++i)
            ds[of][2 * half + i] *=
                (kept >> (of * 8 + i) & 1) != 0 ? block.dropout.dropout.scale : 0.0F;
      }
    }
#pragma unroll
    for (int of = 0; of < kTileRows / 8; ++of)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        ds[of][i] = fast_exp2(p[of][i] * scale2 - row_lse[i / 2]) * (ds[of][i] - row_delta[i / 2]);
    multiply_by_columns<kD, kTileRows>(dq, ds, keys + at);
  }
  Bf16* const to = dqkv + (token + warp * 16) * s.qkv + h * s.D;
  const int left = own.left - warp * 16;
  if (block.first)
    store_rows<kD>(to, s.qkv, 0, left, s.D, dq, block.scale, block.scale);
  else
    add_rows<kD>(to, s.qkv, left, s.D, dq, block.scale);
#endif
}

template <int kD>
cudaError_t backward(Bf16* dqkv, Bf16* dkeys_values, const Bf16* dcontext, const Bf16* qkv,
                     const Bf16* keys_values, const Bf16* context, const float* lse,
                     const AttentionBlock& block, cudaStream_t stream) {
  constexpr std::size_t kTiles = (2 * kRows + 4 * kTileRows) * kPitch<kD> * sizeof(Bf16);
  constexpr std::size_t kKept = 2 * kRows * sizeof(std::uint32_t);
  constexpr std::size_t kKeyBytes = kTiles + 4 * kTileRows * sizeof(float) + kKept;
  constexpr std::size_t kQueryBytes = kTiles + kKept;
  const Block packed = block_of(block);
  const AttentionShape& shape = block.shape;
  cudaError_t status = allow_shared(block_key_grad_kernel<kD>, kKeyBytes);
  if (status == cudaSuccess) status = allow_shared(block_query_grad_kernel<kD>, kQueryBytes);
  if (status == cudaSuccess)
    status = launch(block_key_grad_kernel<kD>, grid_of<kRows>(packed.keys, shape.B * shape.K),
                    dim3(kThreads), kKeyBytes, stream, dkeys_values, dcontext, qkv, keys_values,
                    context, lse, packed);
  if (status != cudaSuccess) return status;
  return launch(block_query_grad_kernel<kD>, grid_of<kRows>(packed.queries, shape.B * shape.H),
                dim3(kThreads), kQueryBytes, stream, dqkv, dcontext, qkv, keys_values, context, lse,
                packed);
}

}  // namespace

cudaError_t block_attention_backward_tiles(Bf16* dqkv, Bf16* dkeys_values, const Bf16* dcontext,
                                           const Bf16* qkv, const Bf16* keys_values,
                                           const Bf16* context, const float* lse,
                                           const AttentionBlock& block, cudaStream_t stream) {
  return (block.shape.D <= 64 ? backward<64> : backward<128>)(dqkv, dkeys_values, dcontext, qkv,
                                                              keys_values, context, lse, block,
                                                              stream);
}

}  // namespace parallelarium
