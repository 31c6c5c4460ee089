# lib/cupilot/host_toolkit/{bin/nvcc, include, lib64/libcudart*, nvvm/libdevice, version.json}: what CMake
# looks for in a CUDA toolkit. Both libraries hold Boost.Context and the recorder, since users link nothing else.
add_library(cupilot_host_cudart SHARED $<TARGET_OBJECTS:cupilot_host_runtime>)
set_target_properties(cupilot_host_cudart PROPERTIES OUTPUT_NAME cudart SOVERSION 13
  LIBRARY_OUTPUT_DIRECTORY "${toolkit}/lib64" LINKER_LANGUAGE CXX)
target_link_libraries(cupilot_host_cudart PRIVATE cupilot_recording dep_boost_context dep_threads)
target_link_options(cupilot_host_cudart PRIVATE
  -Wl,--exclude-libs,libboost_context.a:libcupilot_recording.a)

# By paths below the build folder: words of this script have no blanks and no letters beside ASCII's.
set(combine "${CMAKE_CURRENT_BINARY_DIR}/combine.mri")
file(GENERATE OUTPUT "${combine}" CONTENT
"create ${CUPILOT_HOST_TOOLKIT_DIR}/lib64/libcudart_static.a
addlib $<PATH:RELATIVE_PATH,$<TARGET_FILE:cupilot_host_runtime>,${PROJECT_BINARY_DIR}>
addlib $<PATH:RELATIVE_PATH,$<TARGET_FILE:cupilot_recording>,${PROJECT_BINARY_DIR}>
addlib ${CUPILOT_BOOST_CONTEXT_ARCHIVE}
save
end
")
file(MAKE_DIRECTORY "${toolkit}/lib64" "${toolkit}/bin" "${toolkit}/nvvm/libdevice")
add_custom_command(OUTPUT "${toolkit}/lib64/libcudart_static.a"
  COMMAND "${CMAKE_AR}" -M < "${combine}"
  COMMAND "${CMAKE_AR}" cr "${toolkit}/lib64/libcudadevrt.a"
  # Empty. CMake 3.25 (Debian 12's) wants CUDA::nvToolsExt of each toolkit, which none has since CUDA 13.
  COMMAND "${CMAKE_AR}" cr "${toolkit}/lib64/libnvToolsExt.a"
  DEPENDS cupilot_host_runtime cupilot_recording "${combine}" WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" VERBATIM)
set_target_properties(cupilot_host_watch PROPERTIES OUTPUT_NAME cupilot_watch
  ARCHIVE_OUTPUT_DIRECTORY "${toolkit}/lib64")
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/include"
  "${CMAKE_CURRENT_SOURCE_DIR}/include/*")
foreach(header IN LISTS headers)
  configure_file("include/${header}" "${toolkit}/include/${header}" COPYONLY)
endforeach()
file(WRITE "${toolkit}/version.json"
  "{\"cuda\": {\"name\": \"cuPilot host device\", \"version\": \"13.0.0\"}}\n")
add_custom_target(cupilot_host_toolkit ALL
  DEPENDS "${toolkit}/lib64/libcudart_static.a" cupilot_host_cudart cupilot_host_watch)
install(DIRECTORY "${toolkit}/" DESTINATION "${CUPILOT_HOST_TOOLKIT_DIR}" USE_SOURCE_PERMISSIONS
  PATTERN "bin" EXCLUDE)
