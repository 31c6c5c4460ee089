// Kernels whose threads run as loops: the conditions that they begin with, and how they compute their
// place, in forms that are easy to get wrong.
#include "same_body.h"

using checks::Mark;

#define I const int i = blockIdx.x * blockDim.x + threadIdx.x;
#define U const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
#define XY                                                 \
  const int x = blockIdx.x * blockDim.x + threadIdx.x;     \
  const int y = blockIdx.y * blockDim.y + threadIdx.y;

// One condition around the rest.
BODY(Less, I if (i < n) Mark(out, i, 1);)
BODY(LessOrEqual, I if (i <= n) Mark(out, i, 1);)
BODY(GreaterSwapped, I if (n > i) Mark(out, i, 1);)
BODY(GreaterOrEqualSwapped, I if (n >= i) Mark(out, i, 1);)
BODY(Greater, I if (i > n) Mark(out, i, 1);)
BODY(GreaterOrEqual, I if (i >= n) Mark(out, i, 1);)
BODY(LessSwapped, I if (n < i) Mark(out, i, 1);)
BODY(Equal, I if (i == n) Mark(out, i, 1);)
BODY(NotEqual, I if (i != n) Mark(out, i, 1);)
BODY(Negated, I if (!(i >= n)) Mark(out, i, 1);)
BODY(Between, I if (i >= m && i < n) Mark(out, i, 1);)
BODY(BetweenSwapped, I if (n > i && m <= i) Mark(out, i, 1);)
BODY(Either, I if (i < m || i >= n) Mark(out, i, 1);)
BODY(OnlySizes, I if (n > m) Mark(out, i, 1);)
BODY(OnlySizesAndIndex, I if (n > m && i < n) Mark(out, i, 1);)
BODY(Braces, I if (i < n) { Mark(out, i, 1); })
BODY(Nothing, I Mark(out, i, 1);)
BODY(AlwaysFalse, I if (false && i < n) Mark(out, i, 1);)

// Early returns.
BODY(Leave, I if (i >= n) return; Mark(out, i, 1);)
BODY(LeaveGreater, I if (i > n) return; Mark(out, i, 1);)
BODY(LeaveSwapped, I if (n <= i) return; Mark(out, i, 1);)
BODY(LeaveLess, I if (i < n) return; Mark(out, i, 1);)
BODY(LeaveTwice, I if (i >= n) return; if (i < m) { return; } Mark(out, i, 1);)
BODY(LeaveOr, XY if (x >= n || y >= m) return; Mark(out, x + 100 * y, 1);)
BODY(LeaveAnd, XY if (x >= n && y >= m) return; Mark(out, x + 100 * y, 1);)
BODY(LeaveWithMark, I if (i >= n) { Mark(out, i, 5); return; } Mark(out, i, 1);)
BODY(LeaveAfterMark, I Mark(out, i, 2); if (i >= n) return; Mark(out, i, 1);)
BODY(LeaveLate, I if (i >= n) return; Mark(out, i, 1); if (i >= m) return; Mark(out, i, 10);)
BODY(LeaveThenIf, I if (i >= n) return; if (i > 3) Mark(out, i, 1);)
BODY(LeaveBySize, I if (n <= 0) return; if (i >= n) return; Mark(out, i, 1);)

// Branches.
BODY(Else, I if (i < n) Mark(out, i, 1); else Mark(out, i, 10);)
BODY(ElseOnly, I if (i < n) ; else Mark(out, i, 10);)
BODY(ElseIf, I if (i < n) Mark(out, i, 1); else if (i < m) Mark(out, i, 10); else return; Mark(out, i, 100);)
BODY(Nested, I if (i < n) { if (i > m) Mark(out, i, 1); })
BODY(NestedElse, I if (i < n) { if (i > m) Mark(out, i, 1); else Mark(out, i, 10); })
BODY(After, I if (i < n) Mark(out, i, 1); Mark(out, i, 10);)
BODY(Ternary, I Mark(out, i, i < n ? 1 : 2);)
BODY(InitStatement, if (const int i = blockIdx.x * blockDim.x + threadIdx.x; i < n) Mark(out, i, 1);)
BODY(Flag, I const bool inside = i < n; if (inside) Mark(out, i, 1);)
BODY(FlagLeave, XY const bool inside = x < n && y < m; if (!inside) return; Mark(out, x + 100 * y, 1);)
BODY(Compound, I { if (i < n) Mark(out, i, 1); } Mark(out, i, 10);)
BODY(Loop, for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) Mark(out, i, 1);)
BODY(LoopDown, for (int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= 64) Mark(out, i, 1);)
BODY(While, int i = blockIdx.x * blockDim.x + threadIdx.x; while (i < m) { Mark(out, i, 1); i += 7; })
BODY(Switch, I switch (i % 3) { case 0: Mark(out, i, 1); break; case 1: if (i < n) Mark(out, i, 10); break; default: return; } Mark(out, i, 100);)

// Unsigned numbers, whose negative ones are the largest and whose differences wrap.
BODY(UnsignedLessInt, U if (i < n) Mark(out, i, 1);)
BODY(UnsignedLess, U if (i < u) Mark(out, i, 1);)
BODY(UnsignedLeave, U if (i >= u) return; Mark(out, i, 1);)
BODY(IntLessUnsigned, I if (i < u) Mark(out, i, 1);)
BODY(CastToInt, U if ((int)i < n) Mark(out, i, 1);)
BODY(CastToUnsigned, I if (i < (unsigned int)n) Mark(out, i, 1);)
BODY(CastToLong, U if ((long)i < w) Mark(out, i, 1);)
BODY(CastToShort, I if ((short)(i * 999) < n) Mark(out, i, 1);)
BODY(CastToChar, I if ((unsigned char)i < u) Mark(out, i, 1);)
BODY(UnsignedMinus, U if (i - 5 < u) Mark(out, i, 1);)
BODY(UnsignedMinusSwapped, U if (u - i > 3) Mark(out, i, 1);)
BODY(UnsignedTimes, U if (i * 4 < u) Mark(out, i, 1);)
BODY(UnsignedHash, U if (i * 2654435761u < 2000000000u) Mark(out, i, 1);)
BODY(UnsignedHashLiteral, if (threadIdx.x * 715827883u < u * 1000u) Mark(out, threadIdx.x, 1);)
BODY(SignedHash, const int h = (blockIdx.x * blockDim.x + threadIdx.x) * 715827883; if (h < n) Mark(out, h % 1000, 1);)
BODY(SignedHashLeave, const int h = threadIdx.x * 16777259 * 8 + blockIdx.x; if (h < 0) return; Mark(out, h % 1000, 1);)
BODY(UnsignedPlusInt, U if (i + n < u) Mark(out, i, 1);)
BODY(IntMinusOne, const int i = blockIdx.x * blockDim.x + threadIdx.x - 1; if (i < u) Mark(out, i, 1);)
BODY(IntMinusOneBoth, const int i = blockIdx.x * blockDim.x + threadIdx.x - 1; if (i >= 0 && i < n) Mark(out, i, 1);)
BODY(WrapsToLong, const long i = blockIdx.x * blockDim.x + threadIdx.x - 5; if (i < w) Mark(out, i % 1000, 1);)
BODY(UnsignedBlockDim, if (threadIdx.x < blockDim.x - 2) Mark(out, threadIdx.x, 1);)
BODY(UnsignedGridDim, U if (i < gridDim.x * blockDim.x - 40) Mark(out, i, 1);)
BODY(SizeT, const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; if (i < u) Mark(out, i, 1);)
BODY(SizeTLessInt, const size_t i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(Long, const long i = (long)blockIdx.x * blockDim.x + threadIdx.x; if (i < w) Mark(out, i, 1);)
BODY(LongLong, const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i >= n) return; Mark(out, i, 1);)
BODY(Short, const short i = blockIdx.x * blockDim.x * 1000 + threadIdx.x * 999; if (i < n) Mark(out, i, 1);)
BODY(ShortOfSum, const short i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(UnsignedChar, const unsigned char i = blockIdx.x * blockDim.x + threadIdx.x; if (i < u) Mark(out, i, 1);)
BODY(Bool, const bool any = blockIdx.x * blockDim.x + threadIdx.x; if (any < u) Mark(out, threadIdx.x, 1);)
BODY(Float, const float i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) Mark(out, (long)i, 1);)
BODY(FloatLimit, I if (i < n * 0.5f) Mark(out, i, 1);)

// Arithmetic of the index.
BODY(PlusOne, I if (i + 1 < n) Mark(out, i, 1);)
BODY(MinusOne, I if (i - 1 >= m && i + 1 < n) Mark(out, i, 1);)
BODY(Twice, I if (2 * i + 1 < n) Mark(out, 2 * i, 1);)
BODY(TimesNegative, I if (i * -2 > -n) Mark(out, i, 1);)
BODY(TimesSize, I if (i * m < n) Mark(out, i, 1);)
BODY(Difference, I if (n - i > 3) Mark(out, i, 1);)
BODY(Minus, I if (-i > -n) Mark(out, i, 1);)
BODY(Not, I if (~i > -n) Mark(out, i, 1);)
BODY(Halved, I if (i / 2 < n) Mark(out, i, 1);)
BODY(Shifted, I if (i >> 1 < n) Mark(out, i, 1);)
BODY(ShiftedLeft, I if (i << 1 < n) Mark(out, i, 1);)
BODY(Remainder, I if (i % 4 < n) Mark(out, i, 1);)
BODY(RemainderOfSize, I if (n > 0 && i % n < m) Mark(out, i, 1);)
BODY(Masked, I if ((i & 3) < n) Mark(out, i, 1);)
BODY(Squared, I if (i * i < n) Mark(out, i, 1);)
BODY(AgainstItself, I if (i * 3 < i * 2 + n) Mark(out, i, 1);)
BODY(GuardedQuotient, I if (m != 0 && i < n / m) Mark(out, i, 1);)
BODY(GuardedQuotientLeave, I if (m == 0) return; const int rows = n / m; if (i >= rows) return; Mark(out, i, 1);)
BODY(QuotientBySize, I if (m == 0) return; const int row = i / m, next = i + 1; if (next >= n) return; Mark(out, i, row);)
BODY(Half, I const int half = n / 2; if (i < half) Mark(out, i, 1);)
BODY(Shift, I const int shift = m > 0 && m < 8 ? m : 1; if (i >> shift < n) Mark(out, i, 1);)
BODY(Scaled, const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4; if (i + 3 < n) Mark(out, i, 1);)
BODY(Reversed, const int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x); if (i >= 0) Mark(out, i, 1);)
BODY(ReversedLeave, const int i = n - (int)(blockIdx.x * blockDim.x + threadIdx.x); if (i <= m) return; Mark(out, i, 1);)
BODY(Chain, I const int j = i + m; const int k = 2 * j; if (k >= n) return; Mark(out, i, 1);)
BODY(Changed, int i = blockIdx.x * blockDim.x + threadIdx.x; i += m; if (i < n) Mark(out, i, 1);)
BODY(ChangedSize, I n = n / 2; if (i < n) Mark(out, i, 1);)
BODY(ChangedInIf, I int limit = n; if (m > 3) limit = m; if (i < limit) Mark(out, i, 1);)
BODY(ChangedInCondition, int i = blockIdx.x * blockDim.x + threadIdx.x; if (i++ < n) Mark(out, i, 1);)
BODY(ChangedBeforeInCondition, I if ((n = m) != 0 && i < n) Mark(out, i, 1);)
BODY(ChangedThroughReference, int i = blockIdx.x * blockDim.x + threadIdx.x; int& same = i; same = n - i; if (i < m) Mark(out, i, 1);)
BODY(ChangedThroughPointer, int i = blockIdx.x * blockDim.x + threadIdx.x; int* same = &i; *same += 2; if (i < n) Mark(out, i, 1);)
BODY(ChangedByInitialiser, int i = blockIdx.x * blockDim.x + threadIdx.x; const int old = i--; if (i < n) Mark(out, i, old);)
BODY(ChangedSizeByInitialiser, I const int old = n--; if (i < n) Mark(out, i, old);)
BODY(Shadowed, I { const int n = m; if (i < n) Mark(out, i, 1); })
BODY(ShadowedIndex, I if (i < n) { const int i = threadIdx.x; Mark(out, i, 1); })
BODY(Comma, I if (n > 0, i < m) Mark(out, i, 1);)

// What has an effect happens in every thread, whatever the conditions beside it say.
__host__ __device__ inline bool Count(int* out, int value) {
  Mark(out, -1000, value);
  return true;
}
BODY(EffectBefore, I if (Count(out, 1) && i < n) Mark(out, i, 1);)
BODY(EffectAfter, I if (i < n && Count(out, 1)) Mark(out, i, 1);)
BODY(EffectBeforeLeave, I if (!Count(out, 1) || i >= n) return; Mark(out, i, 1);)
BODY(EffectInEarlierIf, I if (!Count(out, 1)) return; if (i >= n) return; Mark(out, i, 1);)
BODY(EffectInDeclaration, I const bool counted = Count(out, 1); if (i >= n) return; Mark(out, i, counted);)
BODY(EffectBetween, I if (i >= n) return; Count(out, 1); if (i >= m) return; Mark(out, i, 1);)

// More dimensions.
BODY(TwoDimensions, XY if (x < n && y < m) Mark(out, x + 100 * y, 1);)
BODY(TwoDimensionsSwapped, XY if (y < m && x < n) Mark(out, x + 100 * y, 1);)
BODY(OnlyY, XY if (y < m) Mark(out, x + 100 * y, 1);)
BODY(LeaveY, XY if (y >= m) return; if (x >= n) return; Mark(out, x + 100 * y, 1);)
BODY(Inner, XY if (x > 0 && y > 0 && x < n - 1 && y < m - 1) Mark(out, x + 100 * y, 1);)
BODY(InnerLeave, XY if (x < 1 || y < 1 || x >= n - 1 || y >= m - 1) return; Mark(out, x + 100 * y, 1);)
BODY(Product, XY if (x * y < n) Mark(out, x + 100 * y, 1);)
BODY(Sum, XY if (x + y < n) Mark(out, x + 100 * y, 1);)
BODY(Triangle, XY if (x <= y) Mark(out, x + 100 * y, 1);)
BODY(UpperTriangle, XY if (x >= y) Mark(out, x + 100 * y, 1);)
BODY(Linear, XY if (y * 10 + x < n) Mark(out, x + 100 * y, 1);)
BODY(ThreeDimensions, XY const int z = blockIdx.z * blockDim.z + threadIdx.z; if (x < n && y < m && z < 3) Mark(out, x + 100 * y + 1000 * z, 1);)
BODY(WholeGrid, const int i = blockIdx.x * blockDim.x + threadIdx.x + gridDim.x * blockDim.x * (blockIdx.y * blockDim.y + threadIdx.y); if (i < n) Mark(out, i, 1);)

// The place by other means than blockIdx.x * blockDim.x + threadIdx.x.
BODY(ThreadOnly, if (threadIdx.x < n) Mark(out, threadIdx.x, 1);)
BODY(ThreadOnlyGreater, if (threadIdx.x > 2) Mark(out, threadIdx.x, 1);)
BODY(ThreadOnlyNext, if (threadIdx.x + 1 < blockDim.x) Mark(out, threadIdx.x, 1);)
BODY(ThreadOnlyRest, if (blockDim.x - threadIdx.x > 2) Mark(out, threadIdx.x, 1);)
BODY(FirstThread, if (threadIdx.x == 0) Mark(out, blockIdx.x, 1);)
BODY(FirstThreadNot, if (threadIdx.x) Mark(out, blockIdx.x, 1);)
BODY(BlockOnly, if (blockIdx.x < n) Mark(out, blockIdx.x, 1);)
BODY(BlockAndThread, if (blockIdx.x < n && threadIdx.x < m) Mark(out, blockIdx.x * 40 + threadIdx.x, 1);)
BODY(SumAndThread, I if (i < n && threadIdx.x > 2) Mark(out, i, 1);)
BODY(SumAndBlock, I if (i < n) Mark(out, i + 100 * blockIdx.x, 1);)
BODY(SumAndThreadUse, I if (i < n) Mark(out, i, threadIdx.x);)
BODY(SumAndLastBlock, I if (i < n && blockIdx.x < gridDim.x - 1) Mark(out, i, 1);)
BODY(Commuted, const int i = threadIdx.x + blockDim.x * blockIdx.x; if (i < n) Mark(out, i, 1);)
BODY(CastParts, const int i = (int)(blockIdx.x * blockDim.x) + (int)threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(CastEach, const int i = int(blockIdx.x) * int(blockDim.x) + int(threadIdx.x); if (i < n) Mark(out, i, 1);)
BODY(Auto, const auto i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(InPlace, if (blockIdx.x * blockDim.x + threadIdx.x < n) Mark(out, blockIdx.x * blockDim.x + threadIdx.x, 1);)
BODY(InPlaceSigned, if ((int)(blockIdx.x * blockDim.x + threadIdx.x) < n) Mark(out, threadIdx.x, 1);)
BODY(WrongDimension, const int i = blockIdx.x * blockDim.y + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(WrongBlock, const int i = blockIdx.y * blockDim.x + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(WrongThread, const int i = blockIdx.x * blockDim.x + threadIdx.y; if (i < n) Mark(out, i, 1);)
BODY(TwiceTheBlock, const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x; if (i < n) { Mark(out, i, 1); if (i + blockDim.x < n) Mark(out, i + blockDim.x, 10); })
BODY(SizeAsWidth, const int i = blockIdx.x * n + threadIdx.x; if (i < m) Mark(out, i, 1);)
BODY(Literal, const int i = blockIdx.x * 32 + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(LiteralLarge, const int i = blockIdx.x * 256 + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(LiteralOne, const int i = blockIdx.x * 1 + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(LiteralZero, const int i = blockIdx.x * 0 + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(LiteralNegative, const int i = blockIdx.x * -3 + threadIdx.x; if (i < n) Mark(out, i, 1);)
constexpr int kWidth = 16;
BODY(Constant, const int i = blockIdx.x * kWidth + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(LocalConstant, constexpr int width = 8; const int i = blockIdx.x * width + threadIdx.x; if (i < n) Mark(out, i, 1);)
BODY(TwoWidths, I const int j = blockIdx.x * 32 + threadIdx.x; if (i < n && j < n) Mark(out, i + j, 1);)
BODY(Shifts, const int i = (blockIdx.x << 5) + threadIdx.x; if (i < n) Mark(out, i, 1);)

// Templates.
template <int Width, class T>
__global__ void Templated(int* out, T n) {
  const T i = blockIdx.x * Width + threadIdx.x;
  if (i < n) Mark(out, i, 1);
}
template <int Width, class T>
void CheckTemplate() {
  for (const int threads : {16, 32, 48}) {
    for (const int n : {0, 40, 1000}) {
      checks::Buffer<int> out(1000);
      Templated<Width, T><<<5, threads>>>(static_cast<int*>(out), static_cast<T>(n));
      std::vector<int> expected(1000);
      for (int b = 0; b < 5; ++b) {
        for (int t = 0; t < threads; ++t) {
          if (b * Width + t < n) ++expected[b * Width + t];
        }
      }
      SAME_ALL(out.Read(), expected);
    }
  }
}
CASE(templates) {
  CheckTemplate<32, int>();
  CheckTemplate<16, unsigned int>();
  CheckTemplate<64, long>();
  CheckTemplate<0, int>();
  CheckTemplate<1, short>();
}
template <class T>
__global__ void TemplatedPlace(T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = static_cast<T>(i) / 2;
}
CASE(template_of_type) {
  checks::Buffer<float> floats(100);
  TemplatedPlace<float><<<4, 32>>>(floats, 90);
  SAME_ALL(floats.Read(), checks::Make<float>(100, [](int i) { return i < 90 ? i / 2.0 : 0; }));
  checks::Buffer<int> ints(100);
  TemplatedPlace<int><<<4, 32>>>(ints, 90);
  SAME_ALL(ints.Read(), checks::Make<int>(100, [](int i) { return i < 90 ? i / 2 : 0; }));
}

int main(int argc, char** argv) { return checks::Main(argc, argv); }
