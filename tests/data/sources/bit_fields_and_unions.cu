// corpus: swapped
// Bit fields, unions, alignment, unnamed structures and packed ones.
#include "support.cuh"

struct Flags {
  unsigned kind : 3;
  unsigned : 2;
  signed shift : 5;
  bool on : 1;
};
union Word {
  unsigned bits;
  float value;
  struct {
    unsigned short low, high;
  } halves;
};
struct alignas(16) Padded {
  char letter;
  double value;
};
struct __align__(8) Pair {
  float a, b;
};
typedef struct {
  int first;
  struct {
    short x, y;
  } inner[2];
} Unnamed;
#pragma pack(push, 1)
struct Packed {
  char tag;
  int value;
};
#pragma pack(pop)

// cupilot: tune
__global__ void unpack(Flags flags, Padded padded, Pair pair, Unnamed unnamed, Packed packed, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Word word;
  word.value = pair.a * i + pair.b;
  word.halves.low = 0;
  flags.shift = flags.shift + 1;
  out[i] = word.value + (flags.on ? flags.kind << (flags.shift & 3) : 0) + float(padded.value) +
           unnamed.inner[i & 1].y + packed.value + alignof(Padded) + sizeof(Packed) + padded.letter;
}

int main() {
  support::Array<float> out(256);
  Flags flags = {5, -3, true};
  Padded padded = {'a', 0.25};
  Pair pair = {1.5f, 2.5f};
  Unnamed unnamed = {1, {{2, 3}, {4, 5}}};
  Packed packed = {'t', 1000};
  unpack<<<4, 64>>>(flags, padded, pair, unnamed, packed, out.get(), 256);
  support::Show("out", out);
}
