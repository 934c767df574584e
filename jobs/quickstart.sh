#!/usr/bin/env bash
# From a fresh clone to first results: installs what is missing (jobs/setup.sh), builds posgeom, and runs the main job on the two
# corpora that come with it. Called again it reuses what is finished.
#   bash jobs/quickstart.sh [OPTIONS]     options are handed to both `posgeom run`, for example --force
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cores=$(env -u OMP_NUM_THREADS nproc) # nproc believes that variable

say() { printf '\n== %s\n' "$*"; }
fail() {
  printf 'quickstart: %s\n' "$@" >&2
  exit 1
}

say "1/4 What posgeom needs (jobs/setup.sh installs it where it can)"
set_up=yes
bash jobs/setup.sh || set_up=no

say "2/4 Building posgeom into build/"
if ! said=$(cmake --preset production 2>&1); then
  printf '%s\n' "$said" >&2
  [ "$set_up" = yes ] || bash jobs/setup.sh || true # its advice once more, where it is seen
  fail "the build could not be configured: something that posgeom needs is missing (see above)"
fi
cmake --build --preset production --parallel "$cores"

# The launcher of the MPI that posgeom was built with, which need not be the first one on PATH.
launcher=$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' build/CMakeCache.txt)
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1} # a rank a core
export OMPI_MCA_orte_execute_quiet=1                                                        # after an error its one line, not mpirun's twenty
if [ "$(id -u)" -eq 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # Open MPI refuses root, in containers too, unless told twice
fi
ranks=1
if [ "$cores" -ge 2 ] && "$launcher" -np 2 true >/dev/null 2>&1; then ranks=2; fi

# Open MPI hands its ranks a terminal even where the output goes to a file, so what is right is asked here.
progress=(--progress log)
if [ -t 1 ]; then progress=(--progress bar); fi
case " $* " in *" --progress"*) progress=() ;; esac

run() {
  printf '\n$ mpirun -np %s build/posgeom run %s\n' "$ranks" "$*"
  "$launcher" -np "$ranks" build/posgeom run "$@" ${progress[@]+"${progress[@]}"}
}

say "3/4 Text: the King James Bible, one verse a document; words counted by position, then spectrum, encodings and stress at 16, 32 and 64 positions"
run --config configs/quickstart-kjv.ini --out posgeom-out/kjv "$@"
say "4/4 Long sequences: 5,181 aligned 16S genes; 17 different characters at 7,682 positions, so the 17 x 17 problem is solved instead"
run --config configs/long-16s.ini --out posgeom-out/16s "$@"

say "Done. The files, in $PWD:"
for folder in posgeom-out/kjv posgeom-out/16s; do
  du -h "$folder"/*.h5 "$folder"/sweep.csv | sed 's/^/  /'
done
cat <<'TEXT'

counts.h5        how often each token stands at each position
geometry-<n>.h5  eigenvalues of the Gram matrix of the Hellinger distances, and the encoding that classical MDS makes of it
stress-<n>.h5    how well that and other positional encodings keep the distances, at every dimension asked for
sweep.h5, .csv   all of the latter in one table

In Python, a positional encoding with 8 dimensions, row = position:
  import h5py
  f = h5py.File("posgeom-out/kjv/geometry-64.h5"); p = f["encoding"][:, :8]

Your own corpus: build/posgeom run --help, and the examples in configs/
TEXT
