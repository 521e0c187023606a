// SPDX-License-Identifier: Apache-2.0
// Presets of resources/machines, and this computer with its calibration file.
#include "engine/plan/machine/machine.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "engine/plan/machine/machine_files.h"
#include "engine/plan/machine/presets.h"
#include "engine/plan/placement/cores.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

// Of the cores, that other programs may use while they are measured. A calibration keeps all of
// them busy, so what others use is missing from its rates in the same share: at a twentieth these
// are slower by what is taken for a disturbed run, too (delay_of). A desktop at rest uses less.
constexpr double kQuietShare = 0.05;

constexpr std::array kMachineOrder = {
    "2x-rtx-3090",      "4x-rtx-3090",      "2x-rtx-4090",      "4x-rtx-4090",
    "2x-rtx-5090",      "4x-rtx-5090",      "2x-rtx-a6000",     "4x-rtx-a6000",
    "2x-rtx-6000-ada",  "4x-rtx-6000-ada",  "2x-l40s",          "4x-l40s",
    "2x-rtx-pro-6000",  "8x-rtx-pro-6000",  "hgx-v100",         "dgx-a100-40g",
    "dgx-a100-80g",     "dgx-h100",         "grand-teton-h100", "grand-teton-h100-eager",
    "dgx-h200",         "dgx-h200-flash-2", "hgx-h800",         "dgx-b200",
    "hgx-b200-simumax", "dgx-b300",         "gb200-nvl72",      "gb300-nvl72",
    "hgx-mi300x",       "tpu-v5p-4x4x4"};
// What documents of older versions call them.
constexpr std::pair<const char*, const char*> kFormerNames[] = {
    {"workstation-4090", "4x-rtx-4090"}, {"workstation-3090", "2x-rtx-3090"}};
constexpr std::size_t kMostParsed = 4;  // files that read_local() remembers
// The last is the Windows driver as Linux sees it under WSL 2.
constexpr std::array kDriverFiles = {"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg"};

std::vector<const EmbeddedFile*> preset_files() {
  std::vector<const EmbeddedFile*> files;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with("machines/")) files.push_back(&file);
  return files;
}

// Each is read once, when it is first asked for: every changed setting asks for its machine.
// None: there is no such preset.
std::optional<Result<Machine>> find_preset(const std::string& name) {
  static std::mutex guard;
  static std::map<std::string, Result<Machine>> known;
  const std::lock_guard lock(guard);
  if (const auto found = known.find(name); found != known.end()) return found->second;
  for (const EmbeddedFile* file : preset_files()) {
    if (machine_of_file(*file) != name) continue;
    const Result<nlohmann::json> json = preset_json(*file);
    Result<Machine> machine = json ? machine_from_json(*json) : Result<Machine>(json.error());
    if (machine) {
      machine->name = name;
      machine->local = false;
    }
    return known.emplace(name, std::move(machine)).first->second;
  }
  return std::nullopt;
}

Result<Machine> parse_local(const std::string& path) {
  const auto unusable = [&](const Message& why) {
    return message("machine-file",
                   "The calibration in {} cannot be used ({}); calibrate again or delete it.",
                   shown(path), why);
  };
  const Result<nlohmann::json> json = read_kept(path);
  if (!json) return unusable(json.error());
  Result<Machine> machine = machine_from_json(*json);
  if (!machine) return unusable(machine.error());
  machine->local = true;
  return machine;
}

// The file as it is now. It is asked for at every change of a Setup, so it is parsed only when it
// has changed; whoever saves it exchanges the file.
Result<Machine> read_local(const std::string& path) {
  using Stamp = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t>;
  static std::mutex guard;
  static std::map<Stamp, Machine> parsed;
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return parse_local(path);
  const Stamp stamp{file.st_dev, file.st_ino, file.st_size, file.st_ctim.tv_sec,
                    file.st_ctim.tv_nsec};
  const std::lock_guard lock(guard);
  if (const auto known = parsed.find(stamp); known != parsed.end()) return known->second;
  Result<Machine> machine = parse_local(path);
  if (!machine) return machine;  // its sentence names the path
  if (parsed.size() >= kMostParsed) parsed.clear();
  return parsed.emplace(stamp, std::move(*machine)).first->second;
}

Result<Machine> read_local_gpus() {
  const std::string path = local_machine_path(true);
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error))
    return message("gpus-uncalibrated",
                   "The GPUs of this computer were never calibrated; `calibrate` measures them.");
  Result<Machine> machine = read_local(path);
  if (machine) machine->name = kLocalGpus;
  return machine;
}

Message bf16_words(const std::string& products) {
  return products == kNativeBf16 ? message("bf16-native", "by themselves")
                                 : message("bf16-widened", "widened to fp32");
}

}  // namespace

std::string prediction_word(const Machine& machine) {
  if (!machine.calibrated.empty()) return "calibrated";
  if (machine.matmul_efficiency.value >= 1) return "peak";
  for (const Origin& origin : {machine.products.origin, machine.matmul_efficiency.origin})
    if (origin.kind == OriginKind::kPublished) return "published";
  return "assumed";
}

std::optional<Message> outdated_bf16(const Machine& machine, const std::string& now) {
  if (!machine.ranks_share_memory() || machine.calibrated.empty()) return {};
  const std::string& then = machine.bf16_products;
  // Older versions widened, and so does this one where a processor knows nothing else.
  if (then.empty() && now != kWidenedBf16)
    return message("bf16-untold",
                   "An older version measured the cores and did not say how they multiply bf16: "
                   "times in bf16 may be off until `calibrate` runs again.");
  if (then.empty() || now.empty() || then == now) return {};
  return message("bf16-otherwise",
                 "The cores multiplied bf16 {} when they were measured and {} now: times in bf16 "
                 "are off until `calibrate` runs again.",
                 bf16_words(then), bf16_words(now));
}

std::optional<Message> outdated_rates(const Setup& setup, const Machine& machine,
                                      const std::string& now) {
  if (setup.precision.parameter_bytes != 2) return {};
  return outdated_bf16(machine, now);
}

std::optional<Message> disturbed_calibration(const Machine& machine) {
  if (!machine.ranks_share_memory() || machine.calibrated.empty()) return {};
  const double used = machine.cores_used_by_others.value_or(0);
  if (used <= kQuietShare * machine.cores) return {};
  return message("calibration-disturbed",
                 "Other programs used {} of {} while this computer was measured: its rates may be "
                 "too slow. Measure again when it is quiet.",
                 figure(fmt::format("{:.1f}", used)), counted_cores(machine.cores));
}

std::vector<std::string> machine_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const EmbeddedFile* file : preset_files()) names.push_back(machine_of_file(*file));
    const auto place = [](const std::string& name) {
      return std::find(kMachineOrder.begin(), kMachineOrder.end(), name) - kMachineOrder.begin();
    };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      return place(a) < place(b);
    });
    names.insert(names.begin(), "local");
    return names;
  }();
  return kNames;
}

std::string machine_called(const std::string& name) {
  for (const auto& [former, now] : kFormerNames)
    if (name == former) return now;
  return name;
}

Result<Machine> find_machine(const std::string& name) {
  if (name == "local") {
    const std::string path = local_machine_path();
    std::error_code error;
    if (path.empty() || !std::filesystem::exists(path, error)) return uncalibrated_local_machine();
    Result<Machine> machine = read_local(path);
    if (!machine) return machine;
    if (machine->cores != available_core_count()) return uncalibrated_local_machine();
    machine->name = name;
    return machine;
  }
  if (name == kLocalGpus) return read_local_gpus();
  if (std::optional<Result<Machine>> preset = find_preset(name)) return std::move(*preset);
  const std::vector<std::string> names = machine_names();
  Message error = message("machine-unknown", "There is no machine “{}”; there are {}.", shown(name),
                          fmt::format("{}", fmt::join(names, ", ")));
  error.field = "machine";
  error.alternatives = names;
  return error;
}

bool ranks_share_gpu(const Setup& setup, const Machine& machine) {
  if (machine.name != kLocalGpus) return false;
  const Result<std::vector<int>> chosen = device_list(setup.run.devices);
  const std::size_t count = chosen && !chosen->empty()
                                ? chosen->size()
                                : static_cast<std::size_t>(machine.devices_per_node);
  return static_cast<std::size_t>(setup.mesh.ranks()) >
         count * static_cast<std::size_t>(std::max(machine.nodes, 1));
}

bool has_nvidia_driver() {
  if (std::getenv("PARALLELARIUM_DRIVER") != nullptr) return true;
  return std::any_of(kDriverFiles.begin(), kDriverFiles.end(),
                     [](const char* file) { return access(file, F_OK) == 0; });
}

Message title_of(const Machine& machine) {
  if (!machine.changed_from.empty())
    return message("machine-changed", "{}, changed", machine.changed_from);
  const std::vector<std::string>& names = machine.gpus;
  if (machine.name == kLocalGpus && names.size() == 1)
    return message("machine-gpu", "This computer's {}", names.front());
  if (machine.name == kLocalGpus && !names.empty()) {
    std::vector<std::string> kinds;
    for (const std::string& name : names)
      if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) kinds.push_back(name);
    return message("machine-gpus", "This computer's {} GPUs ({})", names.size(),
                   fmt::format("{}", fmt::join(kinds, ", ")));
  }
  if (machine.local && machine.gpus.empty()) return message("machine-local", "This computer");
  return plain(machine.title.empty() ? machine.name : machine.title);
}

void set_gpus(Machine& machine, const std::vector<std::string>& names) {
  machine.name = kLocalGpus;
  machine.gpus = names;
  machine.title = title_of(machine).text;
}

bool is_among(const Machine& gpus, const std::string& name) {
  return std::find(gpus.gpus.begin(), gpus.gpus.end(), name) != gpus.gpus.end();
}

std::vector<int> calibrated_among(const Machine& gpus, const std::vector<std::string>& names) {
  const auto count = static_cast<int>(names.size());
  std::set<int> found;
  for (int gpu = 0; gpu < count; ++gpu)
    if (is_among(gpus, names[static_cast<std::size_t>(gpu)])) found.insert(gpu);
  if (found.empty()) return {};
  const bool alike =
      std::adjacent_find(names.begin(), names.end(), std::not_equal_to<>()) == names.end();
  // Every pair was measured, and one GPU has none. GPUs that are all alike may have come from other
  // slots.
  std::set<int> paired;
  for (const PairLink& pair : gpus.pairs) paired.insert({pair.from, pair.to});
  const bool there = !paired.empty() && *paired.begin() >= 0 && *paired.rbegin() < count;
  if (there) {
    found = paired;
  } else if (!paired.empty()) {
    if (!alike) return {};
  } else if (!alike && gpus.devices_per_node == 1) {
    found = {*found.begin()};
  }
  std::vector<std::string> theirs;
  for (const int gpu : found) theirs.push_back(names[static_cast<std::size_t>(gpu)]);
  if (theirs != gpus.gpus) return {};
  return {found.begin(), found.end()};
}

std::string local_machine_path(bool gpus) { return kept_path(gpus ? "gpus.json" : "machine.json"); }

Result<void> save_local_machine(const Machine& machine) {
  return keep(local_machine_path(machine.name == kLocalGpus), to_json(machine));
}

Machine uncalibrated_local_machine() {
  Machine machine;
  machine.local = true;
  machine.title = title_of(machine).text;
  machine.cores = available_core_count();
  machine.devices_per_node = machine.cores;
  machine.lanes_share_core = true;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  machine.memory_bytes = {
      std::floor(memory / machine.cores),
      with_note({OriginKind::kMeasuredHere},
                machine.cores == 1 ? SentenceId("origin-note-shared-one")
                                   : SentenceId("origin-note-shared"),
                {fmt::format("{:.1f} GB", memory / 1e9), std::to_string(machine.cores)})};
  machine.memory_bytes_per_second = {10e9};
  machine.fp32_flops_per_second = {100e9};
  machine.half_flops_per_second = {100e9};
  machine.matmul_efficiency = {0.6};
  machine.launch_seconds = {2e-6};
  machine.intra_node = {{10e-6}, {5e9}};
  machine.inter_node = machine.intra_node;
  return machine;
}

}  // namespace parallelarium
