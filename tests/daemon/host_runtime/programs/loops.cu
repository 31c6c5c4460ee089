// Kernels whose threads run as loops that the compiler can vectorise, or would like to: they store to arrays.
#include "same_body.h"

using checks::Mark;

#define I const int i = blockIdx.x * blockDim.x + threadIdx.x;
#define XY                                                 \
  const int x = blockIdx.x * blockDim.x + threadIdx.x;     \
  const int y = blockIdx.y * blockDim.y + threadIdx.y;

// Conditions around a store.
BODY(LessStore, I if (i < n) out[i] = 3 * i + n;)
// Loads only where the earlier conditions let them be.
BODY(LoadAfterLeave, I if (i >= 30) return; const int far = out[i * 1000], next = i + 1; if (next >= n) return; out[i * 1000 + 1] = far + next;)

// Bodies that make the loop hard.
BODY(LocalArray, I int values[5]; for (int k = 0; k < 5; ++k) values[k] = i * k; for (int k = 0; k < 5; ++k) Mark(out, i, values[(k * 3 + i) % 5]);)
BODY(LocalArrayStore, I int values[8]; for (int k = 0; k < 8; ++k) values[(k * 3) % 8] = i + k; int sum = 0; for (int k = 0; k < 8; ++k) sum += values[k] * k; if (i < n) out[i] = sum;)
BODY(LocalArrayByIndex, I int values[4] = {0, 0, 0, 0}; values[i & 3] = i; values[(i + 1) & 3] += 2; if (i < n) out[i] = values[0] + 10 * values[1] + 100 * values[2] + 1000 * values[3];)
BODY(InnerLoop, I if (i >= n) return; int sum = 0; for (int k = 0; k <= i; ++k) { if (k % 3 == 0) continue; if (k > 40) break; sum += k; } out[i] = sum;)
BODY(ConditionalStore, I if (i < n) { if (i % 3 == 0) out[i] = 1; else if (i % 3 == 1) out[i + 500] = 2; })
// Of several threads with the same place one alone may do this.
BODY(ReadAndWrite, I if (i < n && blockIdx.y + blockIdx.z + threadIdx.y + threadIdx.z == 0) { out[i] = out[i] + i; out[i] *= 3; })
BODY(SameStore, I if (i < n) out[0] = 7;)
BODY(Rows, XY if (x < n && y < m) { int sum = 0; for (int k = 0; k < 9; ++k) sum += k * x + y; out[x + 1000 * (y + 6 * (int)(blockIdx.z * blockDim.z + threadIdx.z)) - 20000] = sum; })

int main(int argc, char** argv) { return checks::Main(argc, argv); }
