// REQUIRES: cuda-toolkit
// What a fetch reads is checked like a load.
// RUN: %status 3 %check run %s --args uninitialised 2>&1 | FileCheck %s --check-prefix=UNINIT
// RUN: %status 3 %check run %s --args bounds 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: %status 3 %check run %s --args destroyed 2>&1 | FileCheck %s --check-prefix=DESTROYED
// RUN: %status 3 %check run %s --args index 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: %status 5 %check run %s --args gather 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: %status 5 %check run %s --args layers 2>&1 | FileCheck %s --check-prefix=LAYERS
// RUN: %check run %s
#include <cstring>
__global__ void fetch(cudaTextureObject_t t, float *o, const int *index) {
  // UNINIT: textures.cu:[[#@LINE+4]]:{{.*}}error: a value that was never initialised is stored to global memory
  // BOUNDS: textures.cu:[[#@LINE+3]]:{{.*}}error: read of 4 bytes {{.*}}after the end of an allocation of 16 bytes
  // DESTROYED: textures.cu:[[#@LINE+2]]:{{.*}}error: fetch from something that is no texture object
  // INDEX: textures.cu:[[#@LINE+1]]:{{.*}}error: an address depends on a value that was never initialised
  o[threadIdx.x] = tex1Dfetch<float>(t, index ? *index : int(threadIdx.x));
}
__global__ void gather(cudaTextureObject_t t, float4 *o) {
  // GATHER: textures.cu:[[#@LINE+1]]:{{.*}}error: this checker cannot execute 'asm("tld4
  *o = tex2Dgather<float4>(t, 1.f, 1.f);
}
int main(int argc, char **argv) {
  auto is = [&](const char *s) { return argc > 1 && !strcmp(argv[1], s); };
  float *p, *o, h[4] = {};
  int *index;
  cudaMalloc(&p, 16);
  cudaMalloc(&o, 32);
  cudaMalloc(&index, 4);
  if (!is("uninitialised"))
    cudaMemcpy(p, h, 16, cudaMemcpyHostToDevice);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = p;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = is("bounds") ? 20 : 16;
  cudaTextureDesc d = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &d, nullptr);
  if (is("destroyed"))
    cudaDestroyTextureObject(t);
  if (is("gather"))
    gather<<<1, 1>>>(t, (float4 *)o);
  // LAYERS: error: this checker has no arrays with layers, cube maps or surfaces
  // LAYERS-NOT: in kernel
  cudaArray_t a;
  if (is("layers"))
    return cudaMalloc3DArray(&a, &r.res.linear.desc, make_cudaExtent(4, 4, 2), cudaArrayLayered);
  fetch<<<1, 5>>>(t, o, is("index") ? index : nullptr);
  return cudaDeviceSynchronize();
}
