#include "tests/bench/search/options.h"

#include <charconv>

#include "tests/bench/search/arms.h"

namespace cupilot::bench {
namespace {

base::Result<std::int64_t> NumberOf(const std::string& option, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return base::Fail(base::InvalidArgument(option + " needs a number, not '" + text + "'"));
  }
  return number;
}

base::Result<> Take(const std::string& option, const std::string& value, Options& options) {
  if (option == "--recordings") {
    options.recordings = value;
  } else if (option == "--kernel") {
    options.kernels.push_back(value);
  } else if (option == "--arm") {
    if (FindArm(value) == nullptr) {
      std::string names;
      for (const Arm& arm : Arms()) names += " " + std::string(arm.name);
      return base::Fail(base::InvalidArgument("there is no arm '" + value + "', but:" + names));
    }
    options.arms.push_back(value);
  } else if (option == "--out") {
    options.out = value;
  } else if (option == "--provider") {
    options.provider = value;
  } else if (option == "--device") {
    options.device = value;
  } else if (option == "--evaluations") {
    TRY_ASSIGN(options.evaluations, NumberOf(option, value));
  } else if (option == "--requests") {
    TRY_ASSIGN(options.requests, NumberOf(option, value));
  } else if (option == "--seed") {
    TRY_ASSIGN(const std::int64_t seed, NumberOf(option, value));
    options.seed = static_cast<std::uint64_t>(seed);
  } else {
    return base::Fail(base::InvalidArgument("unknown argument '" + option + "'"));
  }
  return {};
}

}  // namespace

const char* const kUsage =
    "usage: search_bench [--recordings DIR] [--kernel K]... [--arm A]... [--out DIR]\n"
    "                    [--live [--provider P] [--device host] [--evaluations N] [--requests N] "
    "[--seed N]]\n"
    "Compares ways of searching from recordings (DIR/KERNEL/ARM.jsonl.zst): prints the areas "
    "under\n"
    "the best-so-far curves; --out gets curves.csv and KERNEL.svg. Needs no compiler, device or\n"
    "model; what a recording lacks is printed, and ends it with 1.\n"
    "--live makes the recordings, or goes on with them, on this machine. P as for `cupilot tune`;\n"
    "{} in it is the kernel's name. With exchange:DIR requests are written to "
    "DIR/KERNEL/requests,\n"
    "answers are looked for in DIR/KERNEL/answers; 1 while some are open: then the same again.\n";

base::Result<Options> ParseOptions(const std::vector<std::string>& words,
                                   const std::string& recordings) {
  Options options;
  options.recordings = recordings;
  bool budgets = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--live") {
      options.live = true;
      continue;
    }
    if (words[i].starts_with("--") && i + 1 == words.size()) {
      return base::Fail(base::InvalidArgument(words[i] + " needs a value, or is unknown"));
    }
    if (!words[i].starts_with("--")) {
      return base::Fail(base::InvalidArgument("unknown argument '" + words[i] + "'"));
    }
    const std::string& option = words[i++];
    TRY(Take(option, words[i], options));
    budgets = budgets || option == "--evaluations" || option == "--requests" ||
              option == "--seed" || option == "--provider" || option == "--device";
  }
  if (budgets && !options.live) {
    return base::Fail(
        base::InvalidArgument("what a recording was made with cannot be changed but with --live"));
  }
  return options;
}

}  // namespace cupilot::bench
