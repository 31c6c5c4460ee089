# After `cpack -G TGZ`: the archive once more, as small as gzip makes it, half a percent less than what cpack does, which
# has no setting for that.
if(NOT CPACK_GENERATOR STREQUAL "TGZ")
  return()
endif()
find_program(gzip gzip NO_CACHE)
if(NOT gzip)
  return()
endif()
foreach(archive IN LISTS CPACK_PACKAGE_FILES)
  execute_process(COMMAND "${gzip}" -dc "${archive}" COMMAND "${gzip}" -9n OUTPUT_FILE "${archive}.new"
    RESULTS_VARIABLE results)
  if(NOT results STREQUAL "0;0")
    file(REMOVE "${archive}.new")
    message(FATAL_ERROR "${archive} could not be compressed again")
  endif()
  file(RENAME "${archive}.new" "${archive}")
endforeach()
