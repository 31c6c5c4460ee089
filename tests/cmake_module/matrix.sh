# Kinds of targets, and CMake's other ways to compile: each works with variants as without.
. "$CASE_DIR/support.sh"

new_project
mkdir -p "$SOURCE/inner" "$SOURCE/unity"
cat >"$SOURCE/part.cu" <<'EOF'
#ifndef PLUS
#define PLUS 0
#endif
namespace app {
// cupilot: tune
static __global__ void scale(float factor, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i] + PLUS;
}
}  // namespace app
float PART() {
  float* data = nullptr;
  if (cudaMalloc(&data, 8) != cudaSuccess) return -1;
  const float one[2] = {1, 0};
  float result[2] = {0, 0};
  cudaMemcpy(data, one, 8, cudaMemcpyHostToDevice);
  app::scale<<<1, 1>>>(2, data, data + 1, 1);
  cudaMemcpy(result, data, 8, cudaMemcpyDeviceToHost);
  cudaFree(data);
  return result[1];
}
EOF
cat >"$SOURCE/program.cpp" <<'EOF'
#include <cstdio>
float FromObject(); float FromStatic(); float FromShared(); float FromInner(); float FromLater();
int main() {
  std::printf("%g %g %g %g %g\n", FromObject(), FromStatic(), FromShared(), FromInner(), FromLater());
}
EOF
for name in object static shared later; do cp "$SOURCE/part.cu" "$SOURCE/$name.cu"; done
cp "$SOURCE/part.cu" "$SOURCE/inner/inner.cu"
cat >"$SOURCE/inner/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(inner LANGUAGES CXX CUDA)
find_package(CuPilot QUIET)
add_library(inner STATIC inner.cu)
target_compile_definitions(inner PRIVATE PART=FromInner)
if(COMMAND cupilot_tune)
  cupilot_tune(inner)
endif()
EOF
cat >"$SOURCE/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(matrix LANGUAGES CXX CUDA)
include(FetchContent)
find_package(CuPilot QUIET REQUIRED)
add_library(headers INTERFACE)
target_compile_definitions(headers INTERFACE FROM_HEADERS=1)
add_library(object_part OBJECT object.cu)
target_compile_definitions(object_part PRIVATE PART=FromObject)
add_library(static_part STATIC static.cu)
target_compile_definitions(static_part PRIVATE PART=FromStatic)
target_link_libraries(static_part PUBLIC headers)
add_library(shared_part SHARED shared.cu)
target_compile_definitions(shared_part PRIVATE PART=FromShared)
add_library(plain STATIC plain.cpp)
add_executable(app program.cpp)
foreach(target IN ITEMS object_part static_part shared_part plain app)
  cupilot_tune(${target})
endforeach()
# What comes after the call counts as well; a property of one source is a flag of one object.
target_sources(app PRIVATE later.cu)
set_source_files_properties(later.cu PROPERTIES COMPILE_DEFINITIONS "PART=FromLater;PLUS=4")
set_target_properties(app static_part PROPERTIES UNITY_BUILD ON)
FetchContent_Declare(inner SOURCE_DIR "${CMAKE_CURRENT_SOURCE_DIR}/inner")
FetchContent_MakeAvailable(inner)
target_link_libraries(app PRIVATE object_part static_part shared_part inner)
install(TARGETS static_part headers EXPORT parts ARCHIVE DESTINATION lib)
install(EXPORT parts DESTINATION lib/cmake/parts)
export(EXPORT parts FILE "${CMAKE_BINARY_DIR}/parts.cmake")
EOF
echo 'int Plain() { return 1; }' >"$SOURCE/plain.cpp"
configure

say "object, static, shared and fetched libraries, a target without CUDA sources, unity builds"
build
folders=()
while read -r file; do folders+=("$(dirname "$file")"); done < <(find "$BUILD/cupilot" -name command.json | sort)
[ ${#folders[@]} = 5 ] || fail "five objects expected, found: ${folders[*]}"
find "$BUILD/cupilot/plain" -name command.json 2>/dev/null | grep -q . && fail "a C++ source is recorded"
expect_noop "after the first build"
numbers() { # what the program prints; without a device nothing can be said
  LD_LIBRARY_PATH=$BUILD "$BUILD/app" | tee "$WORK/numbers"
}
if [ -n "$ON_HOST" ]; then
  [ "$(numbers)" = "2 2 2 2 6" ] || fail "the originals compute $(cat "$WORK/numbers")"
fi

expect_all_swapped() { # WHAT
  local one
  for one in "${folders[@]}"; do
    grep -q '"reason":""' "$one/applied.json" || fail "$1, $one: $(cat "$one/applied.json")"
  done
}

say "each takes its own variant"
options=()
if [ -n "$ON_HOST" ]; then options=(--target "$HOST_TARGET"); fi
mark=10
for one in "${folders[@]}"; do
  "$PUBLISH" "$one" $mark "${options[@]}" || fail "publish $one"
  mark=$((mark + 10))
done
build
[ "$(compiled)" = 5 ] || fail "five compiles expected, found $(compiled)"
expect_all_swapped "a publication for each"
if [ -n "$ON_HOST" ]; then
  numbers
  for value in 2 6; do
    if tr ' ' '\n' <"$WORK/numbers" | grep -qx $value; then fail "an original ran: $(cat "$WORK/numbers")"; fi
  done
fi
expect_noop "after five publications"

say "exported targets and clangd's file know nothing of us"
cmake --install "$BUILD" --prefix "$WORK/installed" >"$LOG" 2>&1 || fail "install"
if grep -qi cupilot <<<"$(without_paths "$BUILD/parts.cmake" "$WORK"/installed/lib/cmake/parts/*)"; then fail "an exported target carries our properties"; fi
if grep -q 'cupilot-launcher\|stamp\.h\|swap\.' <<<"$(without_paths "$BUILD/compile_commands.json")"; then fail "compile_commands.json names us"; fi

say "the real ccache in front of the compiler"
if command -v ccache >/dev/null; then
  export CCACHE_DIR=$WORK/ccache CCACHE_NOCOMPRESS=1
  configure -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
  # Makefiles do not look at launchers.
  cmake --build "$BUILD" --target clean >/dev/null
  build
  [ "$(compiled)" = 5 ] || fail "with ccache: five compiles expected, found $(compiled)"
  expect_all_swapped "with ccache"
  if [ -n "$ON_HOST" ]; then
    cp "$WORK/numbers" "$WORK/numbers.before"
    numbers
    cmp -s "$WORK/numbers" "$WORK/numbers.before" || fail "with ccache another result: $(cat "$WORK/numbers")"
  fi
  if ccache -s | grep -q 'Cacheable calls: *[1-9]'; then
    cmake --build "$BUILD" --target clean >/dev/null
    build
    ccache -s | grep -q 'Hits: *[1-9]' || fail "ccache never hit: $(ccache -s)"
  else
    say "   (this ccache does not cache this compiler)"
  fi
  expect_noop "with ccache"
fi

say "lists of architectures"
for list in '80-real;90-virtual' '80' 'all-major'; do
  rm -rf "$BUILD/CMakeCache.txt"
  configure -DCMAKE_CUDA_ARCHITECTURES="$list"
  [ -f "$BUILD/cupilot/project.json" ] || fail "$list: no project"
done
