#!/usr/bin/env bash
# host_run.sh CASE HOST_NVCC TOOLS WORK: the programs of a GPU test on the host device, so that they cannot rot: the
# same source, hook and comparison. Exit 77 where cupilot-nvcc is not built.
set -euo pipefail
CASE=$1 HOST_NVCC=$2 CASES=$3/swap_cases WORK=$4
GPU=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ -x "$HOST_NVCC" ] || { echo "skipped: cupilot-nvcc is not built"; exit 77; }
rm -rf "$WORK"
mkdir -p "$WORK"
cd "$WORK"
fail() { echo "FAILED: $*"; exit 1; }

cat >target.cu <<'END'
__global__ void kernel() {}
int main() { __builtin_printf("%s\n", cupilot_host_architecture((const void*)kernel)); }
END
"$HOST_NVCC" target.cu -o target
target=$(./target)

swapped() { # NAME SOURCE CASE OPTIONS... [-- NVCC_OPTIONS...]
  local name=$1 source=$2 said file options=()
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -eq 0 ] || shift
  said=$("$CASES" "${options[@]}" --source "$source" --out "$WORK/$name.sources" --target "$target")
  file=${said%%$'\n'*}
  # shellcheck disable=SC2086
  "$HOST_NVCC" -std=c++17 -O2 "$@" "$file" ${said:${#file}} -o "$name"
}

differential() {
  . "$GPU/differential/compare.sh"
  swapped native "$GPU/differential/program.cu" differential
  compare native 3000 7 || fail "the variants change results"
  cat native.statistics
  all_kernels native || fail "not every kernel was launched inside and outside its guards"
  swapped wrong "$GPU/differential/program.cu" differential --wrong
  if compare wrong 3000 7; then fail "a variant that leaves out elements is not found"; fi
}

# Two of the programs with the techniques' variants; the others differ in the variants only.
mechanical() {
  . "$GPU/differential/compare.sh"
  local program
  [ -f "$(dirname "$CASES")/mechanical.json" ] || { echo "skipped: mechanical.json was not made"; exit 77; }
  for program in 0 3; do
    swapped "m$program" "$GPU/differential/program.cu" mechanical --variants "$(dirname "$CASES")/mechanical.json" \
      --program "$program"
    compare "m$program" 10000 7 || fail "the variants of program $program change results"
    all_kernels "m$program" || fail "not every kernel was launched inside and outside its guards"
  done
}

launches() {
  "$HOST_NVCC" -std=c++17 -O2 -DPLAIN -c "$GPU/launches/launches.cu" -o plain.o
  swapped launches "$GPU/launches/launches.cu" launches -- plain.o
  said=$(CUPILOT_STATS=1 ./launches 100 2>&1)
  echo "$said"
  [[ $said == *"bench::tuned: "[1-9]*" launches tuned, 0 outside"* ]] || fail "the variant of tuned does not run"
  [[ $said == *"bench::missed: 0 launches tuned, "[1-9]* ]] || fail "the variant of missed runs"
  [[ $said == *"bench::sized: "[1-9]*" launches tuned, 0 outside"* ]] || fail "no variant of sized runs"
  disabled=$(CUPILOT_STATS=1 CUPILOT_DISABLE=1 ./launches 100 2>&1)
  [[ $disabled != *"launches tuned"* ]] || fail "CUPILOT_DISABLE=1 leaves variants on: $disabled"
}

# With graphs that are made up. A node that is a variant shows: the program is no test of anything else.
graphs() {
  local source=$GPU/swap/graph_updates.cu wraps=-Xlinker=--wrap=__cudaLaunchKernel,--wrap=cudaStreamIsCapturing
  "$HOST_NVCC" -std=c++17 -O2 -x cu -c "$GPU/swap/host_graphs.cc" -o host_graphs.o
  "$HOST_NVCC" -std=c++17 -O2 -DREADER -c "$source" -o reader.o
  "$HOST_NVCC" -std=c++17 -O2 "$source" host_graphs.o reader.o "$wraps" -o plain
  swapped tuned "$source" graphs -- host_graphs.o reader.o "$wraps"
  swapped wrong "$source" graphs -- host_graphs.o reader.o "$wraps" -DCUPILOT_TUNED_GRAPHS
  ./plain original >plain.txt && ./tuned tuned >tuned.txt && CUPILOT_DISABLE=1 ./tuned original >disabled.txt ||
    fail "the programs do not run"
  [ ! -s plain.txt ] && [ ! -s tuned.txt ] && [ ! -s disabled.txt ] || fail "$(head plain.txt tuned.txt disabled.txt)"
  ./wrong tuned >wrong.txt || fail "the program with variants in its graphs does not run"
  for what in Gives gridDim func; do
    grep -q "$what" wrong.txt || fail "a variant in a graph goes unseen ($what): $(cat wrong.txt)"
  done
}

"$CASE"
