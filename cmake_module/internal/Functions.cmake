# cupilot_library(NAME SOURCES ... [LINK ...] [PRIVATE_LINK ...])
#   a static library of one folder, with an alias cupilot::NAME.
function(cupilot_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cupilot_library(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_library(cupilot_${name} STATIC ${arg_SOURCES})
  add_library(cupilot::${name} ALIAS cupilot_${name})
  target_link_libraries(cupilot_${name}
    PUBLIC cupilot_settings ${arg_LINK}
    PRIVATE cupilot_warnings ${arg_PRIVATE_LINK})
endfunction()

# cupilot_program(NAME SOURCES ... [LINK ...]): an executable; the caller installs it.
function(cupilot_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cupilot_program(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE cupilot_settings cupilot_warnings ${arg_LINK})
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
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "CUPILOT_NO_SPAWN=1")
endfunction()
