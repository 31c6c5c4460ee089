#!/usr/bin/env bash
# run_case.sh CASE GENERATOR BUILD_FOLDER LAUNCHER PUBLISH MODULE_FOLDER HOST_NVCC
#
# Runs one case in an empty folder of its own, with an installation that holds module and launcher only.
# The compiler is cuPilot's for the host device where it is built, else nvcc; without both the case is
# skipped (exit 77).
set -euo pipefail
CASE=$1 GENERATOR=$2 BUILD_FOLDER=$3 LAUNCHER=$4 PUBLISH=$5 MODULE=$6 HOST_NVCC=$7
CASE_DIR=$(cd "$(dirname "$0")" && pwd)
SOURCES=$(cd "$CASE_DIR/../.." && pwd)
name=$CASE-${GENERATOR// /_}
mkdir -p "$BUILD_FOLDER"
WORK=$BUILD_FOLDER/$name
rm -rf "$WORK" "$WORK.away"
mkdir -p "$WORK"

PREFIX=$WORK/prefix
mkdir -p "$PREFIX/lib/cmake/CuPilot" "$PREFIX/libexec/cupilot"
cp "$SOURCES/cmake_module/CuPilot.cmake" "$MODULE"/CuPilotConfig*.cmake "$PREFIX/lib/cmake/CuPilot/"
cp "$LAUNCHER" "$PREFIX/libexec/cupilot/cupilot-launcher"

if [ -x "$HOST_NVCC" ]; then
  NVCC=$HOST_NVCC DEBUG_FLAG=-G ON_HOST=1
  cat >"$WORK/target.cu" <<'END'
__global__ void kernel() {}
int main() { __builtin_printf("%s\n", cupilot_host_architecture((const void*)kernel)); }
END
  "$NVCC" "$WORK/target.cu" -o "$WORK/target"
  HOST_TARGET=$("$WORK/target")
  export HOST_TARGET
elif NVCC=$(command -v nvcc) || { NVCC=/usr/local/cuda/bin/nvcc && [ -x "$NVCC" ]; }; then
  DEBUG_FLAG=-G ON_HOST=
elif [ "$CASE" != arguments ]; then
  echo "skipped: neither cupilot-nvcc nor nvcc is there"
  exit 77
fi

# CMake's findings about the compilers, made once for each generator and compiler.
COMPILERS=$BUILD_FOLDER/compilers-${GENERATOR// /_}-$(echo "${NVCC:-none}" | cksum | cut -d' ' -f1)
export CASE_DIR WORK PREFIX PUBLISH GENERATOR NVCC DEBUG_FLAG ON_HOST COMPILERS SOURCES
bash "$CASE_DIR/$CASE.sh"
rm -rf "$WORK"
