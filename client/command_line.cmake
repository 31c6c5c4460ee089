# cupilot: what a person types.

# A report's page becomes a part of the program, with the libraries that draw in it.
include(ReportFiles)
set(report_files "")
foreach(name IN LISTS CUPILOT_REPORT_PROGRAM ITEMS page.html style.css)
  list(APPEND report_files "${CMAKE_CURRENT_SOURCE_DIR}/report/${name}")
endforeach()
foreach(name IN LISTS CUPILOT_REPORT_LIBRARIES)
  if(NOT EXISTS "${CUPILOT_NODE_MODULES}/${name}")
    message(FATAL_ERROR "${name} is not in ${CUPILOT_NODE_MODULES}: install Debian's packages of D3's parts and of jsdiff "
      "(${CUPILOT_REPORT_PACKAGES}), or set CUPILOT_NODE_MODULES to a folder that has them")
  endif()
  list(APPEND report_files "${CUPILOT_NODE_MODULES}/${name}")
endforeach()
set(embed_report "${PROJECT_SOURCE_DIR}/cmake_module/internal/EmbedReport.cmake")
add_custom_command(OUTPUT report_files.cc
  COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/report" "-DMODULES=${CUPILOT_NODE_MODULES}" -DDOC=/usr/share/doc
          "-DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/report_files.cc" -P "${embed_report}"
  DEPENDS ${report_files} "${embed_report}" "${PROJECT_SOURCE_DIR}/cmake_module/internal/ReportFiles.cmake"
  VERBATIM)
cupilot_library(client WAITS
  SOURCES arguments.cc connection.cc doctor/checks.cc doctor/gather.cc doctor/mend.cc kernel_names.cc named_output.cc older_settings.cc once.cc output.cc program_variants.cc quiet_daemon.cc recording_folder.cc run_program.cc scope.cc
          source_input.cc spawn.cc text_diff.cc wrong_usage.cc
          bench/kernel_time.cc bench/program_bench.cc bench/timed_run.cc child_program.cc ending_signals.cc
          commands/apply.cc commands/ask.cc commands/bench.cc commands/bench_text.cc commands/best.cc
          commands/capture.cc commands/config.cc commands/daemon.cc commands/decide.cc commands/diff.cc
          commands/doctor.cc commands/evaluate.cc commands/evaluation_text.cc commands/explain.cc commands/explain_screen.cc commands/generate.cc
          commands/history.cc commands/import.cc commands/inspect.cc commands/list.cc commands/lock.cc commands/lock_changes.cc
          commands/lock_verify.cc commands/models.cc commands/purge.cc commands/report.cc commands/storage.cc commands/strategies.cc commands/resume.cc commands/search_replay.cc
          commands/snooze.cc commands/status.cc commands/status_text.cc commands/tune.cc
          commands/watch.cc commands/workload.cc
          completion/bash.cc completion/description.cc completion/fish.cc completion/manual.cc completion/zsh.cc
          watch/feed.cc watch/keys.cc watch/refresh.cc watch/session.cc watch/state.cc watch/terminal.cc watch/text.cc
          watch/view.cc
          report/page.cc report/variant_tree.cc "${CMAKE_CURRENT_BINARY_DIR}/report_files.cc"
  LINK cupilot::base cupilot::client_messages cupilot::records cupilot::loop cupilot::search cupilot::swap cupilot::workloads
  PRIVATE_LINK dep_cli11)
target_compile_definitions(cupilot_client PRIVATE CUPILOT_VERSION="${PROJECT_VERSION}")
cupilot_program(cupilot SOURCES main.cc LINK cupilot::client)
set_target_properties(cupilot PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR}")
install(TARGETS cupilot DESTINATION "${CMAKE_INSTALL_BINDIR}")

# What the program says of its own command line: completions and its manual page.
if(NOT CMAKE_CROSSCOMPILING)
  set(generated "")
  function(cupilot_generated what folder name)
    set(file "${PROJECT_BINARY_DIR}/generated/${what}/${name}")
    cmake_path(GET file PARENT_PATH parent)
    file(MAKE_DIRECTORY "${parent}")
    add_custom_command(OUTPUT "${file}" COMMAND cupilot generate ${what} -o "${file}" DEPENDS cupilot VERBATIM)
    install(FILES "${file}" DESTINATION "${folder}")
    set(generated ${generated} "${file}" PARENT_SCOPE)
  endfunction()
  cupilot_generated(bash "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" cupilot)
  cupilot_generated(zsh "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" _cupilot)
  cupilot_generated(fish "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" cupilot.fish)
  cupilot_generated(man "${CMAKE_INSTALL_MANDIR}/man1" cupilot.1)
  add_custom_target(cupilot_completions ALL DEPENDS ${generated})
endif()
