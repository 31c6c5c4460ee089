# A toolkit in a folder with a blank and an umlaut, as of an archive that was unpacked there, and C++ that links.
. "$CASE_DIR/support.sh"

[ -n "$ON_HOST" ] || { echo "skipped: cupilot-nvcc is not there"; exit 77; }
toolkit="$WORK/Mein Prüfstand/toolkit"
mkdir -p "$(dirname "$toolkit")"
cp -r "$(dirname "$NVCC")/.." "$toolkit"
export CUPILOT_HOST_TOOLKIT=$toolkit
NVCC=$toolkit/bin/nvcc COMPILERS=$WORK/none

say "with CUDA in project(), and by cupilot_enable_cuda()"
for languages in "CXX CUDA" "CXX"; do
  new_project
  sed -i "s/LANGUAGES CXX CUDA/LANGUAGES $languages/; s/^find_package.*/find_package(CuPilot)\ncupilot_enable_cuda()/" \
    "$SOURCE/CMakeLists.txt"
  configure
  build
  expect_commands 2 2 "$languages"
  publish app 7
  build
  expect_swapped app 7 "$languages"
done

say "the module in a subfolder"
new_project
mkdir -p "$SOURCE/module"
cat >"$SOURCE/module/CMakeLists.txt" <<END
add_executable(cupilot-launcher IMPORTED GLOBAL)
set_target_properties(cupilot-launcher PROPERTIES IMPORTED_LOCATION "$PREFIX/libexec/cupilot/cupilot-launcher")
include("$SOURCES/cmake_module/CuPilot.cmake")
END
sed -i 's/^find_package.*/add_subdirectory(module)/' "$SOURCE/CMakeLists.txt"
configure
build
expect_commands 2 2 "the module in a subfolder"
