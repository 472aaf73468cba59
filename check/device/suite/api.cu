// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime API: results, error codes, copies in all shapes, symbols, kinds
// of memory, streams and events.
#include "suite.h"

static void number(const std::string &name, long long v) { suite::put(name, "exact", &v, 1, 8); }
static void text(const std::string &name, const char *s) { suite::put(name, "exact", s, strlen(s), 1); }

__constant__ float weights[8] = {1, 2, 3, 4};
__device__ int counters[4] = {5, 6, 7, 8};
__device__ int deviceOnly;
__managed__ int shared[4] = {1, 2, 3, 4};
extern __shared__ int dynamic[];

__global__ void useConstants(float *o) { o[threadIdx.x] = weights[threadIdx.x] * 2; }
__global__ void count(int by) { atomicAdd(&counters[threadIdx.x], by); }
__global__ void useManaged(int *p, int *q) {
  p[threadIdx.x] += 10;
  q[threadIdx.x] = p[threadIdx.x] * 2;
  shared[threadIdx.x] += threadIdx.x;
}
__global__ void useDynamic(int *o, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    dynamic[i] = i * i;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    o[i] = dynamic[n - 1 - i];
}
struct Big {
  char c;
  double d[3];
  short s;
  float4 f;
};
__global__ void useStruct(Big b, float *o, int8_t tiny, bool flag, float3 v) {
  o[0] = b.c, o[1] = b.d[2], o[2] = b.s, o[3] = b.f.w, o[4] = tiny, o[5] = flag, o[6] = v.z;
}
__global__ void __launch_bounds__(128) bounded(int *o) { o[threadIdx.x] = 1; }

struct Shape {
  __device__ virtual float area() const { return 1; }
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float a;
  __device__ explicit Square(float a) : a(a) {}
  __device__ float area() const override { return a * a; }
};
__device__ float twice(float x) { return 2 * x; }
__device__ float thrice(float x) { return 3 * x; }
typedef float (*Function)(float);
__device__ Function table[2] = {twice, thrice};
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void calls(float *o) {
  Square s(3);
  Shape plain, *p = threadIdx.x & 1 ? &s : &plain;
  o[threadIdx.x] = p->area() + table[threadIdx.x / 2 % 2](10) + fibonacci(threadIdx.x);
  int *heap = new int[4];
  heap[threadIdx.x & 3] = threadIdx.x;
  o[threadIdx.x] += heap[threadIdx.x & 3];
  delete[] heap;
}

static suite::Case symbols("symbols", [] {
  suite::Array<float> o(8);
  useConstants<<<1, 8>>>(o);
  suite::take("constants_initial", o.P, 8);
  float w[8] = {8, 7, 6, 5, 4, 3, 2, 1};
  cudaMemcpyToSymbol(weights, w, 16, 16);
  useConstants<<<1, 8>>>(o);
  suite::take("constants_set", o.P, 8);
  count<<<3, 4>>>(2);
  int c[4];
  cudaMemcpyFromSymbol(c, counters, sizeof(c));
  suite::put("counters", "exact", c, 4, 4);
  void *at = nullptr;
  size_t size = 0;
  number("symbol_address", cudaGetSymbolAddress(&at, counters));
  number("symbol_size_error", cudaGetSymbolSize(&size, counters));
  number("symbol_size", size);
  cudaMemcpy((int *)at + 1, w, 4, cudaMemcpyHostToDevice);
  cudaMemcpyFromSymbol(c, counters, 4, 4);
  suite::put("counters_through_address", "exact", c, 1, 4);
});

static suite::Case memory("memory", [] {
  int *m;
  cudaMallocManaged(&m, 16);
  for (int i = 0; i < 4; ++i)
    m[i] = i;
  suite::Array<int> q(4);
  useManaged<<<1, 4>>>(m, q);
  cudaDeviceSynchronize();
  suite::put("managed", "exact", m, 4, 4);
  suite::take("managed_read", q.P, 4);
  suite::put("managed_variable", "exact", shared, 4, 4);
  cudaFree(m);
  // Rows of 10 ints in a pitched buffer, there and back with an offset.
  char *p;
  size_t pitch;
  cudaMallocPitch(&p, &pitch, 40, 6);
  int h[60], back[60] = {};
  for (int i = 0; i < 60; ++i)
    h[i] = i;
  number("pitch", pitch);
  number("copy_2d", cudaMemcpy2D(p, pitch, h, 40, 40, 6, cudaMemcpyHostToDevice));
  cudaMemset2D(p + 8, pitch, 0x11, 8, 3);
  cudaMemcpy2D(back, 40, p, pitch, 40, 6, cudaMemcpyDeviceToHost);
  suite::put("pitched", "exact", back, 60, 4);
  number("copy_2d_bad_pitch", cudaMemcpy2D(p, 10, h, 40, 40, 6, cudaMemcpyHostToDevice));
  cudaGetLastError();
  cudaFree(p);
  cudaPitchedPtr vol;
  cudaMalloc3D(&vol, make_cudaExtent(20, 3, 2));
  cudaMemset3D(vol, 7, make_cudaExtent(20, 3, 2));
  cudaMemcpy3DParms parms = {};
  parms.srcPtr = make_cudaPitchedPtr(h, 20, 20, 3);
  parms.dstPtr = vol;
  parms.extent = make_cudaExtent(20, 2, 1);
  parms.dstPos = make_cudaPos(0, 1, 1);
  parms.kind = cudaMemcpyHostToDevice;
  number("copy_3d", cudaMemcpy3D(&parms));
  memset(back, 0, sizeof(back));
  cudaMemcpy2D(back, 20, vol.ptr, vol.pitch, 20, 6, cudaMemcpyDeviceToHost);
  suite::put("volume", "exact", back, 30, 4);
  cudaFree(vol.ptr);
  void *null = &h;
  number("malloc_0", cudaMalloc(&null, 0));
  number("malloc_0_null", null == nullptr);
  number("free_null", cudaFree(nullptr));
  cudaPointerAttributes a;
  number("attributes_host", cudaPointerGetAttributes(&a, h));
  number("attributes_host_type", a.type);
  number("attributes_device", cudaPointerGetAttributes(&a, q.P));
  number("attributes_device_type", a.type);
  int *pinned;
  cudaMallocHost(&pinned, 16);
  number("attributes_pinned", cudaPointerGetAttributes(&a, pinned));
  number("attributes_pinned_type", a.type);
  useManaged<<<1, 4>>>(pinned, q);
  number("pinned_launch", cudaDeviceSynchronize());
  cudaFreeHost(pinned);
});

static suite::Case launches("launches", [] {
  suite::Array<float> o(16);
  Big b = {};
  b.c = 'x', b.d[2] = 2.5, b.s = -3, b.f.w = 9;
  useStruct<<<1, 1>>>(b, o, -7, true, make_float3(1, 2, 3));
  suite::take("struct_argument", o.P, 7);
  calls<<<1, 16>>>(o);
  suite::take("calls", o.P, 16);
  suite::Array<int> d(1 << 14);
  useDynamic<<<1, 64, 1000 * 4>>>(d, 1000);
  suite::take("dynamic_shared", d.P, 1000);
  useDynamic<<<1, 64, 50 << 10>>>(d, 64);
  number("dynamic_too_large", cudaGetLastError());
  number("dynamic_attribute",
         cudaFuncSetAttribute(useDynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10));
  useDynamic<<<1, 64, 60 << 10>>>(d, 12000);
  suite::take("dynamic_large", d.P, 12000);
  number("attribute_too_large",
         cudaFuncSetAttribute(useDynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  cudaGetLastError();
  bounded<<<1, 129>>>(d);
  number("beyond_launch_bounds", cudaGetLastError());
  bounded<<<1, 2048>>>(d);
  number("block_too_large", cudaGetLastError());
  bounded<<<0, 32>>>(d);
  number("empty_grid", cudaPeekAtLastError());
  number("peek_keeps", cudaGetLastError());
  number("get_clears", cudaGetLastError());
  bounded<<<dim3(1, 65536), 32>>>(d);
  number("grid_y_too_large", cudaGetLastError());
  bounded<<<1, dim3(1, 1, 65)>>>(d);
  number("block_z_too_large", cudaGetLastError());
  cudaFuncAttributes f;
  number("function_attributes", cudaFuncGetAttributes(&f, bounded));
  number("max_threads", f.maxThreadsPerBlock);
  number("max_dynamic", f.maxDynamicSharedSizeBytes);
  for (int e : {0, 1, 2, 9, 13, 17, 98, 101, 400, 600, 700, 719, 801})
    text("error_" + std::to_string(e), cudaGetErrorName((cudaError_t)e)),
        text("error_text_" + std::to_string(e), cudaGetErrorString((cudaError_t)e));
});

static suite::Case device("device", [] {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  number("warp_size", p.warpSize);
  number("threads_per_block", p.maxThreadsPerBlock);
  number("threads_per_sm", p.maxThreadsPerMultiProcessor);
  number("shared_per_block", p.sharedMemPerBlock);
  number("shared_per_block_optin", p.sharedMemPerBlockOptin);
  number("shared_per_sm", p.sharedMemPerMultiprocessor);
  number("registers_per_block", p.regsPerBlock);
  number("constant_memory", p.totalConstMem);
  number("major", p.major);
  number("grid_x", p.maxGridSize[0]);
  number("block_z", p.maxThreadsDim[2]);
  int v;
  for (int a : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 31, 39, 41, 75, 76, 81, 82, 83, 95, 97, 106}) {
    cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0);
    number("attribute_" + std::to_string(a), v);
  }
  number("bad_device", cudaSetDevice(1000));
  cudaGetLastError();
  int blocks = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0);
  number("occupancy_128", blocks);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 40 << 10);
  number("occupancy_shared", blocks);
});

__global__ void spin(int *p, int v) {
  for (int i = 0; i < 100; ++i)
    __nanosleep(10);
  p[threadIdx.x] = p[threadIdx.x] * 2 + v;
}
static suite::Case streams("streams", [] {
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t e, f;
  cudaEventCreate(&e);
  cudaEventCreateWithFlags(&f, cudaEventDisableTiming);
  suite::Array<int> d(32);
  spin<<<1, 32, 0, a>>>(d, 1);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  spin<<<1, 32, 0, b>>>(d, 5);
  cudaEventRecord(f, b);
  number("event_synchronize", cudaEventSynchronize(f));
  number("event_query", cudaEventQuery(f));
  number("stream_query", cudaStreamQuery(b));
  suite::take("ordered_by_event", d.P, 32);
  float ms = -1;
  cudaEventRecord(e);
  cudaEventSynchronize(e);
  number("elapsed_without_timing", cudaEventElapsedTime(&ms, f, e));
  cudaGetLastError();
  int *async;
  number("malloc_async", cudaMallocAsync(&async, 128, a));
  cudaMemsetAsync(async, 1, 128, a);
  spin<<<1, 32, 0, a>>>(async, 3);
  int h[32];
  cudaMemcpyAsync(h, async, 128, cudaMemcpyDeviceToHost, a);
  cudaFreeAsync(async, a);
  cudaStreamSynchronize(a);
  suite::put("async", "exact", h, 32, 4);
  int called = 0;
  cudaLaunchHostFunc(a, [](void *p) { *(int *)p = 42; }, &called);
  cudaStreamSynchronize(a);
  number("host_function", called);
  // A graph from capture, run three times.
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaMemset(d, 0, 128);
  number("capture", cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
  spin<<<1, 32, 0, a>>>(d, 1);
  cudaMemcpyAsync(d.P + 16, d.P, 8, cudaMemcpyDeviceToDevice, a);
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(a, &status);
  number("capturing", status);
  number("end_capture", cudaStreamEndCapture(a, &graph));
  number("instantiate", cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i)
    number("graph_launch_" + std::to_string(i), cudaGraphLaunch(exec, a));
  cudaStreamSynchronize(a);
  suite::take("graph", d.P, 32);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaEventDestroy(e);
  cudaEventDestroy(f);
});

int main(int argc, char **argv) { return suite::main(argc, argv); }
