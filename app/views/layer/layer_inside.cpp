// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/layer_inside.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/look/sentence.h"
#include "app/views/shared/paint/paint_tools.h"
#include "engine/plan/layer/layer_ends.h"
#include "engine/plan/tensors/op_tensors.h"
#include "engine/plan/text/message_json.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

std::string probe_text(int microbatch, const LayerPiece& of) {
  return (of.layer >= 0 ? "layer=" + std::to_string(of.layer) + "," : "") +
         "piece=" + key_of(name_of(of.piece)) + ",microbatch=" + std::to_string(microbatch) +
         ",phase=" + key_of(name_of(of.phase));
}

// -1: it stands outside of the layers, as probes count.
int layer_of(const LayerChoice& choice) {
  return choice.place == LayerPlace::kLayer ? choice.layer : -1;
}

// All pieces of the choice, and those elsewhere that its collectives take from or give to.
std::vector<std::string> probes_of(const Prediction& of, const LayerSteps& layer) {
  std::vector<std::string> probes;
  const auto add = [&](const LayerPiece& piece) {
    const std::string text = probe_text(layer.choice.microbatch, piece);
    if (std::find(probes.begin(), probes.end(), text) == probes.end()) probes.push_back(text);
  };
  for (const LayerStep& step : layer.steps)
    if (step.probed) add({layer_of(layer.choice), step.piece, step.phase});
  for (const LayerPiece& piece : pieces_beside(of.setup, of.program, layer)) add(piece);
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
    tensor.norm = of.at("norm");
    tensor.mean = of.at("mean");
    tensor.min = of.at("min");
    tensor.max = of.at("max");
    const auto cells = of.find("cells");
    if (cells == of.end()) continue;
    tensor.rows = cells->at("rows");
    tensor.columns = cells->at("columns");
    tensor.means = cells->at("means").get<std::vector<double>>();
  }
  return tensors;
}

// The engine of this version wrote it, so that all keys are there.
LayerInside inside_of(const nlohmann::json& answer, const LayerChoice& choice) {
  LayerInside inside;
  for (const nlohmann::json& probe : answer.value("probes", nlohmann::json::array())) {
    const nlohmann::json& layer = probe.at("layer");
    // Another layer has a piece of that name too.
    if ((layer.is_null() ? -1 : layer.get<int>()) != layer_of(choice)) continue;
    for (InsideTensor& tensor : tensors_of_probe(probe))
      inside.tensors.push_back(std::move(tensor));
  }
  for (const nlohmann::json& of : answer.value("identities", nlohmann::json::array())) {
    // A piece of the forward may stand beside a collective of the forward, too.
    if (of.at("direction") != (choice.backward ? "backward" : "forward")) continue;
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
        of.piece == piece && of.phase == phase)
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

bool can_look_inside(const Session& session) { return session.setup().machine == "local"; }

void look_inside(Session& session, const LayerSteps& layer,
                 std::function<void(std::shared_ptr<const LayerInside>)> keep) {
  Setup setup = session.resolved();
  setup.run.steps = 1;
  setup.run.warmup = 0;
  // A rehearsal would take its time for the same numbers.
  if (setup.run.backend != Backend::kCuda) setup.run.backend = Backend::kCpu;
  EngineRequest request;
  request.method = "run";
  request.parameters = {{"setup", to_json(setup)},
                        {"verify", true},
                        {"probe", probes_of(*session.subject().prediction(), layer)}};
  request.read =
      [of = session.subject().prediction()->setup, choice = layer.choice,
       keep = std::move(keep)](const nlohmann::json& answer) -> Result<EngineRequest::Keep> {
    auto inside = std::make_shared<LayerInside>(inside_of(answer, choice));
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
