#!/usr/bin/env bash
# kill -9 of one rank, of all ranks, of a whole node and of slurmd alone, ten times each at random moments of a sweep; minutes to an hour.
#   POSGEOM=build/posgeom tests/slurm/soak.sh [TIMES]     POSGEOM_SEED=N repeats the moments of an earlier soak, which printed its seed
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
POSGEOM=$(realpath "${POSGEOM:-../../build/posgeom}")
export POSGEOM POSGEOM_SOAK=${1:-10} POSGEOM_SEED=${POSGEOM_SEED:-$RANDOM}
export POSGEOM_SOURCE; POSGEOM_SOURCE=$(realpath ../..)
# Two virtual nodes on one machine: ranks share cores, and a killed one is not waited for long.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_mpi_yield_when_idle=1 SLURM_WAIT=2
echo "soak: $POSGEOM_SOAK of each kind, POSGEOM_SEED=$POSGEOM_SEED"
for python in /usr/bin/python3 python3; do
  if "$python" -c 'import h5py, numpy' 2>/dev/null; then
    exec "$python" survival_test.py Survival.test_kill_9_at_random_moments
  fi
done
echo "soak: no python3 with h5py and numpy here" >&2
exit 1
