// SPDX-License-Identifier: Apache-2.0
// What a Setup runs on: devices, links and rates. Every number knows where it comes from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct Setup;

// A number and its origin: "specification", "published in ...", "measured on this computer on
// 2026-11-21", or "assumed".
struct Sourced {
  double value = 0;
  std::string origin = "assumed";
  bool operator==(const Sourced&) const = default;
};

struct Link {
  Sourced latency_seconds;
  Sourced bytes_per_second;  // one direction, as a lone benchmark of large messages reaches it
  // The share of it that a training step's transfers and collectives reach.
  Sourced sustained = {1, "assumed"};
  std::string wire = {};  // "NVLink", "InfiniBand"; empty: not told
  bool operator==(const Link&) const = default;
};

// A weight gradient without the sums of its bias, which on a GPU are kernels of their own.
inline constexpr const char* kWeightGradAlone = "weight gradient alone";

// The rate of one matrix product [m,k] x [k,n] in the given precision. A forward and an input
// gradient of one shape differ: transposed weights, a bias, what the caches hold.
struct MatmulPoint {
  std::int64_t m = 0, n = 0, k = 0;
  Sourced flops_per_second = {};
  std::string phase = {};  // name_of(Phase), or kWeightGradAlone; empty: of any, as in older files
  std::string type = {};   // of storage, name_of(DataType); empty: float32, as in older files
  bool operator==(const MatmulPoint&) const = default;
};

// Shares of the roofline that products [m,k] x [k,n] of one type reach, on a grid of sizes; between
// them multilinear in the logarithms, beyond them as at the edge, so that no size makes a jump.
struct ProductShares {
  std::vector<double> m, n, k;  // ascending
  std::vector<double> shares;   // [m][n][k], each above 0 and at most 1
  std::string origin = "assumed";
  double at(std::int64_t m, std::int64_t n, std::int64_t k) const;  // 1 without a grid
  bool operator==(const ProductShares&) const = default;
};

// Shares of the peak that fused attention reaches in causal FLOPs, by the rows of queries of all
// heads and sequences, few of which leave a GPU's processors idle, and by the keys that a query may
// meet, few of which leave a block of queries little to do. Between sizes bilinear in the
// logarithms, beyond them as at the edge.
struct AttentionShares {
  std::vector<double> rows;      // B * H * T, ascending
  std::vector<double> keys;      // ascending; empty: of any
  std::vector<double> shares;    // [rows][keys]
  std::vector<double> backward;  // the same of the backward; empty: as forward
  std::string origin = "assumed";
  double at(double count, double keys_of_each, bool of_backward = false) const;  // 0: no table
  bool operator==(const AttentionShares&) const = default;
};

// Shares of the peak that experts' grouped products reach, by the rows that one expert has. Between
// sizes linear in the logarithm, beyond them as at the edge. Weight gradients of few rows add to
// much fp32 memory and are slower than the others.
struct ExpertShares {
  std::vector<double> rows;  // of one expert, ascending
  std::vector<double> forward, input_grad, weight_grad;
  std::string origin = "assumed";
  double at(const std::vector<double>& shares, double count) const;  // 0 without a table
  bool operator==(const ExpertShares&) const = default;
};

// Shares of the memory bandwidth that one pass of a training step reaches, by the bytes that it
// counts (Work::bytes): each tensor once, however often a framework's kernels move it. Beside
// Machine::launch_seconds; between sizes a line joins the times, so that none falls where sizes
// grow; beyond them as at the edge.
struct PassShares {
  std::string kernel;                 // "norm", "loss_grad", "adamw", ...: see kernels_of_pieces.h
  std::vector<double> bytes, shares;  // ascending; each share above 0 and at most 1
  std::string origin = "assumed";
  double at(double count) const;
  bool operator==(const PassShares&) const = default;
};

// Seconds of a lone collective among `ranks` devices of one node, by the bytes that the
// busiest of them sends or receives (collective_volume); of one message, too ("send"). Between
// sizes linear in the logarithms of both; a smaller one takes as long as the smallest, a larger one
// goes on at the largest's rate.
struct CollectiveTimes {
  std::string collective;  // name_of(CollectiveKind), or "send"
  int ranks = 0;
  std::vector<double> bytes, seconds;  // ascending
  // What the link's bytes_per_second was: a faster or slower one takes less or more for the bytes.
  double link_bytes_per_second = 0;
  std::string origin = "assumed";
  double at(double count) const;
  bool operator==(const CollectiveTimes&) const = default;
};

inline constexpr const char* kSendTimes = "send";

// How cores multiply bf16: by instructions of their own, or widened to fp32.
inline constexpr const char* kNativeBf16 = "native";
inline constexpr const char* kWidenedBf16 = "widened";

// The rate of a piece that is not a matrix product: seconds = launch + elements / rate. What fits
// into a cache is faster, so that a kernel may have several.
struct KernelRate {
  std::string kernel;  // "norm", "attention", "router", ...: see kernels_of_pieces.h
  Sourced elements_per_second = {};
  double elements = 0;    // of the calls that were measured; 0: of any, as in older files
  std::string type = {};  // as MatmulPoint's
  bool operator==(const KernelRate&) const = default;
};

// What a GPU's host needs to launch one call of a kernel, or one product.
struct HostCall {
  std::string call;  // as KernelRate's kernel, MatmulPoint's phase, kHostLaunch or kHostRead
  Sourced seconds;
  bool operator==(const HostCall&) const = default;
};
// A kernel that is a single launch; and until a host has read what its device has just made.
inline constexpr const char* kHostLaunch = "launch";
inline constexpr const char* kHostRead = "read";

// Between two GPUs of this computer, one direction.
struct PairLink {
  int from = 0, to = 0;  // as CUDA counts them
  Link link;
  bool operator==(const PairLink&) const = default;
};

// A whole collective among `ranks` GPUs or cores: seconds = latency + bytes / rate, bytes
// being the most that a rank sends or receives (collective_volume). Adding up is part of it.
struct CollectiveRate {
  std::string collective;  // name_of(CollectiveKind)
  int ranks = 0;
  Link link;
  bool operator==(const CollectiveRate&) const = default;
};

// Measured seconds of messages of so many bytes between two cores whose ranks wait awake, as those
// of a collective alone do.
struct TransferPoint {
  std::int64_t bytes = 0;
  double one = 0, both = 0;                    // one message; one each way at once
  double one_combined = 0, both_combined = 0;  // the same where the receiver combines
  double combine = 0, copy = 0;                // combining and copying on one rank alone
  // How many times as long one message, and one each way, where the sender's core wrote the bytes
  // since they were last read: they come out of its cache and are not yet in the receiver's.
  double fresh_one = 1, fresh_both = 1;
  // Each of so many ranks sends to the next at once, as in a step of a ring.
  int ring_ranks = 2;
  double ring = 0, ring_combined = 0;
  std::string origin = "assumed";
  bool operator==(const TransferPoint&) const = default;
};

struct Machine {
  std::string name = "local";  // preset's name, "local", or "local-gpus"
  std::string title;           // "This computer", "DGX H100"; title_of() for the window's language
  std::string changed_from;    // the title of the preset that it changes; no file says it
  std::vector<std::string> gpus;  // of "local-gpus": the kind of each that was measured, by number
  bool local = false;             // this computer: ranks can run here
  int devices_per_node = 1;
  int nodes = 1;
  Sourced memory_bytes;             // of one device
  double usable_memory_share = 1;   // of it that training may fill; the rest is its driver's
  Sourced memory_bytes_per_second;  // of one device
  Sourced fp32_flops_per_second;    // peak of one device
  Sourced half_flops_per_second;    // peak of bf16, dense, by tensor cores where they multiply it
  // False: the tensor cores know fp16 alone (V100, T4), so `auto` is fp32 there and bf16 goes at
  // the rate of fp32.
  bool bf16 = true;
  Sourced matmul_efficiency;  // share of peak that large products reach; 1 = lower bound at peak
  ProductShares products;     // of 16 bit, of each size, where a table of them is known
  AttentionShares attention;  // without it, as products
  AttentionShares wide_attention;  // of heads wider than 128; without it, as the others
  // Of heads of 64 or fewer, which leave tensor cores less to do for each exponential; between 64
  // and 128 linear in the logarithm. Without it, as the others.
  AttentionShares narrow_attention;
  Sourced experts_efficiency;    // share of peak of experts' grouped products; 0: as products
  ExpertShares experts;          // the same by size, where a table is known
  Sourced fp8_flops_per_second;  // peak of FP8 products, dense, by tensor cores; 0: it has none
  // Of those, without the pass that makes FP8 of 16 bit; without it, matmul_efficiency.
  ProductShares fp8_products;
  // The share of those that a device keeps up for hours, where its power limits it.
  Sourced sustained = {1, "assumed"};
  Sourced memory_efficiency = {1, "assumed"};  // share of memory bandwidth that a step reaches
  std::vector<PassShares> passes;  // the same of single passes; one that is not there, as above
  Sourced launch_seconds;          // fixed cost of one op
  // Of GPUs: the least that one op takes, and one message or collective, since its host has to
  // launch the next meanwhile. 0: devices and hosts are the same, or nothing is known.
  Sourced host_seconds, host_message_seconds;
  std::vector<HostCall> host_calls;  // empty unless calibrated
  Link intra_node;                   // between two devices of one node
  // Devices along each axis, where those of a node are a torus and intra_node is one of its links
  // (torus.h); empty: each is joined to all others.
  std::vector<int> torus;
  Link inter_node;        // between two nodes, of a network card
  Sourced nics_per_node;  // network cards; 0: one for each device (see nodes.h)
  // Nodes that share a leaf group of the network (the same leaf switches, or a pod), and by how
  // much less can leave it than its network cards can send together.
  Sourced nodes_per_leaf = {1, "assumed"};
  Sourced oversubscription = {1, "assumed"};
  // Switches between nodes add up what all-reduces and reduce-scatters send (SHARP). Within a node
  // collective_times says what they gain, as it was measured (NVLS).
  bool in_network_reduction = false;
  Sourced host_bytes_per_second;  // between a device and its host's memory, one way; 0: unknown
  // How many times as long a device computes while it communicates: collectives take processors
  // and memory bandwidth from it.
  Sourced overlap_slowdown = {1, "assumed"};
  std::vector<MatmulPoint> matmuls;  // empty unless calibrated
  std::vector<KernelRate> kernels;   // empty unless calibrated
  // Of the GPUs of this computer, collectives also of its cores; empty unless calibrated.
  std::vector<PairLink> pairs;
  std::vector<CollectiveRate> collectives;
  std::vector<CollectiveTimes> collective_times;  // of GPUs within a node; empty: unknown
  std::vector<TransferPoint> transfers;  // of its cores, by bytes, ascending; empty as above
  bool lanes_share_core = false;         // CPU ranks: a rank's lanes compete for its core
  int cores = 0;                         // physical cores, 0 where ranks are GPUs
  bool groups_take_turns = false;        // GPUs: NCCL runs operations of several groups one by one
  // As above, when they were calibrated; empty: GPUs, or an older version, which did not tell.
  std::string bf16_products;
  std::string calibrated;  // date and host, empty if never
  // How many of its cores other programs used meanwhile, on average; none: GPUs, or an older
  // version, which did not tell.
  std::optional<double> cores_used_by_others;
  bool ranks_share_memory() const { return local && cores > 0; }
  double nics() const { return nics_per_node.value > 0 ? nics_per_node.value : devices_per_node; }
  // Of a network card, that a device has while all of its node send: at most one.
  double nics_of_device() const { return std::min(1.0, nics() / devices_per_node); }
  // The peak of products whose elements have so many bytes.
  const Sourced& peak_flops_per_second(int bytes) const {
    return bytes == 2 && bf16 ? half_flops_per_second : fp32_flops_per_second;
  }
  bool operator==(const Machine&) const = default;
};

// "calibrated", "published", "assumed" or "peak": the word beside every prediction made with it.
// "peak" means that rates are the device's peak, so times are lower bounds.
std::string prediction_word(const Machine& machine);

// Why the times in bf16 of calibrated cores may be off, with what to do, in one sentence: they were
// measured multiplying bf16 in another way, "bf16-otherwise", or an older version did not tell in
// which, "bf16-untold". None: they hold. `now`: in which way this engine does; empty: not known.
std::optional<Message> outdated_bf16(const Machine& machine, const std::string& now = {});
// The same of a Setup's prediction: none where it has no bf16.
std::optional<Message> outdated_rates(const Setup& setup, const Machine& machine,
                                      const std::string& now = {});

// That other programs used the computer while its cores were measured, so that their rates may be
// too slow, with what to do, in one sentence, "calibration-disturbed". None: they used too little
// to matter, or nothing is known of it.
std::optional<Message> disturbed_calibration(const Machine& machine);

std::vector<std::string> machine_names();  // presets and "local"
// The name of a preset that an older version called `name`; other names as they are.
std::string machine_called(const std::string& name);

// A preset, or for "local" the calibrated file of this computer (see local_machine_path), or
// assumed rates where these cores have not been calibrated: a calibration of another number of
// cores is not of them. For "local-gpus", which is in no list, the calibrated GPUs of this
// computer, whichever those were: machine_for() of resolve.h knows whether a Setup's ranks would be
// on them. Errors: "machine-unknown" lists the names; "gpus-uncalibrated".
Result<Machine> find_machine(const std::string& name);
inline constexpr const char* kLocalGpus = "local-gpus";
// Whether NVIDIA's driver is loaded, without asking it: only then can there be GPUs for ranks.
// PARALLELARIUM_DRIVER, which app/run takes for one, counts.
bool has_nvidia_driver();
// Whether the Machine is this computer's GPUs and the Setup has more ranks than it chose of them:
// then all are on one, take turns there and share its memory. No preset does that.
bool ranks_share_gpu(const Setup& setup, const Machine& machine);

// "This computer's 4 GPUs (NVIDIA H100)", "DGX H100"
Message title_of(const Machine& machine);
// The Machine becomes one of these GPUs, at least one; its title says so.
void set_gpus(Machine& machine, const std::vector<std::string>& names);
// Whether it was measured on a GPU of this name, too.
bool is_among(const Machine& gpus, const std::string& name);
// Which GPUs of a computer the Machine "local-gpus" was measured on, by number, ascending: all that
// could be used, or of several kinds those that were chosen, the first of a kind where the file
// does not tell; none if it was measured on others, or on another number of one kind. `names`: of
// every GPU, in their order.
std::vector<int> calibrated_among(const Machine& gpus, const std::vector<std::string>& names);

// $XDG_DATA_HOME/parallelarium/machine.json (its GPUs: gpus.json), or below ~/.local/share.
std::string local_machine_path(bool gpus = false);
// Written atomically to the place of its name; the directory is made.
Result<void> save_local_machine(const Machine& machine);

Result<Machine> machine_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Machine& machine);

// The Machine as a calibration would start it: this computer's cores and memory, assumed rates.
Machine uncalibrated_local_machine();

}  // namespace parallelarium
