#include "client/launcher_hints.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "base/file.h"

namespace cupilot::client {
namespace {

// A line a kernel: how many times faster than the original it is, a blank, its name.
using Speedups = std::map<std::string, double>;

constexpr std::size_t kMostNames = 3;

Speedups ReadSpeedups(const std::string& path) {
  Speedups speedups;
  const std::string text = base::ReadFile(path).value_or("");
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    double& speedup = speedups[line.substr(blank + 1)];
    speedup = std::max(speedup, std::strtod(line.c_str(), nullptr));
  }
  return speedups;
}

std::string TextOf(const Speedups& speedups) {
  std::string text;
  for (const auto& [kernel, speedup] : speedups) {
    char number[32];
    std::snprintf(number, sizeof number, "%.4f ", speedup);
    text += number + kernel + "\n";
  }
  return text;
}

// Launchers of one build add at once: each its lines in one write.
void Append(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  (void)!write(fd, text.data(), text.size());
  close(fd);
}

}  // namespace

void NoteForHints(const std::string& root, const std::string& folder,
                  const std::vector<records::SelectedKernel>& kernels) {
  if (!base::FileExists(root + "/hints")) return;
  const std::string held = folder + "/speedups";
  Speedups now;
  for (const records::SelectedKernel& kernel : kernels) {
    for (const records::SelectedVariant& variant : kernel.variants) {
      now[kernel.kernel] = std::max(now[kernel.kernel], variant.speedup);
    }
  }
  const Speedups before = ReadSpeedups(held);
  Speedups faster;
  for (const auto& [kernel, speedup] : now) {
    const auto old = before.find(kernel);
    // Numbers were rounded when they were written down.
    if (speedup > (old == before.end() ? 1.0 : old->second) + 1e-4) faster[kernel] = speedup;
  }
  if (!base::WriteFileIfDifferent(held, TextOf(now))) return;
  if (!faster.empty()) Append(root + "/hints.new", TextOf(faster));
}

void ShowHints(const std::string& root) {
  // By rename: of several links at once one says it.
  const std::string taken = root + "/hints." + std::to_string(getpid());
  if (std::rename((root + "/hints.new").c_str(), taken.c_str()) != 0) return;
  const Speedups noted = ReadSpeedups(taken);
  unlink(taken.c_str());
  if (noted.empty()) return;
  std::vector<std::pair<std::string, double>> faster(noted.begin(), noted.end());
  std::stable_sort(faster.begin(), faster.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string names;
  for (std::size_t i = 0; i < std::min(faster.size(), kMostNames); ++i) {
    char speedup[32];
    std::snprintf(speedup, sizeof speedup, " (%.2fx)", faster[i].second);
    names += (i == 0 ? "" : ", ") + faster[i].first + speedup;
  }
  if (faster.size() > kMostNames) names += ", ...";
  std::printf("cupilot: %zu %s faster since the last build: %s; cupilot explain '%s'\n",
              faster.size(), faster.size() == 1 ? "kernel is" : "kernels are", names.c_str(),
              faster[0].first.c_str());
}

}  // namespace cupilot::client
