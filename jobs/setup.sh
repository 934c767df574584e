#!/usr/bin/env bash
# Installs what posgeom builds with and is tested with, where it is missing.
#   jobs/setup.sh            build and run          jobs/setup.sh --tests     and what the tests need
#   jobs/setup.sh --downstream   and what jobs/downstream (PyTorch trainer, theory) and figures need; options may be combined
# Debian and its relatives: through apt-get (as root, or by sudo). Elsewhere, and on a cluster without root, it says what to load
# and changes nothing. Exit 1: something is missing and was not installed.
set -euo pipefail

build=(build-essential cmake ninja-build pkg-config xz-utils
  openmpi-bin libopenmpi-dev libscalapack-openmpi-dev libhdf5-openmpi-dev
  libopenblas-dev libblis-pthread-dev libelpa-dev libboost-program-options-dev
  libfmt-dev libicu-dev libarchive-dev libxxhash-dev librandom123-dev libsimdjson-dev libsentencepiece-dev)
tests=(libgtest-dev python3-h5py python3-numpy procps sentencepiece slurmctld slurmd slurm-client munge
  python3-matplotlib python3-xarray python3-pandas python3-h5netcdf python3-netcdf4 hdf5-tools)
downstream=(python3-torch python3-h5py python3-numpy python3-scipy python3-matplotlib python3-xarray python3-pandas python3-h5netcdf)

wanted=("${build[@]}")
for argument in "$@"; do
  case $argument in
    --tests) wanted+=("${tests[@]}") ;;
    --downstream) wanted+=("${downstream[@]}") ;;
    *) echo "usage: jobs/setup.sh [--tests] [--downstream]" >&2; exit 2 ;;
  esac
done

advise() {
  cat >&2 <<'TEXT'
posgeom needs: a C++20 compiler (g++ 12 or later), CMake 3.24, Ninja, an MPI (Open MPI), ScaLAPACK built for that MPI, HDF5 built with
that MPI (parallel), BLAS and LAPACK, Boost.Program_options, fmt, ICU, libarchive, xxHash, Random123,
simdjson, SentencePiece, and if possible BLIS (a BLAS with threads) and ELPA; for the tests GoogleTest and a
Python with h5py and numpy; for jobs/downstream and figures PyTorch 1.13 or later, h5py, numpy, scipy and matplotlib in one Python, for tables
xarray and pandas (elsewhere than on Debian: pip install torch h5py numpy scipy matplotlib xarray pandas h5netcdf).
On a cluster: module load gcc cmake ninja openmpi netlib-scalapack hdf5/parallel boost   (names differ: `module avail`), or with Spack:
  spack install openmpi netlib-scalapack hdf5+mpi boost+program_options fmt icu4c libarchive xxhash random123 simdjson sentencepiece googletest
then: cmake --preset production && cmake --build --preset production
TEXT
}

missing=()
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
  for package in "${wanted[@]}"; do
    state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
    [[ $state == ii* ]] || missing+=("$package")
  done
else
  echo "setup: no Debian package manager here; nothing was installed" >&2
  advise
  exit 0
fi
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  # sudo may ask for a password only where somebody is there to type it.
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
    as_root=(sudo)
  else
    echo "setup: missing, and not installable without root: apt-get install ${missing[*]}" >&2
    advise
    exit 1
  fi
fi
echo "setup: installing ${missing[*]}" >&2
# A machine that has just started may still be installing its own updates: wait for them.
# RUNLEVEL: without systemd, in a container say, services are not started as they are installed; the tests start daemons of their own.
get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -qq -o DPkg::Lock::Timeout=300)
"${get[@]}" update >&2
"${get[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
