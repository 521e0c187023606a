// SPDX-License-Identifier: Apache-2.0
#include "engine/run/net/place.h"

#include <charconv>
#include <cstdlib>

namespace parallelarium {

namespace {

constexpr int kMostProcesses = 1 << 20, kMostPorts = 65535;

std::optional<int> number(const std::string& text, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > most)
    return std::nullopt;
  return value;
}

// Reads the variables of one launcher and keeps the first thing that is wrong.
class Reader {
 public:
  Reader(const Environment& environment, std::string launcher)
      : environment_(environment), launcher_(std::move(launcher)) {}

  int whole(const char* name, int most = kMostProcesses) {
    const std::optional<std::string> text = environment_(name);
    const std::optional<int> value = text ? number(*text, most) : std::nullopt;
    if (value) return *value;
    if (!error_) {
      error_ =
          message("launcher-unclear",
                  "{} started this process, but {} is {}; start all ranks with one {} command.",
                  launcher_, name, text ? "\"" + *text + "\"" : "not set", launcher_);
    }
    return 0;
  }
  const std::optional<Message>& error() const { return error_; }

 private:
  const Environment& environment_;
  const std::string launcher_;
  std::optional<Message> error_;
};

Result<std::optional<ProcessPlace>> done(const Reader& reader, const ProcessPlace& place) {
  if (reader.error()) return *reader.error();
  if (place.size < 2) return std::optional<ProcessPlace>{};
  if (place.rank >= place.size || place.local_rank >= place.local_size) {
    return message("launcher-unclear.places",
                   "{} says that this is rank {} of {}, and {} of {} on its host; start all ranks "
                   "with one command.",
                   place.launcher, place.rank, place.size, place.local_rank, place.local_size);
  }
  return std::optional<ProcessPlace>{place};
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

std::string first_host(const std::string& slurm_list) {
  const std::size_t stop = slurm_list.find_first_of(",[");
  std::string host = slurm_list.substr(0, stop);
  if (stop == std::string::npos || slurm_list[stop] == ',') return host;
  const std::size_t end = slurm_list.find_first_of(",-]", stop + 1);
  host += slurm_list.substr(stop + 1, end == std::string::npos ? end : end - stop - 1);
  const std::size_t close = slurm_list.find(']', stop);
  if (close == std::string::npos) return host;
  // What stands behind the brackets belongs to every host: "n[1-2]-ib".
  const std::size_t next = slurm_list.find(',', close);
  return host + slurm_list.substr(close + 1, next == std::string::npos ? next : next - close - 1);
}

int tasks_of_node(const std::string& slurm_list, int node) {
  for (std::size_t at = 0; at < slurm_list.size();) {
    const std::size_t end = std::min(slurm_list.find(',', at), slurm_list.size());
    const std::string entry = slurm_list.substr(at, end - at);
    const std::size_t times = entry.find("(x");
    const std::optional<int> tasks = number(entry.substr(0, times), kMostProcesses);
    const std::optional<int> nodes =
        times == std::string::npos
            ? std::optional<int>{1}
            : number(entry.substr(times + 2, entry.size() - times - 3), kMostProcesses);
    if (!tasks || !nodes) return 0;
    if (node < *nodes) return *tasks;
    node -= *nodes;
    at = end + 1;
  }
  return 0;
}

Result<std::optional<ProcessPlace>> find_place(const Environment& environment) {
  const auto has = [&](const char* name) { return environment(name).has_value(); };
  ProcessPlace place;
  const auto set_address = [&](Reader& reader, const std::string& known) {
    place.address = environment("MASTER_ADDR").value_or(known);
    place.port = has("MASTER_PORT") ? reader.whole("MASTER_PORT", kMostPorts) : kDefaultPort;
  };
  // RANK alone is no proof: some platforms number nodes with it.
  if (has("RANK") && has("WORLD_SIZE") && has("LOCAL_RANK") && has("MASTER_ADDR")) {
    place.launcher = "torchrun";
    Reader reader(environment, place.launcher);
    place.rank = reader.whole("RANK");
    place.size = reader.whole("WORLD_SIZE");
    place.local_rank = reader.whole("LOCAL_RANK");
    place.local_size = has("LOCAL_WORLD_SIZE") ? reader.whole("LOCAL_WORLD_SIZE") : place.size;
    place.address = *environment("MASTER_ADDR");
    place.port = reader.whole("MASTER_PORT", kMostPorts);
    if (environment("TORCHELASTIC_USE_AGENT_STORE") == "True") ++place.port;
    return done(reader, place);
  }
  if (has("OMPI_COMM_WORLD_RANK")) {
    place.launcher = "Open MPI";
    Reader reader(environment, "mpirun");
    place.rank = reader.whole("OMPI_COMM_WORLD_RANK");
    place.size = reader.whole("OMPI_COMM_WORLD_SIZE");
    place.local_rank = reader.whole("OMPI_COMM_WORLD_LOCAL_RANK");
    place.local_size = reader.whole("OMPI_COMM_WORLD_LOCAL_SIZE");
    set_address(reader, place.local_size == place.size ? "127.0.0.1" : "");
    if (!reader.error() && place.size > 1 && place.address.empty()) {
      return message("launcher-unclear.hosts",
                     "mpirun started ranks on several hosts and does not tell where rank 0 is; add "
                     "-x MASTER_ADDR=HOST with the host of rank 0.");
    }
    return done(reader, place);
  }
  if (has("SLURM_PROCID") && has("SLURM_STEP_NUM_TASKS")) {
    place.launcher = "Slurm";
    Reader reader(environment, "srun");
    place.rank = reader.whole("SLURM_PROCID");
    place.size = reader.whole("SLURM_STEP_NUM_TASKS");
    place.local_rank = reader.whole("SLURM_LOCALID");
    const std::string tasks = environment("SLURM_STEP_TASKS_PER_NODE").value_or("");
    const int node = has("SLURM_NODEID") ? reader.whole("SLURM_NODEID") : 0;
    place.local_size = std::max(tasks_of_node(tasks, node), place.local_rank + 1);
    set_address(reader, first_host(environment("SLURM_STEP_NODELIST").value_or("127.0.0.1")));
    return done(reader, place);
  }
  return std::optional<ProcessPlace>{};
}

}  // namespace parallelarium
