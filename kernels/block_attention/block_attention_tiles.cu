// SPDX-License-Identifier: Apache-2.0
// The forward of block attention on bf16 tensor cores (block_tiles.cuh): as that of whole sequences
// (fused_attention_tiles.cu), but rows go on from what earlier blocks left of them.
#include "kernels/block_attention/block_attention_tiles.h"
#include "kernels/block_attention/block_tiles.cuh"

namespace parallelarium {
namespace {

using namespace tiles;

constexpr int kKeys = 64;            // of a tile
constexpr int kGroups = kKeys / 32;  // for each, a word of what dropout keeps of a row

template <int kD>
__global__ void __launch_bounds__(kThreads, kD == 64 ? 3 : 2)
    block_forward_kernel(Bf16* context, float* row_max, float* row_sum, const Bf16* qkv,
                         const Bf16* keys_values, Block block) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kKeys * kPitch<kD>;
  Bf16* const q = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const keys = q + kRows * kPitch<kD>;  // two tiles of keys, then two of values
  Bf16* const values = keys + 2 * kTile;
  auto* const kept_words = reinterpret_cast<std::uint32_t*>(values + 2 * kTile);  // [2,kRows,..]
  const Strides& s = block.s;
  const auto all = block.queries.all<kRows>();
  const Work work(s.heads, all.count());
  const int b = work.b, h = work.h;
  const Rows own = block.queries.rows<kRows>(all, all.count() - 1 - work.tile);  // long rows first
  const auto seen = block.keys.before<kKeys>(own.position + min(kRows, own.left));
  if (seen.count() == 0) return;
  const bool drops = block.dropout.dropout.drops();
  const std::int64_t token = std::int64_t{b} * s.length + own.token;
  const Bf16* const k_from = keys_values + std::int64_t{b} * s.length * block.keys_values +
                             h / (s.heads / s.kv_heads) * s.D;
  const auto fetch = [&](int tile) {
    const Rows rows = block.keys.rows<kKeys>(seen, tile);
    const TileReader<kD> reader(k_from + rows.token * block.keys_values, block.keys_values,
                                rows.left, s.D);
    reader.template read<kKeys>(keys + tile % 2 * kTile);
    reader.template read<kKeys>(values + tile % 2 * kTile, s.kv_heads * s.D);
    if (!drops) return;
    const int row = static_cast<int>(threadIdx.x) / kGroups;
    const int key = static_cast<int>(threadIdx.x) % kGroups * 32;
    static_assert(kThreads == kRows * kGroups);
    kept_words[tile % 2 * kThreads + threadIdx.x] = kept_bits<32>(
        block.dropout.dropout, block.dropout.row(b, h, own.position + row) + rows.position + key);
  };
  TileReader<kD>(qkv + token * s.qkv + h * s.D, s.qkv, own.left, s.D).template read<kRows>(q);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = warp * 16 + lane / 4;  // of the tile; and row + 8
  const int left = own.left - warp * 16;
  const std::int64_t stats = (std::int64_t{b} * s.heads + h) * s.length + own.token;
  Bf16* const to = context + (token + warp * 16) * s.context + h * s.D;
  const float scale2 = block.scale * kLog2E;
  float out[kD / 8][4] = {};
  float largest[2] = {kNothingSeen, kNothingSeen};
  float sum[2] = {};  // this lane's part
  if (!block.first) {
    load_rows<kD>(out, to, s.context, left, s.D);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (row + 8 * half >= own.left) continue;
      largest[half] = fmaxf(row_max[stats + row + 8 * half] / block.scale, kNothingSeen);
      if (lane % 4 == 0) sum[half] = row_sum[stats + row + 8 * half];
    }
  }
  for (int tile = 0; tile < seen.count(); ++tile) {
    wait_for_copies();
    __syncthreads();  // the tile is there, and nobody reads the other buffer any more
    if (tile + 1 < seen.count()) fetch(tile + 1);
    const int at = tile % 2 * kTile;
    float p[kKeys / 8][4] = {};
    multiply_by_rows<kD, kKeys>(p, q + warp * 16 * kPitch<kD>, keys + at);
    hide_unseen_keys<kKeys>(p, own.position + row, block.keys.rows<kKeys>(seen, tile));
    join_scores<kD, kKeys>(out, p, largest, sum, scale2);
    if (drops) {
      const float factor = block.dropout.dropout.scale;
      const std::uint32_t* const words = kept_words + tile % 2 * kThreads + row * kGroups;
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int column = 0; column < kKeys / 8; ++column) {
          const std::uint32_t kept = words[8 * half * kGroups + column / 4] >> lane % 4 * 2;
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            float& part = p[column][2 * half + i];
            part = (kept >> (column % 4 * 8 + i) & 1) != 0 ? part * factor : 0.0F;
          }
        }
    }
    multiply_by_columns<kD, kKeys>(out, p, values + at);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] = over_row(sum[half], Sum{});
    if (lane % 4 != 0 || row + 8 * half >= own.left) continue;
    row_max[stats + row + 8 * half] = largest[half] * block.scale;
    row_sum[stats + row + 8 * half] = sum[half];
  }
  store_rows<kD>(to, s.context, 0, left, s.D, out, 1.0F, 1.0F);
#endif
}

template <int kD>
cudaError_t forward(Bf16* context, float* row_max, float* row_sum, const Bf16* qkv,
                    const Bf16* keys_values, const AttentionBlock& block, cudaStream_t stream) {
  constexpr std::size_t kBytes =
      (kRows + 4 * kKeys) * kPitch<kD> * sizeof(Bf16) + 2 * kRows * kGroups * sizeof(std::uint32_t);
  const Block packed = block_of(block);
  const cudaError_t status = allow_shared(block_forward_kernel<kD>, kBytes);
  if (status != cudaSuccess) return status;
  return launch(block_forward_kernel<kD>,
                grid_of<kRows>(packed.queries, block.shape.B * block.shape.H), dim3(kThreads),
                kBytes, stream, context, row_max, row_sum, qkv, keys_values, packed);
}

}  // namespace

cudaError_t block_attention_forward_tiles(Bf16* context, float* row_max, float* row_sum,
                                          const Bf16* qkv, const Bf16* keys_values,
                                          const AttentionBlock& block, cudaStream_t stream) {
  return (block.shape.D <= 64 ? forward<64> : forward<128>)(context, row_max, row_sum, qkv,
                                                            keys_values, block, stream);
}

}  // namespace parallelarium
