#!/usr/bin/env bash
# Submits the training runs of a grid (configs/downstream-kjv.ini) as a Slurm array, one task a run.
#   jobs/downstream/submit.sh CONFIG [--dry-run] [--after JOBID[:JOBID...]] [SBATCH OPTIONS]
#     --after     begin when these jobs have succeeded: those of the sweep, as jobs/submit.sh prints them
#     --limit     at most so many tasks at once
#     options of sbatch are passed on, written with =: --partition=cpu --time=1:00:00 --cpus-per-task=2
#     PYTHON      the Python that has torch and h5py (default: python3)
# Prints the job's id. Submitted again it does what is missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() {
  printf 'submit: error: %s\n' "$*" >&2
  exit 1
}
config='' dry_run=no after='' limit='' options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && exit 0 ;;
    --dry-run) dry_run=yes ;;
    --after) after=${2:?"--after wants job ids"} && shift ;;
    --limit) limit=%${2:?"--limit wants a number"} && shift ;;
    --*) options+=("$1") ;;
    *)
      [ -z "$config" ] || fail "found two configurations, '$config' and '$1', expected one"
      config=$1
      ;;
  esac
  shift
done
[ -n "$config" ] || fail "found no configuration, expected one: submit.sh CONFIG"
config=$(realpath "$config")
runs=$("${PYTHON:-python3}" "$here/grid.py" "$config" count)
[ "$runs" -gt 0 ] || fail "$config: found no runs, expected encodings, d and seeds that make some"
mkdir -p posgeom-logs
line=(sbatch --parsable "--array=0-$((runs - 1))$limit" "--chdir=$PWD" --output=posgeom-logs/train-%A_%a.log --kill-on-invalid-dep=yes
  ${after:+"--dependency=afterok:$after"} "${options[@]+"${options[@]}"}" "$here/train.sbatch" "$config" "$here")
if [ "$dry_run" = yes ]; then
  printf '%q ' "${line[@]}" && printf '\n'
  exit 0
fi
command -v sbatch >/dev/null || fail "there is no sbatch here; submit from a login node of the cluster (or --dry-run)"
id=$("${line[@]}")
printf 'train %s  %s runs\n' "${id%%;*}" "$runs"
