// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the runtime API that moves data in three dimensions and to and
// from arrays. Offsets and widths count bytes, except that in the 3-D copies
// those of an array, and the extent if an array takes part, count its elements.

#include "Api.h"
#include "Textures.h"

#include <algorithm>

namespace rcache::check {

extern "C" int cudaMalloc(void **P, size_t N);

namespace {
/// One side of a 3-D copy.
struct Place {
  char *At;
  size_t Pitch, PlanePitch;
};

/// False if \p E, in elements of the array, does not lie in it.
bool placeOf(const CudaArray *A, const PitchedPtr &P, const Pos &O,
             const Extent &E, Place &Out) {
  if (!A) {
    Out = {static_cast<char *>(P.Ptr), P.Pitch, P.Pitch * P.YSize};
    Out.At += O.Z * Out.PlanePitch + O.Y * P.Pitch + O.X;
    return P.Ptr != nullptr;
  }
  Out = {A->at(O.X, O.Y, O.Z), A->pitch(), A->pitch() * A->rows()};
  return O.X + E.Width <= A->Width && O.Y + E.Height <= A->rows() &&
         O.Z + E.Depth <= A->planes();
}

int copy3D(const Memcpy3DParms &P) {
  if (!P.Ext.Width || !P.Ext.Height || !P.Ext.Depth)
    return Success;
  const CudaArray *Any = P.SrcArray ? P.SrcArray : P.DstArray;
  const size_t Bytes = Any ? Any->Format.bytes() : 1;
  Place From, To;
  if ((P.SrcArray && P.SrcPtr.Ptr) || (P.DstArray && P.DstPtr.Ptr) ||
      (P.SrcArray && P.DstArray && P.DstArray->Format.bytes() != Bytes) ||
      !placeOf(P.SrcArray, P.SrcPtr, P.SrcPos, P.Ext, From) ||
      !placeOf(P.DstArray, P.DstPtr, P.DstPos, P.Ext, To))
    return fail(InvalidValue);
  for (size_t Z = 0; Z < P.Ext.Depth; ++Z)
    if (int E = copy2D(To.At + Z * To.PlanePitch, To.Pitch,
                       From.At + Z * From.PlanePitch, From.Pitch,
                       P.Ext.Width * Bytes, P.Ext.Height))
      return E;
  return Success;
}

/// \p Height rows of \p Width bytes at (\p X bytes, \p Y) of an array; null if
/// they do not lie in it.
char *window(const CudaArray *A, size_t X, size_t Y, size_t Width,
             size_t Height) {
  if (!A || X + Width > A->pitch() || Y + Height > A->rows())
    return nullptr;
  return A->Data + Y * A->pitch() + X;
}

int createArray(CudaArray **Out, const ChannelFormat *F, const Extent &E) {
  if (!Out || !F || !E.Width || (E.Depth && !E.Height))
    return fail(InvalidValue);
  if (!F->valid())
    return fail(InvalidChannelDescriptor);
  auto *A = new CudaArray{*F, E.Width, E.Height, E.Depth, nullptr};
  A->Data = allocate(A->pitch() * A->rows() * A->planes(), Allocation::Device);
  if (!A->Data) {
    delete A;
    return fail(OutOfMemory);
  }
  *Out = A;
  return Success;
}
} // namespace

extern "C" {
int cudaMalloc3D(PitchedPtr *P, Extent E) {
  if (!P)
    return fail(InvalidValue);
  size_t Pitch = (E.Width + 511) & ~size_t(511);
  *P = {nullptr, Pitch, E.Width, E.Height};
  return cudaMalloc(&P->Ptr, Pitch * E.Height * E.Depth);
}
int cudaMemcpy3D(const Memcpy3DParms *P) {
  return P ? copy3D(*P) : fail(InvalidValue);
}
int cudaMemcpy3DAsync(const Memcpy3DParms *P, void *Stream) {
  if (!P)
    return fail(InvalidValue);
  return inStream(Stream, [Parms = *P] { return copy3D(Parms); });
}
int cudaMemset3D(PitchedPtr P, int V, Extent E) {
  for (size_t Z = 0; Z < E.Depth; ++Z)
    for (size_t Y = 0; Y < E.Height; ++Y)
      if (int R = fill(static_cast<char *>(P.Ptr) + (Z * P.YSize + Y) * P.Pitch,
                       V, E.Width))
        return R;
  return Success;
}
int cudaMemset3DAsync(PitchedPtr P, int V, Extent E, void *Stream) {
  return inStream(Stream, [=] { return cudaMemset3D(P, V, E); });
}

ChannelFormat cudaCreateChannelDesc(int X, int Y, int Z, int W, int Kind) {
  return {{X, Y, Z, W}, Kind};
}
int cudaMallocArray(CudaArray **Out, const ChannelFormat *F, size_t Width,
                    size_t Height, unsigned Flags) {
  return Flags ? unsupported("arrays for surfaces or gathers")
               : createArray(Out, F, {Width, Height, 0});
}
int cudaMalloc3DArray(CudaArray **Out, const ChannelFormat *F, Extent E,
                      unsigned Flags) {
  return Flags ? unsupported("arrays with layers, cube maps or surfaces")
               : createArray(Out, F, E);
}
int cudaFreeArray(CudaArray *A) {
  if (A)
    release(A->Data);
  delete A;
  return Success;
}
int cudaArrayGetInfo(ChannelFormat *F, Extent *E, unsigned *Flags,
                     const CudaArray *A) {
  if (!A)
    return fail(InvalidValue);
  if (F)
    *F = A->Format;
  if (E)
    *E = {A->Width, A->Height, A->Depth};
  if (Flags)
    *Flags = 0;
  return Success;
}
int cudaGetChannelDesc(ChannelFormat *F, const CudaArray *A) {
  return F ? cudaArrayGetInfo(F, nullptr, nullptr, A) : fail(InvalidValue);
}

int cudaMemcpy2DToArray(CudaArray *A, size_t X, size_t Y, const void *S,
                        size_t Pitch, size_t W, size_t H, int) {
  char *To = window(A, X, Y, W, H);
  return To ? copy2D(To, A->pitch(), static_cast<const char *>(S), Pitch, W, H)
            : fail(InvalidValue);
}
int cudaMemcpy2DToArrayAsync(CudaArray *A, size_t X, size_t Y, const void *S,
                             size_t Pitch, size_t W, size_t H, int Kind,
                             void *Stream) {
  return inStream(Stream, [=] {
    return cudaMemcpy2DToArray(A, X, Y, S, Pitch, W, H, Kind);
  });
}
int cudaMemcpy2DFromArray(void *D, size_t Pitch, const CudaArray *A, size_t X,
                          size_t Y, size_t W, size_t H, int) {
  const char *From = window(A, X, Y, W, H);
  return From ? copy2D(static_cast<char *>(D), Pitch, From, A->pitch(), W, H)
              : fail(InvalidValue);
}
int cudaMemcpy2DFromArrayAsync(void *D, size_t Pitch, const CudaArray *A,
                               size_t X, size_t Y, size_t W, size_t H, int Kind,
                               void *Stream) {
  return inStream(Stream, [=] {
    return cudaMemcpy2DFromArray(D, Pitch, A, X, Y, W, H, Kind);
  });
}
int cudaMemcpy2DArrayToArray(CudaArray *To, size_t ToX, size_t ToY,
                             const CudaArray *From, size_t X, size_t Y,
                             size_t W, size_t H, int) {
  char *D = window(To, ToX, ToY, W, H);
  const char *S = window(From, X, Y, W, H);
  return D && S ? copy2D(D, To->pitch(), S, From->pitch(), W, H)
                : fail(InvalidValue);
}
/// \p N bytes, from one row on into the next.
int cudaMemcpyToArray(CudaArray *A, size_t X, size_t Y, const void *S, size_t N,
                      int) {
  if (!A || Y * A->pitch() + X + N > A->pitch() * A->rows())
    return fail(InvalidValue);
  return copy(A->Data + Y * A->pitch() + X, S, N);
}
int cudaMemcpyToArrayAsync(CudaArray *A, size_t X, size_t Y, const void *S,
                           size_t N, int Kind, void *Stream) {
  return inStream(Stream,
                  [=] { return cudaMemcpyToArray(A, X, Y, S, N, Kind); });
}
int cudaMemcpyFromArray(void *D, const CudaArray *A, size_t X, size_t Y,
                        size_t N, int) {
  if (!A || Y * A->pitch() + X + N > A->pitch() * A->rows())
    return fail(InvalidValue);
  return copy(D, A->Data + Y * A->pitch() + X, N);
}
} // extern "C"

#define API(NAME) {#NAME, reinterpret_cast<void *>(&NAME)}
std::vector<std::pair<std::string, void *>> volumeSymbols() {
  return {API(cudaArrayGetInfo),       API(cudaCreateChannelDesc),
          API(cudaFreeArray),          API(cudaGetChannelDesc),
          API(cudaMalloc3D),           API(cudaMalloc3DArray),
          API(cudaMallocArray),        API(cudaMemcpy2DArrayToArray),
          API(cudaMemcpy2DFromArray),  API(cudaMemcpy2DFromArrayAsync),
          API(cudaMemcpy2DToArray),    API(cudaMemcpy2DToArrayAsync),
          API(cudaMemcpy3D),           API(cudaMemcpy3DAsync),
          API(cudaMemcpyFromArray),    API(cudaMemcpyToArray),
          API(cudaMemcpyToArrayAsync), API(cudaMemset3D),
          API(cudaMemset3DAsync)};
}
#undef API

} // namespace rcache::check
