// Textures and surfaces lead to memory that the kernel's pointers, or other textures, may lead to
// as well: in one block, all is read in front of the barrier and written behind it.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -o %t.cu -q --list --force --self-check=off --cuda-path=%cuda | FileCheck %s

__device__ float fetched(cudaTextureObject_t from, int e) {
  return tex1Dfetch<float>(from, e);
}

#define SMOOTH(NAME, OBJECT, READ, WRITE)                                      \
  __global__ void NAME(OBJECT from, float *out, int n) {                       \
    __shared__ float s[134];                                                   \
    const int t = threadIdx.x, g = blockIdx.x * 128 + t;                       \
    for (int l = t; l < 134; l += 128) {                                       \
      const int e = (int)(blockIdx.x * 128) + l - 3;                           \
      s[l] = READ;                                                             \
    }                                                                          \
    __syncthreads();                                                           \
    float sum = 0;                                                             \
    for (int i = 0; i < 7; ++i)                                                \
      sum += s[t + i];                                                         \
    if (g < n)                                                                 \
      WRITE;                                                                   \
  }

// CHECK-DAG: declined{{.*}}ofTexture{{.*}}may-alias
SMOOTH(ofTexture, cudaTextureObject_t, tex1Dfetch<float>(from, e), out[g] = sum)
// CHECK-DAG: declined{{.*}}throughFunction{{.*}}may-alias
SMOOTH(throughFunction, cudaTextureObject_t, fetched(from, e), out[g] = sum)
// CHECK-DAG: declined{{.*}}ofSurface{{.*}}may-alias
SMOOTH(ofSurface, cudaSurfaceObject_t,
       surf1Dread<float>(from, e * 4, cudaBoundaryModeZero),
       surf1Dwrite(sum, from, g * 4))
// The same from memory.
// CHECK-DAG: rewritten{{.*}}ofMemory
SMOOTH(ofMemory, const float *, e >= 0 && e < n ? from[e] : 0.f, out[g] = sum)

int main(int argc, char **argv) {
  const int n = 1000 * argc;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  ofTexture<<<(n + 127) / 128, 128>>>(0, b, n);
  throughFunction<<<(n + 127) / 128, 128>>>(0, b, n);
  ofSurface<<<(n + 127) / 128, 128>>>(0, b, n);
  ofMemory<<<(n + 127) / 128, 128>>>(a, b, n);
}
