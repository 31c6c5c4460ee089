#include "tests/bench/spaces/references.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "device/parallel.h"
#include "search/random_numbers.h"

namespace cupilot::spaces {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Of single precision: ten times what sums of some thousand numbers lose, a hundredth of one number
// that is missing.
constexpr double kTolerance = 1e-4;
constexpr std::int64_t kStretch = 64, kStretches = 96;

// The case's scalars and inputs.
class Inputs {
 public:
  Inputs(const Benchmark& benchmark, const Memory& memory)
      : names_(ScalarsOf(benchmark.workload.cases[0])), memory_(memory) {}
  std::int64_t Whole(const char* name) const { return names_.integers.at(name); }
  double Real(const char* name) const { return names_.floats.at(name); }
  const float* Floats(const char* name) const { return Data<float>(name); }
  const int* Ints(const char* name) const { return Data<int>(name); }

 private:
  template <class T>
  const T* Data(const char* name) const {
    return reinterpret_cast<const T*>(memory_.contents(*memory_.Find(name)).data());
  }
  records::Environment names_;
  const Memory& memory_;
};

Expected Convolution(const Inputs& inputs) {
  constexpr std::int64_t kSide = 15;
  const std::int64_t width = inputs.Whole("width");
  return [=, in = inputs.Floats("in"), weights = inputs.Floats("weights")](std::int64_t index) {
    const std::int64_t x = index % width, y = index / width;
    double sum = 0;
    for (std::int64_t j = 0; j < kSide; ++j) {
      const float* row = in + (y + j) * (width + kSide - 1) + x;
      for (std::int64_t i = 0; i < kSide; ++i) {
        sum += static_cast<double>(row[i]) * static_cast<double>(weights[j * kSide + i]);
      }
    }
    return sum;
  };
}

// Points so near to an edge that rounding decides are not judged.
Expected PointsInPolygon(const Inputs& inputs) {
  const std::int64_t vertices = 600;
  return [=, points = inputs.Floats("points"),
          polygon = inputs.Floats("vertices")](std::int64_t index) {
    const double x = points[2 * index], y = points[2 * index + 1];
    bool inside = false;
    for (std::int64_t k = 0, j = vertices - 1; k < vertices; j = k++) {
      const double xk = polygon[2 * k], yk = polygon[2 * k + 1];
      const double xj = polygon[2 * j], yj = polygon[2 * j + 1];
      if ((yk > y) == (yj > y)) continue;
      const double crossing = (xk - xj) / (yk - yj) * (y - yj) + xj;
      const double scale = 1 + std::abs((xk - xj) / (yk - yj)) * (1 + std::abs(y - yj));
      if (std::abs(x - crossing) < 1e-5 * scale) return kUnknown;
      inside = inside != (x < crossing);
    }
    return inside ? 1.0 : 0.0;
  };
}

Expected Gemm(const Inputs& inputs) {
  const std::int64_t m = inputs.Whole("m"), n = inputs.Whole("n"), k = inputs.Whole("k");
  return [=, a = inputs.Floats("a"), b = inputs.Floats("b")](std::int64_t index) {
    double sum = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      sum += static_cast<double>(a[i * m + index % m]) * static_cast<double>(b[i * n + index / m]);
    }
    return sum;
  };
}

Expected Dedispersion(const Inputs& inputs) {
  const std::int64_t samples = inputs.Whole("samples"), channels = inputs.Whole("channels"),
                     pitch = inputs.Whole("pitch"), bits = inputs.Whole("dm_bits");
  return [=, in = inputs.Floats("in"), delays = inputs.Ints("delays")](std::int64_t index) {
    const std::int64_t sample = index % samples, dm = index / samples;
    double sum = 0;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      sum += in[channel * pitch + sample + ((delays[channel] * dm) >> bits)];
    }
    return sum;
  };
}

Expected Hotspot(const Inputs& inputs) {
  const std::int64_t width = inputs.Whole("width"), height = inputs.Whole("height"),
                     steps = inputs.Whole("steps");
  const double rx = inputs.Real("rx"), ry = inputs.Real("ry"), rz = inputs.Real("rz");
  const float *power = inputs.Floats("power"), *in = inputs.Floats("in");
  std::vector<double> now(in, in + width * height), next(now.size());
  for (std::int64_t step = 0; step < steps; ++step) {
    device::InParallel(
        height,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t y = begin; y < end; ++y) {
            const double* up =
                &now[static_cast<std::size_t>(std::max<std::int64_t>(y - 1, 0) * width)];
            const double* row = &now[static_cast<std::size_t>(y * width)];
            const double* down =
                &now[static_cast<std::size_t>(std::min(y + 1, height - 1) * width)];
            for (std::int64_t x = 0; x < width; ++x) {
              const double left = row[std::max<std::int64_t>(x - 1, 0)];
              const double right = row[std::min(x + 1, width - 1)];
              next[static_cast<std::size_t>(y * width + x)] =
                  row[x] + power[y * width + x] + (up[x] + down[x] - 2 * row[x]) * ry +
                  (left + right - 2 * row[x]) * rx - row[x] * rz;
            }
          }
        },
        64);
    std::swap(now, next);
  }
  return
      [now = std::move(now)](std::int64_t index) { return now[static_cast<std::size_t>(index)]; };
}

// Accelerations: first all along x, then y, then z.
Expected Nbody(const Inputs& inputs) {
  const std::int64_t n = inputs.Whole("n");
  const double softening = inputs.Real("softening");
  return [=, bodies = inputs.Floats("bodies")](std::int64_t index) {
    const std::int64_t body = index % n, axis = index / n;
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double distance[3], square = softening;
      for (std::int64_t d = 0; d < 3; ++d) {
        distance[d] =
            static_cast<double>(bodies[4 * j + d]) - static_cast<double>(bodies[4 * body + d]);
        square += distance[d] * distance[d];
      }
      sum += distance[axis] * bodies[4 * j + 3] / (square * std::sqrt(square));
    }
    return sum;
  };
}

Expected Reduction(const Inputs& inputs) {
  const float* in = inputs.Floats("in");
  double sum = 0;
  for (std::int64_t i = 0; i < inputs.Whole("n"); ++i) sum += in[i];
  return [sum](std::int64_t) { return sum; };
}

Expected Transpose(const Inputs& inputs) {
  const std::int64_t width = inputs.Whole("width"), height = inputs.Whole("height");
  return [=, in = inputs.Floats("in")](std::int64_t index) {
    return static_cast<double>(in[index % height * width + index / height]);
  };
}

}  // namespace

base::Result<Expected> ReferenceOf(const Benchmark& benchmark, const Memory& memory) {
  constexpr std::pair<const char*, Expected (*)(const Inputs&)> kReferences[] = {
      {"convolution", &Convolution},   {"pnpoly", &PointsInPolygon}, {"gemm", &Gemm},
      {"dedispersion", &Dedispersion}, {"hotspot", &Hotspot},        {"nbody", &Nbody},
      {"reduction", &Reduction},       {"transpose", &Transpose}};
  for (const auto& [name, reference] : kReferences) {
    if (benchmark.name == name) return reference(Inputs(benchmark, memory));
  }
  return base::Fail(base::InvalidArgument("no reference for " + benchmark.name));
}

base::Result<ResultCheck> ResultCheck::Make(const Benchmark& benchmark, const Memory& memory) {
  TRY_ASSIGN(const Expected expected, ReferenceOf(benchmark, memory));
  ResultCheck check;
  check.output_ = memory.Find("out");
  if (check.output_ == nullptr) return base::Fail(base::InvalidArgument("no output 'out'"));
  const std::int64_t count = check.output_->count;
  std::vector<std::int64_t> begins;
  if (count <= kStretch * kStretches) {
    for (std::int64_t at = 0; at < count; at += kStretch) begins.push_back(at);
  } else {
    std::mt19937_64 random(1);
    begins = {0, count - kStretch};
    for (std::int64_t i = 0; i < kStretches; ++i) {
      begins.push_back(static_cast<std::int64_t>(
          search::Below(static_cast<std::uint64_t>(count - kStretch), random)));
    }
  }
  check.stretches_.resize(begins.size());
  device::InParallel(
      static_cast<std::int64_t>(begins.size()),
      [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t s = first; s < last; ++s) {
          Stretch& stretch = check.stretches_[static_cast<std::size_t>(s)];
          stretch.begin = begins[static_cast<std::size_t>(s)];
          const std::int64_t end = std::min(stretch.begin + kStretch, count);
          for (std::int64_t i = stretch.begin; i < end; ++i) stretch.values.push_back(expected(i));
        }
      },
      4);
  double squares = 0, known = 0;
  for (const Stretch& stretch : check.stretches_) {
    for (const double value : stretch.values) {
      if (std::isnan(value)) continue;
      squares += value * value;
      ++known;
    }
  }
  if (!check.output_->type.integer()) {
    check.tolerance_ = kTolerance * std::sqrt(squares / std::max(known, 1.0));
  }
  return check;
}

base::Result<std::string> ResultCheck::Look(const Memory& memory, device::Device& device) const {
  const device::ElementType& type = output_->type;
  for (const Stretch& stretch : stretches_) {
    const auto count = static_cast<std::int64_t>(stretch.values.size());
    TRY(device.Download(output_->offset + stretch.begin * type.size(), count * type.size()));
    for (std::int64_t i = 0; i < count; ++i) {
      const double want = stretch.values[static_cast<std::size_t>(i)];
      const double got = device::ReadNumber(memory.mapped(*output_), stretch.begin + i, type);
      if (std::isnan(want) || std::abs(got - want) <= tolerance_) continue;
      return "out[" + std::to_string(stretch.begin + i) + "] is " + std::to_string(got) + ", not " +
             std::to_string(want);
    }
  }
  return std::string();
}

}  // namespace cupilot::spaces
