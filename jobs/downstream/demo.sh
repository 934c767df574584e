#!/usr/bin/env bash
# From text to trained models on the bundled King James Bible, letter by letter: tokenise, sweep, train encodings x seeds, score the tables of
# every checkpoint, accuracy against stress, and a report of the sweep. About four minutes on two idle cores; called again it does what is missing.
#   bash jobs/downstream/demo.sh [OUT] [--small] [--set KEY=VALUE ...]       OUT: downstream-out
#     --small     one verse in ten, two seeds, few steps: what the tests run
#     --set       beats a key of configs/downstream-kjv.ini
# POSGEOM: the program (build/posgeom); PYTHON: one with torch, h5py, numpy, scipy and matplotlib (/usr/bin/python3, else python3)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
posgeom=${POSGEOM:-$root/build/posgeom}
python=${PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
out=downstream-out small=no changes=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && exit 0 ;;
    --small) small=yes ;;
    --set) changes+=(--set "${2:?"--set wants KEY=VALUE"}") && shift ;;
    -*) printf "demo: error: found the option '%s', expected --small or --set KEY=VALUE\n" "$1" >&2 && exit 2 ;;
    *) out=$1 ;;
  esac
  shift
done
say() { printf '\n== %s\n' "$*"; }
if [ ! -x "$posgeom" ]; then
  printf 'demo: error: found no program %s; build it (cmake --preset production && cmake --build --preset production), or set POSGEOM\n' "$posgeom" >&2
  exit 1
fi
if ! "$python" -c 'import torch, h5py, numpy, scipy, matplotlib' 2>/dev/null; then
  printf 'demo: error: %s lacks one of torch, h5py, numpy, scipy, matplotlib; bash jobs/setup.sh --downstream installs them on Debian, or set PYTHON\n' \
    "$python" >&2
  exit 1
fi
cores=$(env -u OMP_NUM_THREADS nproc) # nproc believes that variable
jobs=$((cores < 8 ? cores : 8))
export OPENBLAS_NUM_THREADS=${OPENBLAS_NUM_THREADS:-1}
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
text=$root/tests/data/kjv.txt.xz
grid=(--set "tokens=$out/tokens/tokens.bin" --set "posgeom=$out/sweep" --set "out=$out/trained")
encodings=mds,smacof,sinusoidal,rope,alibi,linear,random
if [ "$small" = yes ]; then
  xz -dc "$text" | awk 'NR % 10 == 1' >"$out/small.txt"
  text=$out/small.txt
  for change in encodings=none,mds,sinusoidal,rope,scratch seeds=1,2 d=16 steps=40 width=64 batch=16 held=200 checkpoints=2 progress=none; do
    grid+=(--set "$change")
  done
fi
grid+=("${changes[@]+"${changes[@]}"}")

say "1/5 posgeom tokenize: a letter a token, a verse a document"
[ -f "$out/tokens/tokens.idx" ] || "$posgeom" tokenize --corpus "$text" --format text --tokenizer chars --out "$out/tokens" --progress none
letters=$(wc -l <"$out/tokens/tokens.vocab.txt")

say "2/5 posgeom run: counts, spectrum, encodings and stress at 8, 16 and 32 positions, with halves and shuffled text"
"$posgeom" run --corpus "$out/tokens/tokens.bin" --format megatron --vocab-size "$letters" --lengths 8,16,32 --dims 2,4,8,16 --encodings "$encodings" --noise all \
  --write-encodings --out "$out/sweep" --progress none

say "3/5 training: encodings x seeds, $jobs runs beside each other (configs/downstream-kjv.ini)"
"$python" "$here/grid.py" "$root/configs/downstream-kjv.ini" all --jobs "$jobs" "${grid[@]}" >"$out/results.jsonl"
printf '%s runs: %s\n' "$(wc -l <"$out/results.jsonl")" "$out/results.jsonl"

say "4/5 posgeom stress of the trained tables, and accuracy against stress"
"$python" "$here/compare.py" "$out/trained" --sweep "$out/sweep" --posgeom "$posgeom" --out "$out/compared"

say "5/5 report"
"$python" "$root/jobs/report.py" "$out/sweep"
say "Done: $out/compared/accuracy.csv (a line an encoding), runs.csv (a line a run), checkpoints.csv, accuracy.png; $out/sweep/report/index.html"
