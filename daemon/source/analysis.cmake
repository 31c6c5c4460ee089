# What the source worker does with trees: scanning, twins, the whitelist.
set(analysis_sources ahead.cc beyond_arguments.cc closure.cc closure_options.cc command_flags.cc compiler_check.cc constructs.cc entry_arguments.cc kernel_key.cc
  lambda.cc pack_expansion.cc pointee.cc promises.cc retune.cc scalar_cases.cc scan.cc specialise.cc substitute.cc tag_apply.cc tag_parser.cc tags.cc unit.cc twin.cc twin_layout.cc twin_names.cc twin_obstacles.cc
  twin_precision.cc twin_small.cc twin_text.cc whitelist.cc waiting.cc whitelist_rules.cc whitelist_words.cc)
cupilot_library(source_analysis
  SOURCES ${analysis_sources}
  LINK cupilot::source_lower cupilot::source_syntax cupilot::swap cupilot::worker_messages)
