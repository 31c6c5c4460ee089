# systemd units of the daemon for users who want it started by its socket. systemd looks for a program without a folder
# in /usr/bin and /usr/local/bin: so it is named in packages, which may be unpacked anywhere; an installation knows its place.
set(CUPILOT_UNIT_DIR "lib/systemd/user")
set(CUPILOT_UNIT_PROGRAM "${PROJECT_BINARY_DIR}/bin/cupilotd")
configure_file("${CMAKE_CURRENT_LIST_DIR}/systemd/cupilot.service.in"
  "${PROJECT_BINARY_DIR}/${CUPILOT_UNIT_DIR}/cupilot.service" @ONLY)
configure_file("${CMAKE_CURRENT_LIST_DIR}/systemd/cupilot.socket"
  "${PROJECT_BINARY_DIR}/${CUPILOT_UNIT_DIR}/cupilot.socket" COPYONLY)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/systemd/cupilot.socket" DESTINATION "${CUPILOT_UNIT_DIR}")
install(CODE "
  set(CUPILOT_UNIT_PROGRAM cupilotd)
  if(NOT CMAKE_INSTALL_PREFIX MATCHES [[/_CPack_Packages/]])
    set(CUPILOT_UNIT_PROGRAM \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/cupilotd\")
  endif()
  configure_file([[${CMAKE_CURRENT_LIST_DIR}/systemd/cupilot.service.in]]
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CUPILOT_UNIT_DIR}/cupilot.service\" @ONLY)
")
