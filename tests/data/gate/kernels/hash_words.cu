// FNV-1a of each word, and how many words fall into each bucket.
// cupilot: tune
// cupilot: workload words grid=(8) block=(128) count=1000 buckets=256 seed=1469598103934665603 text=integers(0,255)[24000] start=offsets(24000)[count+1] hash=[count] bucket=inout integers(0,9)[buckets]
__global__ void hash_words(const unsigned char* text, const int* start, unsigned long long* hash, int* bucket, int count, int buckets, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned long long h = seed;
  for (int k = start[i]; k < start[i + 1]; ++k) h = (h ^ text[k]) * 1099511628211ull;
  hash[i] = h;
  atomicAdd(&bucket[h % buckets], 1);
}
