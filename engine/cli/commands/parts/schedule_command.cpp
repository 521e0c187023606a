// SPDX-License-Identifier: Apache-2.0
// `schedule NAME`: a pipeline order and its times for given durations, without any machine; of a
// file of orders also whether it is legal; and how far it is from the shortest step.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/command.h"
#include "engine/cli/text/order_picture.h"
#include "engine/cli/text/table.h"
#include "engine/plan/order/order.h"
#include "engine/plan/order/order_faults.h"
#include "engine/plan/text/units.h"
#include "engine/schedules/floor.h"
#include "engine/schedules/order_search.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"

namespace parallelarium {
namespace {

constexpr int kMostTimedStages = 4096;
constexpr int kMostChunks = 1000;
constexpr std::int64_t kMostActions = 5'000'000;
constexpr int kMostCells = 60;
constexpr double kLongest = 1e9;

struct ScheduleOptions {
  std::string name;
  int stages = 0, microbatches = 0, chunks = 0;
  double forward = 1, backward_input = 1, backward_weight = 1, transfer = 0;
  double backward = 0, overlapped = 0;
  std::string notation = "paper", out;
  std::vector<double> held_limit;
  bool json = false;
  const CLI::Option *chunks_given = nullptr, *backward_given = nullptr;
  const CLI::Option *input_given = nullptr, *weight_given = nullptr;
};

// A file wins over nothing: a name of the list is always the schedule.
const ScheduleInfo* listed(const std::string& name) {
  for (const ScheduleInfo& info : schedules())
    if (info.name == name) return &info;
  return nullptr;
}

Message expected(const char* option, const char* what) {
  return message("schedule-option", "{} must be {}.", option, what);
}

std::optional<Message> wrong_durations(const ScheduleOptions& options) {
  const auto bad = [](double value) { return !(value >= 0 && value <= kLongest); };
  if (bad(options.forward) || options.forward == 0)
    return expected("--forward", "above 0 and at most a thousand million");
  for (const auto& [option, value] : {std::pair{"--backward-input", options.backward_input},
                                      {"--backward-weight", options.backward_weight},
                                      {"--backward", options.backward},
                                      {"--transfer", options.transfer},
                                      {"--overlapped", options.overlapped}})
    if (bad(value)) return expected(option, "at least 0 and at most a thousand million");
  if (options.notation != "paper" && options.notation != "pytorch")
    return expected("--notation", "paper or pytorch");
  return std::nullopt;
}

Result<Order> order_by_name(const ScheduleOptions& options, const ScheduleInfo& info) {
  if (options.stages < 1 || options.stages > kMostTimedStages)
    return expected("--stages", "the number of ranks, from 1 to 4096");
  const int chunks = options.chunks > 0 ? options.chunks : info.chunks > 0 ? info.chunks : 2;
  if (chunks > kMostChunks) return expected("--chunks", "at most 1000");
  if (options.microbatches < 1 ||
      std::int64_t{options.microbatches} * options.stages * chunks > kMostActions)
    return expected("--microbatches",
                    "at least 1 (and stages times chunks times micro-batches at most 5 million)");
  return make_order(info.name, options.stages, options.microbatches, chunks);
}

// The file's order, whether it is legal or not.
Result<Order> order_from_file(const ScheduleOptions& options) {
  const Result<std::string> text = read_file(options.name, std::size_t{16} << 20);
  if (!text) return text.error();
  Result<Order> order = order_from_either(*text);
  if (!order) return about_file(options.name, order.error());
  order->name = std::filesystem::path(options.name).stem().string();
  if (options.stages > 0 && options.stages != static_cast<int>(order->ranks.size()))
    return message("order-stages.option", "{} holds {} ranks, not the {} of --stages.",
                   options.name, order->ranks.size(), options.stages);
  if (options.microbatches > 0 && options.microbatches != order->microbatches)
    return message("order-microbatches.option",
                   "{} holds {} micro-batches, not the {} of --microbatches.", options.name,
                   order->microbatches, options.microbatches);
  if (options.chunks > 0 && options.chunks != order->chunks)
    return message("order-chunks.option", "Chunks per rank: {} holds {}, but --chunks is {}.",
                   options.name, order->chunks, options.chunks);
  return order;
}

// Times in the units of the request, as it would write them.
std::string in_their_units(double time) { return fmt::format("{:.6g}", time); }

// What is told of an order beside its times.
struct Verdict {
  std::vector<OrderFault> faults;
  std::optional<bool> within_limit;  // none as below
  std::optional<Floor> floor;        // none where work is missing or stands twice
  std::string recognised;            // a schedule of the list, or empty
  bool legal() const { return faults.empty(); }
};

Verdict judge(const Order& order, const Durations& durations, const HeldLimits& limits) {
  Verdict verdict;
  verdict.faults = faults_of(order);
  const bool whole =
      std::all_of(verdict.faults.begin(), verdict.faults.end(), [](const OrderFault& fault) {
        const std::string& id = fault.sentence.id;
        return id == "order-before" || id == "order-pair-needs" || id == "order-circle";
      });
  if (!whole) return verdict;
  verdict.within_limit = within_limits(order, limits);
  verdict.floor = floor_of(
      order, std::vector<Durations>(static_cast<std::size_t>(order.stages), durations), limits);
  if (verdict.legal()) verdict.recognised = recognised(order);
  return verdict;
}

nlohmann::json word_or_null(const std::string& word) {
  return word.empty() ? nlohmann::json(nullptr) : nlohmann::json(word);
}

nlohmann::json finite(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

void add_verdict(const Verdict& verdict, nlohmann::json& json) {
  json["legal"] = verdict.legal();
  json["broken"] = nlohmann::json::array();
  for (const OrderFault& fault : verdict.faults)
    json["broken"].push_back({{"rank", fault.rank},
                              {"op", word_or_null(fault.op)},
                              {"needs", word_or_null(fault.needs)},
                              {"sentence", fault.sentence.text}});
  json["within_limit"] =
      verdict.within_limit ? nlohmann::json(*verdict.within_limit) : nlohmann::json(nullptr);
  if (verdict.floor)
    json["floor"] = {{"at_least", finite(verdict.floor->at_least)},
                     {"best_known", finite(verdict.floor->best_known)},
                     {"exact", verdict.floor->exact},
                     {"proved_by", verdict.floor->proved_by}};
  else
    json["floor"] = nullptr;
  json["recognised"] = word_or_null(verdict.recognised);
  if (verdict.legal()) return;
  // An order that cannot be run has no times.
  json["makespan"] = nullptr;
  for (nlohmann::json& share : json["bubble"]) share = nullptr;
}

std::string floor_text(const Floor& floor) {
  if (!std::isfinite(floor.at_least)) return "No order keeps these limits.\n";
  const std::string bound = std::string_view(floor.proved_by) == "work"
                                ? "one rank's work with what must come before and after"
                            : std::string_view(floor.proved_by) == "path"
                                ? "the way of one micro-batch behind the others"
                            : std::string_view(floor.proved_by) == "memory"
                                ? "micro-batches that must take turns in memory"
                                : "trying all orders";
  std::string text = fmt::format("Floor {}", in_their_units(floor.at_least));
  text += floor.exact ? ", which an order reaches"
          : std::isfinite(floor.best_known)
              ? fmt::format("; the best order known takes {}", in_their_units(floor.best_known))
              : "; no order is known that keeps the limits";
  return text + " (shown by " + bound + ").\n";
}

std::string illegal_text(const Order& order, const Verdict& verdict) {
  std::string text = fmt::format("{} is not a legal order:\n", order.name);
  for (const OrderFault& fault : verdict.faults)
    text += wrapped("- " + fault.sentence.text, 100, 2) + "\n";
  if (verdict.floor) text += floor_text(*verdict.floor);
  return text;
}

std::string schedule_text(const Order& order, const TimedOrder& timed, const Durations& durations,
                          const Verdict& verdict, const ScheduleOptions& options,
                          const ScheduleInfo* info) {
  std::string text = fmt::format("{}: {} rank{}, {} micro-batch{}", info ? info->title : order.name,
                                 order.ranks.size(), order.ranks.size() == 1 ? "" : "s",
                                 order.microbatches, order.microbatches == 1 ? "" : "es");
  if (order.chunks > 1) text += fmt::format(", {} chunks on each", order.chunks);
  text += info ? ".\n" + wrapped(info->summary.text, 100, 0) + "\n"
               : ".\nThe order is right: every micro-batch goes forward and back once on every "
                 "stage, and no rank waits in a circle.\n";
  text += fmt::format("Durations: forward {}, ", in_their_units(durations.forward));
  text += splits_backward(order) ? fmt::format("input gradient {}, weight gradient {}",
                                               in_their_units(durations.input_grad),
                                               in_their_units(durations.weight_grad))
                                 : fmt::format("backward {}", in_their_units(durations.backward));
  text += fmt::format(", transfer {}.\n\n", in_their_units(durations.transfer));

  const auto picture = picture_of(timed, order.chunks, kMostCells);
  if (options.notation == "pytorch") {
    text += to_pytorch(order);
    if (!text.empty() && text.back() != '\n') text += "\n";
  } else if (picture) {
    text += picture->text + fmt::format("\nA cell is {} of time; \"..\" is idle, \"--\" goes on.\n",
                                        in_their_units(picture->cell));
  } else {
    const std::vector<std::string> lines = to_lines(order);
    for (std::size_t rank = 0; rank < lines.size(); ++rank)
      text += fmt::format("  rank {}  {}\n", rank, lines[rank]);
    text += "\nThe order alone: drawn to time it would be too wide.\n";
  }
  text += fmt::format("\nMakespan {}\nBubble\n", in_their_units(timed.makespan));
  Table bubbles({"", ">", ""});
  bubbles.add({"of whole step", percent_text(timed.bubble_of_total), "idle / (ranks · makespan)"});
  bubbles.add({"over ideal time", percent_text(timed.bubble_over_ideal), "idle / busy"});
  bubbles.add({"of longest rank", percent_text(timed.bubble_of_longest_rank),
               "(c − busy) / c, c from a rank's first start to its last end"});
  text += bubbles.text() + "Micro-batches held at most, by rank:";
  for (const double peak : timed.peak_in_flight) text += fmt::format(" {:g}", peak);
  if (!options.held_limit.empty())
    text += *verdict.within_limit ? ", within the limit" : ", above the limit";
  text += "\n" + floor_text(*verdict.floor);
  if (!info && !verdict.recognised.empty())
    text += fmt::format("This is {}.\n", listed(verdict.recognised)->title);
  else if (const int more = info ? 0 : more_warm_ups(order); more > 0)
    text +=
        fmt::format("This is 1F1B with {} more warm-up forward{}.\n", more, more == 1 ? "" : "s");
  else if (!info && is_gpipe_in_turn(order))
    text += "This is GPipe with the backwards in the order of the forwards.\n";
  return text;
}

// One limit for each rank, or one for all.
Result<HeldLimits> held_limits(const ScheduleOptions& options, std::size_t ranks) {
  HeldLimits limits = options.held_limit;
  if (limits.size() == 1) limits.resize(ranks, limits.front());
  const bool positive =
      std::all_of(limits.begin(), limits.end(), [](double limit) { return limit > 0; });
  if (!positive || (!limits.empty() && limits.size() != ranks))
    return message(
        "schedule-held-limit",
        "--held-limit takes one number above 0 for each of the {} ranks, or one for all.", ranks);
  return limits;
}

Outcome schedule(const ScheduleOptions& options) {
  if (const auto wrong = wrong_durations(options)) return Outcome::invalid(*wrong);
  const ScheduleInfo* info = listed(options.name);
  std::error_code ignored;
  if (!info && !std::filesystem::exists(options.name, ignored)) {
    std::string names;
    for (const ScheduleInfo& each : schedules()) names += (names.empty() ? "" : ", ") + each.name;
    return Outcome::invalid(message("schedule-unknown.option",
                                    "\"{}\" is neither a schedule ({}) nor a "
                                    "file of orders.",
                                    options.name, names));
  }
  const Result<Order> order = info ? order_by_name(options, *info) : order_from_file(options);
  if (!order) return Outcome::invalid(order.error());
  const bool whole = options.backward_given->count() > 0;
  if (whole && (options.input_given->count() > 0 || options.weight_given->count() > 0))
    return Outcome::invalid(message(
        "schedule-backward", "Give either --backward, or --backward-input and --backward-weight."));
  if (whole && options.backward == 0) return Outcome::invalid(expected("--backward", "above 0"));
  if (options.chunks_given->count() > 0 && options.chunks < 1)
    return Outcome::invalid(expected("--chunks", "at least 1"));
  if (whole && splits_backward(*order))
    return Outcome::invalid(message("schedule-splits",
                                    "{} splits the backward; give --backward-input "
                                    "and --backward-weight instead of --backward.",
                                    order->name));
  const auto has_pair = [](const auto& rank) {
    return std::any_of(rank.begin(), rank.end(),
                       [](const Action& action) { return action.overlapped_with_next; });
  };
  if (options.overlapped > 0 && std::none_of(order->ranks.begin(), order->ranks.end(), has_pair))
    return Outcome::invalid(
        message("schedule-no-pair", "{} overlaps no pair; leave out --overlapped.", order->name));
  Durations durations;
  durations.forward = options.forward;
  durations.input_grad = options.backward_input;
  durations.weight_grad = options.backward_weight;
  durations.backward = whole ? options.backward : options.backward_input + options.backward_weight;
  durations.transfer = options.transfer;
  durations.overlapped = options.overlapped;
  const Result<HeldLimits> limits = held_limits(options, order->ranks.size());
  if (!limits) return Outcome::invalid(limits.error());
  Verdict verdict = judge(*order, durations, *limits);
  if (info) verdict.recognised = info->name;
  const TimedOrder timed = verdict.legal() ? time_order(*order, durations) : TimedOrder();
  if (!options.out.empty()) {
    const std::string order_text =
        options.notation == "pytorch" ? to_pytorch(*order) : to_text(*order);
    if (const Result<void> written = write_file(options.out, order_text); !written)
      return Outcome::failed(written.error());
  }
  if (!options.json)
    return Outcome::done(verdict.legal()
                             ? schedule_text(*order, timed, durations, verdict, options, info)
                             : illegal_text(*order, verdict));
  nlohmann::json json = to_json(*order, timed, options.notation == "pytorch");
  add_verdict(verdict, json);
  return Outcome::done(json_text(json));
}

}  // namespace

void add_schedule(Commands& commands) {
  std::string names;
  for (const ScheduleInfo& info : schedules()) names += (names.empty() ? "" : ", ") + info.name;
  CLI::App* command = commands.add(
      "schedule", "draw and time a pipeline order, or judge a file of orders",
      "  parallelarium-engine schedule 1f1b --stages 4 --microbatches 6 --backward 1\n"
      "  parallelarium-engine schedule gpipe --stages 4 --microbatches 8 --transfer 0.1 --json\n"
      "  parallelarium-engine schedule zb-h1 --stages 4 --microbatches 8\n"
      "  parallelarium-engine schedule interleaved --stages 4 --microbatches 8 --chunks 2\n"
      "  parallelarium-engine schedule dualpipe --stages 8 --microbatches 20 --notation pytorch "
      "--out o.csv\n"
      "  parallelarium-engine schedule my_order.txt          (lines such as F0 F1 B0 B1)\n"
      "  parallelarium-engine schedule my_order.csv --held-limit 4,3,2,1 --json\n");
  auto options = std::make_shared<ScheduleOptions>();
  command->add_option("name", options->name, names + ", or a file of orders")
      ->option_text("NAME")
      ->required();
  const auto add = [command](const char* name, auto& into, const char* help, const char* unit) {
    return command->add_option(name, into, help)->option_text(unit);
  };
  add("--stages", options->stages, "ranks of the pipeline", "P");
  add("--microbatches", options->microbatches, "micro-batches of a step", "M");
  options->chunks_given =
      add("--chunks", options->chunks, "model chunks on each rank (interleaved; default: 2)", "V");
  add("--forward", options->forward, "time of a forward (default: 1)", "T");
  options->input_given = add("--backward-input", options->backward_input,
                             "time of an input gradient (default: 1)", "T");
  options->weight_given = add("--backward-weight", options->backward_weight,
                              "time of a weight gradient (default: 1)", "T");
  options->backward_given =
      add("--backward", options->backward, "time of a whole backward, where it is not split", "T");
  add("--transfer", options->transfer, "delay of a message between ranks (default: 0)", "T");
  add("--overlapped", options->overlapped, "time of an overlapped pair (default: their sum)", "T");
  command
      ->add_option("--held-limit", options->held_limit,
                   "micro-batches that each rank may hold at most, or one number for all")
      ->option_text("N,...")
      ->delimiter(',');
  add("--notation", options->notation, "paper (F0 B0) or pytorch (0F0,0B0)", "N");
  add("--out", options->out, "a file for the order alone, in this notation", "FILE");
  command->add_flag("--json", options->json, "print JSON");
  commands.set_body(command, [options](Progress&) { return schedule(*options); });
}

}  // namespace parallelarium
