// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc accepts and clang does not:
//   - unqualified min and max in host code: the toolkit's headers declare them
//     for both sides, clang's wrappers for the device only;
//   - runtime calls and texture references that newer toolkits removed: with
//     them gone, the trees of kernels and launches would still be intact, so a
//     declaration is all it takes;
//   - loads and stores with a cache policy of which clang's headers have not all;
//   - managed variables, which are device memory here.

#include "Driver/CompatHeader.h"

namespace rcache {

const char *const CompatHeaderPath = "/rcache-builtin/nvcc_compat.h";

const char *const CompatHeaderText = R"cuda(
#pragma clang system_header
#ifndef RCACHE_NVCC_COMPAT_H
#define RCACHE_NVCC_COMPAT_H
#if defined(__CUDA__) && defined(CUDART_VERSION)

#define RCACHE_MINMAX(R, A, B)                                                 \
  static inline __host__ R min(A a, B b) { return (R)a < (R)b ? (R)a : (R)b; } \
  static inline __host__ R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
RCACHE_MINMAX(int, int, int)
RCACHE_MINMAX(unsigned, unsigned, unsigned)
RCACHE_MINMAX(unsigned, int, unsigned)
RCACHE_MINMAX(unsigned, unsigned, int)
RCACHE_MINMAX(long, long, long)
RCACHE_MINMAX(unsigned long, unsigned long, unsigned long)
RCACHE_MINMAX(unsigned long, long, unsigned long)
RCACHE_MINMAX(unsigned long, unsigned long, long)
RCACHE_MINMAX(long long, long long, long long)
RCACHE_MINMAX(unsigned long long, unsigned long long, unsigned long long)
RCACHE_MINMAX(unsigned long long, long long, unsigned long long)
RCACHE_MINMAX(unsigned long long, unsigned long long, long long)
RCACHE_MINMAX(float, float, float)
RCACHE_MINMAX(double, double, double)
RCACHE_MINMAX(double, float, double)
RCACHE_MINMAX(double, double, float)
#undef RCACHE_MINMAX

#undef __managed__
#define __managed__ __attribute__((device))

template <class T> static inline __device__ T __ldca(const T *p) { return *p; }
template <class T> static inline __device__ T __ldlu(const T *p) { return *p; }
template <class T> struct rcache_same { typedef T type; };
template <class T> static inline __device__ void __stwb(T *p, typename rcache_same<T>::type v) { *p = v; }
template <class T> static inline __device__ void __stcg(T *p, typename rcache_same<T>::type v) { *p = v; }
template <class T> static inline __device__ void __stcs(T *p, typename rcache_same<T>::type v) { *p = v; }

#if CUDART_VERSION >= 13000
static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit l, size_t v) { return cudaDeviceSetLimit(l, v); }
static inline cudaError_t cudaThreadGetLimit(size_t *v, cudaLimit l) { return cudaDeviceGetLimit(v, l); }
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache c) { return cudaDeviceSetCacheConfig(c); }
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *c) { return cudaDeviceGetCacheConfig(c); }
#endif

#if CUDART_VERSION >= 12000
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
template <class T, int Dim = 1, enum cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture {
  int normalized;
  enum cudaTextureFilterMode filterMode;
  enum cudaTextureAddressMode addressMode[3];
  struct cudaChannelFormatDesc channelDesc;
  texture(int norm = 0, enum cudaTextureFilterMode f = cudaFilterModePoint,
          enum cudaTextureAddressMode a = cudaAddressModeClamp);
  texture(int norm, enum cudaTextureFilterMode f, enum cudaTextureAddressMode a,
          struct cudaChannelFormatDesc d);
};
template <class T, enum cudaTextureReadMode M> struct rcache_texel { typedef T type; };
template <> struct rcache_texel<unsigned char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct rcache_texel<signed char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct rcache_texel<char, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct rcache_texel<unsigned short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct rcache_texel<short, cudaReadModeNormalizedFloat> { typedef float type; };
template <> struct rcache_texel<uchar4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct rcache_texel<char4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct rcache_texel<ushort4, cudaReadModeNormalizedFloat> { typedef float4 type; };
template <> struct rcache_texel<uchar2, cudaReadModeNormalizedFloat> { typedef float2 type; };
template <> struct rcache_texel<ushort2, cudaReadModeNormalizedFloat> { typedef float2 type; };
#define RCACHE_TEX template <class T, int D, enum cudaTextureReadMode M> __device__ typename rcache_texel<T, M>::type
RCACHE_TEX tex1Dfetch(const texture<T, D, M> &, int);
RCACHE_TEX tex1D(const texture<T, D, M> &, float);
RCACHE_TEX tex2D(const texture<T, D, M> &, float, float);
RCACHE_TEX tex3D(const texture<T, D, M> &, float, float, float);
RCACHE_TEX tex1DLayered(const texture<T, D, M> &, float, int);
RCACHE_TEX tex2DLayered(const texture<T, D, M> &, float, float, int);
RCACHE_TEX tex1DLod(const texture<T, D, M> &, float, float);
RCACHE_TEX tex2DLod(const texture<T, D, M> &, float, float, float);
#undef RCACHE_TEX
#define RCACHE_BIND template <class T, int D, enum cudaTextureReadMode M> static inline __host__ cudaError_t
RCACHE_BIND cudaBindTexture(size_t *, const texture<T, D, M> &, const void *, size_t = 0xffffffffu) { return cudaSuccess; }
RCACHE_BIND cudaBindTexture(size_t *, const texture<T, D, M> &, const void *, const struct cudaChannelFormatDesc &, size_t = 0xffffffffu) { return cudaSuccess; }
RCACHE_BIND cudaBindTexture2D(size_t *, const texture<T, D, M> &, const void *, size_t, size_t, size_t) { return cudaSuccess; }
RCACHE_BIND cudaBindTexture2D(size_t *, const texture<T, D, M> &, const void *, const struct cudaChannelFormatDesc &, size_t, size_t, size_t) { return cudaSuccess; }
RCACHE_BIND cudaBindTextureToArray(const texture<T, D, M> &, cudaArray_const_t) { return cudaSuccess; }
RCACHE_BIND cudaBindTextureToArray(const texture<T, D, M> &, cudaArray_const_t, const struct cudaChannelFormatDesc &) { return cudaSuccess; }
RCACHE_BIND cudaUnbindTexture(const texture<T, D, M> &) { return cudaSuccess; }
RCACHE_BIND cudaGetTextureAlignmentOffset(size_t *, const texture<T, D, M> &) { return cudaSuccess; }
#undef RCACHE_BIND
#endif

#endif
#endif
)cuda";

const char *const CompatFolder = "/rcache-builtin";

const char *const CompatOmpText = R"cuda(
#ifndef RCACHE_OMP_H
#define RCACHE_OMP_H
#pragma clang system_header
#ifdef __cplusplus
extern "C" {
#endif
typedef struct omp_lock_t { void *p[2]; } omp_lock_t;
typedef struct omp_nest_lock_t { void *p[4]; } omp_nest_lock_t;
typedef enum omp_sched_t {
  omp_sched_static = 1, omp_sched_dynamic = 2, omp_sched_guided = 3, omp_sched_auto = 4
} omp_sched_t;
typedef enum omp_proc_bind_t {
  omp_proc_bind_false = 0, omp_proc_bind_true = 1, omp_proc_bind_master = 2,
  omp_proc_bind_close = 3, omp_proc_bind_spread = 4
} omp_proc_bind_t;
void omp_set_num_threads(int);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
int omp_in_parallel(void);
void omp_set_dynamic(int);
int omp_get_dynamic(void);
void omp_set_nested(int);
int omp_get_nested(void);
void omp_set_schedule(omp_sched_t, int);
void omp_get_schedule(omp_sched_t *, int *);
int omp_get_thread_limit(void);
void omp_set_max_active_levels(int);
int omp_get_max_active_levels(void);
int omp_get_level(void);
int omp_get_ancestor_thread_num(int);
int omp_get_team_size(int);
int omp_get_active_level(void);
int omp_in_final(void);
int omp_get_cancellation(void);
omp_proc_bind_t omp_get_proc_bind(void);
void omp_set_default_device(int);
int omp_get_default_device(void);
int omp_get_num_devices(void);
int omp_get_num_teams(void);
int omp_get_team_num(void);
int omp_is_initial_device(void);
int omp_get_initial_device(void);
void omp_init_lock(omp_lock_t *);
void omp_destroy_lock(omp_lock_t *);
void omp_set_lock(omp_lock_t *);
void omp_unset_lock(omp_lock_t *);
int omp_test_lock(omp_lock_t *);
void omp_init_nest_lock(omp_nest_lock_t *);
void omp_destroy_nest_lock(omp_nest_lock_t *);
void omp_set_nest_lock(omp_nest_lock_t *);
void omp_unset_nest_lock(omp_nest_lock_t *);
int omp_test_nest_lock(omp_nest_lock_t *);
double omp_get_wtime(void);
double omp_get_wtick(void);
#ifdef __cplusplus
}
#endif
#endif
)cuda";

} // namespace rcache
