#include "client/arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "client/completion/description.h"
#include "client/wrong_usage.h"

namespace cupilot::client {
namespace {

// As documents have numbers.
constexpr std::uint64_t kLargestSeed = std::uint64_t{1} << 53;
constexpr const char* kAbout =
    "Tunes a project's CUDA kernels in the background; each build picks up the best variants that "
    "are proven.";
constexpr const char* kKernelHelp =
    "qualified name, a unique suffix of one, or file:line, in the project of the current folder";

// Texts that become numbers once everything is read.
struct Raw {
  std::string budget;
  std::string until_gain;
  std::string snooze = "1h";
  std::string max_size = "4G";
  std::string older_than;
  std::string prune_size;
};

void AddKernelCommands(CLI::App& app, Arguments& out) {
  auto* explain = app.add_subcommand("explain", "What was tried on a kernel, what won and why");
  explain->add_option("KERNEL", out.kernel, kKernelHelp)->required();
  explain->add_flag("--full", out.full, "all that was tried and every check, not one screen");
  auto* history =
      app.add_subcommand("history", "What changed when of a kernel, why, and all evaluations");
  history->add_option("KERNEL", out.kernel, kKernelHelp)->required();
  auto* best = app.add_subcommand("best", "The winning variant of a kernel: its source, or JSON");
  best->add_option("KERNEL", out.kernel, kKernelHelp)->required();
  best->add_option("--arch", out.arch, "architecture, such as sm_90 or host-x86-64-v3");
  best->add_option("-o,--output", out.output_file, "write the variant's JSON to this file");
}

constexpr const char* kVariantHelp =
    "its id, or the beginning of one, as `cupilot history` shows it";

// What the user looks at and decides of variants.
void AddVariantCommands(CLI::App& app, Arguments& out) {
  auto* diff = app.add_subcommand("diff", "A kernel's text and its winner's, line by line");
  diff->add_option("KERNEL", out.kernel, kKernelHelp)->required();
  diff->add_option("--arch", out.arch, "the winner there, such as sm_90; default: of this machine");
  diff->add_option("--variant", out.variant, "this one in the winner's place: its id");
  diff->add_flag("--side-by-side", out.side_by_side, "in two columns, with all lines");
  auto* pin = app.add_subcommand("pin", "Keep an accepted variant, also against better ones");
  pin->add_option("KERNEL", out.kernel, kKernelHelp)->required();
  pin->add_option("VARIANT", out.variant, kVariantHelp);
  pin->add_flag("--none", out.none, "let better ones in again");
  auto* reject = app.add_subcommand("reject", "Never use a variant here again");
  reject
      ->add_option("KERNEL", out.variant,
                   std::string("its winner is meant; or a variant: ") + kVariantHelp)
      ->required();
  reject->add_flag("--undo", out.undo, "allow it again");
}

// What is kept, and for how long.
void AddStorageCommands(CLI::App& app, Arguments& out, Raw& raw) {
  auto* prune = app.add_subcommand(
      "prune", "Drop what was measured long ago and is not in use; default: by the settings");
  prune->add_option("--older-than", raw.older_than, "such as 30d");
  prune->add_option("--max-size", raw.prune_size,
                    "the oldest goes until so much is left, such as 100M");
  prune->add_flag("--dry-run", out.dry_run, "say what would go, and drop nothing");
  auto* forget = app.add_subcommand("forget", "Drop a project with all that is kept for it");
  forget->add_option("PROJECT", out.project, "its source folder, a build folder, or its name")
      ->required();
  forget->add_flag("--dry-run", out.dry_run, "say what would go, and drop nothing");
  app.add_subcommand("purge", "Delete all data of cuPilot, after asking")
      ->add_flag("--yes", out.yes, "do not ask");
  auto* exported =
      app.add_subcommand("export", "Write what is known of this folder's project into one file");
  exported->add_option("-o,--output", out.output_file, "the file; else standard output");
  exported->add_flag("--all", out.all, "of all projects, with the strategy pool");
}

void AddSourceOptions(CLI::App& command, Arguments& out) {
  command.add_option("FILE", out.file, "CUDA source")->required();
  command.add_option("--kernel", out.kernel, "kernel's qualified name; default: the workload's");
  command.add_option("--workload", out.workload_file, "cupilot.workload/1, JSON")->required();
  command.add_option("--device", out.device, "host or cuda:N")->capture_default_str();
  command.add_option("--seed", out.seed, "of generated values and of the search")
      ->check(CLI::Range(std::uint64_t{0}, kLargestSeed));
}

void AddSourceCommands(CLI::App& app, Arguments& out, Raw& raw) {
  auto* tune = app.add_subcommand("tune", "Tune one kernel of one file, without the daemon");
  AddSourceOptions(*tune, out);
  tune->add_option(
      "--budget", raw.budget,
      "time (60s, 5m) or a number of evaluations (200); default: 60s, with --provider 600s");
  tune->add_option("--until-gain", raw.until_gain,
                   "stop when another minute is expected to gain less, such as 0.5%; without "
                   "--budget there is no other limit");
  tune->add_option("--strategy", out.strategy,
                   "what looks for values of tunables: a name that `cupilot search replay` takes");
  auto* provider =
      tune->add_option("--provider", out.provider,
                       "a language model that is asked for variants, too: openai:MODEL, "
                       "anthropic:MODEL, ollama:MODEL, command:PROGRAM, exchange:FOLDER, "
                       "replay:FILE; several with ', ' between them");
  tune->add_flag("--allow-provider", out.allow_provider,
                 "the source may be sent to that service in this run")
      ->needs(provider);
  tune->add_option("-o,--output", out.output_file, "write the best variant's JSON to this file");
  auto* evaluate = app.add_subcommand("evaluate", "Prove or reject one variant");
  AddSourceOptions(*evaluate, out);
  evaluate->add_option("--variant", out.variant_file, "cupilot.variant/1, JSON")->required();
}

void AddServiceCommands(CLI::App& app, Arguments& out, Raw& raw) {
  app.add_subcommand("status", "What the daemon is doing");
  app.add_subcommand("list", "The tagged kernels of the project of the current folder")
      ->add_flag("--untagged", out.untagged, "what a captured program launched without a tag");
  app.add_subcommand("report", "All that is known of the project's kernels, as one HTML file")
      ->add_option("-o,--output", out.output_file,
                   "the file; default: cupilot-report.html (with --json: none)");
  app.add_subcommand("watch", "A live view: devices, kernels and their curves; keys pause tuning");
  app.add_subcommand("apply", "Publish what APPLY manual holds back");
  auto* lock = app.add_subcommand("lock", "Pin what is published in the project's lock file");
  lock->add_option("-o,--output", out.output_file,
                   "the lock file; default: the one that the project names");
  auto* diff = lock->add_flag("--diff", out.diff, "say what would change, and write nothing");
  auto* verify =
      lock->add_flag("--verify", out.verify, "prove every entry of the file again, here");
  verify->excludes(diff);
  lock->add_option("--device", out.gpu, "with --verify: what runs the entries of GPUs")
      ->capture_default_str()
      ->needs(verify);
  lock->add_option("--build-folder", out.build_folder,
                   "with --verify: where generated headers are; default: build in the project")
      ->needs(verify);
  auto* snooze = app.add_subcommand("snooze", "Pause tuning for a time");
  snooze->add_option("TIME", raw.snooze, "such as 30m or 1h")->capture_default_str();
  app.add_subcommand("resume", "End a snooze");
  auto* daemon = app.add_subcommand("daemon", "Start or stop the daemon, or show its log");
  daemon->require_subcommand(1);
  daemon->fallthrough();
  daemon->add_subcommand("start", "Start it, if none runs");
  daemon->add_subcommand("stop", "Stop it");
  daemon->add_subcommand("logs", "The end of its log")
      ->add_option("--lines", out.lines, "how many lines")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  for (CLI::App* nested : daemon->get_subcommands({})) nested->fallthrough();
}

void AddBench(CLI::App& app, BenchArguments& out) {
  auto* bench = app.add_subcommand(
      "bench", "A program with and without tuned kernels, in interleaved pairs of runs");
  bench
      ->add_option("PROGRAM", out.words,
                   "behind --: the program and its arguments; its standard input is empty, what "
                   "it prints is not shown")
      ->required()
      ->expected(-1);
  bench->add_option("--pairs", out.pairs, "at most so many")
      ->capture_default_str()
      ->check(CLI::Range(5, 1000));
  bench
      ->add_option("--seconds", out.seconds,
                   "of all runs together; there are at least 5 pairs, however long they take")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  bench->add_option("--warmup", out.warmup, "runs each way that are not measured")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  bench->add_flag("--no-demote", out.keep,
                  "a variant with which the program is slower stays in use");
}

void AddLocalCommands(CLI::App& app, Arguments& out) {
  auto* inspect = app.add_subcommand("inspect", "The variants that a built program holds");
  inspect->add_option("PROGRAM", out.program, "executable or shared library")->required();
  app.add_subcommand("doctor", "Check the installation and the machine")
      ->add_flag("--fix", out.fix,
                 "mend what can be mended without losing anything, and say what was done");
  auto* config = app.add_subcommand("config", "Settings and folders");
  config->add_flag("--show-origin", out.show_origin, "say where each value comes from");
  config->add_flag("--host-nvcc", out.host_nvcc,
                   "print only the CUDA compiler of the host device, for CUDACXX");
}

void AddCaptureCommands(CLI::App& app, Arguments& out, Raw& raw) {
  auto* capture = app.add_subcommand(
      "capture", "Run a program once and tune the tagged kernels on the launches that it makes");
  capture->add_option("--kernel", out.kernel, "this kernel only");
  capture
      ->add_option("--launches", out.launches,
                   "launches to record of each geometry besides the first, drawn at random")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  capture->add_option("--max-size", raw.max_size, "of what is recorded, such as 500M or 4G")
      ->capture_default_str();
  capture->add_flag("--synthetic", out.synthetic,
                    "keep none of the program's data, only shapes and fitted distributions");
  capture->add_option("--working-directory", out.working_directory, "in which the program runs");
  capture->add_option("PROGRAM", out.words, "after --: the program and its arguments")->required();
  auto* workload = app.add_subcommand("workload", "What was captured of kernels");
  workload->require_subcommand(1);
  workload->fallthrough();
  workload->add_subcommand("list", "All captured workloads of the project of the current folder");
  const auto of_kernel = [&](const char* name, const char* what) {
    auto* command = workload->add_subcommand(name, what);
    command->add_option("KERNEL", out.kernel, kKernelHelp)->required();
    return command;
  };
  of_kernel("show", "The launches that were captured of a kernel");
  auto* exported = of_kernel("export", "Write a kernel's workload as a file for `cupilot tune`");
  exported->add_option("-o,--output", out.output_file, "the file")->required();
  exported->add_flag("--with-data", out.with_data,
                     "with the program's own data, which may be private; else with values drawn "
                     "from fitted distributions");
  of_kernel("drop", "Forget what was captured of a kernel");
  for (CLI::App* nested : workload->get_subcommands({})) nested->fallthrough();
}

void AddSpaceCommands(CLI::App& app, Arguments& out) {
  auto* results = app.add_subcommand(
      "import",
      "What `cupilot export` wrote, as proposals; or a space that another autotuner measured, as "
      "a file for `cupilot search`");
  results
      ->add_option(
          "FILE", out.file,
          "cupilot.export/1; or a cache of Kernel Tuner, T4 results, or cupilot.measured/1; or T1, "
          "of which the space is written")
      ->required();
  results->add_option("--space", out.space_file,
                      "the space of the results: T1 or cupilot.space/1; else the points in FILE");
  results->add_option("-o,--output", out.output_file, "of a space: the file");
  results->add_flag("--t4", out.t4, "write T4 results in place of cupilot.measured/1");
  results->add_flag(
      "--marks", out.marks,
      "of what `cupilot export` wrote: also what was pinned and rejected there, where "
      "nothing is decided here");
  auto* search = app.add_subcommand("search", "Searches, run on spaces that were measured before");
  search->require_subcommand(1);
  search->fallthrough();
  auto* replay = search->add_subcommand(
      "replay", "How good searches are: their curves and scores, without a GPU");
  replay->fallthrough();
  replay->add_option("FILE", out.replay.files, "measured spaces, as `import` reads them")
      ->required()
      ->expected(-1);
  replay->add_option("--strategy", out.replay.strategies, "names, with commas between them")
      ->capture_default_str();
  replay->add_option("--repeats", out.replay.repeats, "of each strategy on each space")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  replay->add_option("--seed", out.seed, "of the first repeat")
      ->check(CLI::Range(std::uint64_t{0}, kLargestSeed))
      ->capture_default_str();
  replay->add_option("--champions", out.replay.champions,
                     "the same space measured on another device, as a file of its own: strategies "
                     "are told its 50 best points, as a search is told those of other devices");
  replay->add_flag("--free-search", out.replay.free_search,
                   "count only the evaluations, not the time that a search itself takes: the same "
                   "numbers on every machine");
}

void AddModelCommands(CLI::App& app, Arguments& out) {
  auto* models = app.add_subcommand("models", "Language models: what they were asked and cost");
  models->require_subcommand(1);
  models->fallthrough();
  models->add_subcommand("status", "Tokens, money and gain of each model, and what is allowed");
  auto* last = models->add_subcommand("last", "The exact bytes that were sent last");
  auto* answer = last->add_flag("--answer", out.answer, "the text of the answer in their place");
  auto* all = last->add_flag("--all", out.all,
                             "all exchanges that are kept, oldest first, one a line: what "
                             "`tune --provider replay:FILE` answers from");
  all->excludes(answer);
  last->add_option("-o,--output", out.output_file, "with --all: the file; else standard output")
      ->needs(all);
  const auto of_provider = [&](const char* name, const char* what) {
    models->add_subcommand(name, what)
        ->add_option("PROVIDER", out.provider,
                     "its name, as messages have it, such as \"openai https://api.openai.com\"")
        ->required();
  };
  of_provider("allow", "What is of this folder's project may be sent to a provider");
  of_provider("forbid", "It may no more");
  for (CLI::App* nested : models->get_subcommands({})) nested->fallthrough();
}

void AddStrategyCommands(CLI::App& app, Arguments& out) {
  auto* strategies = app.add_subcommand("strategies",
                                        "The strategy pool: what was tried on kernels, and what "
                                        "became of it");
  strategies->require_subcommand(1);
  strategies->fallthrough();
  strategies->add_subcommand("list", "All entries: of this machine, imported and shipped ones");
  strategies->add_subcommand("show", "One entry, with the features of its kernel")
      ->add_option("ID", out.entry, "its id, or the beginning of it")
      ->required();
  auto* exported = strategies->add_subcommand(
      "export", "Write this machine's entries, without source text, paths and data");
  exported->add_option("-o,--output", out.output_file, "the file; else standard output");
  exported->add_flag("--names", out.names, "with the names of kernels");
  strategies->add_subcommand("import", "Take the entries of another machine, as proposals")
      ->add_option("FILE", out.file, "what `cupilot strategies export` wrote")
      ->required();
  for (CLI::App* nested : strategies->get_subcommands({})) nested->fallthrough();
}

// Not for people: what packages install and shells ask.
void AddGenerate(CLI::App& app, Arguments& out) {
  auto* generate = app.add_subcommand("generate", "Completions, manual pages, names of kernels");
  generate->group("");
  generate->add_option("WHAT", out.what)
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man", "commands", "kernels"}));
  generate->add_option("-o,--output", out.output_file, "the file; else standard output");
}

// What a value is, for whoever completes it: FILE and FOLDER on the disk, KERNEL and DEVICE of
// ours.
void NameValues(CLI::App& app) {
  static constexpr std::pair<const char*, const char*> kValues[] = {{"workload", "FILE"},
                                                                    {"variant", "FILE"},
                                                                    {"output", "FILE"},
                                                                    {"space", "FILE"},
                                                                    {"working-directory", "FOLDER"},
                                                                    {"build-folder", "FOLDER"},
                                                                    {"kernel", "KERNEL"},
                                                                    {"device", "DEVICE"}};
  for (CLI::Option* option : app.get_options()) {
    for (const auto& [name, value] : kValues) {
      if (option->check_lname(name) && option->get_items_expected_max() > 0) {
        option->type_name(value);
      }
    }
  }
  for (CLI::App* nested : app.get_subcommands({})) NameValues(*nested);
}

void AddAll(CLI::App& app, Arguments& out, Raw& raw) {
  app.set_version_flag("--version", "cupilot " CUPILOT_VERSION);
  app.add_flag("--json", out.json, "print one JSON document");
  app.require_subcommand(1);
  app.fallthrough();
  AddServiceCommands(app, out, raw);
  AddKernelCommands(app, out);
  AddVariantCommands(app, out);
  AddStorageCommands(app, out, raw);
  AddSourceCommands(app, out, raw);
  AddLocalCommands(app, out);
  AddCaptureCommands(app, out, raw);
  AddBench(app, out.bench);
  AddSpaceCommands(app, out);
  AddModelCommands(app, out);
  AddStrategyCommands(app, out);
  AddGenerate(app, out);
  NameValues(app);
}

// "INT:POSITIVE" is "INT": the rest is in the description or in the error.
std::string ValueOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  return type.substr(0, type.find_first_of(": "));
}

std::vector<DescribedOption> OptionsOf(const CLI::App& app) {
  std::vector<DescribedOption> options;
  for (const CLI::Option* option : app.get_options()) {
    DescribedOption described;
    if (option->get_positional()) {
      described.value = option->get_name(true);
      described.positional = true;
    } else {
      for (const std::string& name : option->get_snames()) described.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) described.names.push_back("--" + name);
      described.value = ValueOf(*option);
    }
    described.about = option->get_description();
    described.standard = option->get_default_str();
    described.required = option->get_required();
    described.many = option->get_items_expected_max() > 1;
    options.push_back(std::move(described));
  }
  return options;
}

void AddDescribed(CLI::App& app, const std::string& before, DescribedProgram& program) {
  for (CLI::App* nested : app.get_subcommands({})) {
    if (nested->get_group().empty()) continue;  // not for people
    DescribedCommand command{before + nested->get_name(),
                             nested->get_description(),
                             {},
                             nested->get_require_subcommand_min() > 0};
    for (DescribedOption& option : OptionsOf(*nested)) {
      const bool help = !option.names.empty() && option.names.back() == "--help";
      if (!help) command.options.push_back(std::move(option));
    }
    const std::string name = command.name;
    program.commands.push_back(std::move(command));
    AddDescribed(*nested, name + " ", program);
  }
}

std::string CommandOf(const CLI::App& app) {
  std::string command;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    command += (command.empty() ? "" : " ") + at->get_name();
  }
  return command;
}

base::Result<> ReadBudget(const std::string& text, Arguments& out) {
  if (text.empty()) return {};
  std::int64_t count = 0;
  const char* end = text.data() + text.size();
  if (const auto read = std::from_chars(text.data(), end, count);
      read.ec == std::errc() && read.ptr == end) {
    if (count <= 0) return base::Fail(base::InvalidArgument("--budget: must be positive"));
    out.evaluations = count;
    return {};
  }
  auto seconds = ParseDuration(text);
  if (!seconds) return base::Fail(seconds.error().In("--budget"));
  out.seconds = *seconds;
  return {};
}

base::Result<> ReadUntilGain(const std::string& text, Arguments& out) {
  if (text.empty()) return {};
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, percent);
  const bool whole = read.ptr == end || std::string_view(read.ptr, end) == "%";
  if (read.ec != std::errc() || !whole || !(percent > 0) || percent > 100) {
    return base::Fail(base::InvalidArgument("--until-gain: '" + text +
                                            "' is no gain; write a percentage (0.5%)"));
  }
  out.until_gain = percent / 100;
  return {};
}

// "4G", "500M", "1000000" in bytes.
base::Result<std::uint64_t> ParseSize(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const std::string unit(read.ptr, end);
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (read.ec != std::errc() || shift < 0 || number == 0 || number > (~std::uint64_t{0} >> 30)) {
    return base::Fail(base::InvalidArgument("--max-size: '" + text +
                                            "' is no size; write a number and K, M or G (500M)"));
  }
  return number << shift;
}

bool IsGpu(const std::string& device) {
  return device.size() > 5 && device.starts_with("cuda:") &&
         device.find_first_not_of("0123456789", 5) == std::string::npos;
}

base::Result<> Complete(const Raw& raw, Arguments& out) {
  TRY(ReadBudget(raw.budget, out));
  TRY(ReadUntilGain(raw.until_gain, out));
  if (out.command == "snooze") {
    auto seconds = ParseDuration(raw.snooze);
    if (!seconds) return base::Fail(seconds.error().In("snooze"));
    out.seconds = *seconds;
  }
  if (out.command == "capture") {
    TRY_ASSIGN(out.max_bytes, ParseSize(raw.max_size));
  }
  if (!raw.older_than.empty()) {
    auto seconds = ParseDuration(raw.older_than);
    if (!seconds) return base::Fail(seconds.error().In("--older-than"));
    out.seconds = *seconds;
  }
  if (!raw.prune_size.empty()) {
    TRY_ASSIGN(out.prune_bytes, ParseSize(raw.prune_size));
  }
  if (out.device != "host" && !IsGpu(out.device)) {
    return base::Fail(
        base::InvalidArgument("--device: '" + out.device + "' is no device; write host or cuda:0"));
  }
  if (!IsGpu(out.gpu)) {
    return base::Fail(base::InvalidArgument("--device: '" + out.gpu + "' is no GPU; write cuda:0"));
  }
  // A lock file is the daemon's to write.
  const std::string folder = std::filesystem::path(out.output_file).parent_path().string();
  if (out.command != "lock" && !folder.empty() && !base::FileExists(folder)) {
    return base::Fail(base::IoError("-o " + out.output_file + ": there is no folder " + folder));
  }
  return {};
}

}  // namespace

base::Result<double> ParseDuration(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const std::string unit(read.ptr, end);
  const double scale = unit == "s"   ? 1
                       : unit == "m" ? 60
                       : unit == "h" ? 3600
                       : unit == "d" ? 86400
                                     : 0;
  if (read.ec != std::errc() || scale == 0 || !std::isfinite(number) || number <= 0) {
    return base::Fail(
        base::InvalidArgument("'" + text + "' is no time; write a number and s, m, h or d (30m)"));
  }
  return number * scale;
}

DescribedProgram DescribeArguments() {
  Arguments arguments;
  Raw raw;
  CLI::App app(kAbout, "cupilot");
  AddAll(app, arguments, raw);
  DescribedProgram program{kAbout, CUPILOT_VERSION, OptionsOf(app), {}};
  AddDescribed(app, "", program);
  return program;
}

base::Result<ParsedArguments> ParseArguments(int count, const char* const* words) {
  // `cupilot help daemon` is `cupilot daemon --help`.
  if (count > 1 && std::string_view(words[1]) == "help") {
    std::vector<const char*> asked(words, words + count);
    asked.erase(asked.begin() + 1);
    asked.push_back("--help");
    return ParseArguments(count, asked.data());
  }
  ParsedArguments parsed;
  Arguments& out = parsed.arguments;
  Raw raw;
  try {
    CLI::App app(kAbout, "cupilot");
    AddAll(app, out, raw);
    try {
      app.parse(count, words);
    } catch (const CLI::CallForAllHelp&) {
      parsed.text = app.help("", CLI::AppFormatMode::All);
      return parsed;
    } catch (const CLI::CallForHelp&) {
      parsed.text = app.help();
      return parsed;
    } catch (const CLI::CallForVersion&) {
      parsed.text = "cupilot " CUPILOT_VERSION "\n";
      return parsed;
    } catch (const CLI::ParseError& error) {
      return base::Fail(base::InvalidArgument(
          WrongUsage(DescribeArguments(), CommandOf(app), app.remaining(true), error.what())));
    }
    out.command = CommandOf(app);
  } catch (const std::exception& error) {
    return base::Fail(base::Internal(error.what()));
  }
  TRY(Complete(raw, out));
  return parsed;
}

}  // namespace cupilot::client
