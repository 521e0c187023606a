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
#include "engine/plan/text/message_json.h"
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

// Whom a check asks: of `numbers` (empty: all) and, unless `anew`, what is not known already.
struct Wish {
  std::vector<int> numbers = {};
  bool alone = false;  // what is between them is another process's, too
  bool anew = false;
};

Found find_gpus(const Wish& wish) {
  Found found;
  const Result<CudaModule*> module = cuda_module();
  const Result<std::vector<GpuFacts>> gpus = !module ? Result<std::vector<GpuFacts>>(module.error())
                                             : wish.anew ? (*module)->gpus()
                                                         : usable_gpus();
  if (!gpus) {
    found.checked.why_none = gpus.error();
    return found;
  }
  found.module = *module;
  found.checked.versions = (*module)->versions();
  const GpuTopology topology = probe_devices().topology;
  for (int gpu = 0; gpu < static_cast<int>(gpus->size()); ++gpu) {
    const auto at = static_cast<std::size_t>(gpu);
    if (!wish.numbers.empty() && std::count(wish.numbers.begin(), wish.numbers.end(), gpu) == 0)
      continue;
    if (const Result<void> can = check_gpu((*gpus)[at]); !can) {
      found.checked.left_out.push_back(message("gpu-left-out", "GPU {}: {}", gpu, can.error()));
      continue;
    }
    found.rig.gpus.push_back((*gpus)[at]);
    found.rig.numbers.push_back(gpu);
    found.checked.pcie.push_back(at < topology.pcie.size() ? topology.pcie[at] : "");
  }
  if (found.rig.gpus.empty()) {
    found.checked.why_none = found.checked.left_out.empty()
                                 ? message("gpu-none-chosen", "No GPU was chosen.")
                                 : found.checked.left_out.front();
    return found;
  }
  found.rig.make_device = [cuda = *module](int gpu, int rank, Lane lane) {
    return cuda->make_device(gpu, rank, lane);
  };
  for (const GpuLink& link : topology.links)
    found.rig.promises.push_back({link.from, link.to, link.kind, link.p2p, link.bytes_per_second});
  if (wish.alone) found.rig.without_nccl = "Every rank is a process and checks its own GPU.";
  const bool several = found.rig.gpus.size() > 1 && !wish.alone;
  if (several) {
    const Result<Nccl*> nccl = (*module)->nccl();
    const Result<void> will_do = nccl ? check_nccl((*nccl)->version(), 1) : nccl.error();
    if (will_do)
      found.rig.nccl = *nccl;
    else
      found.rig.without_nccl = will_do.error().text;
  }
  found.checked.key = check_key_here(*found.module, several);
  if (wish.anew) return found;
  const RememberedChecks known = RememberedChecks::load(gpu_checks_path());
  for (const GpuFacts& gpu : found.rig.gpus)
    found.rig.right.push_back(known.is_right(gpu, found.checked.key));
  found.rig.tried = known.tried(found.rig.gpus, found.rig.numbers, found.checked.key);
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
  const Result<void> saved =
      RememberedChecks::update(gpu_checks_path(), [&](RememberedChecks& known) {
        known.note(found.checked.check, found.checked.key, today());
      });
  if (!saved) found.checked.unstored = saved.error();
  if (watch.checked) watch.checked();
  return std::move(found.checked);
}

constexpr std::array<const char*, 5> kKinds = {"kernel", "message", "collective", "slow", "peer"};

nlohmann::json to_json(const std::vector<CheckFailure>& failures) {
  nlohmann::json list = nlohmann::json::array();
  for (const CheckFailure& one : failures) {
    list.push_back({{"kind", kKinds[static_cast<std::size_t>(one.kind)]},
                    {"what", one.what},
                    {"shape", one.shape},
                    {"found", one.found}});
    put_text(list.back(), "sentence", one.sentence);
  }
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
  for (const CheckFailure& one : failures) text += "    " + one.sentence.text + "\n";
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
  if (link.passed() && link.bytes_per_second == 0) text += ", not timed";
  text += "\n";
  add_failures(text, link.failures);
  add_failures(text, link.warnings);
  return text;
}

}  // namespace

Result<CheckedComputer> check_this_computer(const Watch& watch) {
  Found found = find_gpus({{}, false, true});
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
                     {"failures", to_json(link.failures)},
                     {"warnings", to_json(link.warnings)}});
  for (const CheckedGroup& group : checked.check.groups)
    groups.push_back({{"devices", group.devices},
                      {"passed", group.passed()},
                      {"failures", to_json(group.failures)}});
  nlohmann::json json = {{"gpus", std::move(gpus)},          {"links", std::move(links)},
                         {"groups", std::move(groups)},      {"passed", checked.passed()},
                         {"seconds", checked.check.seconds}, {"report", report_text(checked)}};
  put_text(json, "why", checked.why_none);
  return json;
}

std::string report_text(const CheckedComputer& checked) {
  if (!checked.why_none.text.empty()) return "No GPU was checked. " + checked.why_none.text + "\n";
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
  for (const Message& why : checked.left_out) text += why.text + "\n";
  if (!check.complete())
    text += "Time ran out; the rest is checked before the first run that needs it.\n";
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

namespace {

// Ends the process where a GPU holds something that does not end.
void leave_if_stuck(const GpuCheck& check, const Watch& watch) {
  if (!check.stuck || !watch.abandon) return;
  std::vector<int> failed;
  for (const CheckedGpu& gpu : check.gpus)
    if (gpu.failed()) failed.push_back(gpu.device);
  if (failed.empty())
    watch.abandon(message("gpu-check-failed.hang",
                          "Several GPUs did not end what they were given in their check; start "
                          "again, and they are not used."));
  else
    watch.abandon(message("gpu-check-failed.hangs",
                          "GPU {} did not end what it was given in its check; start again, and it "
                          "is not used.",
                          list_of(failed)));
}

// Whether these GPUs are known, alone and with each other.
bool are_known(const std::vector<int>& numbers, bool alone) {
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) return false;
  std::vector<GpuFacts> those;
  for (const int gpu : std::set<int>(numbers.begin(), numbers.end()))
    those.push_back((*gpus)[static_cast<std::size_t>(gpu)]);
  const CheckKey key = check_key_here(**cuda_module(), those.size() > 1 && !alone);
  return RememberedChecks::load(gpu_checks_path()).covers(those, key);
}

// Whether something was checked, so that who calls chooses anew.
Result<bool> check_before_use(const BackendChoice& choice, const std::string& devices, bool alone,
                              const Watch& watch,
                              const std::function<void(const std::string&)>& say) {
  if (choice.backend != Backend::kCuda || are_known(choice.gpus, alone)) return false;
  Wish wish{choice.gpus, alone};
  // Those that the next run may take are checked along with them.
  if (const Result<std::vector<int>> chosen = device_list(devices); chosen && !alone)
    wish.numbers = *chosen;
  Found found = find_gpus(wish);
  if (found.rig.gpus.empty()) return false;
  if (say) say("These GPUs were never checked with this driver and build; that takes some 15 s.");
  const Result<CheckedComputer> checked = check_found(std::move(found), watch);
  if (!checked) return checked.error();
  if (say && !checked->passed()) say(report_text(*checked));
  if (say && checked->unstored) say(checked->unstored->text);
  leave_if_stuck(checked->check, watch);
  return true;
}

const BackendChoice& placement_of(const BackendChoice& choice) { return choice; }
const BackendChoice& placement_of(const Preparation& preparation) { return preparation.choice; }

// Chooses anew after a check. What it then chooses may have been left for lack of time: that is
// checked, too, once.
template <class Choose>
auto choose_checked(const Choose& choose, const std::string& devices, bool alone,
                    const Watch& watch, const std::function<void(const std::string&)>& say)
    -> decltype(choose()) {
  auto chosen = choose();
  for (int round = 0; round < 2 && chosen; ++round) {
    const std::vector<int> gpus = placement_of(*chosen).gpus;
    const Result<bool> checked =
        check_before_use(placement_of(*chosen), devices, alone, watch, say);
    if (!checked) return checked.error();
    if (!*checked) break;
    chosen = choose();
    if (chosen && placement_of(*chosen).gpus == gpus) break;
  }
  return chosen;
}

}  // namespace

Result<void> check_before_calibrating(const Watch& watch,
                                      const std::function<void(const std::string&)>& say) {
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  BackendChoice all;
  all.backend = Backend::kCuda;
  for (int gpu = 0; gpus && gpu < static_cast<int>(gpus->size()); ++gpu)
    if (check_gpu((*gpus)[static_cast<std::size_t>(gpu)])) all.gpus.push_back(gpu);
  if (all.gpus.empty()) return {};
  const Result<bool> checked = check_before_use(all, "all", false, watch, say);
  return checked ? Result<void>() : Result<void>(checked.error());
}

Result<Preparation> prepare_checked(const Setup& setup, std::optional<ProcessPlace> place,
                                    const Watch& watch,
                                    const std::function<void(const std::string&)>& say) {
  return choose_checked([&] { return prepare(setup, place); }, setup.run.devices, place.has_value(),
                        watch, say);
}

Result<BackendChoice> choose_collective_checked(
    const RunSettings& run, int ranks, const Watch& watch,
    const std::function<void(const std::string&)>& say) {
  return choose_checked([&] { return choose_collective_backend(run, ranks); }, run.devices, false,
                        watch, say);
}

}  // namespace parallelarium
