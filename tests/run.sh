#!/usr/bin/env bash
# Builds posgeom and runs its tests, from a fresh clone on; no terminal, no root and no input needed (root: only to install what is missing).
#   tests/run.sh                    everything: the sanitizers' unit tests on up to 3 ranks, then the whole suite
#   tests/run.sh --no-sanitize      the whole suite alone (about half the time)
#   tests/run.sh -R counts ...      anything else goes to ctest, in both parts
# Ends with ctest's own closing lines of the whole suite; exit 0 only if all of it passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sanitize=yes
filters=()
while [ $# -gt 0 ]; do
  case $1 in
    --no-sanitize) sanitize=no ;;
    -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) filters+=("$1") ;;
  esac
  shift
done

# part NAME COMMAND...: runs the command and says how long it took; its status.
part() {
  local name=$1 begin=$SECONDS status=0
  shift
  echo "== $name"
  "$@" || status=$?
  echo "== $name: $((SECONDS - begin)) s, status $status"
  return "$status"
}

configure() {
  local said
  said=$(cmake --preset "$1" 2>&1) || {
    echo "$said" >&2
    return 1
  }
}
build() {
  cmake --build --preset "$1" --parallel "$cores" --target all "${@:2}"
}
# Every test says how many cores it wants (PROCESSORS); one that has more ranks than that runs beside nothing on two cores.
run_ctest() {
  ctest --test-dir "build-$1" --parallel "$tests_at_once" --output-on-failure "${@:2}" ${filters[@]+"${filters[@]}"} </dev/null
}

cores=$(env -u OMP_NUM_THREADS nproc) # nproc believes that variable
tests_at_once=$((cores <= 2 ? cores + 1 : (cores + 1) / 2)) # on two cores: what waits for Slurm beside what computes

advised=no
part "what is installed" bash jobs/setup.sh --tests --downstream || advised=yes
if ! part "configure" configure development; then
  [ "$advised" = no ] || echo "tests/run.sh: the packages named at the start are missing" >&2
  exit 1
fi
part "build" build development all_verify_interface_header_sets

failed=()
if [ "$sanitize" = yes ]; then
  part "configure with sanitizers" configure sanitize
  part "build with sanitizers" build sanitize
  part "unit tests with sanitizers, on up to 3 ranks" run_ctest sanitize --no-tests=ignore -L '^sanitized$' ||
    failed+=("the unit tests with sanitizers (above)")
fi
echo "== every test, after $SECONDS s"
run_ctest development --no-tests=error || failed+=("the suite")

if [ ${#failed[@]} -gt 0 ]; then
  printf 'tests/run.sh: FAILED: %s\n' "${failed[@]}" >&2
  exit 1
fi
