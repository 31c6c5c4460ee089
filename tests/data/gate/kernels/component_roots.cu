// Follows each pixel's parents up to the root of its component (parents lie before their children) and counts the pixels of each root.
// cupilot: tune
// cupilot: workload forest grid=(38) block=(256) count=9600 parent=indices(0,9600)[count] root=[count] size=inout integers(0,3)[count]
__global__ void component_roots(const int* parent, int* root, int* size, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int x = i;
  for (;;) {
    const int up = parent[x];
    if (up >= x) break;
    x = up;
  }
  root[i] = x;
  atomicAdd(&size[x], 1);
}
