# Language level, build types, warnings and sanitizers of our own code, as interface targets that
# every target of ours links privately.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  else()
    set(CMAKE_BUILD_TYPE Release)  # ours alone: the project that has us decides for itself
  endif()
endif()
# Dev has no flags of its own: it is fast to compile on two cores. The libraries are optimised a little (cupilot_optimise),
# since tests spend their time in them; tests are not.

# What links clang's archives takes eight times longer with GNU ld than with lld.
find_program(CUPILOT_LLD ld.lld PATHS "/usr/lib/llvm-${CUPILOT_LLVM_VERSION}/bin" NO_DEFAULT_PATH)
if(CMAKE_BUILD_TYPE STREQUAL "Dev" AND CUPILOT_LLD)
  cmake_path(GET CUPILOT_LLD PARENT_PATH lld_folder)
  add_link_options(-fuse-ld=lld "-B${lld_folder}")
endif()

add_library(cupilot_settings INTERFACE)
target_compile_features(cupilot_settings INTERFACE cxx_std_20)
target_include_directories(cupilot_settings INTERFACE
  "${PROJECT_SOURCE_DIR}/daemon" "${PROJECT_SOURCE_DIR}")
target_compile_options(cupilot_settings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-char8_t>)
if(CUPILOT_SANITIZE)
  target_compile_options(cupilot_settings INTERFACE -fsanitize=${CUPILOT_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all -g1)
  if(CUPILOT_SANITIZE MATCHES "undefined")
    # The distribution's clang libraries have no type information to look an object's class up in, and functions of
    # the driver are called through types of our own, by its ABI.
    target_compile_options(cupilot_settings INTERFACE -fno-sanitize=vptr,function)
  endif()
  target_link_options(cupilot_settings INTERFACE -fsanitize=${CUPILOT_SANITIZE})
endif()

add_library(cupilot_warnings INTERFACE)
target_compile_options(cupilot_warnings INTERFACE -Wall -Wextra -Wshadow
  -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source within another looks like a header to it, whose unnamed namespaces would be many.
  target_compile_options(cupilot_warnings INTERFACE -Wno-subobject-linkage)
endif()
if(CUPILOT_DEV)
  target_compile_options(cupilot_warnings INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlaps, uninitialised members and negative sizes inside its own std::string that are not there (its
    # bugs 105329 and 105651), and at -O3 null pointers in clang's LazyOffsetPtr; they are printed all the same.
    target_compile_options(cupilot_warnings INTERFACE -Wno-error=restrict -Wno-error=maybe-uninitialized
      -Wno-error=stringop-overflow -Wno-error=nonnull)
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Folders of an installation, relative to its prefix; programs find each other by them (never by an
# absolute path), so that a tree can be moved.
set(CUPILOT_LIBEXEC_DIR "${CMAKE_INSTALL_LIBEXECDIR}/cupilot")
set(CUPILOT_HOST_TOOLKIT_DIR "${CMAKE_INSTALL_LIBDIR}/cupilot/host_toolkit")
