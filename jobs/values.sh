# Sourced by submit.sh and env.sh: Slurm's ways to write times and memory, as numbers.

# seconds_of TIME: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds
seconds_of() {
  local text=$1 days=0 a b c
  if [[ $text == *-* ]]; then
    days=${text%%-*}
    IFS=: read -r a b c <<<"${text#*-}"
  else
    IFS=: read -r a b c <<<"$text"
    if [ -z "$b" ]; then b=$a a=0; elif [ -z "$c" ]; then c=$b b=$a a=0; fi
  fi
  if [[ ! "$days:${a:-0}:${b:-0}:${c:-0}" =~ ^[0-9]+:[0-9]+:[0-9]+:[0-9]+$ ]]; then
    printf "error: found the time '%s', expected one as Slurm writes it: 30 (minutes), 2:30:00, 1-12:00:00\n" "$text" >&2
    return 1
  fi
  printf '%s\n' $((10#$days * 86400 + 10#${a:-0} * 3600 + 10#${b:-0} * 60 + 10#${c:-0}))
}

# time_of SECONDS: as Slurm reads it
time_of() {
  printf '%d-%02d:%02d:%02d\n' $(($1 / 86400)) $(($1 / 3600 % 24)) $(($1 / 60 % 60)) $(($1 % 60))
}

# megabytes_of MEMORY: K, M, G or T, and M without a letter; rounded up
megabytes_of() {
  if [[ ! $1 =~ ^([0-9]+)([KMGT]?)$ ]]; then
    printf "error: found the memory '%s', expected one as Slurm writes it: 900M, 4G\n" "$1" >&2
    return 1
  fi
  local number=$((10#${BASH_REMATCH[1]}))
  case ${BASH_REMATCH[2]} in
    K) printf '%s\n' $(((number + 1023) / 1024)) ;;
    G) printf '%s\n' $((number * 1024)) ;;
    T) printf '%s\n' $((number * 1024 * 1024)) ;;
    *) printf '%s\n' "$number" ;;
  esac
}
