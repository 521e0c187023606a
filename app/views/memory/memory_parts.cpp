// SPDX-License-Identifier: GPL-3.0-or-later
// The buffers of a rank one by one: the table of tensors, and what lies under a point.
#include <QCoreApplication>
#include <algorithm>
#include <map>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/memory_data.h"
#include "engine/plan/text/describe_op.h"
#include "engine/predict/memory.h"

namespace parallelarium {
namespace {

struct Parts {
  Q_DECLARE_TR_FUNCTIONS(memory)
};

// The term of Korthikanti et al. 2022, section 4.1, that a tensor is: `sbh` times s b h, or
// `scores` times a s² b, in bytes of 16-bit activations; `split`: TP divides it.
struct PaperTerm {
  Tensor tensor;
  const char* text;
  double sbh = 0, scores = 0;
  bool split = false;
};
constexpr std::array<PaperTerm, 12> kPaper = {
    {{Tensor::kInput, "2 s b h", 2, 0, false},
     {Tensor::kSequenceInput, "4 s b h", 4, 0, false},  // of QKV and of the MLP, gathered
     {Tensor::kNorm1Out, "2 s b h", 2, 0, false},
     {Tensor::kQkvOut, "6 s b h", 6, 0, true},
     {Tensor::kProbabilities, "2 a s\u00b2 b", 0, 2, true},
     {Tensor::kContext, "2 s b h", 2, 0, true},
     {Tensor::kMiddle, "2 s b h", 2, 0, false},
     {Tensor::kNorm2Out, "2 s b h", 2, 0, false},
     {Tensor::kMlpInOut, "8 s b h", 8, 0, true},
     {Tensor::kActivationOut, "8 s b h", 8, 0, true},
     {Tensor::kDropoutMasks, "a s\u00b2 b + 2 s b h", 2, 1, false},
     {Tensor::kDroppedProbabilities, "2 a s\u00b2 b", 0, 2, true}}};

// The layer whose part of a buffer of all parameters lies `share` of the way through it.
const ParameterSlice* slice_at(const RankProgram& rank, double share) {
  std::int64_t all = 0;
  for (const ParameterSlice& slice : rank.parameters) all += slice.count;
  const auto at = std::int64_t(share * double(all));
  std::int64_t before = 0;
  for (const ParameterSlice& slice : rank.parameters) {
    before += slice.count;
    if (at < before) return &slice;
  }
  return rank.parameters.empty() ? nullptr : &rank.parameters.back();
}

QString how_long(const RankProgram& rank, const Buffer& buffer, const RankTimeline& times) {
  if (buffer.opened_by < 0) return Parts::tr("held from start to end");
  const Nanoseconds from = times.spans[std::size_t(buffer.opened_by)].begin;
  const Nanoseconds until = times.spans[std::size_t(buffer.closed_by)].end;
  const auto name = [&](std::int32_t op) { return sentence(describe(rank.ops[std::size_t(op)])); };
  return Parts::tr("held for %1, from %2 to %3")
      .arg(time_text(until - from), name(buffer.opened_by), name(buffer.closed_by));
}

// From the forward to the backward, that is neither computed again nor gone before.
bool is_kept(const RankProgram& rank, const Buffer& buffer) {
  if (buffer.opened_by < 0) return true;
  return rank.ops[std::size_t(buffer.opened_by)].phase != Phase::kRecompute &&
         rank.ops[std::size_t(buffer.closed_by)].phase != Phase::kForward;
}

// A part of a buffer that holds every parameter once: those of one layer.
void name_slice(const RankProgram& rank, const Buffer& buffer, double share, HeldPart& part) {
  double rounds = buffer.tensor == Tensor::kMoments ? 2 : 1;  // first, then second moments
  const double within = share * rounds - double(int(share * rounds));
  const ParameterSlice* slice = slice_at(rank, within);
  std::int64_t all = 0, layer = 0;
  for (const ParameterSlice& other : rank.parameters) {
    all += other.count;
    if (slice && other.layer == slice->layer) layer += other.count;
  }
  const QString owner = category_text(buffer.category);
  const QString states =
      buffer.category == Category::kOptimizer ? Parts::tr("Optimizer state") : owner;
  // A shard does not say whose elements it holds: only a whole copy is cut by layer.
  const bool whole = all > 0 && buffer.bytes % all == 0;
  if (!slice || !whole) {
    part.what = states;
    part.bytes = buffer.bytes;
    part.detail = whole ? QString() : Parts::tr("a shard of all layers of the rank");
    return;
  }
  part.bytes = buffer.bytes / all * layer;
  part.what = slice->layer >= 0 ? Parts::tr("%1 of layer %2").arg(states).arg(slice->layer)
                                : Parts::tr("%1 of tables and final norm").arg(states);
}

}  // namespace

std::optional<HeldPart> part_at(const Program& program, const Timeline& timeline, int rank_index,
                                Nanoseconds time, Category category, std::int64_t height) {
  if (rank_index < 0 || rank_index >= int(program.ranks.size()) || height < 0) return std::nullopt;
  const RankProgram& rank = program.ranks[std::size_t(rank_index)];
  const RankTimeline& times = timeline.ranks[std::size_t(rank_index)];
  for (const Buffer& buffer : rank.buffers) {
    if (buffer.category != category) continue;
    if (buffer.opened_by >= 0 && (times.spans[std::size_t(buffer.opened_by)].begin > time ||
                                  times.spans[std::size_t(buffer.closed_by)].end <= time))
      continue;
    if (height >= buffer.bytes) {
      height -= buffer.bytes;
      continue;
    }
    HeldPart part;
    part.opened_by = buffer.opened_by;
    part.how_long = how_long(rank, buffer, times);
    part.bytes = buffer.bytes;
    const bool states = buffer.opened_by < 0 &&
                        (category == Category::kParameters || category == Category::kGradients ||
                         category == Category::kOptimizer);
    if (states) {
      name_slice(rank, buffer, double(height) / double(buffer.bytes), part);
      if (part.detail.isEmpty()) part.detail = sentence(describe(buffer));
    } else {
      part.what = capitalised(sentence(describe(buffer)));
      part.detail = category_text(category);
    }
    return part;
  }
  return std::nullopt;
}

TensorTable tensor_table(const Prediction& prediction, int rank_index) {
  TensorTable table;
  if (rank_index >= int(prediction.program.ranks.size())) return table;
  const RankProgram& rank = prediction.program.ranks[std::size_t(rank_index)];
  const Setup& setup = prediction.setup;
  const int peak = peak_parts(prediction.program, rank).op;
  std::map<Tensor, TensorTerm> found;
  std::map<Tensor, std::int64_t> kept;          // of TensorTerm::one, for the backward
  std::map<Tensor, std::pair<int, int>> first;  // the layer and micro-batch that is shown
  for (const Buffer& buffer : rank.buffers) {
    if (buffer.category != Category::kActivations) continue;
    TensorTerm& term = found[buffer.tensor];
    const std::pair<int, int> of{buffer.layer, buffer.microbatch};
    const auto [at, fresh] = first.try_emplace(buffer.tensor, of);
    if (fresh || of == at->second) {
      term.one += buffer.bytes;
      if (is_kept(rank, buffer)) kept[buffer.tensor] += buffer.bytes;
    }
    if (buffer.opened_by < 0 || (buffer.opened_by <= peak && peak <= buffer.closed_by)) {
      ++term.held;
      term.most += buffer.bytes;
    }
  }
  const LayerActivations layer = layer_activations(setup);
  const LayerShape& shape = layer.shape;
  const bool paper = is_paper_gpt(setup.model);
  const bool stage_level = found.count(Tensor::kStageActivations) > 0;
  const double sbh = shape.s * shape.b * shape.h, scores = shape.a * shape.s * shape.s * shape.b;
  for (auto& [tensor, term] : found) {
    term.name = capitalised(name_text(tensor));
    for (const PaperTerm& own : kPaper) {
      if (own.tensor != tensor || !paper) continue;
      const bool whole = tensor == Tensor::kSequenceInput;
      const bool split = shape.t > 1 && !whole && (own.split || shape.sequence_parallel);
      // Of the masks TP divides those of the scores alone.
      const bool both = own.sbh > 0 && own.scores > 0;
      const QString text = QString::fromUtf8(own.text);
      if (both && shape.t > 1)
        term.paper = split ? QStringLiteral("(%1) / t").arg(text)
                           : QString(text).replace(QStringLiteral(" +"), QStringLiteral(" / t +"));
      else
        term.paper = text + (split ? QStringLiteral(" / t") : QString());
      term.paper_bytes = own.sbh * sbh / (split ? shape.t : 1) + own.scores * scores / shape.t;
      table.one_layer += kept[tensor];
    }
    table.terms.push_back(term);
  }
  if (!paper || stage_level) {
    if (stage_level)
      table.differences << Parts::tr(
          "a program of this size keeps the activations of a whole "
          "stage as one tensor");
    return table;
  }
  table.paper_layer = layer.bytes;
  if (layer.input_is_part)
    table.differences << Parts::tr("under sequence parallelism the layer's input is a part, too");
  if (setup.precision.activation_bytes() == 4)
    table.differences << Parts::tr("activations are fp32, 4 bytes where the paper counts 2");
  if (setup.dropout == 0)
    table.differences << Parts::tr("there is no dropout: its masks and outputs are not kept");
  if (setup.attention == Attention::kFused)
    table.differences << Parts::tr("fused attention keeps no scores");
  if (found.count(Tensor::kNorm1Stats) > 0)
    table.differences << Parts::tr(
        "the statistics of the norms are kept, which the paper leaves "
        "out");
  return table;
}

}  // namespace parallelarium
