// The kernels and candidates of the reference's table.
#include <cmath>
#include <utility>

#include "tests/daemon/worker/numerics/rounded.h"

namespace cupilot::worker::numerics {
namespace {

Subject ScalarSum() {
  constexpr std::size_t kWidth = 1 << 20;
  return SumSubject("sum 2^20", 1, kWidth, InOrder<float>())
      .Good("block of 256", Sums(kWidth, ByBlock<float>(256)))
      .Good("4096 stretches", Sums(kWidth, ByChunks<float>(4096)))
      .Bad("half inputs", Sums(kWidth, ByBlock<float>(256), &ToHalf))
      .Bad("bfloat16 inputs", Sums(kWidth, ByBlock<float>(256), &ToBfloat))
      .Bad("tf32 inputs", Sums(kWidth, ByBlock<float>(256), &ToTf32))
      .Bad("half accumulators", Sums(kWidth, ByBlock<float>(256, &ToHalf)))
      .Bad("small ones in half", Sums(kWidth, ByBlock<float>(256), &ToHalfIfSmall))
      .Good("Kahan", Sums(kWidth, Compensated<float>()))
      .Take();
}

Subject RowSums(const std::string& name, std::size_t width) {
  return SumSubject(name, 64, width, InOrder<float>())
      .Good("block", Sums(width, ByBlock<float>(256)))
      .Good("128 stretches", Sums(width, ByChunks<float>(std::min<std::size_t>(128, width))))
      .Good("Kahan", Sums(width, Compensated<float>()))
      .Good("three bfloat16", Sums(width, ByBlock<float>(256), &ToThreeBfloats))
      .Bad("two bfloat16", Sums(width, ByBlock<float>(256), &ToTwoBfloats))
      .Bad("half inputs", Sums(width, InOrder<float>(), &ToHalf))
      .Bad("bfloat16 inputs", Sums(width, InOrder<float>(), &ToBfloat))
      .Bad("half accumulators", Sums(width, ByBlock<float>(256, &ToHalf)))
      .Bad("small ones in half", Sums(width, InOrder<float>(), &ToHalfIfSmall))
      .Take();
}

Subject TreeRowSums() {
  constexpr std::size_t kWidth = 8192;
  return SumSubject("rows of 8192, tree", 64, kWidth, ByBlock<float>(256))
      .Good("in order", Sums(kWidth, InOrder<float>()))
      .Good("32 stretches", Sums(kWidth, ByChunks<float>(32)))
      .Bad("half inputs", Sums(kWidth, ByBlock<float>(256), &ToHalf))
      .Bad("half accumulators", Sums(kWidth, ByBlock<float>(256, &ToHalf)))
      .Take();
}

using MatmulRounds = std::pair<Round<float>, Round<float>>;

Function<float> RoundedMatmul(const MatmulShape& s, std::size_t splits, MatmulRounds rounds) {
  return [=](const Floats& in, Random&) {
    return Matmul(Rounded(in[0], rounds.first), Rounded(in[1], rounds.second), s, splits);
  };
}

Subject MatmulSubject() {
  static constexpr MatmulShape s{64, 1024, 64};
  const Shape shape{
      {{"a", 64 * 1024}, {"b", 1024 * 64}}, {{"m", 64}, {"k", 1024}, {"n", 64}}, 64 * 64, "float"};
  const Round<float> keep = &Keep<float>;
  return SubjectMaker<float>("matmul", shape)
      .Original(RoundedMatmul(s, 1, {keep, keep}))
      .Twin([](const Operands<double>& in) { return Matmul(in[0], in[1], s, 1); })
      .Good("split k by 8", RoundedMatmul(s, 8, {keep, keep}))
      .Good("three tf32",
            [](const Floats& in, Random&) { return MatmulThreeTf32(in[0], in[1], s); })
      .Good("three bfloat16", RoundedMatmul(s, 8, {&ToThreeBfloats, &ToThreeBfloats}))
      .Bad("tf32", RoundedMatmul(s, 8, {&ToTf32, &ToTf32}))
      .Bad("tf32, a only", RoundedMatmul(s, 8, {&ToTf32, keep}))
      .Bad("half, b only", RoundedMatmul(s, 8, {keep, &ToHalf}))
      .Bad("two bfloat16", RoundedMatmul(s, 8, {&ToTwoBfloats, &ToTwoBfloats}))
      .Bad("bfloat16", RoundedMatmul(s, 8, {&ToBfloat, &ToBfloat}))
      .Take();
}

Function<float> RoundedVariance(std::size_t width, Sum<float> sum, bool one_pass,
                                Round<float> round = &Keep<float>) {
  return OfOne([=](const std::vector<float>& in, Random&) {
    return VarianceRows(Rounded(in, round), width, sum, one_pass);
  });
}

Subject VarianceSubject() {
  constexpr std::size_t kWidth = 8192;
  return SubjectMaker<float>("variance", RowsShape(32, kWidth, 32))
      .Original(RoundedVariance(kWidth, InOrder<float>(), true))
      .Twin([](const Operands<double>& in) {
        return VarianceRows(in[0], kWidth, ByPairs<double>(), false);
      })
      .Good("block of 256", RoundedVariance(kWidth, ByBlock<float>(256), true))
      .Good("two passes", RoundedVariance(kWidth, ByBlock<float>(256), false))
      .Bad("half inputs", RoundedVariance(kWidth, ByBlock<float>(256), true, &ToHalf))
      .Bad("half, two passes", RoundedVariance(kWidth, ByBlock<float>(256), false, &ToHalf))
      .Bad("bfloat16 inputs", RoundedVariance(kWidth, ByBlock<float>(256), true, &ToBfloat))
      .Take();
}

Function<float> AtomicSums(std::size_t width, Round<float> round) {
  return OfOne([=](const std::vector<float>& in, Random& random) {
    return SumRows(Rounded(in, round), width, InRandomOrder<float>(random));
  });
}

Subject AtomicSubject() {
  constexpr std::size_t kWidth = 1 << 15;
  return SubjectMaker<float>("atomic additions", RowsShape(8, kWidth, 8))
      .Original(AtomicSums(kWidth, &Keep<float>))
      .Twin(ExactSums(kWidth))
      .Good("another order", AtomicSums(kWidth, &Keep<float>))
      .Good("block of 256", Sums(kWidth, ByBlock<float>(256)))
      .Bad("half inputs", AtomicSums(kWidth, &ToHalf))
      .Take();
}

}  // namespace

std::vector<Subject> ReferenceSubjects() {
  std::vector<Subject> subjects;
  subjects.push_back(ScalarSum());
  subjects.push_back(RowSums("rows of 32", 32));
  subjects.push_back(RowSums("rows of 8192", 8192));
  subjects.push_back(TreeRowSums());
  subjects.push_back(MatmulSubject());
  subjects.push_back(SoftmaxSubject("softmax 4096", 32, 4096, InOrder<float>()));
  subjects.push_back(LayerNormSubject("layer norm", 4096, InOrder<float>()));
  subjects.push_back(VarianceSubject());
  subjects.push_back(ScanSubject("scan", 0));
  subjects.push_back(AtomicSubject());
  subjects.push_back(ShortStorage("half storage", "__half", &ToHalf));
  return subjects;
}

}  // namespace cupilot::worker::numerics
