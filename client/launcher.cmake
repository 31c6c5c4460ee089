# The compiler launcher: static, since it is copied into users' build trees and runs in front of every
# compile there. A sanitizer build stays dynamic (their run-time libraries cannot be linked statically).
cupilot_program(cupilot-launcher SOURCES "${CMAKE_CURRENT_LIST_DIR}/launcher.cc"
  "${CMAKE_CURRENT_LIST_DIR}/launcher_hints.cc" "${CMAKE_CURRENT_LIST_DIR}/launcher_lock.cc" "${CMAKE_CURRENT_LIST_DIR}/registration.cc"
  LINK cupilot::swap cupilot::device_text)
if(NOT CUPILOT_SANITIZE)
  target_link_options(cupilot-launcher PRIVATE -static -Wl,--gc-sections)
endif()
set_target_properties(cupilot-launcher PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CUPILOT_LIBEXEC_DIR}")
install(TARGETS cupilot-launcher DESTINATION "${CUPILOT_LIBEXEC_DIR}")

# In a project that has us as a subdirectory the launcher is not there at configure time: the tree is
# registered with the daemon when it has been built.
if(NOT PROJECT_IS_TOP_LEVEL AND NOT "$ENV{CUPILOT}" STREQUAL "0")
  add_custom_command(TARGET cupilot-launcher POST_BUILD
    COMMAND cupilot-launcher --register "${CMAKE_BINARY_DIR}" VERBATIM)
endif()
