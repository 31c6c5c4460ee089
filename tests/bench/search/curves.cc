#include "tests/bench/search/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "records/reader.h"
#include "tests/bench/search/arms.h"

namespace cupilot::bench {
namespace {

using records::Json;

__attribute__((format(printf, 1, 2))) std::string Print(const char* format, ...) {
  std::array<char, 512> text{};
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  return text.data();
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '&') {
      escaped += "&amp;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Of people who cannot tell red from green, too (Okabe and Ito).
constexpr std::array<const char*, 7> kColours = {"#999999", "#000000", "#e69f00", "#0072b2",
                                                 "#cc79a7", "#009e73", "#d55e00"};

constexpr double kLeft = 60;
constexpr double kTop = 40;
constexpr double kWidth = 560;
constexpr double kHeight = 300;

// Where things are in the picture.
struct Axes {
  double evaluations = 1;
  double top = 0;  // logarithm of the greatest speedup that is shown
  double X(double evaluation) const { return kLeft + kWidth * evaluation / evaluations; }
  double Y(double speedup) const {
    return kTop + kHeight * (1 - std::log(std::max(speedup, 1.0)) / top);
  }
};

Axes AxesOf(const std::vector<Curve>& curves) {
  Axes axes;
  double best = 1.1;
  for (const Curve& curve : curves) {
    axes.evaluations = std::max(axes.evaluations, static_cast<double>(curve.best.size()));
    if (!curve.best.empty()) best = std::max(best, curve.best.back());
  }
  axes.top = std::log(best) * 1.05;
  return axes;
}

std::string Grid(const Axes& axes) {
  std::string svg;
  // About five lines, at speedups that are easy to read.
  const double range = std::exp(axes.top);
  double step = 0.05;
  for (const double wider : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 100.0}) {
    if ((range - 1) / step > 6) step = wider;
  }
  for (double speedup = 1; speedup <= range; speedup += step) {
    const double y = axes.Y(speedup);
    svg += Print("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n",
                 kLeft, kLeft + kWidth, y, y);
    svg += Print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%gx</text>\n", kLeft - 6, y + 4,
                 std::round(speedup * 100) / 100);
  }
  const auto every = static_cast<int>(std::max(std::ceil(axes.evaluations / 8), 1.0));
  for (int i = 0; i <= static_cast<int>(axes.evaluations); i += every) {
    svg += Print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d</text>\n", axes.X(i),
                 kTop + kHeight + 18, i);
  }
  svg += Print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">evaluations</text>\n",
               kLeft + kWidth / 2, kTop + kHeight + 36);
  return svg;
}

std::string StepsOf(const Curve& curve, const Axes& axes, const char* colour) {
  std::string path = Print("M%.1f %.1f", axes.X(0), axes.Y(1));
  for (std::size_t i = 0; i < curve.best.size(); ++i) {
    path += Print("H%.1fV%.1f", axes.X(static_cast<double>(i + 1)), axes.Y(curve.best[i]));
  }
  path += Print("H%.1f", axes.X(axes.evaluations));
  return "<path d=\"" + path + "\" fill=\"none\" stroke-width=\"2\" stroke=\"" + colour + "\"/>\n";
}

}  // namespace

base::Result<Curve> CurveOf(const Json& search) {
  records::Reading reading(records::Strictness::kLenient);
  records::ObjectReader object(search, "", reading);
  Curve curve;
  std::vector<Json> ideas;
  std::vector<std::int64_t> events;
  object.Schema("cupilot.search/1")
      .Optional("kernel", curve.kernel)
      .Optional("ideas", ideas)
      .Optional("events", events);
  if (reading.error()) return base::Fail(*reading.error());
  double best = 1;
  for (const std::int64_t event : events) {
    if (event >= 0) continue;
    const auto i = static_cast<std::size_t>(-event) - 1;
    if (i >= ideas.size()) return base::Fail(base::Corruption("a verdict of no idea"));
    std::string kind, same_code;
    double speedup = 0;
    Json outcome = Json::object();
    records::ObjectReader idea(ideas[i], "ideas", reading);
    idea.Optional("outcome", outcome);
    records::ObjectReader of(outcome, "ideas.outcome", reading);
    of.Optional("kind", kind).Optional("same_code", same_code).Optional("speedup", speedup);
    if (reading.error()) return base::Fail(*reading.error());
    if ((kind != "accepted" && kind != "rejected") || !same_code.empty()) continue;
    if (kind == "accepted") best = std::max(best, speedup);
    curve.best.push_back(best);
  }
  return curve;
}

double BestAfter(const Curve& curve, std::size_t evaluations) {
  if (evaluations == 0 || curve.best.empty()) return 1;
  return curve.best[std::min(evaluations, curve.best.size()) - 1];
}

double AreaUnder(const Curve& curve, std::size_t evaluations) {
  if (evaluations == 0) return 0;
  double sum = 0;
  for (std::size_t i = 1; i <= evaluations; ++i) sum += std::log(BestAfter(curve, i));
  return sum / static_cast<double>(evaluations);
}

std::string Csv(const std::vector<Curve>& curves) {
  std::string csv = "kernel,arm,evaluation,best\n";
  for (const Curve& curve : curves) {
    for (std::size_t i = 0; i < curve.best.size(); ++i) {
      csv +=
          Print("%s,%s,%zu,%.6g\n", curve.kernel.c_str(), curve.arm.c_str(), i + 1, curve.best[i]);
    }
  }
  return csv;
}

std::string Svg(const std::vector<Curve>& curves, const std::string& title) {
  const Axes axes = AxesOf(curves);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 400\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"800\" height=\"400\" fill=\"#ffffff\"/>\n";
  svg += "<text x=\"60\" y=\"24\" font-size=\"15\">" + Escaped(title) + "</text>\n";
  svg += Grid(axes);
  for (std::size_t i = 0; i < curves.size(); ++i) {
    // Of the same arm in each picture the same.
    const Arm* arm = FindArm(curves[i].arm);
    const std::size_t row = arm != nullptr ? static_cast<std::size_t>(arm - Arms().data()) : i;
    const char* colour = kColours[row % kColours.size()];
    svg += StepsOf(curves[i], axes, colour);
    const double y = kTop + 14 + 20 * static_cast<double>(i);
    svg += Print("<rect x=\"636\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", y - 6,
                 colour);
    svg += Print("<text x=\"656\" y=\"%.1f\">", y) + Escaped(curves[i].arm) +
           Print(" %.2fx</text>\n", BestAfter(curves[i], curves[i].best.size()));
  }
  return svg + "</svg>\n";
}

std::string AreaTable(const std::vector<Curve>& curves, const std::vector<std::string>& arms,
                      std::size_t evaluations) {
  std::string table =
      Print("area under ln(best so far), for one of %zu evaluations\n", evaluations);
  for (const std::string& arm : arms) {
    std::string kernels;
    double area = 0;
    double best = 0;
    int count = 0;
    for (const Curve& curve : curves) {
      if (curve.arm != arm) continue;
      const double of = AreaUnder(curve, evaluations);
      kernels +=
          Print("  %s %.3f (%.2fx)", curve.kernel.c_str(), of, BestAfter(curve, evaluations));
      area += of;
      best += std::log(BestAfter(curve, evaluations));
      ++count;
    }
    if (count == 0) continue;
    table +=
        Print("%-12s mean %.3f, best %.2fx:", arm.c_str(), area / count, std::exp(best / count)) +
        kernels + "\n";
  }
  return table;
}

}  // namespace cupilot::bench
