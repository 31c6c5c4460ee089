# What the source worker does with trees: scanning, twins, the whitelist.
set(analysis_sources closure_options.cc twin.cc twin_names.cc whitelist.cc whitelist_rules.cc)
cupilot_library(source_analysis
  SOURCES ${analysis_sources}
  LINK cupilot::source_syntax cupilot::swap cupilot::worker_messages)
