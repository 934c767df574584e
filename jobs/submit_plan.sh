# Sourced by submit.sh: what `posgeom plan` proposes, the groups of lengths, what is finished, and the chain.

# ranks_at_most: [slurm] ranks, else the cores of one node of the partition.
ranks_at_most() {
  local cores=${slurm[ranks]:-}
  if [ -z "$cores" ] && command -v sinfo >/dev/null; then
    cores=$(sinfo -h -o %c ${slurm[partition]:+-p "${slurm[partition]}"} 2>/dev/null | tr -d + | sort -n | head -1)
  fi
  printf '%s\n' "${cores:-$(nproc)}"
}

# scaling_ranks: the rank counts of a scaling study: [slurm] scaling-ranks, else powers of two up to `ranks`.
scaling_ranks() {
  local most count
  if [ -n "${slurm[scaling-ranks]:-}" ]; then
    tr -s ', ' '\n' <<<"${slurm[scaling-ranks]}" | sort -n -u
    return
  fi
  most=$(ranks_at_most)
  for ((count = 1; count <= most; count *= 2)); do printf '%s\n' "$count"; done
}

# plan_for RANKS: posgeom's plan, with the modules and settings that the jobs will have.
plan_for() (
  write_settings >"$work/settings.sh"
  cp "$jobs/values.sh" "$work"
  # shellcheck source=/dev/null
  source "$jobs/env.sh" "$work"
  # The rendered file is gone when the user reads of it: what it was made of is named.
  "$posgeom" plan --config "$work/config.ini" --ranks "$1" </dev/null 2> >(sed "s|$work/config.ini|$config, with the options given here|" >&2)
)

# too_many_ranks PLAN: the jobs of a plan that need more ranks than [slurm] allows, a line each.
too_many_ranks() {
  local most=${slurm[ranks]:-0} word line
  [ "$most" -gt 0 ] || return 0
  while IFS= read -r line; do
    for word in $line; do
      [[ $word == --ntasks=* ]] && [ "${word#*=}" -gt "$most" ] || continue
      printf '%s needs %s\n' "$(sed 's/^slurm //; s/ --.*//' <<<"$line")" "${word#*=}"
    done
  done < <(grep '^slurm ' <<<"$1")
}

# unplanned_jobs PLAN: what is to be done and has no line in the plan, since no rank count fits; a line each.
unplanned_jobs() {
  local name job
  {
    if [ "$mode" = chain ]; then missing_of_sweep; else printf 'run\n'; fi
  } | while IFS= read -r name; do
    case $name in
      counts) job=count ;;
      geometry-*) job="embed ${name#*-}" ;;
      stress-*) job="stress ${name#*-}" ;;
      sweep) job=collect ;;
      *) job=$name ;;
    esac
    grep -q "^slurm $job " <<<"$1" || printf '%s\n' "$job"
  done
}

ask_plan() {
  local said beyond each unplanned
  said=$(plan_for "$(ranks_at_most)") || fail "'$posgeom plan' failed (above); correct the configuration"
  unplanned=$(unplanned_jobs "$said" | paste -s -d , | sed 's/,/, /g')
  [ -z "$unplanned" ] || {
    printf '%s\n' "$said" >&2
    fail "the plan (above) proposes no job sizes for $unplanned: what does not fit must be given more memory (memory = ... above [slurm])," \
      "or less to do; the plan's lines say what would help"
  }
  beyond=$(too_many_ranks "$said")
  each=$(sed -n '1s/.*, \([0-9]* MiB\) each.*/\1/p' <<<"$said")
  [ -z "$beyond" ] || fail "[slurm] ranks: found ${slurm[ranks]}, but with $each a rank $(head -1 <<<"$beyond") ranks; give more ranks," \
    "or more memory to each (memory = ... above [slurm]), or less to do"
  printf '%s\n' "$said"
}

# size_of STAGE [LENGTHS...]: the sbatch options of a stage; over several lengths, the largest of each.
size_of() {
  local stage=$1 line word ntasks=1 cpus=1 memory=0 seconds=0 value pattern per_node=0
  shift
  [ $# -gt 0 ] || set -- ''
  for length in "$@"; do
    pattern="slurm $stage ${length:+$length }"
    line=$(grep -m 1 "^$pattern" "$work/plan.txt") || fail "'$posgeom plan' prints no line '$pattern...'"
    for word in ${line#"$pattern"}; do
      case $word in
        --ntasks=*) ntasks=$((${word#*=} > ntasks ? ${word#*=} : ntasks)) ;;
        --cpus-per-task=*) cpus=$((${word#*=} > cpus ? ${word#*=} : cpus)) ;;
        --mem-per-cpu=*) value=$(megabytes_of "${word#*=}") && memory=$((value > memory ? value : memory)) ;;
        --time=*) value=$(seconds_of "${word#*=}") && seconds=$((value > seconds ? value : seconds)) ;;
        --ntasks-per-node=*) per_node=$((${word#*=} > per_node ? ${word#*=} : per_node)) ;;
        --nodes=*) ;; # follows from the two
        *) fail "'$posgeom plan' prints '$line': '$word' is not known here; is it another version than these jobs?" ;;
      esac
    done
  done
  if [ "${slurm[fewer-ranks]}" = off ] && [[ $stage == embed || $stage == stress ]]; then
    value=$(ranks_at_most)
    ntasks=$((value > ntasks ? value : ntasks))
    value=$(value_of ranks-per-node 0)
    [ "$value" -eq 0 ] || per_node=$((value < ntasks ? value : ntasks))
  fi
  sbatch_size "$ntasks" "$cpus" "$memory" "$seconds"
  [ "$per_node" -eq 0 ] || [ "$ntasks" -eq 1 ] || printf '%s\n' "--nodes=$(((ntasks + per_node - 1) / per_node))" "--ntasks-per-node=$per_node"
}

ranks_only() { grep -E '^--(ntasks|cpus-per-task)=' | paste -s -d ' '; }

# sbatch_size NTASKS CPUS MEGABYTES SECONDS: with what [slurm] says instead
sbatch_size() {
  printf '%s\n' "--ntasks=$1" "--cpus-per-task=$2"
  [ "${slurm[mem-per-cpu]:-}" = none ] || printf '%s\n' "--mem-per-cpu=${slurm[mem-per-cpu]:-$3M}"
  printf '%s\n' "--time=${slurm[time]:-$(time_of "$4")}"
}

# size_of_scaling: room for the largest rank count, memory for the smallest one, which has all of the problem, time for all of them one after
# the other, strong and weak.
size_of_scaling() {
  local ranks most=1 fewest=0 cpus=1 memory=0 seconds=0 word value
  for ranks in $(scaling_ranks); do
    plan_for "$ranks" >"$work/plan.txt" || fail "'$posgeom plan' failed (above) for $ranks ranks; set scaling-ranks in [slurm]"
    for word in $(size_of run); do
      case $word in
        --ntasks=*)
          [ "${word#*=}" -le "$ranks" ] ||
            fail "this sweep does not fit on $ranks rank(s), it needs ${word#*=}: set scaling-ranks in [slurm], or give each more memory" \
              "(memory = ... above it)"
          ;;
        --cpus-per-task=*) cpus=${word#*=} ;;
        --mem-per-cpu=*) value=$(($(megabytes_of "${word#*=}") * ranks)) && memory=$((value > memory ? value : memory)) ;;
        --time=*) seconds=$((seconds + 2 * ${slurm[scaling-repeats]:-1} * $(seconds_of "${word#*=}"))) ;;
      esac
    done
    most=$ranks
    [ "$fewest" -gt 0 ] || fewest=$ranks
  done
  sbatch_size "$most" "$cpus" $(((memory + most - 1) / most)) "$seconds"
}

# grace_of SBATCH OPTIONS...: seconds before the limit at which the ranks are told to stop; at most a quarter of the time.
grace_of() {
  local word grace=${slurm[grace]:-120} seconds
  for word in "$@"; do
    [[ $word == --time=* ]] || continue
    seconds=$(seconds_of "${word#*=}")
    grace=$((grace < seconds / 4 ? grace : seconds / 4))
  done
  printf '%s\n' "$grace"
}

# jobs_at_work: ids of what earlier submissions to the same OUT have in the queue, colons between them.
jobs_at_work() {
  local known
  known=$(cat "$out"/jobs/*/jobs.txt 2>/dev/null | awk '{ print $2 }')
  [ -n "$known" ] || return 0
  squeue -h -o %F 2>/dev/null | sort -u | grep -F -x -f <(printf '%s\n' "$known") | paste -s -d : || true
}

# is_done NAME: NAME.h5 is there, as a job with this configuration left it.
is_done() {
  local key="key_${1%%-*}" file="$out/$1.h5"
  [ -f "$file" ] && grep -q -F -x "${!key} $(stat -c '%s %.Y' "$file")" "$out/jobs/done/$1" 2>/dev/null
}

# missing_of_sweep: names of the files to make, a line each.
missing_of_sweep() {
  local length stale=no
  is_done counts || printf 'counts\n'
  for length in "${lengths[@]}"; do
    if ! is_done "geometry-$length"; then
      printf '%s\n' "geometry-$length" "stress-$length"
    elif ! is_done "stress-$length"; then
      printf '%s\n' "stress-$length"
    fi
    [ ! "$out/stress-$length.h5" -nt "$out/sweep.h5" ] || stale=yes
  done
  if [ "$stale" = yes ] || [ ! -f "$out/sweep.h5" ]; then printf 'sweep\n'; fi
}

# tasks_size STAGE TASKS: TASKS are places in `lengths`, commas between them.
tasks_size() {
  local task of=()
  for task in ${2//,/ }; do of+=("${lengths[task]}"); done
  size_of "$1" "${of[@]}"
}

# submit_chain: lengths that take the same ranks share an array, and each length's stress waits for its own geometry only.
submit_chain() {
  local missing begin=$waits after collect_after=() task length group kind size number=0
  local -A groups=()
  missing=" $(missing_of_sweep | tr '\n' ' ')"
  [ "$missing" != " " ] || return 0
  if [[ $missing == *" counts "* ]]; then
    size=$(size_of count)
    submit count "$waits" count $size
    begin="--dependency=afterok:$id" collect_after=("$id")
  fi
  for task in "${!lengths[@]}"; do
    length=${lengths[task]}
    [[ $missing == *" stress-$length "* ]] || continue
    kind=stress
    [[ $missing != *" geometry-$length "* ]] || kind=both
    group="$kind $(size_of embed "$length" | ranks_only) $(size_of stress "$length" | ranks_only)"
    groups[$group]+="${groups[$group]:+,}$task"
  done
  local limit="${slurm[array-limit]:+%${slurm[array-limit]}}"
  while IFS= read -r group; do
    [ -n "$group" ] || continue
    number=$((number + 1)) after=$begin
    local name="$number"
    [ ${#groups[@]} -gt 1 ] || name=
    if [[ $group == both* ]]; then
      size=$(tasks_size embed "${groups[$group]}")
      submit "embed$name" "$begin" embed "--array=${groups[$group]}$limit" $size
      after="--dependency=aftercorr:$id"
    fi
    size=$(tasks_size stress "${groups[$group]}")
    submit "stress$name" "$after" stress "--array=${groups[$group]}$limit" $size
    collect_after+=("$id")
  done < <(printf '%s\n' "${!groups[@]}" | sort)
  # With `partial = on` the table is made of the lengths that succeeded.
  local when=afterok
  [ "$(value_of partial off)" = off ] || when=afterany
  after=$begin
  [ ${#collect_after[@]} -eq 0 ] || after="--dependency=$when:$(IFS=:; printf '%s' "${collect_after[*]}")"
  size=$(size_of collect)
  submit collect "$after" collect $size
}
