// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/computer/gpu_check.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/computer/probe.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/text/units.h"
#include "engine/run/calibrate/bench.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

// What was found out before the check: its rig, and whom it leaves out.
struct Found {
  CudaModule* module = nullptr;
  GpuCheckRig rig;
  CheckedComputer checked;
};

// `numbers`: of which GPUs; empty: all. `alone`: what is between them is another process's, too.
Found find_gpus(const std::vector<int>& numbers, bool alone) {
  Found found;
  const Result<CudaModule*> module = cuda_module();
  const Result<std::vector<GpuFacts>> gpus =
      module ? (*module)->gpus() : Result<std::vector<GpuFacts>>(module.error());
  if (!gpus) {
    found.checked.why_none = gpus.error().text;
    return found;
  }
  found.module = *module;
  found.checked.versions = (*module)->versions();
  const GpuTopology topology = probe_devices().topology;
  for (int gpu = 0; gpu < static_cast<int>(gpus->size()); ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    if (!numbers.empty() && std::count(numbers.begin(), numbers.end(), gpu) == 0) continue;
    if (const Result<void> can = check_gpu((*gpus)[at]); !can) {
      found.checked.too_old.push_back(fmt::format("GPU {}: {}", gpu, can.error().text));
      continue;
    }
    found.rig.gpus.push_back((*gpus)[at]);
    found.rig.numbers.push_back(gpu);
    found.checked.pcie.push_back(at < topology.pcie.size() ? topology.pcie[at] : "");
  }
  if (found.rig.gpus.empty()) {
    found.checked.why_none =
        found.checked.too_old.empty() ? "No GPU was chosen." : found.checked.too_old.front();
    return found;
  }
  found.rig.make_device = [cuda = *module](int gpu, int rank, Lane lane) {
    return cuda->make_device(gpu, rank, lane);
  };
  for (const GpuLink& link : topology.links)
    found.rig.promises.push_back({link.from, link.to, link.kind, link.p2p, link.bytes_per_second});
  if (alone) found.rig.without_nccl = "Every rank is a process and checks its own GPU.";
  const bool several = found.rig.gpus.size() > 1 && !alone;
  if (several) {
    const Result<Nccl*> nccl = (*module)->nccl();
    const Result<void> will_do = nccl ? check_nccl((*nccl)->version(), 1) : nccl.error();
    if (will_do)
      found.rig.nccl = *nccl;
    else
      found.rig.without_nccl = will_do.error().text;
  }
  found.checked.key = check_key_here(*found.module, several);
  return found;
}

Result<CheckedComputer> check_found(Found found, const Watch& watch) {
  RunControl control;
  control.cancel = watch.cancel;
  if (watch.progress)
    control.progress = [&](double share, const Message& what) {
      watch.progress("checking", share, what);
    };
  Result<GpuCheck> check = check_gpus(found.rig, control);
  if (!check) return check.error();
  found.checked.check = std::move(*check);
  const std::string path = gpu_checks_path();
  RememberedChecks known = RememberedChecks::load(path);
  known.note(found.checked.check, found.checked.key, today());
  if (const Result<void> saved = known.save(path); !saved) found.checked.unstored = saved.error();
  return std::move(found.checked);
}

constexpr std::array<const char*, 4> kKinds = {"kernel", "message", "collective", "slow"};

nlohmann::json to_json(const std::vector<CheckFailure>& failures) {
  nlohmann::json list = nlohmann::json::array();
  for (const CheckFailure& one : failures)
    list.push_back({{"kind", kKinds[static_cast<std::size_t>(one.kind)]},
                    {"what", one.what},
                    {"shape", one.shape},
                    {"found", one.found},
                    {"sentence", one.sentence}});
  return list;
}

std::string verdict(bool passed, bool failed) {
  return passed ? "passed" : failed ? "FAILED" : "not reached";
}

std::string list_of(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += fmt::format("{}{}", text.empty() ? "" : ", ", number);
  return text;
}

void add_failures(std::string& text, const std::vector<CheckFailure>& failures) {
  for (const CheckFailure& one : failures) text += "    " + one.sentence + "\n";
}

std::string gpu_text(const CheckedGpu& gpu, const std::string& pcie) {
  std::string text = fmt::format("GPU {}: {}", gpu.device, gpu.facts.name);
  if (gpu.facts.major > 0)
    text += fmt::format(", compute capability {}.{}", gpu.facts.major, gpu.facts.minor);
  text += ", " + bytes_text(static_cast<double>(gpu.facts.memory_bytes));
  if (!pcie.empty()) text += ", " + pcie;
  if (!gpu.facts.uuid.empty()) text += ", " + gpu.facts.uuid;
  text += fmt::format("\n  kernels: {}\n", verdict(gpu.passed(), gpu.failed()));
  add_failures(text, gpu.failures);
  for (const std::string& note : gpu.notes) text += "    " + note + "\n";
  if (!gpu.unreached.empty()) {
    text += "    not reached: ";
    for (std::size_t i = 0; i < gpu.unreached.size(); ++i)
      text += (i == 0 ? "" : ", ") + gpu.unreached[i];
    text += "\n";
  }
  return text;
}

std::string link_text(const CheckedLink& link) {
  const LinkPromise& promise = link.promise;
  std::string text = fmt::format("GPU {} and GPU {}", promise.from, promise.to);
  if (!promise.kind.empty())
    text += fmt::format(" ({}, {})", promise.kind,
                        promise.peer ? "peer to peer" : "through host memory");
  text += ": " + verdict(link.passed(), !link.failures.empty());
  if (link.bytes_per_second > 0) text += ", " + count_text(link.bytes_per_second, "B/s");
  if (link.bytes_per_second > 0 && promise.bytes_per_second > 0)
    text += fmt::format(" of {}", count_text(promise.bytes_per_second, "B/s"));
  text += "\n";
  add_failures(text, link.failures);
  return text;
}

}  // namespace

Result<CheckedComputer> check_this_computer(const Watch& watch) {
  Found found = find_gpus({}, false);
  if (found.rig.gpus.empty()) return std::move(found.checked);
  return check_found(std::move(found), watch);
}

nlohmann::json to_json(const CheckedComputer& checked) {
  nlohmann::json gpus = nlohmann::json::array(), links = gpus, groups = gpus;
  for (const CheckedGpu& gpu : checked.check.gpus)
    gpus.push_back({{"device", gpu.device},
                    {"name", gpu.facts.name},
                    {"uuid", gpu.facts.uuid},
                    {"passed", gpu.passed()},
                    {"failures", to_json(gpu.failures)},
                    {"unreached", gpu.unreached},
                    {"notes", gpu.notes}});
  for (const CheckedLink& link : checked.check.links)
    links.push_back({{"from", link.promise.from},
                     {"to", link.promise.to},
                     {"kind", link.promise.kind},
                     {"p2p", link.promise.peer},
                     {"passed", link.passed()},
                     {"bytes_per_second", link.bytes_per_second},
                     {"promised_bytes_per_second", link.promise.bytes_per_second},
                     {"failures", to_json(link.failures)}});
  for (const CheckedGroup& group : checked.check.groups)
    groups.push_back({{"devices", group.devices},
                      {"passed", group.passed()},
                      {"failures", to_json(group.failures)}});
  return {{"gpus", std::move(gpus)},          {"links", std::move(links)},
          {"groups", std::move(groups)},      {"passed", checked.passed()},
          {"seconds", checked.check.seconds}, {"why", checked.why_none},
          {"report", report_text(checked)}};
}

std::string report_text(const CheckedComputer& checked) {
  if (!checked.why_none.empty()) return "No GPU was checked. " + checked.why_none + "\n";
  const GpuCheck& check = checked.check;
  std::string text =
      fmt::format("Check of the GPUs by Parallelarium {} on {}, {} in {:.1f} s\n", kVersion,
                  today(), check.passed() ? "passed" : "not passed", check.seconds);
  text += fmt::format("driver {} (CUDA {}), built with CUDA {}, NCCL {}, module {}\n",
                      checked.key.driver, cuda_version_text(checked.versions.driver),
                      cuda_version_text(checked.versions.built_with),
                      checked.key.nccl.empty() ? "not used" : checked.key.nccl, checked.key.module);
  for (std::size_t i = 0; i < check.gpus.size(); ++i)
    text += gpu_text(check.gpus[i], i < checked.pcie.size() ? checked.pcie[i] : "");
  for (const std::string& sentence : checked.too_old) text += sentence + "\n";
  if (!check.without_links.empty())
    text += "Nothing between GPUs was checked: " + check.without_links + "\n";
  else
    for (const CheckedLink& link : check.links) text += link_text(link);
  for (const CheckedGroup& group : check.groups) {
    if (!check.without_links.empty()) break;
    text += fmt::format("collectives of GPUs {}: {}\n", list_of(group.devices),
                        verdict(group.passed(), !group.failures.empty()));
    add_failures(text, group.failures);
  }
  return text;
}

Result<bool> check_before_use(const BackendChoice& choice, const std::string& devices, bool alone,
                              const Watch& watch,
                              const std::function<void(const std::string&)>& say) {
  if (choice.backend != Backend::kCuda) return false;
  std::vector<int> numbers = choice.gpus;
  // Those that the next run may take are checked along with them.
  if (const Result<std::vector<int>> chosen = device_list(devices); chosen && !alone)
    numbers = *chosen;
  Found found = find_gpus(numbers, alone);
  if (found.rig.gpus.empty()) return false;
  if (RememberedChecks::load(gpu_checks_path()).covers(found.rig.gpus, found.checked.key))
    return false;
  if (say) say("These GPUs were never checked with this driver and build; that takes some 15 s.");
  const Result<CheckedComputer> checked = check_found(std::move(found), watch);
  if (!checked) return checked.error();
  if (say && !checked->passed()) say(report_text(*checked));
  if (say && checked->unstored) say(checked->unstored->text);
  std::vector<int> failed;
  for (const CheckedGpu& gpu : checked->check.gpus)
    if (gpu.failed()) failed.push_back(gpu.device);
  if (checked->check.stuck && watch.abandon)
    watch.abandon(message("gpu-check-failed.hangs",
                          "GPU {} did not end what it was given in its check; start again, and it "
                          "is not used.",
                          list_of(failed)));
  return !failed.empty();
}

Result<Preparation> prepare_checked(const Setup& setup, std::optional<ProcessPlace> place,
                                    const Watch& watch,
                                    const std::function<void(const std::string&)>& say) {
  Result<Preparation> prepared = prepare(setup, place);
  if (!prepared) return prepared;
  const Result<bool> anew =
      check_before_use(prepared->choice, setup.run.devices, place.has_value(), watch, say);
  if (!anew) return anew.error();
  return *anew ? prepare(setup, std::move(place)) : prepared;
}

}  // namespace parallelarium
