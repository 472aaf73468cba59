// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files that implement the CUDA runtime API share: error codes,
// structures as their ABI has them, copies.

#ifndef RCACHE_CHECK_RUNTIME_API_H
#define RCACHE_CHECK_RUNTIME_API_H

#include "Runtime.h"

#include <functional>

namespace rcache::check {

struct CudaArray;

enum : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidPitch = 12,
  InvalidHandle = 400,
  InvalidConfiguration = 9,
  InvalidSymbol = 13,
  InvalidDevicePointer = 17,
  InvalidChannelDescriptor = 20,
  InvalidFilterSetting = 26,
  InvalidNormSetting = 27,
  InvalidDevice = 101,
  InvalidDeviceFunction = 98,
  IllegalAddress = 700,
  LaunchTimeout = 702,
  Assert = 710,
  MisalignedAddress = 716,
  LaunchFailure = 719,
  CooperativeLaunchTooLarge = 720,
  NotSupported = 801,
};

struct PitchedPtr {
  void *Ptr;
  size_t Pitch, XSize, YSize;
};
struct Extent {
  size_t Width, Height, Depth;
};
struct Pos {
  size_t X, Y, Z;
};
struct Memcpy3DParms {
  CudaArray *SrcArray;
  Pos SrcPos;
  PitchedPtr SrcPtr;
  CudaArray *DstArray;
  Pos DstPos;
  PitchedPtr DstPtr;
  Extent Ext;
  int Kind;
};

/// Keeps an error for cudaGetLastError; returns it.
int fail(int E);
/// What the API offers and this runtime does not: a finding, and an error.
int unsupported(const char *What);
int copy(void *Dst, const void *Src, size_t N);
int fill(void *Dst, int Value, size_t N);
int copy2D(char *Dst, size_t DPitch, const char *Src, size_t SPitch,
           size_t Width, size_t Height);
/// Now, or when the graph runs that \p Stream is captured into.
int inStream(void *Stream, std::function<int()> Work);

/// Memory in two and three dimensions, arrays.
std::vector<std::pair<std::string, void *>> volumeSymbols();

} // namespace rcache::check

#endif
