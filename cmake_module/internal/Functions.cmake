# cupilot_optimise(TARGET [LEVEL]): a little, in the build type Dev; in Release less than CMake would, for the archive's
# size: loops over buffers ask for more, source by source, and what nothing reaches is left out by the linker
# (Package.cmake). LEVEL of Release: 2, or 1 for code that waits for others: that compiles in three quarters of the time.
function(cupilot_optimise target)
  set(level 2)
  if(ARGC GREATER 1)
    set(level ${ARGV1})
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Dev>:-O1>
    "$<$<CONFIG:Release>:-O${level};-ffunction-sections;-fdata-sections>")
endfunction()

# cupilot_common_headers(TARGET SET): what most sources include is read once for all targets of one kind (library or
# test), where sources are compiled together anyway (a unity build). Where each is compiled by itself, each has to include
# what it needs.
function(cupilot_common_headers target set)
  if(NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set(owner cupilot_headers_${set})
  if(NOT TARGET ${owner})
    set(headers <algorithm> <array> <chrono> <filesystem> <functional> <map> <memory> <optional> <set> <sstream>
      <string> <vector> <nlohmann/json.hpp> <tl/expected.hpp>)
    set(source "${PROJECT_BINARY_DIR}/${owner}.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "int main() {}\n")
    if(set STREQUAL "test")
      add_executable(${owner} "${source}")
      target_link_libraries(${owner} PRIVATE GTest::gmock)
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    else()
      add_library(${owner} OBJECT "${source}")
    endif()
    target_link_libraries(${owner} PRIVATE cupilot_settings dep_json dep_expected)
    if(set STREQUAL "library")
      cupilot_optimise(${owner})
    endif()
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# cupilot_library(NAME SOURCES ... [LINK ...] [PRIVATE_LINK ...] [WAITS])
#   a static library of one folder, with an alias cupilot::NAME. WAITS: its code mostly waits for others.
function(cupilot_library name)
  cmake_parse_arguments(arg "WAITS" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cupilot_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_library(cupilot_${name} STATIC ${arg_SOURCES})
  add_library(cupilot::${name} ALIAS cupilot_${name})
  target_link_libraries(cupilot_${name}
    PUBLIC cupilot_settings ${arg_LINK}
    PRIVATE cupilot_warnings ${arg_PRIVATE_LINK})
  if(arg_WAITS)
    cupilot_optimise(cupilot_${name} 1)
  else()
    cupilot_optimise(cupilot_${name})
  endif()
  cupilot_common_headers(cupilot_${name} library)
endfunction()

# cupilot_program(NAME SOURCES ... [LINK ...]): an executable; the caller installs it.
function(cupilot_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cupilot_program(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE cupilot_settings cupilot_warnings ${arg_LINK})
  cupilot_optimise(${name} 1)
endfunction()

# cupilot_unit_test(NAME FOLDER dir [LINK ...] [LABELS ...] [TIMEOUT s])
#   one GoogleTest binary of all *_test.cc directly in dir (found again when a file is added).
function(cupilot_unit_test name)
  cmake_parse_arguments(arg "" "FOLDER;TIMEOUT" "LINK;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${arg_FOLDER}/*_test.cc")
  if(NOT sources)
    return()
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)  # a backstop for busy machines; nothing is measured by it
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE cupilot_settings cupilot_warnings ${arg_LINK}
    GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    CUPILOT_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" CUPILOT_TEST_BINARY_DIR="${PROJECT_BINARY_DIR}")
  cupilot_common_headers(${name} test)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "CUPILOT_NO_SPAWN=1")
endfunction()
