# `cpack -G TGZ` in a build folder: one archive that works wherever it is unpacked. Beside what an installation
# has, it carries the shared libraries that another machine may lack (glibc's and the compiler's own are
# expected there: the archive of Debian 12 needs glibc 2.36), and the licences of what is in it. `cpack -G DEB`: a Debian
# package of the same, which takes these libraries from the packages that it depends on (dpkg-shlibdeps finds out).

# Programs look into lib/cupilot of their own installation first. It is DT_RPATH, which holds for the libraries
# that libraries need too; in a plain installation the folder has none, and the system's are taken.
file(RELATIVE_PATH from_bin "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}/cupilot")
file(RELATIVE_PATH from_libexec "/${CUPILOT_LIBEXEC_DIR}" "/${CMAKE_INSTALL_LIBDIR}/cupilot")
file(RELATIVE_PATH from_toolkit "/${CUPILOT_HOST_TOOLKIT_DIR}/bin" "/${CMAKE_INSTALL_LIBDIR}/cupilot")
set_target_properties(cupilotd cupilot PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin}")
set_target_properties(cupilot-worker PROPERTIES INSTALL_RPATH "$ORIGIN/${from_libexec}")
set_target_properties(cupilot-nvcc PROPERTIES INSTALL_RPATH "$ORIGIN/${from_toolkit}")
set(package_files "")
foreach(target IN ITEMS cupilotd cupilot cupilot-worker cupilot-nvcc)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  list(APPEND package_files "$<TARGET_FILE:${target}>")
endforeach()
list(APPEND package_files "$<TARGET_FILE:cupilot_host_cudart>")

# What of clang nothing reaches stays out (a third of it). For that the worker may export only what the candidates
# that it loads ask of it, the host device's runtime, and not all that it has.
set_target_properties(cupilot-worker PROPERTIES ENABLE_EXPORTS OFF)
target_link_options(cupilot-worker PRIVATE
  "LINKER:--gc-sections,--dynamic-list=${PROJECT_SOURCE_DIR}/daemon/host_runtime/exports.list")
foreach(target IN ITEMS cupilotd cupilot cupilot-nvcc)
  target_link_options(${target} PRIVATE LINKER:--gc-sections)
endforeach()

include(ReportFiles)
# Packages whose code is in our programs themselves; bundle.cmake adds those of the copied libraries.
set(CUPILOT_LINKED_IN libclang-${CUPILOT_LLVM_VERSION}-dev llvm-${CUPILOT_LLVM_VERSION}-dev
  libclang-common-${CUPILOT_LLVM_VERSION}-dev libsodium-dev nlohmann-json3-dev libexpected-dev libcli11-dev
  libspdlog-dev libfmt-dev libboost-context-dev libeigen3-dev libkainjow-mustache-dev cppzmq-dev ${CUPILOT_REPORT_PACKAGES})
# A component of its own: `cmake --install` leaves it out.
install(CODE "
  set(CUPILOT_PACKAGE_FILES [[${package_files}]])
  set(CUPILOT_LIBRARY_FOLDER [[${CMAKE_INSTALL_LIBDIR}/cupilot]])
  set(CUPILOT_LICENCE_FOLDER [[${CMAKE_INSTALL_DATADIR}/doc/cupilot/licences]])
  set(CUPILOT_TOOLKIT_FOLDER [[${CUPILOT_HOST_TOOLKIT_DIR}]])
  set(CUPILOT_STRIP [[${CMAKE_STRIP}]])
  set(CUPILOT_LINKED_IN [[${CUPILOT_LINKED_IN}]])
  set(CMAKE_OBJDUMP [[${CMAKE_OBJDUMP}]])
  include([[${CMAKE_CURRENT_LIST_DIR}/bundle.cmake]])
" COMPONENT bundle EXCLUDE_FROM_ALL)
install(CODE "
  set(CUPILOT_LICENCE_FOLDER [[${CMAKE_INSTALL_DATADIR}/doc/cupilot/licences]])
  set(CUPILOT_LICENCES_OF [[${CUPILOT_LINKED_IN}]])
  include([[${CMAKE_CURRENT_LIST_DIR}/licences.cmake]])
" COMPONENT licences EXCLUDE_FROM_ALL)
# Debian's policy wants the licence by this name.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" RENAME copyright
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/cupilot" COMPONENT licences EXCLUDE_FROM_ALL)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/cupilot")

string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" platform)
set(CPACK_PACKAGE_NAME cupilot)
set(CPACK_PACKAGE_VENDOR cuPilot)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_FILE_NAME "cupilot-${PROJECT_VERSION}-${platform}")
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_POST_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/smaller_archive.cmake")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};CuPilot;ALL;/;${PROJECT_BINARY_DIR};CuPilot;bundle;/")
configure_file("${CMAKE_CURRENT_LIST_DIR}/PackageFormat.cmake.in" "${PROJECT_BINARY_DIR}/PackageFormat.cmake" @ONLY)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/PackageFormat.cmake")

# What the package says of itself where it is installed. A compiler is what the host device needs, a sandbox everybody; libcurl is
# opened when a language model is asked.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CONTACT "cuPilot maintainers <maintainers@cupilot.invalid>")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, bubblewrap, libcurl4 | libcurl3-gnutls")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, nvidia-driver, nvidia-cuda-toolkit")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_LIST_DIR}/debian/prerm;${CMAKE_CURRENT_LIST_DIR}/debian/postrm")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
