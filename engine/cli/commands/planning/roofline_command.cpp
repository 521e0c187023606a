// SPDX-License-Identifier: Apache-2.0
// `roofline`: the ceilings of a machine, and the pieces of a layer under them.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"
#include "engine/predict/rates/roofline.h"

namespace parallelarium {
namespace {

struct RooflineOptions {
  SetupOptions setup;
  int layer = -1;
  bool json = false;
};

std::string roofline_text(const Roofline& roofline, const Situation& situation) {
  Table ceilings({"ceiling", ">rate", ">ridge", "origin"});
  for (const RooflineCeiling& ceiling : roofline.ceilings) {
    const bool arithmetic = ceiling.flops_per_second > 0;
    ceilings.add({ceiling.name.text,
                  arithmetic ? count_text(ceiling.flops_per_second, "FLOP/s")
                             : count_text(ceiling.bytes_per_second, "B/s"),
                  arithmetic ? three_digits(ceiling.ridge) + " FLOP/B" : "",
                  text_of(ceiling.origin)});
  }
  Table ladder({"level", ">bytes", ">latency", ">rate", "origin"});
  for (const LadderRow& row : roofline.ladder) {
    const Sourced &latency = row.latency_seconds, &rate = row.bytes_per_second;
    std::string origin = text_of(latency.value > 0 ? latency.origin : rate.origin);
    if (latency.value > 0 && rate.value > 0 && rate.origin != latency.origin)
      origin += "; rate " + text_of(rate.origin);
    ladder.add({row.name.text, row.bytes > 0 ? bytes_text(static_cast<double>(row.bytes)) : "",
                latency.value > 0 ? seconds_text(latency.value) : "",
                rate.value > 0 ? count_text(rate.value, "B/s") : "", origin});
  }
  Table points({"piece", "phase", ">FLOPs", ">bytes", ">FLOP/B", ">time", "bound by"});
  for (const RooflinePoint& point : roofline.points)
    points.add({std::string(name_of(point.piece)), std::string(name_of(point.phase)),
                count_text(point.flops), bytes_text(point.bytes), three_digits(point.intensity()),
                seconds_text(point.seconds), std::string(name_of(point.bound))});
  Table pieces({"piece", ">forward", ">backward", ">share"});
  for (const RooflinePiece& piece : roofline.pieces)
    pieces.add({std::string(name_of(piece.piece)), seconds_text(piece.forward_seconds),
                seconds_text(piece.backward_seconds), percent_text(piece.share)});
  return fmt::format(
      "{}\n{}\n\n{}\n{}\nLayer {} on rank {}, one micro-batch\n\n{}\n{}\n"
      "{} forward and {} in all, without communication: {} waits for memory; products alone would "
      "take {} of it at peak rates\n{} FLOP/B in the mean, ridge {} FLOP/B\n",
      describe(situation.asked), title_of(situation.machine).text, ceilings.text(), ladder.text(),
      roofline.layer, roofline.rank, points.text(), pieces.text(),
      seconds_text(roofline.forward_seconds), seconds_text(roofline.seconds),
      percent_text(roofline.memory_share), percent_text(roofline.of_peak),
      three_digits(roofline.intensity), three_digits(roofline.ridge));
}

}  // namespace

void add_roofline(Commands& commands) {
  CLI::App* command = commands.add(
      "roofline", "show a machine's ceilings, its memories and links, and the pieces of a layer",
      "  parallelarium-engine roofline --model llama3-8b --machine dgx-h100\n"
      "  parallelarium-engine roofline --setup mine.json --layer 3 --json\n");
  auto options = std::make_shared<RooflineOptions>();
  command
      ->add_option("--layer", options->layer,
                   "whose pieces (default: the first with experts, or the first)")
      ->option_text("L")
      ->check(check_from_zero);
  command->add_flag("--json", options->json, "print JSON");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress& progress) {
    std::string read_text;
    const Result<Situation> situation = options->setup.situation(&read_text);
    if (!situation) return Outcome::invalid(situation.error());
    const Result<Roofline> roofline =
        roofline_of(situation->setup, situation->machine, options->layer);
    if (!roofline) return Outcome::invalid(roofline.error());
    progress.note(options->setup.assumed_sentence(read_text));
    if (!options->json) return Outcome::done(roofline_text(*roofline, *situation));
    nlohmann::json json = to_json(*roofline);
    json["setup"] = to_json(situation->asked);
    json["resolved"] = to_json(situation->setup);
    return Outcome::done(json_text(json));
  });
}

}  // namespace parallelarium
