#!/usr/bin/env bash
# run.sh NVCC FOLDER GENERATOR Static|Shared
set -euo pipefail
nvcc=$1 folder=$2 generator=$3 runtime=$4
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/project
fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$folder"
mkdir -p "$folder"
# CMake takes no toolkit in a folder with a blank; cuPilot's module mends that, but here it is not loaded.
case "$nvcc" in
  *" "*)
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    cp -r "$(dirname "$nvcc")/.." "$copy/toolkit"
    export CUPILOT_HOST_TOOLKIT=$copy/toolkit
    nvcc=$copy/toolkit/bin/nvcc ;;
esac
env -u CUDAARCHS -u CUDAFLAGS CUDACXX="$nvcc" cmake -S "$source_folder" -B "$folder/build" -G "$generator" \
  -DCMAKE_CUDA_RUNTIME_LIBRARY="$runtime" -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  > "$folder/configure.log" 2>&1 || { cat "$folder/configure.log"; fail "cmake does not take the compiler"; }
grep -q "The CUDA compiler identification is NVIDIA 13.0" "$folder/configure.log" ||
  fail "not identified: $(grep -i identification "$folder/configure.log")"
! grep -i warning "$folder/configure.log" || fail "configuring warns"
cmake --build "$folder/build" -j2 > "$folder/build.log" 2>&1 || { cat "$folder/build.log"; fail "build"; }
! grep -i "warning:" "$folder/build.log" || fail "building warns"

# As with any toolkit outside the system's folders: CMake adds no run path for the compiler's own
# libraries, and another toolkit's runtime may be in the loader's cache.
export LD_LIBRARY_PATH="$(dirname "$nvcc")/../lib64"
for program in app separate; do
  output=$("$folder/build/$program") || fail "$program ended with $?: $output"
  [ "$output" = "$program: ok" ] || fail "$program printed: $output"
done
libraries=$(ldd "$folder/build/separate")
if [ "$runtime" = Shared ]; then
  grep -q "libcudart.so.13" <<<"$libraries" || fail "the shared runtime is not linked"
else
  ! grep -q libcudart <<<"$libraries" || fail "the shared runtime is linked"
fi

grep -q '"file": ".*project/main.cu"' "$folder/build/compile_commands.json" || fail "compile_commands.json"

# Nothing to do, and an edited header compiles what includes it.
cmake --build "$folder/build" > "$folder/again.log" 2>&1
! grep -q "Building CUDA" "$folder/again.log" || fail "a second build compiles: $(cat "$folder/again.log")"
cp -r "$source_folder" "$folder/copy"
CUDACXX="$nvcc" cmake -S "$folder/copy" -B "$folder/copy_build" -G "$generator" > "$folder/copy.log" 2>&1
cmake --build "$folder/copy_build" -j2 > "$folder/copy_first.log" 2>&1 || fail "build of the copy"
later=$(date -d '+2 seconds' '+%Y%m%d%H%M.%S')
touch -t "$later" "$folder/copy/library/scale.cuh"
cmake --build "$folder/copy_build" > "$folder/copy_second.log" 2>&1 || fail "build after an edit"
for object in main.cu scale.cu; do
  grep -q "Building CUDA.*$object" "$folder/copy_second.log" || fail "the header's edit does not reach $object"
done
! grep -q "Building CUDA.*part.cu" "$folder/copy_second.log" || fail "part.cu includes no edited header"
echo "ok"
