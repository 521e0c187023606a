// SPDX-License-Identifier: Apache-2.0
// Finds out which rank this process is if a launcher started one process for each rank.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "engine/plan/result.h"

namespace parallelarium {

struct ProcessPlace {
  std::string launcher;  // "torchrun", "Open MPI", "Slurm"
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // among the processes of this host
  std::string address;                 // of rank 0's host
  int port = 0;                        // on which rank 0 listens
};

// The value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

inline constexpr int kDefaultPort = 29500;  // MASTER_PORT if the launcher says none

// Nothing if no launcher started more than one process. Reads the first of these that is set:
//   torchrun:  RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT. Where
//              TORCHELASTIC_USE_AGENT_STORE is True the agent listens on MASTER_PORT itself, and
//              rank 0 takes the next port.
//              Source: PyTorch, torch.distributed.run, "Environment Variables".
//   Open MPI:  OMPI_COMM_WORLD_RANK _SIZE _LOCAL_RANK _LOCAL_SIZE. It names no address: on one host
//              none is needed, on several MASTER_ADDR must be passed on (mpirun -x MASTER_ADDR).
//              Source: Open MPI 5 manual, "Environment variables set for MPI applications".
//   Slurm:     SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_LOCALID SLURM_STEP_TASKS_PER_NODE
//              SLURM_NODEID, and the first host of SLURM_STEP_NODELIST; set by srun for each task,
//              not by sbatch for its script.
//              Source: Slurm, srun manual page, "Output environment variables".
// MASTER_ADDR and MASTER_PORT win over what Open MPI and Slurm say.
// Error "launcher-unclear": a variable is missing or no number, in one sentence.
Result<std::optional<ProcessPlace>> find_place(const Environment& environment);

// The first host of a Slurm list: "gpu[03-05,09],big1" gives "gpu03".
std::string first_host(const std::string& slurm_list);
// How many tasks node `node` has in a Slurm list such as "2(x3),1"; 0 if it is not one.
int tasks_of_node(const std::string& slurm_list, int node);

}  // namespace parallelarium
