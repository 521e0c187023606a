// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/server.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "engine/cli/commands/commands.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/outlook.h"
#include "engine/cli/planning.h"
#include "engine/cli/serve_jobs.h"
#include "engine/cli/training.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/placement/resolve.h"
#include "engine/predict/predict.h"
#include "engine/wire/collective_messages.h"
#include "engine/wire/messages.h"
#include "engine/wire/reading.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

constexpr auto kProgressPause = std::chrono::milliseconds(33);

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
    const auto refused = [&](const Message& why) {
      const bool cancelled = why.kind == "cancelled";
      return rpc_error(id, cancelled ? RpcCode::kCancelled : RpcCode::kRunFailed, why);
    };
    // Says that it is the last answer, so that nobody asks an engine that is about to end.
    const auto end_with = [&](nlohmann::json answer) {
      answer["ends"] = true;
      send(answer);
      std::_Exit(kFailed);
    };
    // A fresh engine starts faster than a long kernel ends.
    watch.abandon = [&](const Message& why) { end_with(refused(why)); };
    const Result<nlohmann::json> result = job(watch);
    // Free before the answer is read: the reader may ask for the next run at once.
    {
      const std::lock_guard lock(job_mutex_);
      busy_ = false;
    }
    if (result) {
      // What never ends on a GPU ends with the process.
      if (result->contains("stuck")) end_with(rpc_result(id, *result));
      return send(rpc_result(id, *result));
    }
    // A GPU's fault stays with the process that had it: the window starts a fresh engine.
    const std::string& why = result.error().kind;
    if (why == "cuda-failed" || why == "nccl-failed") end_with(refused(result.error()));
    send(refused(result.error()));
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

Result<nlohmann::json> initialize_answer(const nlohmann::json& params) {
  const auto version = params.find("version");
  if (version != params.end() && *version != kProtocolVersion)
    return message("wire-version",
                   "This engine speaks version {} of the protocol; install engine and window of "
                   "the same version.",
                   kProtocolVersion);
  const Devices devices = probe_devices();
  return nlohmann::json{{"version", kProtocolVersion},
                        {"engine", std::string("parallelarium-engine ") + kVersion},
                        {"host", devices.host},
                        {"devices", to_json(devices)}};
}

Result<nlohmann::json> devices_answer(const nlohmann::json&) { return to_json(probe_devices()); }

Result<nlohmann::json> route_answer(const nlohmann::json& params) {
  const Result<RoutedLayer> routed = routed_layer_of(params);
  if (!routed) return routed.error();
  return to_json(*routed);
}

Result<nlohmann::json> shutdown_answer(const nlohmann::json&) { return nlohmann::json::object(); }

using ServeJob = std::function<Result<nlohmann::json>(const Watch&)>;

Result<ServeJob> calibrate_wish(const nlohmann::json&) { return ServeJob(calibrate_job); }

Result<ServeJob> check_wish(const nlohmann::json&) { return ServeJob(check_job); }

Result<ServeJob> run_wish(const nlohmann::json& params) {
  Result<RunRequest> wish = run_request_from_json(params);
  if (!wish) return wish.error();
  return ServeJob([wish = std::move(*wish)](const Watch& watch) { return run_job(wish, watch); });
}

Result<ServeJob> collective_wish(const nlohmann::json& params) {
  const Result<CollectiveRequest> wish = collective_request_from_json(params);
  if (!wish) return wish.error();
  if (const Result<Collective> made = make_collective(wish->spec); !made) return made.error();
  return ServeJob([wish = *wish](const Watch& watch) { return collective_job(wish, watch); });
}

Result<ServeJob> plan_wish(const nlohmann::json& params) {
  Result<PlanRequest> wish = plan_request_from_json(params);
  if (!wish) return wish.error();
  std::optional<Setup> today;
  if (const auto asked = params.find("explain"); asked != params.end()) {
    Result<Setup> setup = setup_from_json(*asked);
    if (!setup) return setup.error();
    today = std::move(*setup);
  }
  return ServeJob([wish = std::move(*wish), today = std::move(today)](const Watch& watch) {
    return plan_job(wish, today, watch);
  });
}

// Error: the list has something that is no Setup.
Result<std::vector<Setup>> setups_at(const nlohmann::json& params, const char* key) {
  std::vector<Setup> setups;
  for (const nlohmann::json& each : params.value(key, nlohmann::json::array())) {
    Result<Setup> setup = setup_from_json(each);
    if (!setup) return setup.error();
    setups.push_back(std::move(*setup));
  }
  return setups;
}

// The parameters of plan, and {"explain": a Setup, "best": the best plans that it found, in their
// order}: what plan tells of that Setup, without another search.
Result<ServeJob> standing_wish(const nlohmann::json& params) {
  Result<PlanRequest> wish = plan_request_from_json(params);
  if (!wish) return wish.error();
  Result<Setup> asked = setup_from_json(params.value("explain", nlohmann::json()));
  if (!asked) return asked.error();
  Result<std::vector<Setup>> plans = setups_at(params, "best");
  if (!plans) return plans.error();
  return ServeJob([wish = std::move(*wish), asked = std::move(*asked), plans = std::move(*plans)](
                      const Watch& watch) { return standing_job(wish, asked, plans, watch); });
}

// The parameters of plan, and {"axis": "tp", "value": "8", "best": the plan that it found, "known":
// the fastest of all its candidates, in their order, which may be left out}.
Result<ServeJob> why_not_wish(const nlohmann::json& params) {
  Result<PlanRequest> wish = plan_request_from_json(params);
  if (!wish) return wish.error();
  std::string name, value;
  ObjectReader reader(params, "why_not");
  reader.read("axis", name);
  reader.read("value", value);
  if (reader.error()) return *reader.error();
  const std::string axis = axis_called(name);
  if (axis.empty()) return no_axis(name);
  const Result<Setup> best = setup_from_json(params.value("best", nlohmann::json()));
  if (!best) return best.error();
  Result<std::vector<Setup>> known = setups_at(params, "known");
  if (!known) return known.error();
  return ServeJob([wish = std::move(*wish), axis, value, best = *best,
                   known = std::move(*known)](const Watch& watch) {
    return why_not_job(wish, axis, value, best, known, watch);
  });
}

Result<ServeJob> neighbours_wish(const nlohmann::json& params) {
  const Result<Setup> plan = setup_from_json(params.value("setup", nlohmann::json()));
  if (!plan) return plan.error();
  std::string framework;
  ObjectReader reader(params, "neighbours");
  reader.read("for", framework);
  if (reader.error()) return *reader.error();
  // Without a search that it is a plan of: every plan of its GPUs and batch.
  const nlohmann::json all = {{"setup", to_json(*plan)},
                              {"gpus", std::to_string(plan->mesh.ranks())},
                              {"global_batch", plan->global_batch()},
                              {"for", framework}};
  Result<PlanRequest> wish = plan_request_from_json(params.value("search", all));
  if (!wish) return wish.error();
  return ServeJob([wish = std::move(*wish), plan = *plan](const Watch& watch) {
    return neighbours_job(wish, plan, watch);
  });
}

Result<ServeJob> sweep_wish(const nlohmann::json& params) {
  Result<SweepRequest> wish = sweep_request_from_json(params);
  if (!wish) return wish.error();
  return ServeJob([wish = std::move(*wish)](const Watch& watch) { return sweep_job(wish, watch); });
}

// Methods that are answered at once, and those that work for a while and can be cancelled.
const std::map<std::string_view, Result<nlohmann::json> (*)(const nlohmann::json&)> kAnswers = {
    {"initialize", initialize_answer},
    {"devices", devices_answer},
    {"route", route_answer},
    {"predict", predict_answer},
    {"shutdown", shutdown_answer}};
const std::map<std::string_view, Result<ServeJob> (*)(const nlohmann::json&)> kWishes = {
    {"calibrate", calibrate_wish},   {"check", check_wish},       {"run", run_wish},
    {"collective", collective_wish}, {"plan", plan_wish},         {"why_not", why_not_wish},
    {"neighbours", neighbours_wish}, {"standing", standing_wish}, {"sweep", sweep_wish}};

}  // namespace

void Server::answer(const RpcRequest& request) {
  const auto refuse = [&](const Message& why) {
    send(rpc_error(request.id, RpcCode::kInvalidParams, why));
  };
  if (const auto at_once = kAnswers.find(request.method); at_once != kAnswers.end()) {
    const Result<nlohmann::json> answer = at_once->second(request.params);
    return answer ? send(rpc_result(request.id, *answer)) : refuse(answer.error());
  }
  if (const auto wish = kWishes.find(request.method); wish != kWishes.end()) {
    Result<ServeJob> job = wish->second(request.params);
    return job ? start(request, std::move(*job)) : refuse(job.error());
  }
  std::string there_are;
  for (const auto& [method, answer] : kAnswers) there_are += std::string(method) + ", ";
  for (const auto& [method, wish] : kWishes) there_are += std::string(method) + ", ";
  there_are.resize(there_are.size() - 2);
  send(rpc_error(request.id, RpcCode::kMethodNotFound,
                 message("rpc-unknown", "There is no method \"{}\"; there are: {}.", request.method,
                         there_are)));
}

bool Server::handle(const nlohmann::json& json) {
  const Result<RpcRequest> request = rpc_request_from_json(json);
  if (!request) {
    send(rpc_error(rpc_id_of(json), RpcCode::kInvalidRequest, request.error()));
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
  FrameReader reader;
  std::vector<char> block(std::size_t{1} << 16);
  while (true) {
    Result<std::optional<nlohmann::json>> next = reader.next();
    if (!next) {
      send(rpc_error(nullptr, RpcCode::kParseError, next.error()));
      if (!reader.is_lost()) continue;
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
