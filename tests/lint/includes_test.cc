// Holds the direction of includes and the fences around libraries (daemon/ARCHITECTURE.md).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string from;  // relative to the root
  std::string what;
  bool quoted;
};

std::vector<Include> ReadIncludes() {
  std::vector<Include> includes;
  const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  for (const char* top : {"daemon", "cache", "client"}) {
    const fs::path root = fs::path(CUPILOT_TEST_SOURCE_DIR) / top;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cc" && extension != ".h") continue;
      const std::string from = fs::relative(entry.path(), CUPILOT_TEST_SOURCE_DIR);
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        std::smatch match;
        if (std::regex_search(line, match, pattern)) {
          includes.push_back({from, match[2], match[1] == "\""});
        }
      }
    }
  }
  return includes;
}

// "daemon/source/rewrite/x.cc" -> "source"; "cache/store.h" -> "cache".
std::string FolderOf(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto& part : fs::path(path)) parts.push_back(part);
  if (parts[0] == "daemon") return parts.size() > 2 ? parts[1] : "main";
  return parts[0];
}

// What each folder may include besides itself; the closure of the arrows of the architecture page.
const std::map<std::string, std::set<std::string>> kAllowed = {
    {"base", {}},
    {"log", {"base"}},
    {"records", {"base"}},
    {"protocol", {"base", "records"}},
    {"cache", {"base", "records"}},
    {"loop", {"base", "log"}},
    {"source",
     {"base", "records", "protocol", "search/techniques.h",
      "host_runtime/include/cupilot_host_abi.h"}},
    {"recording", {}},
    {"host_runtime", {"recording"}},
    {"capture", {"recording"}},
    {"blobs", {"base"}},
    {"workloads", {"base", "blobs", "device/element.h", "records", "recording"}},
    {"device", {"base", "blobs", "records", "host_runtime"}},
    {"worker", {"base", "log", "records", "protocol", "source", "blobs", "device", "host_runtime"}},
    {"evaluate", {"base", "log", "records", "protocol", "loop", "source/swap"}},
    {"search", {"base", "records", "protocol"}},
    {"agents", {"base", "log", "records", "cache", "loop", "blobs", "source/syntax/lexer.h"}},
    {"service",
     {"base", "log", "records", "protocol", "cache", "loop", "evaluate", "search", "agents",
      "source/swap", "blobs", "workloads"}},
    {"client",
     {"base", "log", "records", "protocol", "loop", "blobs", "recording", "search", "workloads",
      "source/swap", "source/lower", "source/syntax", "source/whitelist", "nvcc/"}},
};

TEST(Includes, GoOneWay) {
  for (const Include& include : ReadIncludes()) {
    if (!include.quoted) continue;
    const std::string from = FolderOf(include.from);
    if (from == "main") continue;  // a composition root may name everything
    if (include.from == "client/main.cc") continue;
    const auto allowed = kAllowed.find(from);
    ASSERT_NE(allowed, kAllowed.end()) << include.from << " is in a folder that the table lacks";
    const std::string to = include.what.substr(0, include.what.find('/'));
    if (include.what.find('/') == std::string::npos || to == from) continue;
    if (from == "host_runtime" && kAllowed.find(to) == kAllowed.end()) continue;
    bool ok = false;
    for (const std::string& entry : allowed->second) {
      ok = ok || to == entry || include.what.rfind(entry, 0) == 0;
    }
    EXPECT_TRUE(ok) << include.from << " includes " << include.what;
  }
}

TEST(Includes, LibrariesAreFenced) {
  struct Fence {
    std::regex header;
    std::regex files;
  };
  const std::vector<Fence> fences = {
      {std::regex("^uv\\.h$"), std::regex("^daemon/loop/")},
      {std::regex("^zmq\\.(h|hpp)$"), std::regex("^daemon/loop/")},
      {std::regex("^curl/"), std::regex("^daemon/loop/")},
      {std::regex("^rocksdb/"), std::regex("^cache/(rocks_store|stopping_files)\\.(cc|h)$")},
      {std::regex("^(clang|llvm)/"), std::regex("^daemon/source/syntax/.*_clang\\.(cc|h)$")},
      {std::regex("^boost/"), std::regex("^daemon/host_runtime/")},
      {std::regex("^CLI/"), std::regex("^client/")},
      {std::regex("^Eigen/"), std::regex("^daemon/search/portfolio/")},
      {std::regex("^kainjow/"), std::regex("^daemon/agents/roles/prompt\\.cc$")},
      {std::regex("^seccomp\\.h$"), std::regex("^daemon/worker/")},
  };
  for (const Include& include : ReadIncludes()) {
    for (const Fence& fence : fences) {
      if (!std::regex_search(include.what, fence.header)) continue;
      EXPECT_TRUE(std::regex_search(include.from, fence.files))
          << include.from << " includes " << include.what;
    }
  }
}

TEST(Includes, AtMostEightFilesSeeClang) {
  std::set<std::string> files;
  for (const Include& include : ReadIncludes()) {
    if (include.what.rfind("clang/", 0) == 0) files.insert(include.from);
  }
  EXPECT_LE(files.size(), 8u);
  EXPECT_GE(files.size(), 1u);  // else this test looks at the wrong tree
}

TEST(Includes, ConcreteStoreIsNamedInMainOnly) {
  for (const Include& include : ReadIncludes()) {
    if (include.what != "cache/rocks_store.h") continue;
    EXPECT_TRUE(FolderOf(include.from) == "main" || include.from == "cache/rocks_store.cc")
        << include.from;
  }
}

// Whoever asks models does so through what the user allowed, limited and can look up.
TEST(Includes, ConcreteProvidersAreNamedByAgentsAndMainOnly) {
  const std::regex concrete("^agents/(http|command|exchange|replay|batch)_provider\\.h$");
  for (const Include& include : ReadIncludes()) {
    if (!std::regex_search(include.what, concrete)) continue;
    EXPECT_TRUE(FolderOf(include.from) == "main" || FolderOf(include.from) == "agents")
        << include.from;
  }
}

}  // namespace
