// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/server.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>
#include <vector>

#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/commands/commands.h"
#include "engine/cli/computer/gpu_check.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/outlook.h"
#include "engine/cli/planning.h"
#include "engine/cli/sweeping.h"
#include "engine/cli/text/probe_text.h"
#include "engine/cli/training.h"
#include "engine/plan/machine/resolve.h"
#include "engine/plan/model/routing.h"
#include "engine/predict/predict.h"
#include "engine/run/collective/collective_memory.h"
#include "engine/run/collective/collective_run.h"
#include "engine/run/gpu/module.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/messages.h"
#include "engine/wire/reading.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

constexpr auto kProgressPause = std::chrono::milliseconds(33);

Result<nlohmann::json> calibrate_job(const Watch& watch) {
  Result<Machine> machine = calibrate_and_store(Calibrated::kCores, watch);
  if (!machine) return machine.error();
  if (usable_gpus()) {
    if (const Result<void> checked = check_before_calibrating(watch); !checked)
      return checked.error();
    if (const Result<Machine> gpus = calibrate_and_store(Calibrated::kGpus, watch); !gpus)
      return gpus.error();
  }
  return nlohmann::json{{"machine", to_json(*machine)}};
}

Result<nlohmann::json> check_job(const Watch& watch) {
  const Result<CheckedComputer> checked = check_this_computer(watch);
  if (!checked) return checked.error();
  nlohmann::json answer = to_json(*checked);
  if (checked->check.stuck) answer["stuck"] = true;
  return answer;
}

Result<nlohmann::json> run_job(const RunRequest& request, const Watch& watch) {
  const Result<std::vector<Probe>> probes = parse_probes(request.probes);
  if (!probes) return probes.error();
  const Result<Preparation> preparation = prepare_checked(request.setup, {}, watch);
  if (!preparation) return preparation.error();
  watch.progress("running", 0, preparation->choice.why);
  const Result<Training> training =
      train(*preparation, request.verify, watch, request.let_it_hang_seconds, *probes);
  if (!training) return training.error();
  nlohmann::json answer = to_json(*training);
  if (probes->empty() || training->hang) return answer;
  const Prediction& of = training->prediction;
  add_probes(
      answer, training->result,
      identities_of(of.setup, of.program, training->result.probes, training->one_rank_probes), {});
  add_cells(answer, training->result);
  return answer;
}

Result<nlohmann::json> collective_job(const CollectiveRequest& request, const Watch& watch) {
  const Result<Collective> collective = make_collective(request.spec);
  if (!collective) return collective.error();
  RunSettings settings;
  settings.backend = request.backend;
  settings.devices = request.devices;
  Result<BackendChoice> choice = choose_collective_checked(settings, request.spec.ranks, watch);
  if (!choice) return choice.error();
  if (choice->backend == Backend::kCpu) {
    if (Result<void> fits = fits_memory(*collective, request.rounding); !fits) return fits.error();
  }
  watch.progress("running", 0, choice->why);
  CollectiveRunOptions options;
  options.on.choice = std::move(*choice);
  options.on.abandon = watch.abandon;
  options.repeats = request.repeats;
  options.warmup = request.warmup;
  options.values = request.values;
  options.rounding = request.rounding;
  const Result<CollectiveObservation> seen = run_collective(*collective, options, watch.cancel);
  if (!seen) return seen.error();
  return to_json(*seen);
}

// `list` is the JSON of these reasons: adds what the window needs to say them in its language.
template <class Reasons>
void add_messages(nlohmann::json& list, const Reasons& reasons) {
  for (std::size_t at = 0; at < reasons.size(); ++at)
    list[at]["message"] = to_json(reasons[at].sentence);
}

// What `plan --json` answers, and the Machine's memory that it searched with.
Result<nlohmann::json> plan_job(const PlanRequest& request, const Watch& watch) {
  PlanWatch seen;
  seen.cancel = watch.cancel;
  seen.progress = [&](double share, const Message& what) {
    watch.progress("planning", share, what);
  };
  Result<PlanResult> result = search(request, seen);
  if (!result) return result.error();
  note_ties(*result, request.machine);
  nlohmann::json answer = to_json(*result);
  add_messages(answer["reasons"], result->reasons);
  for (std::size_t at = 0; at < result->why.size(); ++at)
    add_messages(answer["best"][at]["why"], result->why[at]);
  answer["capacity_bytes"] = static_cast<std::int64_t>(request.machine.memory_bytes.value *
                                                       request.machine.usable_memory_share);
  answer["rates"] = prediction_word(request.machine);
  return answer;
}

// {"setup": a plan}: why its neighbours are not better.
Result<nlohmann::json> neighbours_job(const Setup& asked, const Watch&) {
  const Result<Situation> situation = situation_here(asked);
  if (!situation) return situation.error();
  const Result<std::vector<PlanReason>> reasons =
      neighbours_of_plan(situation->setup, situation->machine);
  if (!reasons) return reasons.error();
  nlohmann::json why = to_json(*reasons);
  add_messages(why, *reasons);
  return nlohmann::json{{"why", std::move(why)}};
}

Result<nlohmann::json> sweep_job(const SweepRequest& request, const Watch& watch) {
  return sweep_answer(request, watch.cancel, [&](std::size_t done, std::size_t all) {
    watch.progress("sweeping", static_cast<double>(done) / static_cast<double>(all),
                   message("sweep-progress", "{} of {} points", done, all));
  });
}

Result<RoutedLayer> routed_layer_of(const nlohmann::json& params) {
  ObjectReader reader(params, "route");
  int layer = -1, microbatch = 0, group = 0;
  reader.read("layer", layer);
  reader.read("microbatch", microbatch);
  reader.read("group", group);
  const nlohmann::json* setup_json = reader.object("setup");
  if (reader.error()) return *reader.error();
  const Result<Setup> asked = setup_from_json(*setup_json);
  if (!asked) return asked.error();
  const Result<Situation> situation = situation_here(*asked);
  if (!situation) return situation.error();
  const Setup& setup = situation->setup;
  Result<Routing> measured = Routing{};
  const auto routing = params.find("routing");
  const bool given = routing != params.end() && !routing->is_null();
  if (given) measured = routing_from_json(*routing);
  if (!measured) return measured.error();
  return route_layer(setup, layer < 0 ? first_expert_layer(setup.model) : layer, microbatch, group,
                     given ? &*measured : nullptr);
}

}  // namespace

Server::~Server() {
  cancel_ = true;
  if (job_.joinable()) job_.join();
}

void Server::send(const nlohmann::json& message) {
  const std::string bytes = frame(message);
  const std::lock_guard lock(output_mutex_);
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = write(output_, bytes.data() + sent, bytes.size() - sent);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // nobody reads any more; the end of the input says so too
    sent += static_cast<std::size_t>(count);
  }
}

void Server::cancel(const nlohmann::json& id) {
  const std::lock_guard lock(job_mutex_);
  if (busy_ && id == job_id_) cancel_ = true;
}

void Server::start(const RpcRequest& request, Job job) {
  if (busy_) {
    send(rpc_error(
        request.id, RpcCode::kBusy,
        message("engine-busy", "Another run or calibration is under way; cancel it or wait.")));
    return;
  }
  if (job_.joinable()) job_.join();
  {
    const std::lock_guard lock(job_mutex_);
    job_id_ = request.id;
    cancel_ = false;
    busy_ = true;
  }
  job_ = std::thread([this, id = request.id, job = std::move(job)] {
    auto last = std::chrono::steady_clock::time_point{};
    std::string last_phase;
    int step = 0;                // of the last loss
    std::vector<double> losses;  // not told yet
    Watch watch;
    watch.cancel = &cancel_;
    watch.progress = [&](std::string_view phase, double share, const Message& what) {
      const auto now = std::chrono::steady_clock::now();
      if (phase == last_phase && share < 1 && now - last < kProgressPause) return;
      last = now;
      last_phase = phase;
      nlohmann::json params = {
          {"id", id}, {"phase", phase}, {"share", share}, {"what", to_json(what)}};
      if (!losses.empty()) {
        params["step"] = step;
        params["losses"] = std::exchange(losses, {});
      }
      send(rpc_notification("$/progress", std::move(params)));
    };
    watch.checked = [&] { send(rpc_notification("$/devices", to_json(probe_devices()))); };
    watch.loss = [&](int done, double loss) {
      if (done != step + 1) losses.clear();  // the run has begun again
      step = done;
      losses.push_back(loss);
    };
    const auto refuse = [&](const Message& why) {
      const bool cancelled = why.kind == "cancelled";
      send(rpc_error(id, cancelled ? RpcCode::kCancelled : RpcCode::kRunFailed, why));
    };
    // A fresh engine starts faster than a long kernel ends.
    watch.abandon = [&](const Message& why) {
      refuse(why);
      std::_Exit(kFailed);
    };
    const Result<nlohmann::json> result = job(watch);
    // Free before the answer is read: the reader may ask for the next run at once.
    {
      const std::lock_guard lock(job_mutex_);
      busy_ = false;
    }
    if (result) {
      send(rpc_result(id, *result));
      // What never ends on a GPU ends with the process.
      if (result->contains("stuck")) std::_Exit(kFailed);
      return;
    }
    refuse(result.error());
    // A GPU's fault stays with the process that had it: the window starts a fresh engine.
    const std::string& why = result.error().kind;
    if (why == "cuda-failed" || why == "nccl-failed") std::_Exit(kFailed);
  });
}

namespace {

// {"setup": a Setup as a file says it} as `predict --json` answers it for rank 0. With "folded":
// true the Program is folded whatever its size: the same figures in half the time, told by
// stretches of layers where `predict --json` tells of pieces.
Result<nlohmann::json> predict_answer(const nlohmann::json& params) {
  if (!params.is_object() || !params.contains("setup"))
    return message("wire-setup", "predict needs a \"setup\".");
  const Result<Setup> asked = setup_from_file(params.at("setup"));
  if (!asked) return asked.error();
  const Result<Situation> situation = situation_here(*asked);
  if (!situation) return situation.error();
  const nlohmann::json folded = params.value("folded", nlohmann::json(false));
  if (!folded.is_boolean()) return message("wire-folded", "\"folded\" must be true or false.");
  const Result<Prediction> prediction = predict(situation->setup, situation->machine,
                                                BuildOptions{.stage_level = folded.get<bool>()});
  if (!prediction) return prediction.error();
  return prediction_answer(*prediction, *situation, 0, false);
}

}  // namespace

void Server::answer(const RpcRequest& request) {
  if (request.method == "initialize") {
    const auto version = request.params.find("version");
    if (version != request.params.end() && *version != kProtocolVersion) {
      send(rpc_error(request.id, RpcCode::kInvalidParams,
                     message("wire-version",
                             "This engine speaks version {} of the protocol; install engine and "
                             "window of the same version.",
                             kProtocolVersion)));
      return;
    }
    const Devices devices = probe_devices();
    send(rpc_result(request.id, {{"version", kProtocolVersion},
                                 {"engine", std::string("parallelarium-engine ") + kVersion},
                                 {"host", devices.host},
                                 {"devices", to_json(devices)}}));
  } else if (request.method == "devices") {
    send(rpc_result(request.id, to_json(probe_devices())));
  } else if (request.method == "calibrate") {
    start(request, calibrate_job);
  } else if (request.method == "check") {
    start(request, check_job);
  } else if (request.method == "run") {
    Result<RunRequest> run = run_request_from_json(request.params);
    if (!run) {
      send(rpc_error(request.id, RpcCode::kInvalidParams, run.error()));
      return;
    }
    start(request, [wish = std::move(*run)](const Watch& watch) { return run_job(wish, watch); });
  } else if (request.method == "collective") {
    const Result<CollectiveRequest> wish = collective_request_from_json(request.params);
    const Result<Collective> made =
        wish ? make_collective(wish->spec) : Result<Collective>(wish.error());
    if (!made) {
      send(rpc_error(request.id, RpcCode::kInvalidParams, made.error()));
      return;
    }
    start(request, [wish = *wish](const Watch& watch) { return collective_job(wish, watch); });
  } else if (request.method == "route") {
    const Result<RoutedLayer> routed = routed_layer_of(request.params);
    send(routed ? rpc_result(request.id, to_json(*routed))
                : rpc_error(request.id, RpcCode::kInvalidParams, routed.error()));
  } else if (request.method == "predict") {
    const Result<nlohmann::json> predicted = predict_answer(request.params);
    send(predicted ? rpc_result(request.id, *predicted)
                   : rpc_error(request.id, RpcCode::kInvalidParams, predicted.error()));
  } else if (request.method == "plan") {
    Result<PlanRequest> wish = plan_request_from_json(request.params);
    if (!wish) {
      send(rpc_error(request.id, RpcCode::kInvalidParams, wish.error()));
      return;
    }
    start(request, [wish = std::move(*wish)](const Watch& watch) { return plan_job(wish, watch); });
  } else if (request.method == "neighbours") {
    const nlohmann::json setup = request.params.value("setup", nlohmann::json());
    const Result<Setup> plan = setup_from_json(setup);
    if (!plan) {
      send(rpc_error(request.id, RpcCode::kInvalidParams, plan.error()));
      return;
    }
    start(request, [plan = *plan](const Watch& watch) { return neighbours_job(plan, watch); });
  } else if (request.method == "sweep") {
    Result<SweepRequest> wish = sweep_request_from_json(request.params);
    if (!wish) {
      send(rpc_error(request.id, RpcCode::kInvalidParams, wish.error()));
      return;
    }
    start(request,
          [wish = std::move(*wish)](const Watch& watch) { return sweep_job(wish, watch); });
  } else if (request.method == "shutdown") {
    send(rpc_result(request.id, nlohmann::json::object()));
  } else {
    send(rpc_error(
        request.id, RpcCode::kMethodNotFound,
        message("rpc-unknown",
                "There is no method \"{}\"; there are initialize, devices, check, "
                "calibrate, run, collective, route, predict, plan, neighbours, sweep and shutdown.",
                request.method)));
  }
}

bool Server::handle(const nlohmann::json& json) {
  const Result<RpcRequest> request = rpc_request_from_json(json);
  if (!request) {
    send(rpc_error(nullptr, RpcCode::kInvalidRequest, request.error()));
    return true;
  }
  if (request->method == "$/cancelRequest") {
    if (const auto id = request->params.find("id"); id != request->params.end()) cancel(*id);
    return true;
  }
  if (!request->is_notification()) answer(*request);
  return request->method != "shutdown";
}

int Server::serve() {
  keep_freed_memory();
  FrameReader reader;
  std::vector<char> block(std::size_t{1} << 16);
  while (true) {
    Result<std::optional<nlohmann::json>> next = reader.next();
    if (!next) {
      send(rpc_error(nullptr, RpcCode::kParseError, next.error()));
      cancel_ = true;
      return kInvalid;
    }
    if (next->has_value()) {
      if (!handle(**next)) break;
      continue;
    }
    const ssize_t count = read(input_, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      cancel_ = true;
      return reader.is_between_messages() ? kDone : kInvalid;
    }
    reader.append({block.data(), static_cast<std::size_t>(count)});
  }
  cancel_ = true;
  return kDone;
}

}  // namespace parallelarium
