# Every third-party library as a dep_* target; nothing else in the tree names a package.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(RocksDB QUIET CONFIG)
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(CLI11 REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(CURL REQUIRED)
if(CUPILOT_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
pkg_check_modules(libuv REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(libzmq REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(libsodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(libseccomp REQUIRED IMPORTED_TARGET libseccomp)

function(cupilot_dependency name)
  add_library(dep_${name} INTERFACE)
  target_link_libraries(dep_${name} INTERFACE ${ARGN})
endfunction()
cupilot_dependency(threads Threads::Threads)
cupilot_dependency(json nlohmann_json::nlohmann_json)
cupilot_dependency(expected tl::expected)
cupilot_dependency(log spdlog::spdlog fmt::fmt)
cupilot_dependency(uv PkgConfig::libuv)
cupilot_dependency(zmq PkgConfig::libzmq)
cupilot_dependency(rocksdb RocksDB::rocksdb-shared)
# The header alone: the library is opened when it is used (daemon/loop/curl_library.h).
add_library(dep_curl INTERFACE)
target_include_directories(dep_curl SYSTEM INTERFACE "${CURL_INCLUDE_DIRS}")
cupilot_dependency(seccomp PkgConfig::libseccomp)
# Boost.Context, as an archive: its switch of stacks becomes part of the host device's runtime libraries, since
# the programs that users build link nothing else.
find_library(CUPILOT_BOOST_CONTEXT_ARCHIVE libboost_context.a REQUIRED)
cupilot_dependency(boost_context "${CUPILOT_BOOST_CONTEXT_ARCHIVE}" Boost::headers)
cupilot_dependency(cli11 CLI11::CLI11)
cupilot_dependency(eigen Eigen3::Eigen)
# Templates of prompts: one header, without a package file.
find_path(CUPILOT_MUSTACHE_INCLUDE kainjow/mustache.hpp REQUIRED)
add_library(dep_mustache INTERFACE)
target_include_directories(dep_mustache SYSTEM INTERFACE "${CUPILOT_MUSTACHE_INCLUDE}")
# What draws in reports (client/report): parts of D3 and jsdiff, as Debian's packages of node modules have them.
find_path(CUPILOT_NODE_MODULES d3-scale/dist/d3-scale.min.js PATHS /usr/share/nodejs NO_DEFAULT_PATH REQUIRED)
# BLAKE2b; the archive, so that the static launcher can use the same target.
find_library(CUPILOT_SODIUM_ARCHIVE libsodium.a REQUIRED)
cupilot_dependency(sodium "${CUPILOT_SODIUM_ARCHIVE}" Threads::Threads)
target_include_directories(dep_sodium INTERFACE ${libsodium_INCLUDE_DIRS})

# clang's C++ libraries, static: the parser of the worker and of cupilot-nvcc.
# LLVM's version file accepts only its exact major and minor version, so the folder names it (or Clang_DIR does).
find_package(LLVM QUIET CONFIG
  PATHS /usr/lib/llvm-${CUPILOT_LLVM_VERSION}/lib/cmake/llvm NO_DEFAULT_PATH)
find_package(Clang QUIET CONFIG
  PATHS /usr/lib/llvm-${CUPILOT_LLVM_VERSION}/lib/cmake/clang NO_DEFAULT_PATH)
if(NOT Clang_FOUND)
  message(FATAL_ERROR "clang's development files of major version ${CUPILOT_LLVM_VERSION} were not "
    "found: install clang-${CUPILOT_LLVM_VERSION}, libclang-${CUPILOT_LLVM_VERSION}-dev and llvm-${CUPILOT_LLVM_VERSION}-dev, or set "
    "CUPILOT_LLVM_VERSION to the version that is installed")
endif()
add_library(dep_clang INTERFACE)
# Each program with clang in it has 190,000 addresses of its own to adjust when it is loaded; packed (glibc 2.36) they
# take nearly half a megabyte less of the archive.
include(CheckLinkerFlag)
check_linker_flag(CXX "-Wl,-z,pack-relative-relocs" CUPILOT_PACKS_RELOCATIONS)
if(CUPILOT_PACKS_RELOCATIONS)
  target_link_options(dep_clang INTERFACE "-Wl,-z,pack-relative-relocs")
endif()
target_include_directories(dep_clang SYSTEM INTERFACE ${CLANG_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_link_libraries(dep_clang INTERFACE clangFrontend clangSerialization clangDriver clangParse
  clangSema clangAnalysis clangEdit clangAST clangASTMatchers clangLex clangBasic)
# The distribution's targets name libLLVM.so (230 MB with what it needs); we link the few archives.
if(NOT TARGET zstd::libzstd_shared)
  # LLVM's archives name this target without looking for it.
  find_library(CUPILOT_ZSTD NAMES zstd libzstd.so.1 REQUIRED)
  add_library(zstd::libzstd_shared UNKNOWN IMPORTED)
  set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION "${CUPILOT_ZSTD}")
endif()
cupilot_dependency(zstd zstd::libzstd_shared)
llvm_map_components_to_libnames(llvm_archives option support targetparser core bitreader
  bitstreamreader binaryformat profiledata windowsdriver frontendhlsl frontendopenmp
  frontendoffloading mc mcparser demangle)
foreach(target IN ITEMS clangFrontend clangSerialization clangDriver clangParse clangSema clangAnalysis
    clangEdit clangAST clangASTMatchers clangLex clangBasic clangAPINotes clangSupport)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  list(REMOVE_ITEM libraries LLVM)
  set_target_properties(${target} PROPERTIES
    INTERFACE_LINK_LIBRARIES "${libraries};${llvm_archives}")
endforeach()
target_link_options(dep_clang INTERFACE -Wl,--as-needed)
