// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX: texture fetches, which is what clang's header makes of tex2D and
// its relatives.

#include "Ptx.h"

namespace rcache::check {

static bool listOf(StringRef S, SmallVectorImpl<StringRef> &Out) {
  S = S.trim();
  if (!S.consume_front("{") || !S.consume_back("}"))
    return false;
  S.split(Out, ',');
  return true;
}

/// tex[.level].geom.v4.dtype.ctype {r, g, b, a}, [texture, {coordinates}][,
/// lod] There are no mipmaps: the level makes no difference.
bool PtxTranslator::texture(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  const bool Level = Op.size() > 1 && Op[1] == "level";
  if (Op.size() != (Level ? 6u : 5u) || Args.size() != (Level ? 3u : 2u))
    return false;
  Op = Op.take_back(4);
  const unsigned Dims = StringSwitch<unsigned>(Op[0])
                            .Case("1d", 1)
                            .Case("2d", 2)
                            .Case("3d", 3)
                            .Default(0);
  const bool Integers = Op[3] == "s32";
  SmallVector<StringRef, 4> Out, At;
  StringRef Source = Args[1];
  if (!Dims || Op[1] != "v4" || (!Integers && Op[3] != "f32") ||
      !is_contained({"f32", "s32", "u32"}, Op[2]) || !listOf(Args[0], Out) ||
      Out.size() != 4 || !Source.consume_front("[") ||
      !Source.consume_back("]"))
    return false;
  auto [Object, Coords] = Source.split(',');
  Type *I32 = B.getInt32Ty();
  if (!listOf(Coords, At) || At.size() < Dims)
    return false;
  Value *Texture = read(Object, B.getInt64Ty());
  SmallVector<Value *, 3> Where(3, B.getInt32(0));
  for (unsigned D = 0; D < Dims; ++D)
    if (!(Where[D] = read(At[D], I32)))
      return false;
  if (!Texture)
    return false;
  IRBuilder<> Entry(&*Call.getFunction()->getEntryBlock().begin());
  Type *Four = ArrayType::get(I32, 4);
  Value *Result = Entry.CreateAlloca(Four);
  R.call(B, "rcc_texture", B.getVoidTy(),
         {R.context(*Call.getFunction()), B.getInt32(Site), Texture,
          B.getInt32(Dims), B.getInt32(Integers), Where[0], Where[1], Where[2],
          Result});
  for (unsigned N = 0; N < 4; ++N)
    if (!write(Out[N], B.CreateLoad(I32, B.CreateConstInBoundsGEP2_32(
                                             Four, Result, 0, N))))
      return false;
  return true;
}

} // namespace rcache::check
