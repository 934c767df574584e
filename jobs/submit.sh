#!/usr/bin/env bash
# Submits a sweep to Slurm: count, then embed and stress as arrays over the lengths, then collect, each after the one before.
#   jobs/submit.sh CONFIG [--dry-run] [--together | --scaling] [POSGEOM OPTIONS]
#     CONFIG      an INI file as in configs/; its section [slurm] says what the cluster wants (configs/slurm-sweep.ini has every key)
#     --dry-run   prints the commands, submits nothing and writes nothing
#     --together  one job instead of a chain (jobs/run.sbatch): for sweeps of minutes
#     --scaling   strong and weak scaling of this sweep, OUT/scaling.csv (jobs/scaling.sbatch)
#     options of posgeom beat the configuration: --lengths 512,1024 --out /scratch/me/sweep
# Prints a line a job: stage, job id, what it waits for. Ranks, memory and time are those that `posgeom plan` proposes, unless [slurm] says
# otherwise. Submitted again, it does what is missing; beside a sweep that is still at work on the same OUT, it waits for that one.
# Kept in OUT/jobs/<run>/: configuration, plan, scripts, logs, modules and surroundings of each job.
set -euo pipefail

jobs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
fail() {
  printf 'submit: error: %s\n' "$*" >&2
  exit "${code:-1}"
}
usage() {
  sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
}
source "$jobs/values.sh"
source "$jobs/submit_config.sh"
source "$jobs/submit_plan.sh"

dry_run=no mode=chain config='' overrides=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --dry-run) dry_run=yes ;;
    --together | --scaling)
      [ "$mode" = chain ] || code=2 fail "--together and --scaling are two different jobs; give one"
      mode=${1#--}
      ;;
    -o) set -- --out "${@:2}" && continue ;;
    --*=*) overrides+=("${1%%=*}" "${1#*=}") ;;
    --*) # an option without a value is a switch
      if [ $# -gt 1 ] && [[ $2 != --* ]]; then overrides+=("$1" "$2") && shift; else overrides+=("$1" on); fi
      ;;
    *)
      [ -z "$config" ] || code=2 fail "found two configurations, '$config' and '$1', expected one"
      config=$1
      ;;
  esac
  shift
done
[ -n "$config" ] || { usage >&2 && exit 2; }
[ -f "$config" ] || code=2 fail "cannot read '$config'; expected an INI file (see configs/)"

# Half a chain would leave jobs that wait for what never comes: whatever ends this early takes back what was submitted.
submitted=() complete=no
work=$(mktemp -d)
leave() {
  rm -rf "$work"
  if [ "$complete" = no ] && [ ${#submitted[@]} -gt 0 ]; then scancel "${submitted[@]}" || true; fi
}
trap leave EXIT
render "$config" "${overrides[@]+"${overrides[@]}"}" >"$work/config.ini"
read_slurm_section "$work/config.ini"
[ "$(value_of force off)" = off ] ||
  fail "option --force: a job that is requeued would begin anew each time; remove the outdated files from '$out' or give another --out"
command -v sbatch >/dev/null || [ "$dry_run" = yes ] || fail "there is no sbatch here; submit from a login node of the cluster (or --dry-run)"
stage_keys
ask_plan >"$work/plan.txt"
[ "$mode" = together ] || [ "$(value_of bootstrap 0)" = 0 ] ||
  printf 'submit: bootstrap = %s is left out: `run` makes it (--together)\n' "$(value_of bootstrap 0)" >&2

# --- one submission at a time into OUT, and each after the jobs that are there
waits=''
if [ "$dry_run" = no ]; then
  mkdir -p "$out/jobs"
  exec 9>"$out/jobs/.submitting"
  flock 9 2>/dev/null || true # a file system without locks: the program's own locks keep the files whole
  at_work=$(jobs_at_work)
  if [ -n "$at_work" ]; then
    printf 'jobs %s are at work on %s: this sweep begins after them\n' "$(tr ':' ' ' <<<"$at_work")" "$out"
    waits="--dependency=afterany:$at_work"
  fi
  run=$(mktemp -d "$out/jobs/$(date +%Y%m%d-%H%M%S)-XXX")
  chmod u=rwx,go=rx "$run"
  cp "$work/config.ini" "$work/plan.txt" "$jobs"/*.sbatch "$jobs/env.sh" "$jobs/values.sh" "$run"
  write_settings >"$run/settings.sh"
else
  run="$out/jobs/RUN"
fi

# submit NAME WAITS SCRIPT OPTIONS...: sets `id`.
submit() {
  local name=$1 waiting=$2 script=$3 said
  shift 3
  local line=(sbatch --parsable "--job-name=posgeom-$name" "--chdir=$PWD" "--output=$run/$name-%j.log" --kill-on-invalid-dep=yes
    "--signal=B:USR1@$(grace_of "$@")" ${waiting:+"$waiting"} "$@" "${cluster_options[@]+"${cluster_options[@]}"}" "$run/$script.sbatch" "$run")
  [[ " $* " != *" --array="* ]] || line=("${line[@]/%-%j.log/-%A_%a.log}")
  if [ "$dry_run" = yes ]; then
    printf '%q ' "${line[@]}" && printf '\n'
    id="ID_$name"
    return
  fi
  if ! said=$("${line[@]}" 2>"$work/said"); then
    cat "$work/said" >&2
    fail "sbatch refused '$name' (above); nothing stays queued. The command was: ${line[*]}"
  fi
  cat "$work/said" >&2 # warnings
  id=${said%%;*} # of a federation: ID;CLUSTER
  submitted+=("$id")
  printf '%s %s\n' "$name" "$id" >>"$run/jobs.txt"
  printf '%-12s %s%s\n' "$name" "$id" "${waiting:+  ${waiting#--}}"
}

case $mode in
  together)
    size=$(size_of run)
    [ -z "$(missing_of_sweep)" ] || submit run "$waits" run $size
    ;;
  scaling)
    size=$(size_of_scaling)
    submit scaling "$waits" scaling $size
    ;;
  chain) submit_chain ;;
esac
complete=yes
if [ "$dry_run" = no ]; then
  if [ ${#submitted[@]} -eq 0 ]; then
    rm -rf "$run"
    printf 'everything of this sweep is finished: %s\n' "$out/sweep.h5"
  else
    printf 'results %s   logs %s\n' "$out" "$run"
  fi
fi
