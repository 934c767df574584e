# Sourced by every job of this folder, with the run's folder as $1: the one place for modules, threads, MPI and MPI-IO settings, and the
# functions that the jobs are made of. jobs/submit.sh copies it, with settings.sh and config.ini, into OUT/jobs/<run>/: what a
# queued job does no longer changes when a file is edited. What the surroundings have set already is left alone.
set -euo pipefail

job_folder=$(cd "${1:?"usage: sbatch JOB.sbatch OUT/jobs/RUN (jobs/submit.sh makes that folder)"}" && pwd)
source "$job_folder/values.sh"
job_id=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID:-}} # the last task of an array has the array's number as its own
job_id=${job_id:-${SLURM_JOB_ID:-}}
source "$job_folder/settings.sh" # posgeom, modules, setup, launcher, mpi, requeue_limit, lengths, out, the keys of the stages

say() { printf 'job: %s\n' "$*"; }
die() {
  printf 'job: error: %s\n' "$*" >&2
  exit 1
}

# --- modules. Their scripts refer to unset variables, and `module` has not always told by its status that it failed.
set +u
if [ ${#modules[@]} -gt 0 ]; then
  if ! command -v module >/dev/null; then
    init=${LMOD_PKG:-${MODULESHOME:-/usr/share/modules}}/init/bash
    [ -r "$init" ] || die "[slurm] modules: there is no command 'module' here (nor $init); take the line out, or say how to get it in setup = ..."
    source "$init"
  fi
  module load "${modules[@]}" || die "[slurm] modules: 'module load ${modules[*]}' failed (above)"
fi
[ -z "$setup" ] || eval "$setup" || die "[slurm] setup: '$setup' failed"
set -u

# --- threads. One a core of the task: libraries would take the whole node's for each of its ranks.
for variable in OMP_NUM_THREADS OPENBLAS_NUM_THREADS BLIS_NUM_THREADS MKL_NUM_THREADS; do
  export "$variable=${!variable:-${SLURM_CPUS_PER_TASK:-1}}"
done

# --- HDF5 and MPI-IO
# A file of ours is written beside its name and renamed when it is complete, and is never changed after that, so HDF5's locks guard
# nothing; and on Lustre mounted without flock, and some NFS, they make every open fail ("unable to lock file").
export HDF5_USE_FILE_LOCKING=${HDF5_USE_FILE_LOCKING:-FALSE}
# Data sets are contiguous and written by one collective call: two-phase buffering (a few ranks a node write large, aligned pieces)
# helps, and data sieving, which reads before it writes and locks ranges, never does. Hints of ROMIO, in MPICH, Intel MPI and Open MPI.
if [ -z "${ROMIO_HINTS:-}" ]; then
  printf '%s\n' 'romio_cb_write enable' 'romio_ds_write disable' >"$job_folder/romio-hints"
  export ROMIO_HINTS="$job_folder/romio-hints"
fi

# --- MPI
# After an error posgeom's own line is enough; mpirun would add a dozen.
export OMPI_MCA_orte_execute_quiet=${OMPI_MCA_orte_execute_quiet:-1}
# Slurm's PMIx plugin (22.05) has two ways to let all ranks wait for each other; with the tree, MPI_Init now and then lets a rank go before
# those of other nodes are ready, and its first message ends one of them (SIGSEGV in btl_tcp). The ring did not in any of our tests.
export SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-ring}
# A rank that is killed leaves the others waiting for it: srun ends them this many seconds after the first one has gone.
export SLURM_WAIT=${SLURM_WAIT:-30}
if [ "$(id -u)" -eq 0 ]; then # containers; Open MPI refuses root unless told twice
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# Slurm signals the batch shell (--signal=B:USR1@...), in good time before the limit; scancel and preemption send SIGTERM. Either is handed to the
# launcher as SIGUSR1, which srun and mpirun pass on to the ranks, while mpirun answers SIGTERM by killing them. They stop with 75.
stopping=no
on_signal() {
  local first=$stopping
  stopping=yes signalled=yes
  [ -n "${child:-}" ] || return 0
  kill -USR1 "$child" 2>/dev/null || true
  if [ "$first" = no ]; then end_late_ranks "$child" & fi
}

# end_late_ranks LAUNCHER: ranks that a signal finds in MPI_Init may hang or not hear it; after half of the time that is left they are killed, so
# that the job can still be requeued. What is finished is kept then too.
end_late_ranks() {
  local left step
  trap - USR1 TERM
  left=$(seconds_of "$(squeue -h -j "$job_id" -o %L 2>/dev/null)" 2>/dev/null) || left=$grace
  sleep $(((left < grace ? left : grace) / 2))
  kill -0 "$1" 2>/dev/null || return 0
  say "the ranks do not stop: they are killed"
  for step in $(squeue -h -s -j "$job_id" -o %i 2>/dev/null | grep -E '\.[0-9]+$'); do scancel "$step" || true; done
  kill -TERM "$1" 2>/dev/null || true
  sleep 5
  kill -KILL "$1" 2>/dev/null || true
}
trap on_signal USR1 TERM

# srun_with TYPE RANKS / mpirun_with RANKS: sets `launch`. srun does not inherit --cpus-per-task (since Slurm 22.05): it is always given.
launch_options=()
srun_with() {
  launch=(srun "--mpi=$1" "--ntasks=$2" "--cpus-per-task=${SLURM_CPUS_PER_TASK:-1}" "${launch_options[@]}")
}
mpirun_with() {
  launch=(mpirun -np "$1")
  if [ "${SLURM_CPUS_PER_TASK:-1}" -gt 1 ] && mpirun --version 2>/dev/null | grep -q 'Open MPI\|open-mpi'; then
    launch+=(--map-by "slot:PE=$SLURM_CPUS_PER_TASK")
  fi
}

# Srun's lines about a step that a node could not start, though the job is sound. One cause: a life of this job whose step daemon was killed left its
# socket on a node, and step 0 of the next life cannot take that name (PMIx plugin: "Cannot bind() UNIX socket"). The step after it has another name.
launch_failure='launch failed|aborted before step completely launched'
launch_attempts=3

# Whether `launch` makes one MPI job of its processes: then their root alone prints. Where Slurm and the MPI do not know each other, every
# process is a job of its own and prints, or does not start.
launches() {
  local attempt errors lines trial="$job_folder/trial.$$"
  for ((attempt = 1; attempt <= launch_attempts; ++attempt)); do
    errors=$(timeout 120 "${launch[@]}" "$posgeom" --version 2>&1 >"$trial" </dev/null) || true
    [[ $errors =~ $launch_failure ]] || break
  done
  lines=$(wc -l <"$trial")
  rm -f "$trial"
  [ "$lines" -eq 1 ]
}

# choose_launcher [RANKS]: `launch` as the configuration names it, else the first that works; what does not work is refused in one line. Later jobs of
# the run take the same without asking again.
choose_launcher() {
  local ranks=${1:-${SLURM_NTASKS:-1}} known types type chosen="$job_folder/launcher"
  if [ -f "$chosen" ]; then
    type=$(<"$chosen")
    if [ "$type" = mpirun ]; then mpirun_with "$ranks"; else srun_with "$type" "$ranks"; fi
    return
  fi
  known=$(srun --mpi=list 2>&1 | tr -s '[:space:]' ' ' || true)
  case $launcher in
    srun) types=${mpi:-pmix} ;;
    mpirun) types= ;;
    auto)
      types=$mpi
      if [ -z "$mpi" ]; then
        for type in pmix cray_shasta pmi2; do [[ $known != *"$type"* ]] || types+=" $type"; done
      fi
      ;;
  esac
  [ "$launcher" = srun ] || types+=' mpirun'
  for type in $types; do
    if [ "$type" = mpirun ]; then mpirun_with "$ranks"; else srun_with "$type" "$ranks"; fi
    if launches; then
      printf '%s\n' "$type" >"$chosen.$$" && mv "$chosen.$$" "$chosen"
      return
    fi
  done
  [ "$stopping" = no ] || finish 75 # the signal came in between
  die "'${launch[*]} $posgeom' does not start one MPI job of $ranks rank(s), but several, or none (this Slurm knows: ${known:-nothing});" \
    "in [slurm] name the modules that posgeom was built with, or leave launcher and mpi out, so that what works is chosen"
}

# What this job ran with, beside the results: never the whole environment, which may hold credentials.
keep_surroundings() {
  {
    printf 'job %s, restart %s, %s\n' "${SLURM_JOB_ID:-none}" "${SLURM_RESTART_COUNT:-0}" "$(date -u +%FT%TZ)"
    printf 'nodes %s\nlauncher %s\nprogram %s, ' "${SLURM_JOB_NODELIST:-$(hostname)}" "${launch[*]}" "$posgeom"
    "$posgeom" --version </dev/null || true
    printf '\nmodules: %s\n\n' "${LOADEDMODULES:-none}"
    ulimit -a
    printf '\n'
    env | grep -E '^(SLURM_|SRUN_|OMP_|OMPI_MCA_|OPENBLAS_|BLIS_|MKL_NUM|PMIX_MCA_|UCX_|FI_|HDF5_|ROMIO_|I_MPI_|MPICH_|PATH=|LD_LIBRARY_PATH=)' | sort
  } >>"$job_folder/surroundings-${SLURM_JOB_NAME#posgeom-}${SLURM_ARRAY_TASK_ID:+-$SLURM_ARRAY_TASK_ID}.txt"
}

# log_size: how much the job's log holds by now; nothing where it is no file.
log_size() {
  if [ -f /dev/fd/2 ]; then stat -Lc %s /dev/fd/2; fi
}

# failed_to_launch SIZE: whether srun has said so since the log had that size.
failed_to_launch() {
  [ -n "$1" ] && tail -c "+$(($1 + 1))" /dev/fd/2 | grep -Eq "^srun: .*($launch_failure)"
}

# run_posgeom ARGUMENTS...: all ranks; their status as srun or mpirun gives it.
run_posgeom() {
  local attempt before status=0
  for ((attempt = 1; ; ++attempt)); do
    before=$(log_size)
    status=0
    start_posgeom "$@" || status=$?
    [ "$status" -ne 0 ] && [ "$stopping" = no ] && failed_to_launch "$before" || return "$status"
    [ "$attempt" -lt "$launch_attempts" ] || return "$status"
    say "the ranks did not start on every node (above): once more"
  done
}

start_posgeom() {
  local status=0 again
  [ "$stopping" = no ] || return 75
  # The cores of the task: posgeom would share out the whole node, of which others may have a part.
  "${launch[@]}" "$posgeom" "$@" --threads "${SLURM_CPUS_PER_TASK:-1}" </dev/null &
  child=$!
  while :; do
    signalled=no again=0
    wait "$child" || again=$?
    [ "$again" -eq 127 ] || status=$again # 127: it had ended in the very moment of the signal
    [ "$signalled" = yes ] || break       # a trapped signal ends `wait`, not the ranks
  done
  child=
  return "$status"
}

# finish STATUS [begins-anew]: the end of a job. Stopped ranks go on in the next life of the same job, so that jobs that depend on it wait on;
# a stage that begins anew is not given the same time once more where it has used it up.
finish() {
  local status=$1 state left
  # After a signal, launchers have statuses of their own: of a rank that left late and was killed, of themselves. A real error comes again.
  if [ "$stopping" = yes ] && [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then status=75; fi
  # SIGTERM (preemption: to the ranks alone) or SIGUSR1 came while the ranks were starting and did not hear it yet.
  if [ "$status" -eq 143 ] || [ "$status" -eq 138 ]; then status=75; fi
  [ "$status" -eq 75 ] || exit "$status"
  # Whoever is being cancelled stays cancelled, and what Slurm requeues by itself needs no second one.
  state=$(squeue -h -j "$job_id" -o %T 2>/dev/null || true)
  case $state in
    RUNNING | TIMEOUT) ;;
    *)
      say "stopped (job state: ${state:-unknown}); what is finished is kept: submit again to go on"
      exit 75
      ;;
  esac
  left=$(squeue -h -j "$job_id" -o %L 2>/dev/null || true)
  if [ "${2:-}" = begins-anew ] && { [ "$state" = TIMEOUT ] || { left=$(seconds_of "$left" 2>/dev/null) && [ "$left" -le $((grace + 60)) ]; }; }; then
    say "the time limit is too short for this stage, which begins anew when it is stopped: give it more ([slurm] time, or ranks) and submit again"
    exit 75
  fi
  if [ "${SLURM_RESTART_COUNT:-0}" -ge "$requeue_limit" ]; then
    say "stopped ${SLURM_RESTART_COUNT:-0} times before, the limit of [slurm] requeues; what is finished is kept: submit again to go on"
    exit 75
  fi
  say "stopped; requeued (life $((${SLURM_RESTART_COUNT:-0} + 2)) of at most $((requeue_limit + 1)))"
  scontrol requeue "$job_id" || say "this Slurm does not requeue; what is finished is kept: submit again to go on"
  exit 75
}

# mark NAME FILE: notes that FILE is what this configuration makes, so that submitting again leaves the stage out. One file may serve several.
mark() {
  local key="key_${1%%-*}" now note="$out/jobs/done/$1"
  now=$(stat -c '%s %.Y' "$2")
  mkdir -p "$out/jobs/done"
  { grep -F " $now" "$note" 2>/dev/null || true; printf '%s %s\n' "${!key}" "$now"; } | sort -u >"$note.$$"
  mv "$note.$$" "$note"
}

# length_of_task: the length of this array task, which is a place in the list of lengths (indices above 1000 or so are not for arrays).
length_of_task() {
  local task=${SLURM_ARRAY_TASK_ID:?"this is an array job: sbatch --array=0-$((${#lengths[@]} - 1))"}
  printf '%s\n' "${lengths[task]:?"no length has this place in the list"}"
}

# stage COMMAND FILE [OPTIONS...]: one stage that makes FILE, from start to exit code.
stage() {
  local command=$1 file=$2 status=0
  shift 2
  choose_launcher
  say "$command: ${launch[*]}; ${SLURM_JOB_NUM_NODES:-1} node(s) ${SLURM_JOB_NODELIST:-}; restarts ${SLURM_RESTART_COUNT:-0} of $requeue_limit"
  keep_surroundings
  run_posgeom "$command" --config "$job_folder/config.ini" "$@" || status=$?
  if [ "$status" -eq 0 ] && [ "$command" != collect ] && [ "$command" != run ]; then
    file=${file##*/} && mark "${file%.h5}" "$out/$file"
  fi
  return "$status"
}
