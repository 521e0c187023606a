// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/check_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/plan/machine/machine.h"
#include "engine/plan/text/message_json.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

constexpr const char* kFormat = "parallelarium-gpu-checks/2";
constexpr std::size_t kMostTogether = 1024;  // 16 GPUs have 120 pairs

// Virtual GPUs may have no UUID.
std::string name_of_gpu(const GpuFacts& gpu) {
  return gpu.uuid.empty() ? fmt::format("{} {}", gpu.name, gpu.bus) : gpu.uuid;
}

// The linker's build ID of a loaded library, in hexadecimal.
struct BuildId {
  const char* file;
  std::string text;
};
void read_notes(const char* at, std::size_t bytes, std::string& text) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const std::size_t name = (note.n_namesz + 3U) & ~3U, own = (note.n_descsz + 3U) & ~3U;
    if (sizeof note + name + own > bytes) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(at + sizeof note, "GNU", 4) == 0) {
      for (std::size_t i = 0; i < note.n_descsz; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned char>(at[sizeof note + name + i]));
      return;
    }
    at += sizeof note + name + own;
    bytes -= sizeof note + name + own;
  }
}
int look_at_library(dl_phdr_info* info, std::size_t, void* wanted) {
  auto& id = *static_cast<BuildId*>(wanted);
  if (!std::string_view(info->dlpi_name).ends_with(id.file)) return 0;
  for (int i = 0; i < info->dlpi_phnum && id.text.empty(); ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_NOTE)
      read_notes(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr), header.p_memsz,
                 id.text);
  }
  // Linked without one: size and time tell builds apart, too.
  std::error_code failed;
  if (id.text.empty())
    id.text = fmt::format(
        "{} bytes of {}", std::filesystem::file_size(info->dlpi_name, failed),
        std::filesystem::last_write_time(info->dlpi_name, failed).time_since_epoch().count());
  return 1;
}

// The number of the driver itself, where Linux tells it.
std::string driver_number() {
  std::string text;
  std::ifstream("/sys/module/nvidia/version") >> text;
  return text;
}

template <class Value>
Value value_of(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end()) return {};
  if constexpr (std::is_same_v<Value, std::string>)
    return found->is_string() ? found->template get<std::string>() : Value();
  else if constexpr (std::is_same_v<Value, bool>)
    return found->is_boolean() && found->template get<bool>();
  else
    return found->is_array() ? *found : nlohmann::json::array();
}
CheckKey key_of(const nlohmann::json& json) {
  return {value_of<std::string>(json, "driver"), value_of<std::string>(json, "module"),
          value_of<std::string>(json, "nccl")};
}

}  // namespace

CheckKey check_key_here(const CudaModule& module, bool nccl) {
  BuildId id{"libparallelarium-cuda.so", {}};
  dl_iterate_phdr(look_at_library, &id);
  CheckKey key;
  key.driver = driver_number();
  if (key.driver.empty()) key.driver = "CUDA " + cuda_version_text(module.versions().driver);
  key.module = id.text;
  if (nccl)
    if (const Result<Nccl*> library = module.nccl())
      key.nccl = nccl_version_text((*library)->version());
  return key;
}

std::string gpu_checks_path() {
  const std::string beside = local_machine_path(true);
  if (beside.empty()) return {};
  return std::filesystem::path(beside).replace_filename("gpu_checks.json").string();
}

RememberedChecks RememberedChecks::load(const std::string& path) {
  RememberedChecks checks;
  std::ifstream file(path);
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || value_of<std::string>(json, "format") != kFormat) return checks;
  for (const nlohmann::json& one : value_of<nlohmann::json>(json, "gpus")) {
    if (!one.is_object()) continue;
    checks.gpus_[value_of<std::string>(one, "gpu")] = {key_of(one), message_at(one, "failure"),
                                                       value_of<std::string>(one, "date")};
  }
  for (const nlohmann::json& one : value_of<nlohmann::json>(json, "together")) {
    if (!one.is_object()) continue;
    Together together{
        key_of(one), {}, value_of<bool>(one, "collectives"), message_at(one, "failure")};
    for (const nlohmann::json& gpu : value_of<nlohmann::json>(one, "gpus"))
      if (gpu.is_string()) together.gpus.push_back(gpu.get<std::string>());
    checks.together_.push_back(std::move(together));
  }
  return checks;
}

Result<void> RememberedChecks::save(const std::string& path) const {
  const auto failed = [&](const std::string& what) {
    return message("check-save", "The check cannot be kept in {}: {}.", path, what);
  };
  if (path.empty())
    return message("check-home", "There is no HOME, so the check has no place; set HOME.");
  nlohmann::json gpus = nlohmann::json::array(), together = gpus;
  for (const auto& [name, one] : gpus_) {
    gpus.push_back({{"gpu", name},
                    {"driver", one.key.driver},
                    {"module", one.key.module},
                    {"date", one.date}});
    put_text(gpus.back(), "failure", one.failure);
  }
  for (const Together& one : together_) {
    together.push_back({{"gpus", one.gpus},
                        {"collectives", one.collectives},
                        {"driver", one.key.driver},
                        {"module", one.key.module},
                        {"nccl", one.key.nccl}});
    put_text(together.back(), "failure", one.failure);
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return failed(error.message());
  const std::string partial = fmt::format("{}.{}", path, getpid());
  std::ofstream file(partial, std::ios::trunc);
  file << nlohmann::json{{"format", kFormat}, {"gpus", gpus}, {"together", together}}.dump(2)
       << '\n';
  file.close();
  if (file) std::filesystem::rename(partial, path, error);
  if (file && !error) return {};
  std::error_code ignored;
  std::filesystem::remove(partial, ignored);
  return failed("the disk is full or the folder cannot be written");
}

Result<void> RememberedChecks::update(const std::string& path,
                                      const std::function<void(RememberedChecks&)>& change) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  // Beside the file, which is replaced. Where it cannot be made, saving says why.
  const int lock = open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
  while (lock >= 0 && flock(lock, LOCK_EX) != 0 && errno == EINTR) continue;
  RememberedChecks checks = load(path);
  change(checks);
  const Result<void> saved = checks.save(path);
  if (lock >= 0) close(lock);
  return saved;
}

void RememberedChecks::note(const GpuCheck& check, const CheckKey& key, const std::string& date) {
  const CheckKey alone{key.driver, key.module, {}};
  std::map<int, std::string> names;
  const auto failure_of = [](const std::vector<CheckFailure>& failures) {
    return failures.empty() ? Message{} : failures.front().sentence;
  };
  for (const CheckedGpu& gpu : check.gpus) {
    names[gpu.device] = name_of_gpu(gpu.facts);
    if (gpu.failed() || gpu.unreached.empty())
      gpus_[names[gpu.device]] = {alone, failure_of(gpu.failures), date};
  }
  for (const CheckedLink& link : check.links)
    if (link.reached)
      keep({key,
            {names[link.promise.from], names[link.promise.to]},
            false,
            failure_of(link.failures)});
  for (const CheckedGroup& group : check.groups) {
    if (!group.reached) continue;
    Together one{key, {}, true, failure_of(group.failures)};
    for (const int device : group.devices) one.gpus.push_back(names[device]);
    keep(std::move(one));
  }
}

void RememberedChecks::keep(Together one) {
  std::sort(one.gpus.begin(), one.gpus.end());
  std::erase_if(together_, [&](const Together& old) {
    return old.gpus == one.gpus && old.collectives == one.collectives;
  });
  together_.push_back(std::move(one));
  if (together_.size() > kMostTogether) together_.erase(together_.begin());
}

Message RememberedChecks::failure_of(const GpuFacts& gpu, const CheckKey& key) const {
  const auto found = gpus_.find(name_of_gpu(gpu));
  const CheckKey alone{key.driver, key.module, {}};
  return found != gpus_.end() && found->second.key == alone ? found->second.failure : Message{};
}

bool RememberedChecks::is_right(const GpuFacts& gpu, const CheckKey& key) const {
  const auto found = gpus_.find(name_of_gpu(gpu));
  const CheckKey alone{key.driver, key.module, {}};
  return found != gpus_.end() && found->second.key == alone && found->second.failure.text.empty();
}

std::vector<TriedSet> RememberedChecks::tried(const std::vector<GpuFacts>& gpus,
                                              const std::vector<int>& numbers,
                                              const CheckKey& key) const {
  std::map<std::string, int> by_name;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    by_name[name_of_gpu(gpus[i])] = numbers.empty() ? static_cast<int>(i) : numbers[i];
  std::vector<TriedSet> sets;
  for (const Together& one : together_) {
    if (one.key != key) continue;
    TriedSet set{{}, one.collectives, one.failure};
    for (const std::string& name : one.gpus)
      if (const auto found = by_name.find(name); found != by_name.end())
        set.gpus.push_back(found->second);
    // Some of those that work with all work with each other, too.
    const bool of_more = set.gpus.size() < one.gpus.size();
    if (of_more && !(one.collectives && one.failure.text.empty())) continue;
    std::sort(set.gpus.begin(), set.gpus.end());
    sets.push_back(std::move(set));
  }
  return sets;
}

bool RememberedChecks::covers(const std::vector<GpuFacts>& gpus, const CheckKey& key) const {
  std::vector<int> good;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!failure_of(gpus[i], key).text.empty()) continue;
    if (!is_right(gpus[i], key)) return false;
    good.push_back(static_cast<int>(i));
  }
  return are_tried(good, tried(gpus, {}, key));
}

void mark_failed(std::vector<GpuFacts>& gpus, const CudaModule& module) {
  const std::string path = gpu_checks_path();
  if (path.empty() || !std::filesystem::exists(path)) return;
  const RememberedChecks checks = RememberedChecks::load(path);
  const CheckKey key = check_key_here(module, false);
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (Message why = checks.failure_of(gpus[i], key); !why.text.empty())
      gpus[i].check_failure = std::move(why);
}

std::vector<GpusApart> failed_sets(const std::vector<GpuFacts>& gpus, const CudaModule& module) {
  const std::string path = gpu_checks_path();
  if (path.empty() || !std::filesystem::exists(path)) return {};
  std::vector<GpusApart> apart;
  for (TriedSet& set : RememberedChecks::load(path).tried(gpus, {}, check_key_here(module, true)))
    if (!set.works()) apart.push_back({set.gpus, failed_together(set.gpus, set.failure)});
  return apart;
}

}  // namespace parallelarium
