# The launcher as a target of the same build, as with add_subdirectory of cuPilot's sources.
. "$CASE_DIR/support.sh"

new_project
# A stand-in for our own tree: the target and the module, without what takes minutes to build.
mkdir -p "$SOURCE/cupilot"
cat >"$SOURCE/cupilot/CMakeLists.txt" <<END
add_executable(cupilot-launcher IMPORTED GLOBAL)
set_target_properties(cupilot-launcher PROPERTIES IMPORTED_LOCATION "$PREFIX/libexec/cupilot/cupilot-launcher")
include("$SOURCES/cmake_module/CuPilot.cmake")
END
sed -i 's/find_package(CuPilot QUIET)/add_subdirectory(cupilot)/' "$SOURCE/CMakeLists.txt"
configure
build
expect_commands 2 2 "first build"
grep -lqF "\"$BUILD\"" "$XDG_STATE_HOME"/cupilot/projects/*.json || fail "the build tree is not registered"
expect_noop "after the first build"
publish app 7
build
expect_commands 1 1 "publication"
expect_swapped app 7 "publication"
expect_noop "after a publication"

say "a lock file is looked at, too, by the launcher that was built"
sed -i 's/cupilot_tune(app)/cupilot_tune(app LOCK cupilot.lock)/' "$SOURCE/CMakeLists.txt"
build
options=()
if [ -n "$ON_HOST" ]; then options=(--target "$HOST_TARGET"); fi
"$PUBLISH" --lock "$SOURCE/cupilot.lock" "$SOURCE" "$(folder app)" 9 "$SOURCE/include/shared.h" "$SOURCE/beside.h" \
  "${options[@]}" || fail "lock"
build
expect_commands 1 1 "a lock file"
expect_swapped app 9 "a lock file"
expect_noop "after a lock file"
sed -i 's/cupilot_tune(app LOCK cupilot.lock)/cupilot_tune(app)/' "$SOURCE/CMakeLists.txt"
rm "$SOURCE/cupilot.lock"
build

say "Ninja Multi-Config: each configuration has its own selection"
if [ "$GENERATOR" = Ninja ]; then
  GENERATOR="Ninja Multi-Config"
  COMPILERS=$WORK/none
  rm -rf "$BUILD"
  configure
  build --config Debug --target app
  build --config Release --target app
  expect_commands 1 1 "first build"
  release=$BUILD/cupilot/app/CMakeFiles/app.dir/Release/main.cu.o
  [ -f "$release/command.json" ] || fail "no folder for Release"
  options=()
  if [ -n "$ON_HOST" ]; then options=(--target "$HOST_TARGET"); fi
  "$PUBLISH" "$release" 7 "${options[@]}"
  build --config Release --target app
  expect_commands 1 1 "publication for Release"
  build --config Debug --target app
  expect_commands 0 0 "publication for Release, build of Debug"
fi
