// What the batch system gave this job, from its environment variables.
#pragma once
#include "posgeom/types.hpp"

namespace posgeom::cli {

/// Bytes that Slurm allocated to the job on this node (SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU times SLURM_CPUS_ON_NODE; MiB, or with a
/// suffix K, M, G, T). 0 where it says nothing, all of the node, or what is not understood.
Index allocated_memory();

/// For tests: the same from the variables' texts, null where one is not set.
Index allocated_memory(const char* per_node, const char* per_cpu, const char* cpus_on_node);

}  // namespace posgeom::cli
