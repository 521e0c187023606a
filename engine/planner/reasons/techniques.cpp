// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/techniques.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

struct TechniqueKind {
  const char* id;
  Message (*title)();
  Message (*cut)();
  void (*use)(Setup& alone, int ranks);
};

void over_replicas(Setup& alone, int ranks) {
  alone.mesh.dp = ranks;
  alone.microbatches /= ranks;
}

// SP of Megatron belongs to TP. What some courses call sequence parallelism is CP here.
constexpr TechniqueKind kTechniques[] = {
    {"dp", [] { return figure("DP"); },
     [] {
       return message(
           "technique-dp",
           "Cuts the batch. Every device holds the whole model; gradients are added up.");
     },
     over_replicas},
    {"zero", [] { return figure("ZeRO 3 (FSDP)"); },
     [] {
       return message("technique-zero",
                      "Cuts the batch, and parameters, gradients and optimizer states. Parameters "
                      "are gathered layer by layer.");
     },
     [](Setup& alone, int ranks) {
       over_replicas(alone, ranks);
       alone.zero = 3;
     }},
    {"tp", [] { return figure("TP"); },
     [] {
       return message("technique-tp",
                      "Cuts the matrices of every layer. Activations are added up in every layer.");
     },
     [](Setup& alone, int ranks) { alone.mesh.tp = ranks; }},
    {"sp", [] { return message("technique-with-sp", "TP with SP"); },
     [] {
       return message("technique-sp",
                      "As TP, and cuts what lies between the products along the sequence.");
     },
     [](Setup& alone, int ranks) {
       alone.mesh.tp = ranks;
       alone.sequence_parallel = true;
     }},
    {"cp", [] { return figure("CP"); },
     [] {
       return message("technique-cp",
                      "Cuts the sequence. Every device holds the whole model; keys and values "
                      "travel, and gradients are added up.");
     },
     [](Setup& alone, int ranks) { alone.mesh.cp = ranks; }},
    {"pp", [] { return figure("PP"); },
     [] {
       return message("technique-pp",
                      "Cuts the stack of layers. Activations travel from stage to stage.");
     },
     [](Setup& alone, int ranks) { alone.mesh.pp = ranks; }},
    {"ep", [] { return message("technique-with-dp", "EP (with DP)"); },
     [] {
       return message("technique-ep",
                      "Cuts the batch, and deals out the experts. Tokens travel to their experts "
                      "and back.");
     },
     [](Setup& alone, int ranks) {
       over_replicas(alone, ranks);
       alone.mesh.ep = ranks;
     }},
};

// All of it on one device, all else as it was asked for.
Setup on_one_device(const Setup& asked) {
  Setup one = asked;
  one.mesh = Mesh();
  one.mesh.order = asked.mesh.order;
  one.microbatches = asked.mesh.dp * asked.microbatches;
  one.nodes = 0;
  one.zero = one.zero_group = 0;
  one.sequence_parallel = one.ring_tensor = false;
  one.stage_layers.clear();
  one.schedule = "1f1b";
  one.chunks = 1;
  one.microbatch_group = 0;
  return one;
}

// The same figures as with every piece of every rank, in less time.
Result<Prediction> folded(const Setup& setup, const Machine& machine) {
  BuildOptions options;
  options.stage_level = true;
  return predict(resolve(setup, machine), machine, options);
}

// Looks at one rank of each stage. The others send as much, unless tokens are skewed or a
// collective goes by a tree.
std::int64_t most_sent(const Prediction& prediction) {
  std::int64_t most = 0;
  for (int rank = 0; rank < prediction.setup.mesh.pp; ++rank) {
    std::int64_t sent = 0;
    for (const TrafficRow& row : expected_traffic(prediction, rank)) sent += row.sent_bytes;
    most = std::max(most, sent);
  }
  return most;
}

TechniqueFigures figures_of(const Prediction& prediction, double one_seconds) {
  const int ranks = prediction.setup.mesh.ranks();
  TechniqueFigures figures;
  figures.memory_bytes = prediction.needed_bytes;
  figures.fits = prediction.fits();
  figures.sent_bytes = most_sent(prediction);
  figures.seconds = prediction.step.seconds;
  figures.exposed_seconds = prediction.step.exposed_communication_seconds;
  figures.bubble = prediction.bubble.of_total;
  figures.efficiency = one_seconds / (ranks * figures.seconds);
  return figures;
}

Technique row_of(const TechniqueKind& kind, const Setup& one, int ranks, double one_seconds,
                 const Machine& machine) {
  Technique row;
  row.id = kind.id;
  row.title = kind.title();
  row.cut = kind.cut();
  row.setup = one;
  kind.use(row.setup, ranks);
  if (row.setup.global_batch() != one.global_batch()) {
    row.refused = message("technique-batch",
                          "{} sequences in micro-batches of {} do not part evenly among {}.",
                          one.global_batch(), one.micro_batch, ranks);
    return row;
  }
  const Result<Prediction> prediction = folded(row.setup, machine);
  if (prediction)
    row.figures = figures_of(*prediction, one_seconds);
  else
    row.refused = prediction.error();
  return row;
}

}  // namespace

Result<Techniques> techniques_of(const Setup& asked, const Machine& machine, int ranks) {
  Techniques techniques;
  techniques.ranks = ranks;
  techniques.global_batch = asked.global_batch();
  if (techniques.ranks < 2)
    return message("technique-ranks", "One rank shares nothing: say how many share the step.");
  const Setup one = on_one_device(asked);
  const Result<Prediction> alone = folded(one, machine);
  if (!alone) return alone.error();
  techniques.one_seconds = alone->step.seconds;
  for (const TechniqueKind& kind : kTechniques)
    techniques.rows.push_back(row_of(kind, one, techniques.ranks, techniques.one_seconds, machine));
  return techniques;
}

nlohmann::json to_json(const Techniques& techniques) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Technique& row : techniques.rows) {
    nlohmann::json json = {{"id", row.id},
                           {"title", row.title.text},
                           {"cut", row.cut.text},
                           {"setup", to_json(row.setup)},
                           {"refused", nullptr}};
    if (row.refused) json["refused"] = row.refused->text;
    if (row.figures) {
      json["memory_bytes"] = row.figures->memory_bytes;
      json["fits"] = row.figures->fits;
      json["sent_bytes"] = row.figures->sent_bytes;
      json["seconds"] = row.figures->seconds;
      json["exposed_seconds"] = row.figures->exposed_seconds;
      json["bubble"] = row.figures->bubble;
      json["efficiency"] = row.figures->efficiency;
    }
    rows.push_back(std::move(json));
  }
  return {{"ranks", techniques.ranks},
          {"global_batch", techniques.global_batch},
          {"one_seconds", techniques.one_seconds},
          {"techniques", std::move(rows)}};
}

}  // namespace parallelarium
