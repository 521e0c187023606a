// SPDX-License-Identifier: Apache-2.0
// What a Setup runs on: devices, links and rates. Every number knows where it comes from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/machine/rates/origin.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct Setup;

// A number and where it comes from.
struct Sourced {
  double value = 0;
  Origin origin = {};
  bool operator==(const Sourced&) const = default;
};

struct Link {
  Sourced latency_seconds;
  Sourced bytes_per_second;  // in one direction, as a benchmark of large messages alone reaches it
  // The share of bytes_per_second that a training step's transfers and collectives reach.
  Sourced sustained = {1};
  std::string wire = {};  // "NVLink", "InfiniBand"; empty: not told
  bool operator==(const Link&) const = default;
};

// A weight gradient without the sums of its bias. On a GPU these sums are kernels of their own.
inline constexpr const char* kWeightGradAlone = "weight gradient alone";

// The rate of one matrix product [m,k] x [k,n] in the given precision. A forward and an input
// gradient of one shape differ in transposed weights, bias and what the caches hold.
struct MatmulPoint {
  std::int64_t m = 0, n = 0, k = 0;
  Sourced flops_per_second = {};
  // A name_of(Phase), or kWeightGradAlone; empty: any phase, as in older files.
  std::string phase = {};
  std::string type = {};  // the stored type, name_of(DataType); empty: float32, as in older files
  bool operator==(const MatmulPoint&) const = default;
};

// Shares of the roofline that products [m,k] x [k,n] of one type reach, on a grid of sizes. Between
// the sizes they are multilinear in the logarithms; beyond them they stay as at the edge. So no
// size makes a jump.
struct ProductShares {
  std::vector<double> m, n, k;  // ascending
  std::vector<double> shares;   // [m][n][k], each above 0 and at most 1
  // The same for the layouts of a backward: the gradient of what went in, and that of the weights,
  // which is added to one in fp32. Empty: as forward.
  std::vector<double> input_grad, weight_grad;
  std::vector<double> weight_grad_half;  // added to one in 16 bit; empty: as in fp32
  Origin origin = {};
  // 1 without a grid. The second is of one of these lists.
  double at(std::int64_t m, std::int64_t n, std::int64_t k) const { return at(shares, m, n, k); }
  double at(const std::vector<double>& of, std::int64_t m, std::int64_t n, std::int64_t k) const;
  bool operator==(const ProductShares&) const = default;
};

// Shares of the peak that fused attention reaches in causal FLOPs. They depend on two sizes. Rows
// are the queries of all heads and sequences: few rows leave a GPU's processors idle. Keys are
// those that a query may meet: few keys leave a block of queries little to do. Between the sizes
// they are bilinear in the logarithms; beyond them they stay as at the edge.
struct AttentionShares {
  std::vector<double> rows;      // B * H * T, ascending
  std::vector<double> keys;      // ascending; empty: any number of keys
  std::vector<double> shares;    // [rows][keys]
  std::vector<double> backward;  // the same for the backward; empty: as forward
  Origin origin = {};
  double at(double count, double keys_of_each, bool of_backward = false) const;  // 0: no table
  bool operator==(const AttentionShares&) const = default;
};

// Shares of the peak that experts' grouped products reach, by the rows that one expert has. Between
// the sizes they are linear in the logarithm; beyond them they stay as at the edge. Weight
// gradients of few rows are slower than other products, because they add to much fp32 memory.
struct ExpertShares {
  std::vector<double> rows;  // rows of one expert, ascending
  std::vector<double> forward, input_grad, weight_grad;
  std::vector<double> weight_grad_half;  // added to 16-bit memory; empty: as to fp32
  Origin origin = {};
  double at(const std::vector<double>& shares, double count) const;  // 0 without a table
  bool operator==(const ExpertShares&) const = default;
};

// Shares of the memory bandwidth that one pass of a training step reaches, by the bytes that it
// counts (Work::bytes). These bytes hold each tensor once, however often a framework's kernels move
// it. Machine::launch_seconds comes on top. Between two sizes the times lie on a line, so no time
// falls where sizes grow. Beyond the sizes the shares stay as at the edge.
struct PassShares {
  std::string kernel;                 // "norm", "loss_grad", "adamw", ...: see kernels_of_pieces.h
  std::vector<double> bytes, shares;  // ascending; each share above 0 and at most 1
  Origin origin = {};
  double at(double count) const;
  bool operator==(const PassShares&) const = default;
};

// Seconds of a collective alone among `ranks` devices of one node, by the bytes that the busiest
// device sends or receives (collective_volume). "send" stands for one message. Between the sizes
// they are linear in the logarithms of both. A smaller collective takes as long as the smallest; a
// larger one goes on at the largest's rate.
struct CollectiveTimes {
  std::string collective;  // name_of(CollectiveKind), or "send"
  int ranks = 0;
  std::vector<double> bytes, seconds;  // ascending
  // The link's bytes_per_second when these were measured. A faster or slower link takes less or
  // more time for the bytes.
  double link_bytes_per_second = 0;
  Origin origin = {};
  double at(double count) const;
  bool operator==(const CollectiveTimes&) const = default;
};

inline constexpr const char* kSendTimes = "send";

// How cores multiply bf16: by instructions for bf16, or widened to fp32.
inline constexpr const char* kNativeBf16 = "native";
inline constexpr const char* kWidenedBf16 = "widened";

// The rate of a piece that is not a matrix product: seconds = launch + elements / rate. A kernel
// may have several rates, since what fits into a cache is faster.
struct KernelRate {
  std::string kernel;  // "norm", "attention", "router", ...: see kernels_of_pieces.h
  Sourced elements_per_second = {};
  // Elements of the calls that were measured; 0: any number, as in older files.
  double elements = 0;
  std::string type = {};  // as MatmulPoint's
  bool operator==(const KernelRate&) const = default;
};

// What a GPU's host needs to launch one call of a kernel, or one product.
struct HostCall {
  std::string call;  // as KernelRate's kernel, MatmulPoint's phase, kHostLaunch or kHostRead
  Sourced seconds;
  bool operator==(const HostCall&) const = default;
};
// Two other calls: the launch of a kernel that is a single launch, and a host's wait until it has
// read what its device has just made.
inline constexpr const char* kHostLaunch = "launch";
inline constexpr const char* kHostRead = "read";

// The link between two GPUs of this computer, in one direction.
struct PairLink {
  int from = 0, to = 0;  // as CUDA counts them
  Link link;
  bool operator==(const PairLink&) const = default;
};

// The rate of a whole collective among `ranks` GPUs or cores: seconds = latency + bytes / rate.
// `bytes` are the most that a rank sends or receives (collective_volume). The time includes the
// reduction.
struct CollectiveRate {
  std::string collective;  // name_of(CollectiveKind)
  int ranks = 0;
  Link link;
  bool operator==(const CollectiveRate&) const = default;
};

// Measured seconds of messages of `bytes` bytes between two cores. Their ranks stay awake while
// they wait, as those of a collective alone do.
struct TransferPoint {
  std::int64_t bytes = 0;
  double one = 0, both = 0;                    // one message; one message each way at once
  double one_combined = 0, both_combined = 0;  // the same if the receiver combines
  double combine = 0, copy = 0;                // combining and copying on one rank alone
  // How many times as long one message, and one message each way, take if the sender's core has
  // just written the bytes. They then come out of its cache and are not yet in the receiver's.
  double fresh_one = 1, fresh_both = 1;
  // A step of a ring: each of `ring_ranks` ranks sends to the next at once.
  int ring_ranks = 2;
  double ring = 0, ring_combined = 0;
  Origin origin = {};
  bool operator==(const TransferPoint&) const = default;
};

struct Machine {
  std::string name = "local";  // preset's name, "local", or "local-gpus"
  std::string title;           // "This computer", "DGX H100"; title_of() for the window's language
  std::string changed_from;    // the title of the preset that was changed; files do not hold it
  std::vector<std::string> gpus;  // "local-gpus": the kind of each GPU that was measured, by number
  bool local = false;             // this computer: ranks can run here
  int devices_per_node = 1;
  int nodes = 1;
  Sourced memory_bytes;  // of one device
  // The share of it that training may fill; its driver holds the rest.
  double usable_memory_share = 1;
  Sourced memory_bytes_per_second;  // of one device
  Sourced fp32_flops_per_second;    // peak of one device
  Sourced half_flops_per_second;    // dense bf16 peak, by tensor cores where they multiply it
  // False: the tensor cores know fp16 alone (V100, T4). There `auto` means fp32, and bf16 runs at
  // the rate of fp32.
  bool bf16 = true;
  // Share of the peak that large products reach; 1: times are lower bounds.
  Sourced matmul_efficiency;
  ProductShares products;          // 16-bit products by size, if a table is known
  AttentionShares attention;       // without it, attention is as fast as products
  AttentionShares wide_attention;  // for heads wider than 128; without it, as `attention`
  // For heads of width 64 or less, which leave tensor cores less to do for each exponential.
  // Between 64 and 128 it is linear in the logarithm. Without it, as `attention`.
  AttentionShares narrow_attention;
  Sourced experts_efficiency;    // share of the peak of experts' grouped products; 0: as products
  ExpertShares experts;          // the same by size, if a table is known
  Sourced fp8_flops_per_second;  // dense FP8 peak by tensor cores; 0: it has no FP8
  // FP8 products by size, without the pass that makes FP8 of 16 bit. Without it, matmul_efficiency
  // counts.
  ProductShares fp8_products;
  // The share of these rates, and of `matmuls` and `kernels`, that a device keeps up for hours if
  // its power limits it.
  Sourced sustained = {1};
  Sourced memory_efficiency = {1};  // share of the memory bandwidth that a step reaches
  // The same for single passes; memory_efficiency for those not listed.
  std::vector<PassShares> passes;
  Sourced launch_seconds;  // fixed cost of one op
  // The least time that a GPU's host needs to launch one op, and one message or collective. 0:
  // devices and hosts are the same, or nothing is known.
  Sourced host_seconds, host_message_seconds;
  std::vector<HostCall> host_calls;  // empty unless calibrated
  Link intra_node;                   // between two devices of one node
  // Devices along each axis if those of a node are a torus (torus.h); intra_node is then one of its
  // links. Empty: each device is joined to all others.
  std::vector<int> torus;
  Link inter_node;        // between two nodes: the link of one network card
  Sourced nics_per_node;  // network cards of a node; 0: one for each device (see nodes.h)
  // Nodes that share a leaf group of the network: the same leaf switches, or a pod.
  // `oversubscription` says how many times as much its network cards can send together as can leave
  // it.
  Sourced nodes_per_leaf = {1};
  Sourced oversubscription = {1};
  // Whether switches between nodes add up what all-reduces and reduce-scatters send (SHARP). Within
  // a node, the measured collective_times contain this gain (NVLS).
  bool in_network_reduction = false;
  Sourced host_bytes_per_second;  // between a device and its host's memory, one way; 0: unknown
  // How many times as long a device computes while it communicates, since collectives take
  // processors and memory bandwidth from it.
  Sourced overlap_slowdown = {1};
  std::vector<MatmulPoint> matmuls;  // empty unless calibrated
  std::vector<KernelRate> kernels;   // empty unless calibrated
  // Links and collectives of this computer's GPUs; collectives also of its cores. Empty unless
  // calibrated.
  std::vector<PairLink> pairs;
  std::vector<CollectiveRate> collectives;
  std::vector<CollectiveTimes> collective_times;  // for GPUs within a node; empty: unknown
  // For its cores, by bytes, ascending; empty unless calibrated.
  std::vector<TransferPoint> transfers;
  bool lanes_share_core = false;   // CPU ranks: the lanes of a rank compete for its core
  int cores = 0;                   // physical cores; 0 if ranks are on GPUs
  bool groups_take_turns = false;  // GPUs: NCCL runs operations of several groups one by one
  // The framework has no compiler, so norms run op by op, as PyTorch's do without torch.compile.
  // Only what PyTorch reserves (fsdp_reserved_bytes()) depends on it: times follow from the rates.
  bool op_by_op = false;
  // How the cores multiplied bf16 when they were calibrated (kNativeBf16 or kWidenedBf16). Empty:
  // not known, or there are GPUs.
  std::string bf16_products;
  std::string calibrated;  // date and host, empty if never
  // How many of its cores other programs used meanwhile, on average. None: not known, or there are
  // GPUs.
  std::optional<double> cores_used_by_others;
  bool ranks_share_memory() const { return local && cores > 0; }
  double nics() const { return nics_per_node.value > 0 ? nics_per_node.value : devices_per_node; }
  // The part of a network card that a device has while all devices of its node send.
  double nics_of_device() const { return std::min(1.0, nics() / devices_per_node); }
  // The peak of products whose elements have `bytes` bytes.
  const Sourced& peak_flops_per_second(int bytes) const {
    return bytes == 2 && bf16 ? half_flops_per_second : fp32_flops_per_second;
  }
  bool operator==(const Machine&) const = default;
};

// The word beside every prediction made with the Machine: "calibrated", "published", "assumed" or
// "peak". "peak" means that rates are the device's peak, so that times are lower bounds.
std::string prediction_word(const Machine& machine);

// One sentence that says why the bf16 times of calibrated cores may be off, and what to do.
// "bf16-otherwise": the cores multiplied bf16 in another way when they were measured.
// "bf16-untold": an older version did not tell in which way. None: the times hold. `now` is the way
// in which this engine multiplies bf16; empty: not known.
std::optional<Message> outdated_bf16(const Machine& machine, const std::string& now = {});
// The same for a Setup's prediction; none if it has no bf16.
std::optional<Message> outdated_rates(const Setup& setup, const Machine& machine,
                                      const std::string& now = {});

// One sentence, "calibration-disturbed", that says that other programs used the computer while its
// cores were measured, so that their rates may be too slow, and what to do. None: they used too
// little to matter, or nothing is known of it.
std::optional<Message> disturbed_calibration(const Machine& machine);

std::vector<std::string> machine_names();  // presets and "local"
// Today's name of the preset that an older version called `name`. Other names stay as they are.
std::string machine_called(const std::string& name);

// Returns a preset, this computer's cores ("local") or its calibrated GPUs ("local-gpus"). "local"
// is the calibrated file of this computer (see local_machine_path). If these cores have not been
// calibrated, its rates are assumed; a calibration of another number of cores does not count.
// "local-gpus" is in no list and returns the GPUs that were calibrated, whichever they were:
// machine_for() of resolve.h knows whether a Setup's ranks would be on them. Errors:
// "machine-unknown" lists the names; "gpus-uncalibrated".
Result<Machine> find_machine(const std::string& name);
inline constexpr const char* kLocalGpus = "local-gpus";
// Whether NVIDIA's driver is loaded; without it no rank can have a GPU. The driver itself is not
// asked. PARALLELARIUM_DRIVER, which app/run takes for one, counts.
bool has_nvidia_driver();
// Whether the Machine is this computer's GPUs and the Setup has more ranks than GPUs were chosen.
// Then all ranks are on one GPU, take turns there and share its memory. A preset never does that.
bool ranks_share_gpu(const Setup& setup, const Machine& machine);

// "This computer's 4 GPUs (NVIDIA H100)", "DGX H100"
Message title_of(const Machine& machine);
// Makes the Machine one of these GPUs, at least one; its title says so.
void set_gpus(Machine& machine, const std::vector<std::string>& names);
// Whether a GPU of this name is among those that it was measured on.
bool is_among(const Machine& gpus, const std::string& name);
// The numbers, ascending, of those GPUs of a computer that the Machine "local-gpus" was measured
// on. If all usable GPUs are of one kind, these are all of them. Of several kinds they are those
// that were chosen, or the first of a kind if the file does not tell. None: it was measured on
// other GPUs, or on another number of one kind. `names` are the names of all GPUs, in their order.
std::vector<int> calibrated_among(const Machine& gpus, const std::vector<std::string>& names);

// $XDG_DATA_HOME/parallelarium/machine.json, for GPUs gpus.json; or the same below ~/.local/share.
std::string local_machine_path(bool gpus = false);
// Writes the Machine atomically to the place of its name, and makes the directory.
Result<void> save_local_machine(const Machine& machine);

Result<Machine> machine_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Machine& machine);

// The Machine as a calibration would start it: this computer's cores and memory, assumed rates.
Machine uncalibrated_local_machine();

}  // namespace parallelarium
