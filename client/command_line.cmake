# cupilot: what a person types.
cupilot_library(client
  SOURCES arguments.cc connection.cc doctor_checks.cc once.cc output.cc program_variants.cc recording_folder.cc run_program.cc
          source_input.cc spawn.cc text_diff.cc
          bench/kernel_time.cc bench/program_bench.cc bench/timed_run.cc child_program.cc
          commands/apply.cc commands/ask.cc commands/bench.cc commands/bench_text.cc commands/best.cc
          commands/capture.cc commands/config.cc commands/daemon.cc commands/decide.cc commands/diff.cc
          commands/doctor.cc commands/evaluate.cc commands/evaluation_text.cc commands/explain.cc commands/explain_screen.cc
          commands/history.cc commands/import.cc commands/inspect.cc commands/list.cc commands/lock.cc commands/lock_changes.cc
          commands/lock_verify.cc commands/models.cc commands/purge.cc commands/storage.cc commands/strategies.cc commands/resume.cc commands/search_replay.cc
          commands/snooze.cc commands/status.cc commands/status_text.cc commands/tune.cc
          commands/workload.cc
  LINK cupilot::base cupilot::client_messages cupilot::records cupilot::loop cupilot::search cupilot::swap cupilot::workloads
  PRIVATE_LINK dep_cli11)
target_compile_definitions(cupilot_client PRIVATE CUPILOT_VERSION="${PROJECT_VERSION}")
cupilot_program(cupilot SOURCES main.cc LINK cupilot::client)
set_target_properties(cupilot PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_BINDIR}")
install(TARGETS cupilot DESTINATION "${CMAKE_INSTALL_BINDIR}")
