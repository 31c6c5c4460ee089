// What bodies near each other do to each other: those further away than a limit, nothing.
// cupilot: tune
// cupilot: workload all grid=(3) block=(64) n=150 body=normal[n] force=[n]
__global__ void forces(const float4* body, float* force, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 a = body[i];
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    const float4 b = body[j];
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z, d = x * x + y * y + z * z;
    if (j == i || d > 4.0f) continue;
    sum += b.w / (d + 0.01f);
  }
  force[i] = sum;
}
