// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_choices.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <string_view>

namespace parallelarium {

namespace {

// "ReduceScatter" as the engine calls it: "reduce_scatter".
std::string name_of_function(std::string_view function) {
  std::string name;
  for (const char c : function) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) != 0 && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(letter));
  }
  return name;
}

// Bytes of one number of a type whose name ends in its bits: "ncclFloat32", "ncclBfloat16".
std::int64_t bytes_of_type(std::string_view type) {
  const std::size_t letters = type.find_last_not_of("0123456789");
  if (letters == std::string_view::npos || letters + 1 == type.size()) return 1;
  std::int64_t bits = 0;
  for (const char digit : type.substr(letters + 1)) bits = bits * 10 + (digit - '0');
  return std::max<std::int64_t>(bits / 8, 1);
}

struct Context {
  int ranks = 0;
};

int begin_communicator(void** context, int* events, const char*, std::uint64_t, int, int ranks, int,
                       void*) {
  *context = std::make_unique<Context>(Context{ranks}).release();
  // NCCL 2.27 tells of collectives only where it may tell of their groups.
  *events = kNcclGroupEvent | kNcclCollectiveEvent;
  return 0;
}
int begin_event(void* context, void** handle, NcclProfilerEvent* event) {
  *handle = context;  // nothing ends it, and NCCL wants one that is not null
  // One rank of a communicator tells for all of them.
  if (event->type != kNcclCollectiveEvent || event->rank != 0) return 0;
  const auto& told = event->collective;
  nccl_choices().add(told.function, told.type, static_cast<std::int64_t>(told.count),
                     static_cast<const Context*>(context)->ranks, told.algorithm, told.protocol,
                     told.channels);
  return 0;
}
int end_event(void*) { return 0; }
int record_state(void*, int, void*) { return 0; }
int end_communicator(void* context) {
  const std::unique_ptr<Context> owned(static_cast<Context*>(context));
  return 0;
}

}  // namespace

void NcclChoices::add(const char* function, const char* type, std::int64_t count, int ranks,
                      const char* algorithm, const char* protocol, int channels) {
  const auto text = [](const char* given) { return std::string(given != nullptr ? given : ""); };
  LibraryChoice choice;
  choice.collective = name_of_function(text(function));
  choice.ranks = ranks;
  choice.algorithm = text(algorithm);
  choice.protocol = text(protocol);
  choice.channels = channels;
  choice.least_bytes = choice.most_bytes = count * bytes_of_type(text(type));
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = made_.try_emplace(
      {choice.collective, ranks, choice.algorithm, choice.protocol, channels}, choice);
  LibraryChoice& known = place->second;
  known.least_bytes = std::min(known.least_bytes, choice.least_bytes);
  known.most_bytes = std::max(known.most_bytes, choice.most_bytes);
  ++known.calls;
}

std::vector<LibraryChoice> NcclChoices::take() {
  const std::lock_guard lock(mutex_);
  std::vector<LibraryChoice> all;
  for (auto& [key, choice] : made_) all.push_back(std::move(choice));
  made_.clear();
  return all;
}

NcclChoices& nccl_choices() {
  static NcclChoices choices;  // the plugin's functions are given nothing to write to
  return choices;
}

NcclProfiler nccl_profiler() {
  return {"parallelarium", begin_communicator, begin_event,
          end_event,       record_state,       end_communicator};
}

}  // namespace parallelarium
