// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/layer_inside.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/look/sentence.h"
#include "app/views/shared/paint/paint_tools.h"
#include "engine/plan/tensors/op_tensors.h"
#include "engine/plan/text/message_json.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

std::string probe_text(const LayerChoice& choice, const LayerStep& step) {
  const bool layer = choice.place == LayerPlace::kLayer;
  return (layer ? "layer=" + std::to_string(choice.layer) + "," : "") +
         "piece=" + key_of(name_of(step.piece)) +
         ",microbatch=" + std::to_string(choice.microbatch) +
         ",phase=" + key_of(name_of(step.phase));
}

std::vector<std::string> probes_of(const LayerSteps& layer) {
  std::vector<std::string> probes;
  for (const LayerStep& step : layer.steps) {
    if (!step.probed) continue;
    const std::string text = probe_text(layer.choice, step);
    if (std::find(probes.begin(), probes.end(), text) == probes.end()) probes.push_back(text);
  }
  return probes;
}

std::vector<InsideTensor> tensors_of_probe(const nlohmann::json& probe) {
  std::vector<InsideTensor> tensors;
  for (const nlohmann::json& of : probe.at("tensors")) {
    InsideTensor& tensor = tensors.emplace_back();
    tensor.rank = probe.at("rank");
    tensor.piece = probe.at("piece");
    tensor.phase = probe.at("phase");
    tensor.name = of.at("name");
    tensor.written = of.at("role") == "out";
    const auto cells = of.find("cells");
    if (cells == of.end()) continue;
    tensor.rows = cells->at("rows");
    tensor.columns = cells->at("columns");
    tensor.means = cells->at("means").get<std::vector<double>>();
  }
  return tensors;
}

// The engine of this version wrote it, so that all keys are there.
LayerInside inside_of(const nlohmann::json& answer) {
  LayerInside inside;
  for (const nlohmann::json& probe : answer.value("probes", nlohmann::json::array()))
    for (InsideTensor& tensor : tensors_of_probe(probe))
      inside.tensors.push_back(std::move(tensor));
  for (const nlohmann::json& of : answer.value("identities", nlohmann::json::array())) {
    InsideIdentity& identity = inside.identities.emplace_back();
    identity.step = of.at("layer_step");
    identity.largest_difference = of.at("largest_difference");
    identity.sentence = sentence(message_from_json(of.at("sentence")));
    if (!of.contains("one_rank_difference")) continue;
    identity.one_rank_difference = of.at("one_rank_difference").get<double>();
    if (of.contains("one_rank_sentence"))
      identity.sentence +=
          QLatin1Char(' ') + sentence(message_from_json(of.at("one_rank_sentence")));
  }
  return inside;
}

}  // namespace

const InsideTensor* LayerInside::find(const LayerStep& step, const LayerTensor& tensor,
                                      int rank) const {
  const std::string piece = key_of(name_of(step.piece)), phase = key_of(name_of(step.phase));
  for (const InsideTensor& of : tensors)
    if (of.rank == rank && of.name == tensor.name && of.written == tensor.written &&
        of.piece == piece && of.phase == phase && of.rows > 0)
      return &of;
  return nullptr;
}

const InsideIdentity* LayerInside::identity_of(int step) const {
  for (const InsideIdentity& identity : identities)
    if (identity.step == step) return &identity;
  return nullptr;
}

double LayerInside::most_of(const InsideTensor& tensor) const {
  double most = 0;
  for (const InsideTensor& of : tensors)
    if (of.piece == tensor.piece && of.phase == tensor.phase && of.name == tensor.name)
      for (const double mean : of.means) most = std::max(most, std::fabs(mean));
  return most;
}

void look_inside(Session& session, const LayerSteps& layer,
                 std::function<void(std::shared_ptr<const LayerInside>)> keep) {
  Setup setup = session.resolved();
  setup.run.steps = 1;
  setup.run.warmup = 0;
  // A rehearsal would take its time for the same numbers.
  if (setup.run.backend != Backend::kCuda) setup.run.backend = Backend::kCpu;
  EngineRequest request;
  request.method = "run";
  request.parameters = {{"setup", to_json(setup)}, {"verify", true}, {"probe", probes_of(layer)}};
  request.read =
      [of = session.subject().prediction()->setup, choice = layer.choice,
       keep = std::move(keep)](const nlohmann::json& answer) -> Result<EngineRequest::Keep> {
    auto inside = std::make_shared<LayerInside>(inside_of(answer));
    inside->of = of;
    inside->choice = choice;
    return EngineRequest::Keep([inside, keep]() -> Result<void> {
      keep(inside);
      return {};
    });
  };
  session.jobs().run(request);
}

QImage image_of(const InsideTensor& tensor, double most, const Theme& theme) {
  QImage image(tensor.columns, tensor.rows, QImage::Format_RGB32);
  const QColor above = theme.accent_line, below = theme.solid(OpColor::kCommunication);
  for (int row = 0; row < tensor.rows; ++row)
    for (int column = 0; column < tensor.columns; ++column) {
      const double mean = tensor.means[std::size_t(row * tensor.columns + column)];
      const double share = most > 0 ? std::min(1.0, std::fabs(mean) / most) : 0;
      image.setPixelColor(column, row, mixed(theme.surface, mean < 0 ? below : above, share));
    }
  return image;
}

}  // namespace parallelarium
