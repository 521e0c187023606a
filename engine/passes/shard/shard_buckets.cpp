// SPDX-License-Identifier: Apache-2.0
// Which parameters are cut together, and which part of them a rank owns.
#include <algorithm>
#include <tuple>

#include "engine/passes/shard/shard.h"

namespace parallelarium {

namespace {

bool is_table(const ParameterSlice& slice) {
  return slice.parameter == Parameter::kTokenTable || slice.parameter == Parameter::kPositionTable;
}

// Ranks that a bucket is cut over, and the place among them of a rank at `at`. Experts have fewer
// replicas than the rest, by EP.
struct Cut {
  int ranks = 1, place = 0;
};
Cut cut_of(const Setup& setup, Parameter first, const Coordinates& at) {
  const Mesh& mesh = setup.mesh;
  if (zero_stage(setup) == 0) return {};
  int ranks = shard_ranks(setup), place = at.dp * mesh.cp + at.cp;
  if (first == Parameter::kExpertWeights) {
    ranks = expert_shards(mesh, ranks);
    place = expert_place(mesh, at).replica;
  }
  return {ranks, place % ranks};
}

void own(Bucket& bucket, const Cut& cut) {
  const ChunkRange range = chunk_of(bucket.count, cut.ranks, cut.place);
  bucket.own_begin = bucket.begin + range.begin;
  bucket.own_count = range.end - range.begin;
}

const ParameterSlice& slice_at(const std::vector<ParameterSlice>& slices, std::int64_t offset) {
  return *std::prev(std::upper_bound(
      slices.begin(), slices.end(), offset,
      [](std::int64_t at, const ParameterSlice& slice) { return at < slice.offset; }));
}

// Whether the rank keeps only its own part of the tensor.
bool keeps_own_part(Tensor tensor, int zero) {
  switch (tensor) {
    case Tensor::kParameters:
      return zero >= 3;
    case Tensor::kGradients:
      return zero >= 2;
    default:
      return zero >= 1;
  }
}

}  // namespace

int shard_ranks(const Setup& setup) {
  return setup.zero_group > 0 ? setup.zero_group : setup.mesh.dp * setup.mesh.cp;
}

int zero_stage(const Setup& setup) { return shard_ranks(setup) > 1 ? held_zero(setup) : 0; }

bool ep_holds_shard_groups(const Setup& setup) {
  return zero_stage(setup) > 0 && setup.mesh.expert_tensor && setup.mesh.cp == 1 &&
         shard_ranks(setup) < setup.mesh.ep;
}

bool gathers_ahead(const Setup& setup) {
  const int zero = zero_stage(setup);
  return setup.overlap_parameters && (zero == 1 || zero == 2);
}

std::vector<Bucket> make_buckets(const Setup& setup,
                                 const std::vector<ParameterSlice>& parameters) {
  // What two neighbours must share to be of one bucket: experts or not, tables, layer, head; the
  // tied table by itself, so that both of its copies are cut alike.
  using Key = std::tuple<bool, int, int>;
  const bool apart = setup.model.tied && setup.mesh.pp > 1 && zero_stage(setup) > 0;
  const auto key_of = [&](const ParameterSlice& slice) {
    const bool experts = slice.parameter == Parameter::kExpertWeights;
    if (apart && slice.parameter == Parameter::kTokenTable) return Key{experts, 2, 0};
    if (slice.layer >= 0) return Key{experts, 1, slice.layer};
    return Key{experts, 0, is_table(slice) && !slice.shared_copy};
  };
  std::vector<Bucket> buckets;
  Key last;
  std::int64_t held = 0;
  for (const ParameterSlice& slice : parameters) {
    const Key key = key_of(slice);
    if (buckets.empty() || key != last) {
      buckets.push_back({});
      buckets.back().begin = slice.offset;
      last = key;
    }
    buckets.back().count += slice.count;
  }
  for (Bucket& bucket : buckets) {
    const Cut cut = cut_of(setup, slice_at(parameters, bucket.begin).parameter, {});
    own(bucket, cut);
    bucket.held = held;
    held += bucket.own_count;  // the first place's chunk is the largest
  }
  return buckets;
}

void name_buckets(const Setup& setup, const RankProgram& rank, std::vector<Draft>& drafts) {
  const int zero = zero_stage(setup);
  if (zero < 2) return;
  for (Draft& draft : drafts) {
    for (DraftOperand& operand : draft.operands) {
      const bool parameters = operand.tensor == Tensor::kParameters;
      if (!parameters && operand.tensor != Tensor::kGradients) continue;
      if (!keeps_own_part(operand.tensor, zero)) continue;
      const auto bucket = bucket_at(rank, operand.offset);
      const Bucket& cut = rank.buckets[static_cast<std::size_t>(bucket)];
      operand.offset -= cut.begin;
      if (cut.own_count == cut.count) {  // one replica: its part is the whole
        operand.offset += cut.held;
        continue;
      }
      operand.tensor = parameters ? Tensor::kGathered : Tensor::kBucketGradients;
      operand.bucket = bucket;
    }
  }
}

std::int16_t bucket_at(const RankProgram& rank, std::int64_t offset) {
  const auto next =
      std::upper_bound(rank.buckets.begin(), rank.buckets.end(), offset,
                       [](std::int64_t at, const Bucket& bucket) { return at < bucket.begin; });
  return static_cast<std::int16_t>(next - rank.buckets.begin() - 1);
}

DraftOperand own_part(const Setup& setup, const RankProgram& rank, std::int16_t index,
                      Tensor tensor, Access access, DataType type) {
  const Bucket& bucket = rank.buckets[static_cast<std::size_t>(index)];
  DraftOperand operand;
  operand.tensor = tensor;
  operand.access = access;
  operand.type = type;
  operand.shard = index;
  operand.offset = keeps_own_part(tensor, zero_stage(setup)) ? bucket.held : bucket.own_begin;
  operand.count = bucket.own_count;
  return operand;
}

void take_own_shards(const Setup& setup, RankProgram& rank) {
  const int zero = zero_stage(setup);
  if (zero == 0) return;
  for (Bucket& bucket : rank.buckets) {
    own(bucket, cut_of(setup, slice_at(rank.parameters, bucket.begin).parameter, rank.at));
  }
  for (Operand& operand : rank.operands) {
    if (operand.shard < 0) continue;
    const Bucket& bucket = rank.buckets[static_cast<std::size_t>(operand.shard)];
    const Buffer& buffer = rank.buffers[static_cast<std::size_t>(operand.buffer)];
    const Tensor tensor = buffer.tensor;
    if (tensor == Tensor::kBucketGradients) {
      // Of a whole bucket its own part, of a part all.
      const bool whole = buffer.bytes >= bucket.count * size_of(operand.type);
      operand.offset = whole ? bucket.own_begin - bucket.begin : 0;
    } else if (!keeps_own_part(tensor, zero)) {
      operand.offset = bucket.own_begin;
    }
    operand.count = bucket.own_count;
  }
  for (Op& op : rank.ops) {
    if (op.kind != OpKind::kCollective || op.operand_count == 0) continue;
    const Operand& first = rank.operands_of(op).front();
    if (first.shard >= 0) op.bytes = first.count * size_of(first.type);
  }
}

}  // namespace parallelarium
