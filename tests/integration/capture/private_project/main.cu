// A program whose data is nobody else's business: a text in a structure, and numbers.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

struct Note {
  char text[16];
  int m;
  int n;
};

// cupilot: tune
__global__ void times(const float* in, float* out, Note note) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float count = 0;
  for (int k = 0; k < note.m; ++k) count += 1.0f;
  if (i < note.n) out[i] = in[i] * count;
}

// The text, and the number at [7], are of a file that only the user has.
int main(int, char** arguments) {
  std::ifstream file(arguments[1]);
  std::string text;
  float number = 0;
  file >> text >> number;
  Note note = {};
  note.m = 128;
  note.n = 16384;
  std::memcpy(note.text, text.data(), sizeof note.text);
  std::vector<float> host(static_cast<std::size_t>(note.n));
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = 100.0f * (float(i * 7919 % 1001) - 500);
  host[7] = number;
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, host.size() * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 5; ++i) times<<<note.n / 64, 64>>>(in, out, note);
  cudaMemcpy(host.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", double(host[8]));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
