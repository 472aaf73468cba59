// REQUIRES: cuda-toolkit
// RUN: %check run %s | FileCheck %s
// Texture objects, as "Texture fetching" in the programming guide defines them.
#include <cstdio>
#include <cstring>

template <class T> __global__ void fetch(cudaTextureObject_t t, T *o, int from) {
  o[threadIdx.x] = tex1Dfetch<T>(t, from + int(threadIdx.x));
}
template <class T> __global__ void line(cudaTextureObject_t t, T *o, float from, float step) {
  o[threadIdx.x] = tex1D<T>(t, from + step * threadIdx.x);
}
template <class T>
__global__ void plane(cudaTextureObject_t t, T *o, float x0, float dx, float y0, float dy) {
  int i = threadIdx.x + threadIdx.y * blockDim.x;
  o[i] = tex2D<T>(t, x0 + dx * threadIdx.x, y0 + dy * threadIdx.y);
}
__global__ void box(cudaTextureObject_t t, float *o) {
  o[threadIdx.x] = tex3D<float>(t, threadIdx.x % 2 + 0.5f, threadIdx.x / 2 % 2 + 0.5f, threadIdx.x / 4 + 0.5f);
}

cudaResourceDesc resource(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}
template <class T> cudaResourceDesc resource(T *p, size_t n) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = p;
  r.res.linear.desc = cudaCreateChannelDesc<T>();
  r.res.linear.sizeInBytes = n * sizeof(T);
  return r;
}
cudaTextureObject_t make(cudaResourceDesc r, cudaTextureAddressMode mode, bool normalized = false,
                         cudaTextureFilterMode filter = cudaFilterModePoint,
                         cudaTextureReadMode read = cudaReadModeElementType, float border = 0) {
  cudaTextureDesc d = {};
  for (auto &m : d.addressMode)
    m = mode;
  d.filterMode = filter;
  d.readMode = read;
  d.normalizedCoords = normalized;
  for (float &b : d.borderColor)
    b = border;
  cudaTextureObject_t t = 0;
  if (auto e = cudaCreateTextureObject(&t, &r, &d, nullptr))
    printf("%s\n", cudaGetErrorName(e));
  return t;
}
float *o;
void show(const char *name, int n) {
  float h[64];
  cudaMemcpy(h, o, n * 4, cudaMemcpyDeviceToHost);
  printf("%s:", name);
  for (int i = 0; i < n; ++i)
    printf(" %g", h[i]);
  printf("\n");
}

int main() {
  cudaMalloc(&o, 256);
  float ten[] = {10, 20, 30, 40}, *p;
  cudaMalloc(&p, 16);
  cudaMemcpy(p, ten, 16, cudaMemcpyHostToDevice);
  auto linear = make(resource(p, 4), cudaAddressModeClamp);
  fetch<float><<<1, 6>>>(linear, o, -1);
  show("linear", 6);
  // CHECK: linear: 0 10 20 30 40 0

  signed char bytes[] = {-128, -127, 0, 127};
  signed char *q;
  cudaMalloc(&q, 4);
  cudaMemcpy(q, bytes, 4, cudaMemcpyHostToDevice);
  fetch<signed char><<<1, 4>>>(make(resource(q, 4), cudaAddressModeClamp), (signed char *)o, 0);
  cudaMemcpy(bytes, o, 4, cudaMemcpyDeviceToHost);
  printf("bytes: %d %d %d %d\n", bytes[0], bytes[1], bytes[2], bytes[3]);
  // CHECK: bytes: -128 -127 0 127
  fetch<float><<<1, 4>>>(make(resource(q, 4), cudaAddressModeClamp, false, cudaFilterModePoint,
                              cudaReadModeNormalizedFloat), o, 0);
  show("normalized", 4);
  // CHECK: normalized: -1 -1 0 1
  auto quads = make(resource((uchar4 *)q, 1), cudaAddressModeClamp, false, cudaFilterModePoint,
                    cudaReadModeNormalizedFloat);
  fetch<float4><<<1, 1>>>(quads, (float4 *)o, 0);
  show("quads", 4);
  // CHECK: quads: 0.501961 0.505882 0 0.498039

  cudaArray_t a;
  auto format = cudaCreateChannelDesc<float>();
  cudaMallocArray(&a, &format, 4);
  cudaMemcpy2DToArray(a, 0, 0, ten, 16, 16, 1, cudaMemcpyHostToDevice);
  auto test = [&](const char *name, cudaTextureObject_t t, float from, float step, int n) {
    line<float><<<1, n>>>(t, o, from, step);
    show(name, n);
    cudaDestroyTextureObject(t);
  };
  test("clamp", make(resource(a), cudaAddressModeClamp), -1, 0.5f, 12);
  // CHECK: clamp: 10 10 10 10 20 20 30 30 40 40 40 40
  test("border", make(resource(a), cudaAddressModeBorder, false, cudaFilterModePoint, cudaReadModeElementType, 7),
       -1, 0.5f, 12);
  // CHECK: border: 7 7 10 10 20 20 30 30 40 40 7 7
  test("wrap", make(resource(a), cudaAddressModeWrap, true), -1.125f, 0.25f, 10);
  // CHECK: wrap: 40 10 20 30 40 10 20 30 40 10
  test("mirror", make(resource(a), cudaAddressModeMirror, true), -1.125f, 0.25f, 14);
  // CHECK: mirror: 40 40 30 20 10 10 20 30 40 40 30 20 10 10
  test("wrap of elements", make(resource(a), cudaAddressModeWrap), -1, 1, 6);
  // CHECK: wrap of elements: 10 10 20 30 40 40
  test("blend", make(resource(a), cudaAddressModeClamp, false, cudaFilterModeLinear), 0, 0.25f, 10);
  // CHECK: blend: 10 10 10 12.5 15 17.5 20 22.5 25 27.5
  // Half of 1/256 and less is rounded to a fraction of 8 bits.
  test("fraction", make(resource(a), cudaAddressModeClamp, false, cudaFilterModeLinear), 0.5f, 1.f / 1024, 4);
  // CHECK: fraction: 10 10 10.0391 10.0391
  test("blend with border", make(resource(a), cudaAddressModeBorder, false, cudaFilterModeLinear), -0.5f, 0.5f, 3);
  // CHECK: blend with border: 0 5 10

  // 5 x 3 in pitched memory and in an array.
  float image[15], *pitched;
  for (int i = 0; i < 15; ++i)
    image[i] = i;
  size_t pitch;
  cudaMallocPitch(&pitched, &pitch, 20, 3);
  cudaMemcpy2D(pitched, pitch, image, 20, 20, 3, cudaMemcpyHostToDevice);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypePitch2D;
  r.res.pitch2D.devPtr = pitched;
  r.res.pitch2D.desc = format;
  r.res.pitch2D.width = 5;
  r.res.pitch2D.height = 3;
  r.res.pitch2D.pitchInBytes = pitch;
  plane<float><<<1, dim3(4, 3)>>>(make(r, cudaAddressModeClamp), o, -0.5f, 2, 0.5f, 1.5f);
  show("pitched", 12);
  // CHECK: pitched: 0 1 3 4 10 11 13 14 10 11 13 14
  cudaArray_t b;
  cudaMallocArray(&b, &format, 5, 3);
  cudaMemcpyToArray(b, 0, 0, image, 60, cudaMemcpyHostToDevice);
  plane<float><<<1, dim3(3, 3)>>>(make(resource(b), cudaAddressModeWrap, true, cudaFilterModeLinear), o, 0.1f, 0.5f, 0.25f,
                                  0.25f);
  show("blend wrapped", 9);
  // CHECK: blend wrapped: 1.25 3.75 1.25 5 7.5 5 8.75 11.25 8.75
  float back[4];
  cudaMemcpy2DFromArray(back, 8, b, 4, 1, 8, 2, cudaMemcpyDeviceToHost);
  printf("window: %g %g %g %g\n", back[0], back[1], back[2], back[3]);
  // CHECK: window: 6 7 11 12

  // 2 x 2 x 2, from a volume of 3 x 2 x 2.
  cudaArray_t c;
  cudaMalloc3DArray(&c, &format, make_cudaExtent(2, 2, 2));
  cudaMemcpy3DParms m = {};
  m.srcPtr = make_cudaPitchedPtr(image, 12, 3, 2);
  m.srcPos = make_cudaPos(4, 0, 0);
  m.dstArray = c;
  m.extent = make_cudaExtent(2, 2, 2);
  m.kind = cudaMemcpyHostToDevice;
  printf("copy: %d\n", cudaMemcpy3D(&m));
  // CHECK: copy: 0
  auto boxed = make(resource(c), cudaAddressModeClamp);
  box<<<1, 8>>>(boxed, o);
  show("box", 8);
  // CHECK: box: 1 2 4 5 7 8 10 11

  cudaChannelFormatDesc f;
  cudaExtent e;
  cudaArrayGetInfo(&f, &e, nullptr, b);
  printf("info: %d %d %zu %zu %zu\n", f.x, f.f, e.width, e.height, e.depth);
  // CHECK: info: 32 2 5 3 0
  printf("outside: %s\n", cudaGetErrorName(cudaMemcpy2DToArray(b, 8, 0, image, 20, 20, 3, cudaMemcpyHostToDevice)));
  // CHECK: outside: cudaErrorInvalidValue
  auto bad = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned);
  printf("three: %s\n", cudaGetErrorName(cudaMallocArray(&c, &bad, 4)));
  // CHECK: three: cudaErrorInvalidChannelDescriptor
  make(resource(q, 4), cudaAddressModeClamp, false, cudaFilterModeLinear);
  printf("end %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  // CHECK-NEXT: end cudaSuccess
}
