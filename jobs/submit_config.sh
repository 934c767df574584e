# Sourced by submit.sh: the configuration, its section [slurm], and what a job is told.

# render CONFIG [--KEY VALUE]...: CONFIG with these options in the place of its own.
render() {
  local config=$1 given=' '
  shift
  while [ $# -gt 0 ]; do
    printf '%s = %s\n' "${1#--}" "$2"
    given+="${1#--} "
    shift 2
  done
  awk -v given="$given" '
    /^[ \t]*\[/ { section = 1 }
    !section && (at = index($0, "=")) { key = substr($0, 1, at - 1); gsub(/[ \t]/, "", key); if (index(given, " " key " ")) next }
    { print }' "$config"
}

# pairs SECTION FILE: its keys and values, tab between them; SECTION is empty for what stands before all sections.
pairs() {
  awk -v wanted="$1" '
    { sub(/#.*/, ""); gsub(/^[ \t]+|[ \t\r]+$/, "") }
    /^\[.*\]$/ { section = substr($0, 2, length($0) - 2); next }
    section == wanted && (at = index($0, "=")) {
      key = substr($0, 1, at - 1); value = substr($0, at + 1)
      gsub(/[ \t]+$/, "", key); gsub(/^[ \t]+/, "", value); print key "\t" value
    }' "$2"
}

# value_of KEY DEFAULT: of the rendered configuration
value_of() {
  local found
  found=$(pairs '' "$work/config.ini" | awk -F '\t' -v key="$1" '$1 == key { print $2; exit }')
  printf '%s\n' "${found:-$2}"
}

declare -A slurm=()
cluster_options=()

read_slurm_section() {
  local key value words
  while IFS=$'\t' read -r key value; do
    case $key in
      partition | account | qos | constraint | reservation) [ -z "$value" ] || cluster_options+=("--$key=$value") ;;
      options)
        read -ra words <<<"$value"
        cluster_options+=("${words[@]+"${words[@]}"}")
        ;;
      ranks | fewer-ranks | time | mem-per-cpu | array-limit | modules | setup | launcher | mpi | requeues | grace | posgeom) ;;
      scaling-ranks | scaling-repeats) ;;
      *) code=2 fail "$config, section [slurm]: unknown key '$key'; configs/slurm-sweep.ini has every key, and 'options' takes anything of sbatch" ;;
    esac
    slurm[$key]=$value
  done < <(pairs slurm "$1")
  local number
  for number in ranks requeues grace array-limit scaling-repeats; do
    [[ ${slurm[$number]:-1} =~ ^[0-9]+$ ]] || code=2 fail "section [slurm], $number: found '${slurm[$number]}', expected a number"
  done
  [[ ${slurm[fewer-ranks]:=on} =~ ^(on|off)$ ]] || code=2 fail "section [slurm], fewer-ranks: found '${slurm[fewer-ranks]}', expected on or off"
  case ${slurm[launcher]:=auto} in
    auto | srun | mpirun) ;;
    *) code=2 fail "section [slurm], launcher: found '${slurm[launcher]}', expected one of auto, srun, mpirun" ;;
  esac
  if [ -n "${slurm[time]:-}" ]; then seconds_of "${slurm[time]}" >/dev/null || exit 2; fi
  if [ -n "${slurm[mem-per-cpu]:-}" ] && [ "${slurm[mem-per-cpu]}" != none ]; then megabytes_of "${slurm[mem-per-cpu]}" >/dev/null || exit 2; fi
  posgeom=${POSGEOM:-${slurm[posgeom]:-}}
  if [ -z "$posgeom" ]; then
    posgeom=$(dirname "$jobs")/build/posgeom
    [ -x "$posgeom" ] || posgeom=$(command -v posgeom || true)
  fi
  { [ -x "$posgeom" ] && [ -f "$posgeom" ]; } ||
    fail "there is no program '${posgeom:-posgeom}'; build it (README), or name it with posgeom = ... in [slurm]"
  posgeom=$(realpath "$posgeom")
  out=$(realpath -m "$(value_of out posgeom-out)")
  IFS=', ' read -ra lengths <<<"$(value_of lengths '')"
  [ ${#lengths[@]} -gt 0 ] || code=2 fail "option --lengths: found none; set lengths = n1,n2,... in '$config'"
  mapfile -t lengths < <(printf '%s\n' "${lengths[@]}" | sort -n -u)
}

# key_of KEYS...: of what the configuration says of these keys, and of names, sizes and times of the corpus. One that is too sensitive costs a job
# that finds its result finished, one that is not leaves a job out; posgeom itself judges what may be reused.
key_of() {
  local wanted=" $* " path
  {
    pairs '' "$work/config.ini" | awk -F '\t' -v wanted="$wanted" 'index(wanted, " " $1 " ")' | sort
    [[ $wanted != *" noise "* ]] || value_of noise "$([ "$(value_of preset none)" = paper ] && printf none || printf all)"
    while IFS= read -r path; do
      # shellcheck disable=SC2086 # a glob
      find -L ${path%%:/*} -type f -printf '%p %s %T@\n' 2>/dev/null | sort
    done < <(pairs '' "$work/config.ini" | awk -F '\t' '$1 == "corpus" { print $2 }')
    printf '%s\n' "$PWD" # relative names are relative to here
  } | sha256sum | cut -d ' ' -f 1
}

# What each stage's result depends on, lengths apart where each has a file: an encoding more leaves spectra and counts alone. A test holds these
# against posgeom's options.
counts_keys='corpus format column header tokenizer vocab vocab-size separator keep-separator ignore-ids max-tokens'
counts_keys+=' sequences last-block noise split-by seed'
geometry_keys='unreached min-count rarefy-geometry hellinger-range replicates alpha rarefy components factored write-hellinger dims preset'
stress_keys='encodings rope-base rope-head-dim rope-scaling rope-original-length alibi-heads random-kind'
stress_keys+=' smacof-iterations smacof-tolerance smacof-weights write-encodings'
whole_keys='bootstrap bootstrap-alpha' # `run` alone makes these

stage_keys() {
  local whole=''
  [ "${mode:-chain}" != together ] || whole=$whole_keys
  # shellcheck disable=SC2086 # lists of words
  key_counts=$(key_of $counts_keys lengths)
  # shellcheck disable=SC2086
  key_geometry=$(key_of $counts_keys $geometry_keys $whole)
  # shellcheck disable=SC2086
  key_stress=$(key_of $counts_keys $geometry_keys $stress_keys $whole)
}

# write_settings: what the jobs source; every value is quoted for the shell.
write_settings() {
  local modules counts
  read -ra modules <<<"${slurm[modules]:-}"
  mapfile -t counts < <(scaling_ranks)
  printf '# written by jobs/submit.sh for the jobs of this folder\n'
  printf '%s=%q\n' posgeom "$posgeom" out "$out" launcher "${slurm[launcher]}" mpi "${slurm[mpi]:-}" requeue_limit "${slurm[requeues]:-10}" \
    grace "${slurm[grace]:-120}" \
    setup "${slurm[setup]:-}" key_counts "$key_counts" key_geometry "$key_geometry" key_stress "$key_stress" \
    scaling_repeats "${slurm[scaling-repeats]:-1}"
  list modules "${modules[@]+"${modules[@]}"}"
  list lengths "${lengths[@]}"
  list scaling_ranks "${counts[@]}"
}

# list NAME WORDS...: an array's assignment
list() {
  local name=$1 word
  shift
  printf '%s=(' "$name"
  for word in "$@"; do printf ' %q' "$word"; done
  printf ' )\n'
}
