// Two equations with two unknowns each; zeros where they are not independent.
// cupilot: tune
// cupilot: workload all grid=(8) block=(128) n=1000 m=normal[n] v=normal[n] out=[n]
__global__ void solved(const float4* m, const float2* v, float2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float det = m[i].x * m[i].w - m[i].y * m[i].z;
  float2 s = make_float2(0.0f, 0.0f);
  if (det != 0.0f) {
    s.x = (v[i].x * m[i].w - v[i].y * m[i].y) / det;
    s.y = (v[i].y * m[i].x - v[i].x * m[i].z) / det;
  }
  out[i] = s;
}
