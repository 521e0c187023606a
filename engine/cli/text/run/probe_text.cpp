// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/probe_text.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"
#include "engine/wire/export/npz.h"

namespace parallelarium {

namespace {

const char* npy_type(DataType type) {
  switch (type) {
    case DataType::kF64:
      return "<f8";
    case DataType::kI32:
      return "<i4";
    case DataType::kU8:
      return "|u1";
    default:
      return "<f4";
  }
}

// "layer-0.mlp-in.microbatch-0.forward.rank-1.npz"
std::string file_name(const ProbedRank& probed) {
  const Probe& probe = probed.probe;
  std::string name = probe.layer < 0 ? "" : fmt::format("layer-{}.", probe.layer);
  name += fmt::format("{}.microbatch-{}.{}.", key_of(name_of(probe.piece)), probe.microbatch,
                      key_of(name_of(probe.phase)));
  if (probe.step != 1) name += fmt::format("step-{}.", probe.step);
  return name + fmt::format("rank-{}.npz", probed.rank);
}

Result<std::string> content_of(const ProbedRank& probed) {
  std::vector<NpyArray> arrays;
  for (const ProbedTensor& tensor : probed.tensors) {
    NpyArray& array = arrays.emplace_back();
    array.name = tensor.what.name;
    array.descr = npy_type(tensor.type);
    for (const TensorDimension& dimension : tensor.what.dimensions)
      array.shape.push_back(dimension.size);
    array.bytes = tensor.bytes;
  }
  if (probed.has_rows())
    for (const auto& [name, numbers] : {std::pair{"row_tokens", &probed.row_tokens},
                                        std::pair{"row_choices", &probed.row_choices}}) {
      const auto bytes = std::as_bytes(std::span(*numbers));
      arrays.push_back(
          {name, npy_type(DataType::kI32), {static_cast<std::int64_t>(numbers->size())}, bytes});
    }
  return to_npz(arrays);
}

// "B 1 · T 8 of 16 (cp) · C 64"
std::string shape_text(const OpTensor& tensor) {
  std::string text;
  for (const TensorDimension& dimension : tensor.dimensions) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", dimension.name, dimension.size);
    if (dimension.cuts.empty()) continue;
    std::string axes;
    for (const TensorCut& cut : dimension.cuts)
      axes += (axes.empty() ? "" : ", ") + std::string(name_of(cut.axis));
    text += fmt::format(" of {} ({})", dimension.whole, axes);
  }
  return text;
}

// What other ranks have of it.
std::string others_text(const OpTensor& tensor) {
  const auto joined = [](const std::vector<Axis>& axes) {
    std::string text;
    for (const Axis axis : axes) text += (text.empty() ? "" : ", ") + std::string(name_of(axis));
    return text;
  };
  std::string text;
  if (!tensor.partial.empty()) text = "partial sum over " + joined(tensor.partial);
  if (!tensor.replicated.empty())
    text += (text.empty() ? "copy over " : ", copy over ") + joined(tensor.replicated);
  return text;
}

}  // namespace

Result<std::vector<Probe>> parse_probes(const std::vector<std::string>& texts) {
  std::vector<Probe> probes;
  for (const std::string& text : texts) {
    const Result<Probe> probe = parse_probe(text);
    if (!probe) return probe.error();
    if (std::find(probes.begin(), probes.end(), *probe) == probes.end()) probes.push_back(*probe);
  }
  return probes;
}

namespace {

Result<void> make_folder(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    return message("probe-folder", "The folder {} cannot be made: {}.", folder, failed.message());
  return {};
}

}  // namespace

Result<void> can_write_probes(const std::string& folder) {
  if (folder.empty()) return {};
  if (Result<void> made = make_folder(folder); !made) return made;
  return can_write((std::filesystem::path(folder) / "probe.npz").string());
}

Result<std::vector<std::string>> write_probes(const std::string& folder,
                                              const std::vector<ProbedRank>& probes) {
  std::vector<std::string> files(probes.size());
  if (folder.empty()) return files;
  if (Result<void> made = make_folder(folder); !made) return made.error();
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const std::string path = (std::filesystem::path(folder) / file_name(probes[i])).string();
    const Result<std::string> content = content_of(probes[i]);
    if (!content) return content.error();
    if (const Result<void> written = write_file(path, *content); !written) return written.error();
    files[i] = path;
  }
  return files;
}

std::string probes_text(const RunResult& result, const std::vector<ProbedIdentity>& identities,
                        const std::vector<std::string>& files) {
  std::string text;
  std::vector<Probe> told;
  for (const ProbedRank& first : result.probes) {
    if (std::find(told.begin(), told.end(), first.probe) != told.end()) continue;
    told.push_back(first.probe);
    Table table({"rank", "", "tensor", "shape", ">norm", ">mean", ">min", ">max", ""});
    for (const ProbedRank& probed : result.probes) {
      if (!(probed.probe == first.probe)) continue;
      for (const ProbedTensor& tensor : probed.tensors) {
        const TensorFigures figures = figures_of(tensor);
        const auto digits = [](double value) { return fmt::format("{:.5g}", value); };
        table.add({fmt::format("{}", probed.rank), tensor.what.written ? "out" : "in",
                   tensor.what.name, shape_text(tensor.what), digits(figures.norm),
                   digits(figures.mean), digits(figures.min), digits(figures.max),
                   others_text(tensor.what)});
      }
    }
    text += "Probe " + text_of(first.probe) + "\n" + table.text() + "\n";
  }
  for (const ProbedIdentity& identity : identities) {
    text += sentence_of(identity).text + "\n";
    if (identity.one_rank_difference && identity.kind != IdentityKind::kOutputs)
      text += one_rank_sentence_of(identity).text + "\n";
  }
  text += fmt::format("Probes took {} of the host's memory.\n",
                      bytes_text(static_cast<double>(result.probe_bytes)));
  for (const std::string& file : files)
    if (!file.empty()) text += "  " + file + "\n";
  return text;
}

void add_probes(nlohmann::json& json, const RunResult& result,
                const std::vector<ProbedIdentity>& identities,
                const std::vector<std::string>& files) {
  json["probe_bytes"] = result.probe_bytes;
  json["probes"] = nlohmann::json::array();
  for (std::size_t i = 0; i < result.probes.size(); ++i)
    json["probes"].push_back(to_json(result.probes[i], i < files.size() ? files[i] : ""));
  json["identities"] = nlohmann::json::array();
  for (const ProbedIdentity& identity : identities) json["identities"].push_back(to_json(identity));
}

void add_cells(nlohmann::json& json, const RunResult& result) {
  for (std::size_t i = 0; i < result.probes.size(); ++i)
    for (std::size_t t = 0; t < result.probes[i].tensors.size(); ++t) {
      const TensorCells cells = cells_of(result.probes[i].tensors[t], result.probes[i].probe.piece);
      if (cells.rows > 0)
        json["probes"][i]["tensors"][t]["cells"] = {
            {"rows", cells.rows}, {"columns", cells.columns}, {"means", cells.means}};
    }
}

}  // namespace parallelarium
