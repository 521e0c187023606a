// SPDX-License-Identifier: Apache-2.0
#include "tests/emulation/shadow.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/emulation/cuda_runtime.h"

extern "C" {
// The linker's names for where the program begins, and for its variables that begin as zeros: those
// that are __shared__ are among them (a section of their own is no way: GCC 12 forgets the
// attribute in templates), and no other is written by kernels.
extern unsigned char __bss_start[], _end[];
extern const char __executable_start[];
}

namespace parallelarium::emulation {
namespace {

constexpr std::size_t kGranule = 2;  // bytes that share an entry: those of a Bf16
constexpr std::size_t kDeviceBytes = std::size_t{2} << 30;
constexpr std::size_t kApart = 256;  // bytes between allocations that are nobody's

alignas(256) unsigned char dynamic_memory[kMostShared];

// The last touch of a kind. Of reads since the last write, `thread` may stand for several.
constexpr std::uint16_t kSeveralLanes = 0x8000;  // with the number of their warp
constexpr std::uint16_t kSeveralWarps = 0xFFFF;
struct Touch {
  std::uint32_t block = 0;  // counted through all launches, from 1; 0 where there was none
  std::uint32_t code = 0;   // where, from the program's begin
  std::uint16_t barriers = 0;
  std::uint16_t syncs = 0;
  std::uint16_t thread = 0;
  bool on_its_way = false;  // a write by an asynchronous copy that has not been waited for
};
struct alignas(32) LaunchRow {  // so that none lies in two lines of the cache
  Touch write, read;
};
static_assert(sizeof(LaunchRow) == 32);

std::uint32_t block = 0;        // that runs
std::uint32_t first_block = 1;  // of the launch
const Position* position = nullptr;
std::string fault;  // the first of the launch

std::vector<LaunchRow> shared_entries(static_cast<std::size_t>(_end - __bss_start) / kGranule + 1);

void* reserve(std::size_t bytes) {
  void* const address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    std::perror("The emulation cannot reserve the addresses of its device memory");
    std::abort();
  }
  return address;
}
struct DeviceMemory {
  unsigned char* begin = static_cast<unsigned char*>(reserve(kDeviceBytes));
  LaunchRow* entries =
      static_cast<LaunchRow*>(reserve(kDeviceBytes / kGranule * sizeof(LaunchRow)));
  std::map<const unsigned char*, std::size_t> allocated;
  std::pair<const unsigned char*, std::size_t> last{};  // of them, that was touched
  std::size_t used = 0;
};
DeviceMemory device;

// File and line of a place in the code, with what it was inlined into.
std::string source_of(std::uint32_t code) {
  char command[160];
  // The address is one of the return, behind the call.
  std::snprintf(command, sizeof command, "addr2line -i -s -e /proc/%d/exe 0x%x 2>/dev/null",
                static_cast<int>(getpid()), code - 1);
  std::string places;
  if (FILE* const lines = popen(command, "r")) {
    char line[512];
    while (std::fgets(line, sizeof line, lines) != nullptr) {
      line[std::strcspn(line, "\n")] = 0;
      places += (places.empty() ? "" : " in ") + std::string(line);
    }
    pclose(lines);
  }
  if (places.empty()) std::snprintf(command, sizeof command, "code at 0x%x", code);
  return places.empty() ? command : places;
}

std::string thread_name(std::uint16_t thread) {
  if (thread == kSeveralWarps) return "threads of several warps";
  if ((thread & kSeveralLanes) != 0)
    return "threads of warp " + std::to_string(thread & ~kSeveralLanes);
  return "thread " + std::to_string(thread);
}

void tell(const std::string& what) {
  if (fault.empty()) fault = what;
}
[[gnu::cold]] void tell_race(const Touch& before, bool before_writes, const Touch& now,
                             bool now_writes, bool is_shared) {
  if (!fault.empty()) return;
  const char* const memory = is_shared ? "shared memory" : "device memory";
  const auto touch = [](const Touch& of, bool writes) {
    return thread_name(of.thread) + (writes ? " writes" : " reads") + " (" + source_of(of.code) +
           ")";
  };
  if (before.block != now.block)
    tell(std::string("Two blocks of a launch touch the same word of ") + memory + ": " +
         touch(before, before_writes) + " of the one, " + touch(now, now_writes) +
         " of the other. Give each word to one block.");
  else
    tell(std::string("Two threads touch the same word of ") + memory +
         " without a barrier between: " + touch(before, before_writes) + ", " +
         touch(now, now_writes) + ". Put __syncthreads() between, or __syncwarp() within a warp.");
}

// Whether a touch of this launch that has been is ordered before one of now.
[[gnu::always_inline]] inline bool is_before(const Touch& before, const Touch& now) {
  if (before.block != now.block) return false;
  if (before.barriers != now.barriers || before.thread == now.thread) return true;
  if (before.thread == kSeveralWarps) return false;
  const unsigned warp =
      (before.thread & kSeveralLanes) != 0 ? before.thread & ~kSeveralLanes : before.thread / 32U;
  return warp == now.thread / 32U && before.syncs != now.syncs;
}

[[gnu::always_inline]] inline void note_read(Touch& reads, const Touch& now) {
  if (reads.block == 0 || (reads.block == now.block && reads.barriers != now.barriers)) {
    reads = now;
    return;
  }
  // Of several blocks the first: that one has ended, so that whoever writes now is another.
  if (reads.block != now.block) return;
  if (reads.thread == kSeveralWarps || reads.thread == now.thread) {
    reads.syncs = now.syncs;
    return;
  }
  const unsigned warp =
      (reads.thread & kSeveralLanes) != 0 ? reads.thread & ~kSeveralLanes : reads.thread / 32U;
  if (warp != now.thread / 32U)
    reads.thread = kSeveralWarps;
  else if (reads.syncs != now.syncs)
    reads = now;
  else
    reads.thread = static_cast<std::uint16_t>(kSeveralLanes | warp);
}

Touch touch_of(const void* caller) {
  return {block,
          static_cast<std::uint32_t>(static_cast<const char*>(caller) - __executable_start),
          static_cast<std::uint16_t>(position->barriers),
          static_cast<std::uint16_t>(position->syncs),
          static_cast<std::uint16_t>(position->thread),
          false};
}

struct Entries {
  LaunchRow* first = nullptr;
  std::size_t count = 0;
  std::uint32_t since = 0;  // the first block whose touches count
  bool is_shared = false;
};
// None where nobody else can see the address.
[[gnu::always_inline]] inline Entries entries_of(const void* address, std::size_t bytes) {
  const auto* const at = static_cast<const unsigned char*>(address);
  const auto span = [&](std::size_t offset) {
    return (offset + bytes + kGranule - 1) / kGranule - offset / kGranule;
  };
  if (at >= __bss_start && at < _end) {
    const auto offset = static_cast<std::size_t>(at - __bss_start);
    return {&shared_entries[offset / kGranule], span(offset), block, true};
  }
  if (at < device.begin || at >= device.begin + kDeviceBytes) return {};
  const auto offset = static_cast<std::size_t>(at - device.begin);
  return {device.entries + offset / kGranule, span(offset), first_block, false};
}

bool is_allocated(const void* address, std::size_t bytes) {
  const auto* const at = static_cast<const unsigned char*>(address);
  if (at < device.last.first || at >= device.last.first + device.last.second) {
    auto next = device.allocated.upper_bound(at);
    if (next == device.allocated.begin()) return false;
    device.last = *--next;
  }
  return at + bytes <= device.last.first + device.last.second;
}

// A touch that is nothing special ends in touch_seen(); others come here, from the start again:
// what that has noted of `now` by then is no fault of `now`.
[[gnu::cold, gnu::noinline]] void touch_with_care(const void* address, std::size_t bytes,
                                                  bool writes, const Touch& now,
                                                  const Entries& entries) {
  if (!entries.is_shared && !is_allocated(address, bytes))
    tell("Thread " + std::to_string(now.thread) + " touches device memory that is not allocated (" +
         source_of(now.code) + ").");
  if (bytes < kGranule) return;
  for (std::size_t at = 0; at < entries.count; ++at) {
    LaunchRow& entry = entries.first[at];
    if (entry.write.on_its_way && entry.write.block == block && fault.empty())
      tell("Thread " + std::to_string(now.thread) +
           " touches a word that an asynchronous copy is still to bring (" + source_of(now.code) +
           "): wait_for_copies() comes first.");
    if (entry.write.block >= entries.since && !is_before(entry.write, now))
      tell_race(entry.write, true, now, writes, entries.is_shared);
    if (writes) {
      if (entry.read.block >= entries.since && !is_before(entry.read, now))
        tell_race(entry.read, false, now, true, entries.is_shared);
      entry.write = now;
      entry.read.block = 0;
    } else {
      if (entry.read.block < entries.since) entry.read.block = 0;
      note_read(entry.read, now);
    }
  }
}

template <std::size_t bytes, bool writes>
[[gnu::noinline]] void touch_seen(const void* address, const void* caller, std::size_t count) {
  if (position == nullptr) return;
  const std::size_t size = bytes > 0 ? bytes : count;
  const Entries entries = entries_of(address, size);
  const Touch now = touch_of(caller);
  const auto* const at = static_cast<const unsigned char*>(address);
  if (!entries.is_shared &&
      (at < device.last.first || at + size > device.last.first + device.last.second))
    return touch_with_care(address, size, writes, now, entries);
  if (size < kGranule) return;
  for (LaunchRow* entry = entries.first; entry != entries.first + entries.count; ++entry) {
    const bool written = entry->write.block >= entries.since;
    if (written && (entry->write.on_its_way || !is_before(entry->write, now)))
      return touch_with_care(address, size, writes, now, entries);
    if (writes) {
      if (entry->read.block >= entries.since && !is_before(entry->read, now))
        return touch_with_care(address, size, writes, now, entries);
      entry->write = now;
      entry->read.block = 0;
    } else {
      if (entry->read.block < entries.since) entry->read.block = 0;
      note_read(entry->read, now);
    }
  }
}

// Most of what kernels touch are variables of their own: those are told apart at once.
template <std::size_t bytes, bool writes>
[[gnu::always_inline]] inline void touch(const void* address, const void* caller,
                                         std::size_t count = bytes) {
  const auto* const at = static_cast<const unsigned char*>(address);
  if (static_cast<std::size_t>(at - __bss_start) < static_cast<std::size_t>(_end - __bss_start) ||
      static_cast<std::size_t>(at - device.begin) < kDeviceBytes)
    touch_seen<bytes, writes>(address, caller, count);
}

}  // namespace

unsigned char* dynamic_part() { return dynamic_memory; }

void* allocate(std::size_t bytes) {
  if (device.allocated.empty()) device.used = 0;
  const std::size_t taken = (bytes + kApart - 1) / kApart * kApart + kApart;
  if (bytes > kDeviceBytes || device.used + taken > kDeviceBytes) return nullptr;
  unsigned char* const address = device.begin + device.used;
  device.used += taken;
  device.allocated[address] = bytes;
  return address;
}
void release(void* address) {
  device.last = {};
  if (address == nullptr || device.allocated.erase(static_cast<unsigned char*>(address)) == 1)
    return;
  std::fprintf(stderr, "cudaFree of an address that cudaMalloc did not give.\n");
  std::abort();
}

void begin_launch() { first_block = block + 1; }
void end_launch() {
  if (fault.empty()) return;
  ADD_FAILURE() << fault;
  fault.clear();
}
void begin_block(std::size_t dynamic_bytes) {
  ++block;
  std::memset(dynamic_memory, 0xFF, dynamic_bytes);
}

void set_position(const Position* now) { position = now; }

void begin_copy(const void* to, const void* from, std::size_t bytes, bool there) {
  const void* const caller = __builtin_return_address(0);
  if (there) touch<0, false>(from, caller, bytes);
  touch<0, true>(to, caller, bytes);
  const Entries entries = entries_of(to, bytes);
  for (std::size_t at = 0; at < entries.count; ++at) entries.first[at].write.on_its_way = true;
}
void end_copy(const void* to, std::size_t bytes) {
  const Entries entries = entries_of(to, bytes);
  for (std::size_t at = 0; at < entries.count; ++at) entries.first[at].write.on_its_way = false;
  touch<0, true>(to, __builtin_return_address(0), bytes);
}

void check_multiple(const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0 && fault.empty())
    tell("A warp's instruction takes " + std::to_string(bytes) +
         " bytes at an address that is no multiple of them.");
}

}  // namespace parallelarium::emulation

// What the compiler calls before each touch of memory that may be seen by others.
using parallelarium::emulation::touch;
extern "C" {
#define PARALLELARIUM_TOUCH(kind, bytes, writes)                \
  void __tsan_##kind##bytes(void* address) {                    \
    touch<bytes, writes>(address, __builtin_return_address(0)); \
  }                                                             \
  void __tsan_unaligned_##kind##bytes(void* address) {          \
    touch<bytes, writes>(address, __builtin_return_address(0)); \
  }
PARALLELARIUM_TOUCH(read, 1, false)
PARALLELARIUM_TOUCH(read, 2, false)
PARALLELARIUM_TOUCH(read, 4, false)
PARALLELARIUM_TOUCH(read, 8, false)
PARALLELARIUM_TOUCH(read, 16, false)
PARALLELARIUM_TOUCH(write, 1, true)
PARALLELARIUM_TOUCH(write, 2, true)
PARALLELARIUM_TOUCH(write, 4, true)
PARALLELARIUM_TOUCH(write, 8, true)
PARALLELARIUM_TOUCH(write, 16, true)
void __tsan_read_range(void* address, std::size_t bytes) {
  touch<0, false>(address, __builtin_return_address(0), bytes);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  touch<0, true>(address, __builtin_return_address(0), bytes);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
// The guard of a function's static variable.
std::uint8_t __tsan_atomic8_load(const std::uint8_t* value, int) {
  return __atomic_load_n(value, __ATOMIC_SEQ_CST);
}

// An address that is no multiple of its type's alignment. The layout is that of libubsan.
struct UbsanTypeMismatch {
  const char* file;
  std::uint32_t line, column;
  const void* type;
  unsigned char log_alignment;
  unsigned char kind;
};
void __ubsan_handle_type_mismatch_v1(const UbsanTypeMismatch* mismatch, std::uintptr_t address);
void __ubsan_handle_type_mismatch_v1(const UbsanTypeMismatch* mismatch, std::uintptr_t) {
  using namespace parallelarium::emulation;
  if (position == nullptr) return;
  tell("Thread " + std::to_string(position->thread) +
       " touches an address that is no multiple of " +
       std::to_string(1U << mismatch->log_alignment) + " bytes, as its type asks (" +
       mismatch->file + ":" + std::to_string(mismatch->line) + ").");
}
}
