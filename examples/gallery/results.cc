#include "results.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

namespace {

// body(i) for each i below `count`, over all cores.
void InParallel(int count, const std::function<void(int)>& body) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const int step = std::max(1, count / (64 * cores));
  std::atomic<int> next{0};
  const auto work = [&] {
    for (int begin = next.fetch_add(step); begin < count; begin = next.fetch_add(step)) {
      for (int i = begin; i < std::min(count, begin + step); ++i) body(i);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < cores; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

constexpr double kRoundoff = 1.0 / (1 << 24);
constexpr std::size_t kChunk = std::size_t{1} << 16;

// body(begin, end, chunk) over [0, count) in chunks that do not depend on the number of cores.
void InChunks(std::size_t count, const std::function<void(std::size_t, std::size_t, int)>& body) {
  InParallel(static_cast<int>((count + kChunk - 1) / kChunk), [&](int chunk) {
    const std::size_t begin = chunk * kChunk;
    body(begin, std::min(count, begin + kChunk), chunk);
  });
}

// Each value moved by at most sqrt(3) of its own roundoff, one roundoff in the rms.
std::vector<double> Moved(const std::vector<double>& values, unsigned seed) {
  std::vector<double> moved(values.size());
  InChunks(values.size(), [&](std::size_t begin, std::size_t end, int chunk) {
    std::seed_seq sequence{seed, static_cast<unsigned>(chunk)};
    std::minstd_rand generator(sequence);
    std::uniform_real_distribution<double> xi(-1.7320508075688772, 1.7320508075688772);
    for (std::size_t i = begin; i < end; ++i)
      moved[i] = values[i] * (1.0 + kRoundoff * xi(generator));
  });
  return moved;
}

}  // namespace

void WriteBytes(const std::string& path, const void* data, std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, bytes, file) != bytes || std::fclose(file) != 0) {
    std::fprintf(stderr, "gallery: cannot write %s\n", path.c_str());
    std::exit(3);
  }
}

void WriteReference(const Options& options, const char* name,
                    const std::vector<std::vector<float>>& inputs, std::size_t outputs,
                    double inputs_per_output, int parts, const Exact& exact) {
  if (options.references.empty()) return;
  Inputs in;
  for (const auto& input : inputs) in.emplace_back(input.begin(), input.end());
  std::vector<double> d(outputs), other(outputs), squares(outputs, 0.0);
  InParallel(parts, [&](int part) { exact(in, d, part); });
  constexpr int kDraws = 8;
  for (int draw = 0; draw < kDraws; ++draw) {
    Inputs moved;
    for (std::size_t i = 0; i < in.size(); ++i) {
      moved.push_back(Moved(in[i], static_cast<unsigned>(kDraws * i + draw)));
    }
    InParallel(parts, [&](int part) { exact(moved, other, part); });
    InChunks(outputs, [&](std::size_t begin, std::size_t end, int) {
      for (std::size_t i = begin; i < end; ++i) squares[i] += (other[i] - d[i]) * (other[i] - d[i]);
    });
  }
  std::vector<double> file(2 + 2 * outputs);
  file[0] = inputs_per_output;
  file[1] = static_cast<double>(outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    file[2 + i] = d[i];
    file[2 + outputs + i] =
        std::sqrt(squares[i] / kDraws) + kRoundoff * std::fabs(d[i]) + 1.1754943508222875e-38;
  }
  WriteBytes(options.references + "/" + name + ".reference", file.data(),
             file.size() * sizeof(double));
}
