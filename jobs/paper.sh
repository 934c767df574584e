#!/usr/bin/env bash
# The experiments of the paper (Cirrincione, arXiv:2604.05217, 2026), each with its null beside it: runs posgeom, then prints a table of claims.
#   jobs/paper.sh [--sst2 TSV] [--imdb TSV] [--vocab VOCAB] [--out DIR] [--ranks P] [--posgeom PROGRAM]
# The synthetic corpora are drawn here. SST-2 (GLUE), IMDB and BERT's vocabulary carry licences of their own and are yours to bring:
#   SST-2  train.tsv of GLUE's SST-2: a header line, then sentence TAB label (67,349 sentences)
#   IMDB   a TSV with a header line that names a column `text` (25,000 reviews of the training set of Maas et al. 2011, one a line)
#   vocab  vocab.txt of bert-base-uncased (30,522 lines)
# Compressed files (.gz, .xz, .zst, .bz2) are read as they are. What is not given is left out, and the table says so. Needs python3 with h5py
# (another Python: PYTHON=...).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
  printf 'paper.sh: %s\n' "$*" >&2
  exit 2
}

sst2='' imdb='' vocab='' out=posgeom-out/paper ranks=1 posgeom=$root/build/posgeom
while [ $# -gt 0 ]; do
  case $1 in
    --sst2 | --imdb | --vocab | --out | --ranks | --posgeom)
      [ $# -ge 2 ] || fail "option $1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift
      ;;
    -h | --help) sed -n '2,/^set/{/^set/!s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) fail "unknown option '$1'; see --help" ;;
  esac
  shift
done
python=''
for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3; do
  if "$candidate" -c 'import h5py' 2>/dev/null; then
    python=$candidate
    break
  fi
done
[ -n "$python" ] || fail "no python3 with h5py, which the table is made with: install python3-h5py (or pip install h5py), or name one with PYTHON="
[ -x "$posgeom" ] || fail "there is no program $posgeom; build it first (jobs/quickstart.sh), or name one with --posgeom"
for data in "$sst2" "$imdb" "$vocab"; do
  [ -z "$data" ] || [ -r "$data" ] || fail "'$data' cannot be read"
done
if [ -n "$sst2$imdb" ] && [ -z "$vocab" ]; then fail "SST-2 and IMDB are cut into WordPieces: --vocab vocab.txt (bert-base-uncased) is missing"; fi

launcher=()
if [ "$ranks" -gt 1 ]; then launcher=(mpirun -np "$ranks"); fi
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

run() {
  printf '\n== %s\n' "$1"
  shift
  "${launcher[@]}" "$posgeom" run "$@"
}

# Three components of disjoint tokens, their weights smooth along 32 positions: with one token each the distributions have rank 3 whatever
# is drawn; with 1000 each, the same weights are seen through sampling noise.
for vocab_size in 3 3000; do
  folder=$out/synthetic-$vocab_size
  if [ ! -e "$folder/truth.h5" ]; then
    "$posgeom" synth --synth-kind planted --synth-positions 32 --synth-components 3 --synth-vocab "$vocab_size" --synth-documents 20000 \
      --synth-lengths fixed:32 --seed 1 --out "$folder"
  fi
  run "synthetic, $vocab_size tokens" --config "$root/configs/paper-synthetic.ini" --corpus "$folder/tokens.bin" --vocab-size "$vocab_size" --out "$folder"
done
[ -z "$sst2" ] || run "SST-2" --config "$root/configs/paper-sst2.ini" --corpus "$sst2" --vocab "$vocab" --noise all --out "$out/sst2"
[ -z "$imdb" ] || run "IMDB" --config "$root/configs/paper-imdb.ini" --corpus "$imdb" --vocab "$vocab" --out "$out/imdb"

printf '\n'
"$python" "$root/jobs/paper_table.py" "$out"
