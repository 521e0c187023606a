// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/probe/probe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

constexpr int kPhases = static_cast<int>(Phase::kUpdate) + 1;

template <class Name>
std::optional<Name> named(std::string_view text, int count) {
  for (int i = 0; i < count; ++i)
    if (key_of(name_of(static_cast<Name>(i))) == text) return static_cast<Name>(i);
  return std::nullopt;
}

Message about_probe(Message why) {
  why.kind = "probe";
  why.field = "probe";
  return why;
}

Message unreadable() {
  return about_probe(message("probe.unreadable",
                             "A probe is written layer=0,piece=mlp-in,microbatch=0,phase=forward, "
                             "and step=1 where another step is meant."));
}

Result<void> read_key(std::string_view key, std::string_view value, Probe& probe) {
  if (key == "piece") {
    const std::optional<Piece> piece = named<Piece>(value, kPieces);
    if (!piece)
      return about_probe(
          message("probe.no-such-piece",
                  "There is no piece {}; pieces are named mlp-in, qkv, norm-1 and so "
                  "on, as they stand in the Program.",
                  value));
    probe.piece = *piece;
    return {};
  }
  if (key == "phase") {
    const std::optional<Phase> phase = named<Phase>(value, kPhases);
    if (!phase)
      return about_probe(message("probe.no-such-phase",
                                 "There is no phase {}; there are forward, input-gradient, "
                                 "weight-gradient and recompute.",
                                 value));
    probe.phase = *phase;
    return {};
  }
  int* const number = key == "layer"        ? &probe.layer
                      : key == "microbatch" ? &probe.microbatch
                      : key == "step"       ? &probe.step
                                            : nullptr;
  if (number == nullptr) return unreadable();
  const char* const end = value.data() + value.size();
  const auto [read, failed] = std::from_chars(value.data(), end, *number);
  if (failed != std::errc{} || read != end || *number < 0) return unreadable();
  return {};
}

// What the ops of a Program that can be probed are, as far as they agree with a probe.
std::vector<std::string> keys_of(const std::set<Piece>& pieces) {
  std::vector<std::string> keys;
  for (const Piece piece : pieces) keys.push_back(key_of(name_of(piece)));
  return keys;
}

Message layers_of(const std::set<int>& layers) {
  if (*layers.rbegin() - *layers.begin() + 1 == static_cast<int>(layers.size()))
    return message("probe-layers", "{} to {}", *layers.begin(), *layers.rbegin());
  std::vector<std::string> words;
  for (const int layer : layers) words.push_back(fmt::format("{}", layer));
  return join_or(words);
}

}  // namespace

Result<Probe> parse_probe(std::string_view text) {
  Probe probe;
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view pair = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return unreadable();
    const std::string_view key = pair.substr(0, equals);
    if (!seen.insert(key).second) return unreadable();
    if (Result<void> read = read_key(key, pair.substr(equals + 1), probe); !read)
      return read.error();
  }
  if (seen.count("piece") == 0) return unreadable();
  return probe;
}

std::string text_of(const Probe& probe) {
  std::string text = probe.layer < 0 ? "" : fmt::format("layer={},", probe.layer);
  text += fmt::format("piece={},microbatch={},phase={}", key_of(name_of(probe.piece)),
                      probe.microbatch, key_of(name_of(probe.phase)));
  return probe.step == 1 ? text : text + fmt::format(",step={}", probe.step);
}

Result<void> check_probe(const Setup& setup, const Program& program, const Probe& probe) {
  const int steps = setup.run.warmup + setup.run.steps;
  if (probe.step < 1 || probe.step > steps)
    return about_probe(message(
        "probe.step", "There is no step {}; the last step of this run is {}.", probe.step, steps));
  if (probe.microbatch >= setup.microbatches)
    return about_probe(message("probe.microbatch",
                               "There is no micro-batch {}; each replica has 0 to {}.",
                               probe.microbatch, setup.microbatches - 1));
  std::set<Piece> pieces;  // of all
  std::set<int> layers;    // of the piece
  std::set<Phase> phases;  // of the piece in the layer
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops) {
      const bool known = op.piece == probe.piece
                             ? layers.count(op.layer) > 0 && phases.count(op.phase) > 0
                             : pieces.count(op.piece) > 0;
      if (known || !is_probed(setup, program.shape, rank, op)) continue;
      pieces.insert(op.piece);
      if (op.piece != probe.piece) continue;
      layers.insert(op.layer);
      if (op.layer == probe.layer) phases.insert(op.phase);
    }
  }
  const std::string piece = key_of(name_of(probe.piece));
  if (layers.empty())
    return about_probe(message("probe.piece", "This model has no piece {} to probe; it has {}.",
                               piece, join_or(keys_of(pieces))));
  if (*layers.begin() < 0 && probe.layer >= 0)
    return about_probe(message(
        "probe.no-layer", "The piece {} stands outside of the layers: leave layer out.", piece));
  if (layers.count(probe.layer) == 0)
    return about_probe(message("probe.layer", "The piece {} is in the layers {}; say one of them.",
                               piece, layers_of(layers)));
  if (phases.count(probe.phase) > 0) return {};
  std::vector<std::string> words;
  for (const Phase phase : phases) words.push_back(key_of(name_of(phase)));
  return about_probe(message("probe.phase", "The piece {} has no phase {} here; it has {}.", piece,
                             key_of(name_of(probe.phase)), join_or(words)));
}

double ProbedTensor::value(std::size_t index) const {
  const std::byte* const at = bytes.data() + index * static_cast<std::size_t>(size_of(type));
  const auto as = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
    case DataType::kF64:
      return as(double{});
    case DataType::kI32:
      return as(std::int32_t{});
    case DataType::kU8:
      return as(std::uint8_t{});
    default:
      return as(float{});
  }
}

TensorFigures figures_of(const ProbedTensor& tensor) {
  TensorFigures figures;
  const std::size_t size = tensor.size();
  if (size == 0) return figures;
  figures.min = figures.max = tensor.value(0);
  double squares = 0, sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double value = tensor.value(i);
    squares += value * value;
    sum += value;
    figures.min = std::min(figures.min, value);
    figures.max = std::max(figures.max, value);
  }
  figures.norm = std::sqrt(squares);
  figures.mean = sum / static_cast<double>(size);
  return figures;
}

namespace {

// A row-major tensor as so many matrices of rows by columns.
struct MatrixView {
  std::int64_t outer = 1, rows = 1, columns = 1;
  bool turned = false;  // columns are shown as rows
};

// As the picture of a layer has them: layer_tensor.cpp.
MatrixView matrix_view(const std::vector<TensorDimension>& all, Piece piece) {
  MatrixView view;
  const auto counts = [](const TensorDimension& dimension) { return dimension.counts_tokens(); };
  const auto product = [&](std::size_t begin, std::size_t end) {
    std::int64_t elements = 1;
    for (std::size_t at = begin; at < end; ++at) elements *= all[at].size;
    return elements;
  };
  const std::size_t size = all.size();
  std::size_t first = 0, middle = 0;
  if (size == 4 && all[1].name == "H" && all[3].name == "T") {
    first = 2;
    middle = 3;
  } else if (std::none_of(all.begin(), all.end(), counts)) {
    view.turned = piece != Piece::kEmbedding;
    middle = size > 1 && all.front().name == "C"  ? 1
             : size > 1 && all.back().name == "C" ? size - 1
                                                  : size;
  } else {
    while (middle < size && counts(all[middle])) ++middle;
    if (middle == 0 || std::any_of(all.begin() + std::ptrdiff_t(middle), all.end(), counts))
      return {0, 0, 0};
  }
  view.outer = product(0, first);
  view.rows = product(first, middle);
  view.columns = product(middle, size);
  return view;
}

}  // namespace

TensorCells cells_of(const ProbedTensor& tensor, Piece piece) {
  TensorCells cells;
  const MatrixView view = matrix_view(tensor.what.dimensions, piece);
  const std::int64_t rows = view.turned ? view.columns : view.rows;
  const std::int64_t columns = view.turned ? view.rows : view.columns;
  if (view.outer * rows * columns == 0) return cells;
  cells.rows = static_cast<int>(std::min<std::int64_t>(rows, kMostCells));
  cells.columns = static_cast<int>(std::min<std::int64_t>(columns, kMostCells));
  const auto size = static_cast<std::size_t>(cells.rows) * static_cast<std::size_t>(cells.columns);
  cells.means.assign(size, 0);
  std::vector<double> counts(size, 0);
  std::size_t element = 0;
  for (std::int64_t of = 0; of < view.outer; ++of)
    for (std::int64_t i = 0; i < view.rows; ++i)
      for (std::int64_t j = 0; j < view.columns; ++j) {
        const std::int64_t row = view.turned ? j : i, column = view.turned ? i : j;
        const std::int64_t cell =
            row * cells.rows / rows * cells.columns + column * cells.columns / columns;
        cells.means[static_cast<std::size_t>(cell)] += tensor.value(element++);
        ++counts[static_cast<std::size_t>(cell)];
      }
  for (std::size_t cell = 0; cell < size; ++cell) cells.means[cell] /= counts[cell];
  return cells;
}

namespace {

nlohmann::json to_json(const std::vector<ChunkRange>& ranges) {
  nlohmann::json json = nlohmann::json::array();
  for (const ChunkRange& range : ranges) json.push_back({range.begin, range.end});
  return json;
}

nlohmann::json to_json(const ProbedTensor& tensor, const std::string& file) {
  nlohmann::json shape = nlohmann::json::array(), names = shape, whole = shape, cut = shape,
                 over = shape, stored = shape;
  const OpTensor& what = tensor.what;
  for (std::size_t d = 0; d < what.dimensions.size(); ++d) {
    const TensorDimension& dimension = what.dimensions[d];
    names.push_back(dimension.name);
    shape.push_back(dimension.size);
    whole.push_back(dimension.whole);
    for (const TensorCut& of : dimension.cuts)
      cut.push_back({{"dimension", d}, {"axis", name_of(of.axis)}, {"ranges", to_json(of.ranges)}});
    if (!file.empty()) stored.push_back({0, dimension.size});
  }
  std::string partial;
  for (const Axis axis : what.partial)
    partial += (partial.empty() ? "" : "+") + std::string(name_of(axis));
  for (const Axis axis : what.replicated) over.push_back(name_of(axis));
  const TensorFigures figures = figures_of(tensor);
  return {{"name", what.name},
          {"role", what.written ? "out" : "in"},
          {"dimensions", std::move(names)},
          {"shape", std::move(shape)},
          {"whole_shape", std::move(whole)},
          {"cut", std::move(cut)},
          {"partial", partial.empty() ? nlohmann::json(nullptr) : nlohmann::json(partial)},
          {"replicated_over", std::move(over)},
          {"dtype", name_of(what.type)},
          {"norm", figures.norm},
          {"mean", figures.mean},
          {"min", figures.min},
          {"max", figures.max},
          {"file", file.empty() ? nlohmann::json(nullptr) : nlohmann::json(file)},
          {"stored_ranges", std::move(stored)}};
}

}  // namespace

nlohmann::json to_json(const ProbedRank& probed, const std::string& file) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const ProbedTensor& tensor : probed.tensors) tensors.push_back(to_json(tensor, file));
  const Probe& probe = probed.probe;
  nlohmann::json json = {
      {"rank", probed.rank},
      {"replica", probed.replica},
      {"layer", probe.layer < 0 ? nlohmann::json(nullptr) : nlohmann::json(probe.layer)},
      {"piece", key_of(name_of(probe.piece))},
      {"microbatch", probe.microbatch},
      {"phase", key_of(name_of(probe.phase))},
      {"step", probe.step},
      {"tensors", std::move(tensors)}};
  if (probed.has_rows()) {
    json["row_tokens"] = probed.row_tokens;
    json["row_choices"] = probed.row_choices;
  }
  return json;
}

}  // namespace parallelarium
