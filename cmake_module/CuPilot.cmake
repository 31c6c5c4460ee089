# cupilot_tune(), cupilot_enable_cuda(): what a project calls. Loaded by find_package(CuPilot) and by
# add_subdirectory of cuPilot's sources.
#
# Rules: configuring and building need neither daemon, network nor GPU. Nothing here sets a variable of
# the project. What is wrong in a call is a FATAL_ERROR that says what is right; what is wrong with our
# own installation is never an error: the project then builds without us.
#
# Where things are lies in global properties, since deferred calls run in other folders' scopes:
#   CUPILOT_LAUNCHER      the program in an installation, to be copied into the build tree
#   CUPILOT_DAEMON        the program, may be missing
#   CUPILOT_HOST_TOOLKIT  folder laid out like a CUDA toolkit, may be missing
# With add_subdirectory the target `cupilot-launcher` is used in place of a copy.
include_guard(GLOBAL)

function(_cupilot_fail what)
  message(FATAL_ERROR "cupilot_tune: ${what}\n"
    "usage: cupilot_tune(TARGET [KERNELS kernel...] [APPLY auto|manual] [NUMERICS close|bitwise] "
    "[GRAPHS original|tuned] [LOCK file] [CAPTURE_TEST test])")
endfunction()

# cupilot_tune(TARGET ...): the tagged kernels of this target's CUDA sources are tuned, and its next
# builds take what is proven.
#   KERNELS       only these (qualified names or unique suffixes); default: every tagged kernel
#   APPLY         auto: the next build takes a proven variant; manual: after `cupilot apply`.
#                 Default auto, and manual where the environment variable CI is set.
#   NUMERICS      close: within the rounding that the gate allows; bitwise: the same bits. Default close.
#   GRAPHS        what a launch becomes that a stream captures: the original, which whoever reads, recognises or sets
#                 kernel nodes of the graph expects; or tuned, as every launch, for a program in which nobody does.
#                 Default original. A definition of the compile: after a change a lock file is to be written again.
#   LOCK          file of pinned variants (`cupilot lock` writes it), relative to the current source folder.
#                 Where it is there, it decides alone which variants this target takes, on every machine;
#                 a changed one compiles again what it speaks of.
#   CAPTURE_TEST  name of a CTest test that shows what the kernels are run on
function(cupilot_tune target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "APPLY;NUMERICS;GRAPHS;LOCK;CAPTURE_TEST" "KERNELS")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " unknown)
    _cupilot_fail("unknown argument '${unknown}' for ${target}")
  endif()
  if(DEFINED arg_KEYWORDS_MISSING_VALUES)
    list(JOIN arg_KEYWORDS_MISSING_VALUES " " empty)
    _cupilot_fail("${empty} has no value for ${target}")
  endif()
  _cupilot_check_target("${target}")
  if(NOT DEFINED arg_APPLY)
    set(arg_APPLY auto)
    if(NOT "$ENV{CI}" STREQUAL "")
      set(arg_APPLY manual)
    endif()
  endif()
  if(NOT DEFINED arg_NUMERICS)
    set(arg_NUMERICS close)
  endif()
  if(NOT arg_APPLY MATCHES "^(auto|manual)$")
    _cupilot_fail("APPLY is '${arg_APPLY}' for ${target}; it must be auto or manual")
  endif()
  if(NOT arg_NUMERICS MATCHES "^(close|bitwise)$")
    _cupilot_fail("NUMERICS is '${arg_NUMERICS}' for ${target}; it must be close or bitwise")
  endif()
  if(NOT DEFINED arg_GRAPHS)
    set(arg_GRAPHS original)
  endif()
  if(NOT arg_GRAPHS MATCHES "^(original|tuned)$")
    _cupilot_fail("GRAPHS is '${arg_GRAPHS}' for ${target}; it must be original or tuned")
  endif()
  if(arg_GRAPHS STREQUAL "tuned")  # for the hook, in whatever swapped source
    target_compile_definitions("${target}" PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:CUPILOT_TUNED_GRAPHS>")
  endif()
  if(DEFINED arg_LOCK)
    get_filename_component(arg_LOCK "${arg_LOCK}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    set_property(GLOBAL APPEND PROPERTY CUPILOT_LOCKS "${arg_LOCK}")
    _cupilot_json_string(lock "${arg_LOCK}")
    set(lock "\"lock\": ${lock}, ")
  else()
    set(lock "")  # the launcher looks for the word before it parses anything
  endif()

  _cupilot_json_string(name "${target}")
  _cupilot_json_string(test "${arg_CAPTURE_TEST}")
  set(kernels "")
  foreach(kernel IN LISTS arg_KERNELS)
    _cupilot_json_string(kernel "${kernel}")
    string(APPEND kernels "${kernels_separator}${kernel}")
    set(kernels_separator ", ")
  endforeach()
  set_property(GLOBAL APPEND_STRING PROPERTY CUPILOT_TARGETS
    ",\n    {\"name\": ${name}, \"kernels\": [${kernels}], \"apply\": \"${arg_APPLY}\", \"numerics\": \"${arg_NUMERICS}\", ${lock}\"capture_test\": ${test}}")

  # At the end of this folder, so that sources, properties and launchers set after this call count.
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _cupilot_set_launcher [[${target}]])")
  get_property(deferred GLOBAL PROPERTY CUPILOT_PROJECT_DEFERRED)
  if(NOT deferred)
    set_property(GLOBAL PROPERTY CUPILOT_PROJECT_DEFERRED TRUE)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _cupilot_write_project)
  endif()
endfunction()

function(_cupilot_check_target target)
  if(NOT TARGET "${target}")
    _cupilot_fail("there is no target '${target}'; call it after add_executable or add_library")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    _cupilot_fail("'${target}' is an alias; name the target itself: ${aliased}")
  endif()
  get_target_property(imported "${target}" IMPORTED)
  get_target_property(type "${target}" TYPE)
  if(imported OR NOT type MATCHES "^(EXECUTABLE|(STATIC|SHARED|MODULE|OBJECT)_LIBRARY)$")
    _cupilot_fail("'${target}' compiles nothing (${type}); name an executable or a library of this project")
  endif()
  get_property(tuned GLOBAL PROPERTY CUPILOT_TUNED_TARGETS)
  if(target IN_LIST tuned)
    _cupilot_fail("'${target}' is tuned twice; one call takes all arguments")
  endif()
  set_property(GLOBAL APPEND PROPERTY CUPILOT_TUNED_TARGETS "${target}")
endfunction()

# A JSON string in quotes.
function(_cupilot_json_string out text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n" text "${text}")
  set(${out} "\"${text}\"" PARENT_SCOPE)
endfunction()

# The launcher that this build tree uses: a copy of its own, so that an uninstall or another version
# breaks no build.
function(_cupilot_launcher out)
  if(TARGET cupilot-launcher)
    set(${out} "$<TARGET_FILE:cupilot-launcher>" PARENT_SCOPE)
    return()
  endif()
  get_property(installed GLOBAL PROPERTY CUPILOT_LAUNCHER)
  set(copy "${CMAKE_BINARY_DIR}/cupilot/cupilot-launcher")
  get_property(copied GLOBAL PROPERTY CUPILOT_LAUNCHER_COPIED)
  if(NOT copied AND EXISTS "${installed}")
    set_property(GLOBAL PROPERTY CUPILOT_LAUNCHER_COPIED TRUE)
    set(old "")
    if(EXISTS "${copy}")
      file(SHA256 "${copy}" old)
    endif()
    file(SHA256 "${installed}" new)
    if(NOT old STREQUAL new)
      # By rename: the old one may be running.
      file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/cupilot/.new")
      file(COPY "${installed}" DESTINATION "${CMAKE_BINARY_DIR}/cupilot/.new")
      file(RENAME "${CMAKE_BINARY_DIR}/cupilot/.new/cupilot-launcher" "${copy}")
    endif()
  endif()
  if(EXISTS "${copy}")
    set(${out} "${copy}" PARENT_SCOPE)
  else()
    set(${out} "" PARENT_SCOPE)
  endif()
endfunction()

function(_cupilot_set_launcher target)
  _cupilot_launcher(launcher)
  if(NOT launcher)
    message(STATUS "cuPilot: the launcher is missing from the installation; ${target} builds without it")
    return()
  endif()
  get_target_property(before "${target}" CUDA_COMPILER_LAUNCHER)
  set(words "${launcher}" "${CMAKE_BINARY_DIR}/cupilot" "${target}" "--")
  if(before)
    list(APPEND words ${before})
  endif()
  list(APPEND words "--compiler")
  set_target_properties("${target}" PROPERTIES CUDA_COMPILER_LAUNCHER "${words}")
  if(TARGET cupilot-launcher)
    add_dependencies("${target}" cupilot-launcher)
  endif()
endfunction()

# Once, at the end of the project: project.json for all calls, and the registration with the daemon.
function(_cupilot_write_project)
  get_property(targets GLOBAL PROPERTY CUPILOT_TARGETS)
  string(SUBSTRING "${targets}" 1 -1 targets)
  _cupilot_json_string(source "${CMAKE_SOURCE_DIR}")
  _cupilot_json_string(build "${CMAKE_BINARY_DIR}")
  set(text "{\"schema\": \"cupilot.project/1\",\n  \"source_folder\": ${source},\n  \"build_folder\": ${build},\n  \"targets\": [${targets}]}\n")
  set(file "${CMAKE_BINARY_DIR}/cupilot/project.json")
  set(old "")
  if(EXISTS "${file}")
    file(READ "${file}" old)
  endif()
  if(NOT old STREQUAL text)
    file(WRITE "${file}.new" "${text}")
    file(RENAME "${file}.new" "${file}")
  endif()
  # Who deletes our folder gets it back: the next build configures first.
  if(NOT TARGET cupilot-launcher AND EXISTS "${CMAKE_BINARY_DIR}/cupilot/cupilot-launcher")
    set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
      "${CMAKE_BINARY_DIR}/cupilot/cupilot-launcher")
  endif()
  _cupilot_look_at_locks()
  _cupilot_register()
endfunction()

# A lock file that appears, changes or goes configures again, and the launcher then touches the stamps of the
# objects for which it says something else than before.
function(_cupilot_look_at_locks)
  get_property(locks GLOBAL PROPERTY CUPILOT_LOCKS)
  if(locks)
    list(REMOVE_DUPLICATES locks)
  endif()
  set(there FALSE)
  foreach(lock IN LISTS locks)
    file(GLOB found CONFIGURE_DEPENDS "${lock}")
    if(EXISTS "${lock}")
      set(there TRUE)
      set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${lock}")
    endif()
  endforeach()
  if(NOT there)
    _cupilot_note_without_lock("${locks}")
  endif()
  _cupilot_built_launcher(launcher)
  if(NOT launcher OR NOT EXISTS "${CMAKE_BINARY_DIR}/cupilot/project.json")
    return()
  endif()
  execute_process(COMMAND "${launcher}" --lock "${CMAKE_BINARY_DIR}/cupilot"
    OUTPUT_VARIABLE said ERROR_VARIABLE ignored TIMEOUT 60)
  string(STRIP "${said}" said)
  if(said)
    string(REPLACE "\n" "\n-- cuPilot: " said "${said}")
    message(STATUS "cuPilot: ${said}")
  endif()
endfunction()

# Where nothing will be tuned either, somebody may wonder.
function(_cupilot_note_without_lock locks)
  set(why "")
  if(CMAKE_CROSSCOMPILING)
    set(why "this is a cross build")
  elseif(NOT "$ENV{CI}" STREQUAL "")
    set(why "CI is set")
  endif()
  if(why AND NOT "$ENV{CUPILOT}" STREQUAL "0")
    list(JOIN locks ", " locks)
    if(locks)
      set(lock "${locks} is not there")
    else()
      set(lock "no target names a LOCK file")
    endif()
    message(STATUS "cuPilot: ${why} and ${lock}: kernels are built as they are")
  endif()
endfunction()

# The launcher if it is there now: with add_subdirectory only after a first build.
function(_cupilot_built_launcher out)
  set(program "${CMAKE_BINARY_DIR}/cupilot/cupilot-launcher")
  if(TARGET cupilot-launcher)
    get_target_property(program cupilot-launcher IMPORTED_LOCATION)
    if(NOT program)
      get_target_property(folder cupilot-launcher RUNTIME_OUTPUT_DIRECTORY)
      set(program "${folder}/cupilot-launcher")
    endif()
  endif()
  if(NOT EXISTS "${program}")
    set(program "")
  endif()
  set(${out} "${program}" PARENT_SCOPE)
endfunction()

# A file in the user's state folder says that this tree exists. The daemon is started detached; whatever
# fails is recorded in cupilot/registration.log of the build tree and stops nobody. What is built for another
# machine cannot be tuned on this one: it gets variants from a lock file only.
function(_cupilot_register)
  if("$ENV{CUPILOT}" STREQUAL "0" OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(spawn FALSE)
  if("$ENV{CI}" STREQUAL "" AND "$ENV{CUPILOT_NO_SPAWN}" STREQUAL "")
    set(spawn TRUE)
  endif()
  if(TARGET cupilot-launcher)
    _cupilot_register_when_built(${spawn})
    return()
  endif()
  if(NOT EXISTS "${CMAKE_BINARY_DIR}/cupilot/cupilot-launcher")
    return()
  endif()
  get_property(daemon GLOBAL PROPERTY CUPILOT_DAEMON)
  set(start "")
  if(spawn AND EXISTS "${daemon}")
    set(start "${daemon}")
  endif()
  execute_process(
    COMMAND "${CMAKE_BINARY_DIR}/cupilot/cupilot-launcher" --register "${CMAKE_BINARY_DIR}" ${start}
    OUTPUT_FILE "${CMAKE_BINARY_DIR}/cupilot/registration.log"
    ERROR_FILE "${CMAKE_BINARY_DIR}/cupilot/registration.log"
    TIMEOUT 10)
  file(STRINGS "${CMAKE_BINARY_DIR}/cupilot/registration.log" said LIMIT_COUNT 1)
  if(said)
    message(STATUS "${said}")
  endif()
endfunction()

# With add_subdirectory the programs are there after the first build only, which then registers: once, and again
# when they were built anew.
function(_cupilot_register_when_built spawn)
  set(programs cupilot-launcher)
  set(start "")
  if(TARGET cupilotd)
    list(APPEND programs cupilotd cupilot-worker)
    if(spawn)
      set(start "$<TARGET_FILE:cupilotd>")
    endif()
  endif()
  set(done "${CMAKE_BINARY_DIR}/cupilot/registration.log")
  add_custom_command(OUTPUT "${done}"
    COMMAND "$<TARGET_FILE:cupilot-launcher>" --register "${CMAKE_BINARY_DIR}" ${start} > "${done}" 2>&1
    DEPENDS ${programs} COMMENT "cuPilot: registering this build tree")
  add_custom_target(cupilot_registration ALL DEPENDS "${done}")
endfunction()

# cupilot_enable_cuda(): enables the language CUDA with nvcc where there is one and a GPU, or where the
# environment says CUPILOT_DEVICE=cuda; else with cuPilot's own compiler for the host device. A compiler
# that the project or the user has chosen (CMAKE_CUDA_COMPILER, CUDACXX) stays. A macro, since a language
# cannot be enabled in a function; call it in the project's top folder after project().
macro(cupilot_enable_cuda)
  if(${ARGC} GREATER 0)
    message(FATAL_ERROR "cupilot_enable_cuda: takes no arguments, found '${ARGN}'; set the environment "
      "variable CUPILOT_DEVICE to cuda or host, or CMAKE_CUDA_COMPILER, to choose")
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
    _cupilot_choose_compiler()
  endif()
  enable_language(CUDA)
endmacro()

function(_cupilot_choose_compiler)
  set(device "$ENV{CUPILOT_DEVICE}")
  if(NOT device MATCHES "^(|cuda|host)$")
    message(FATAL_ERROR "cupilot_enable_cuda: the environment variable CUPILOT_DEVICE is '${device}'; "
      "it must be cuda or host, or not set")
  endif()
  set(nvcc "")
  if(NOT device STREQUAL "host")
    find_program(nvcc_found nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda
      PATH_SUFFIXES bin NO_CACHE)
    # A cross build is for a machine that this one says nothing about.
    if(nvcc_found AND (device STREQUAL "cuda" OR CMAKE_CROSSCOMPILING OR EXISTS /dev/nvidiactl OR EXISTS /dev/dxg))
      set(nvcc "${nvcc_found}")
    endif()
  endif()
  if(NOT nvcc AND NOT device STREQUAL "cuda")
    get_property(toolkit GLOBAL PROPERTY CUPILOT_HOST_TOOLKIT)
    if(NOT "$ENV{CUPILOT_HOST_TOOLKIT}" STREQUAL "")
      set(toolkit "$ENV{CUPILOT_HOST_TOOLKIT}")
    endif()
    if(EXISTS "${toolkit}/bin/nvcc")
      set(nvcc "${toolkit}/bin/nvcc")
      message(STATUS "cuPilot: CUDA for the host device, by ${nvcc}")
    endif()
  endif()
  if(nvcc)
    set(CMAKE_CUDA_COMPILER "${nvcc}" CACHE FILEPATH "CUDA compiler, chosen by cupilot_enable_cuda")
  endif()
endfunction()
