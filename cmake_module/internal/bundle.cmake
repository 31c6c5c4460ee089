# Runs when an archive is packed (Package.cmake sets CUPILOT_*): copies the shared libraries that our programs
# need, and the licences of all that the archive holds, into the tree that is packed.
set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")

# What every machine that can run or compile C++ has, and must have only once in a process.
set(system "ld-linux.*" "libc" "libm" "libdl" "libpthread" "librt" "libresolv" "libutil" "libanl" "libgcc_s" "libstdc.*")
list(JOIN system "|" system)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${CUPILOT_PACKAGE_FILES}
  RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing CONFLICTING_DEPENDENCIES_PREFIX conflict
  PRE_EXCLUDE_REGEXES "^(${system})\\.so.*$")
if(missing)
  message(FATAL_ERROR "these libraries are not on this machine: ${missing}")
endif()
set(owned "")
foreach(library IN LISTS libraries)
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" real)
  file(MAKE_DIRECTORY "${root}/${CUPILOT_LIBRARY_FOLDER}")
  file(COPY_FILE "${real}" "${root}/${CUPILOT_LIBRARY_FOLDER}/${name}")
  execute_process(COMMAND "${CUPILOT_STRIP}" --strip-unneeded "${root}/${CUPILOT_LIBRARY_FOLDER}/${name}"
    COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND owned "${real}")
endforeach()

file(GLOB runtime "${root}/${CUPILOT_TOOLKIT_FOLDER}/lib64/lib*.so*")
foreach(library IN LISTS runtime)
  if(NOT IS_SYMLINK "${library}")
    execute_process(COMMAND "${CUPILOT_STRIP}" --strip-unneeded "${library}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()

# The licence of each package, as the distribution has it: of the copied libraries and of what is linked in.
find_program(dpkg_query dpkg-query)
set(packages "${CUPILOT_LINKED_IN}")
if(dpkg_query)
  foreach(library IN LISTS owned)
    # The file's list may have it under the folder's other name (/lib and /usr/lib are one).
    string(REGEX REPLACE "^/usr" "" short "${library}")
    execute_process(COMMAND "${dpkg_query}" --search "${library}" "${short}" OUTPUT_VARIABLE owner ERROR_QUIET)
    string(REGEX MATCH "^[^:]+" owner "${owner}")
    list(APPEND packages "${owner}")
  endforeach()
endif()
set(CUPILOT_LICENCES_OF "${packages}")
include("${CMAKE_CURRENT_LIST_DIR}/licences.cmake")
