#!/usr/bin/env bash
# Rebuilds the two samples of this folder from Debian's packages (README.md says what they are), and checks them.
#   tests/data/make.sh [FOLDER]        writes to FOLDER (this folder)
# Needs apt-get, dpkg-deb, xz and an up-to-date package list (apt-get update); installs nothing.
set -euo pipefail
export LC_ALL=C

to=$(realpath "${1:-$(dirname "${BASH_SOURCE[0]}")}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
apt-get download -qq bible-kjv bible-kjv-text microbiomeutil-data
for package in ./*.deb; do dpkg-deb -x "$package" root; done

# "Ge1:1 In the beginning ...": one verse a line, the label cut off.
root/usr/bin/bible -f -p root/usr/lib 'Gen1:1-Rev22:21' </dev/null | sed -E 's/^[1-3]?[A-Za-z]+[0-9]+:[0-9]+ //' >kjv.txt
# Each record's lines joined, in the file's order; letters in upper case (soft-masked bases are lower case there).
awk '/^>/ { if (sequence != "") print sequence; sequence = ""; next } { sequence = sequence $0 } END { print sequence }' \
  root/usr/share/microbiomeutil-data/RESOURCES/rRNA16S.gold.NAST_ALIGNED.fasta | tr "[:lower:]" "[:upper:]" >16s_aligned.txt

sha256sum --check <<'SUMS'
b5c4940bcfeee072c0935b5200d0f9d88a00a0199cb0961d16133458fcdfae5d  kjv.txt
cc9eceda207233811e6d4dc733a7b8560486881273efbff1a080b0c343b46ba0  16s_aligned.txt
SUMS
xz -9e kjv.txt 16s_aligned.txt
cp kjv.txt.xz 16s_aligned.txt.xz "$to"
