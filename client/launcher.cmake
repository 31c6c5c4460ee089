# The compiler launcher: static, since it is copied into users' build trees and runs in front of every
# compile there. A sanitizer build stays dynamic (their run-time libraries cannot be linked statically).
if(TARGET cupilot-launcher)
  return()
endif()
cupilot_program(cupilot-launcher SOURCES "${CMAKE_CURRENT_LIST_DIR}/launcher.cc"
  "${CMAKE_CURRENT_LIST_DIR}/registration.cc" LINK cupilot::swap)
if(NOT CUPILOT_SANITIZE)
  target_link_options(cupilot-launcher PRIVATE -static -Wl,--gc-sections)
endif()
install(TARGETS cupilot-launcher DESTINATION "${CUPILOT_LIBEXEC_DIR}")
