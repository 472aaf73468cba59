// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose reads stay inside one block's tile (reversed, strided, rotated,
// broadcast ...), tile loops with accumulators, several elements a thread; and
// kernels outside the class: trees, scans, atomics, data-dependent indices.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

std::string params(const KernelText &K) {
  std::string T;
  for (const Param &P : K.Params)
    T += (T.empty() ? "" : ", ") + P.decl();
  return T;
}

/// One to one staging; reads anywhere in the block.
KernelText permutation(Choices &C, const std::string &Name) {
  KernelText K;
  K.Name = Name;
  SizeForm S = sizeForm(C, Name, true);
  const ElemType &E = elemType(C.pick("type", 9));
  bool Restrict = C.chance("restrict", 60);
  std::string B = S.Bd;
  bool Dynamic = S.Kind == SizeForm::Dynamic;
  std::string A = Dynamic ? "tile_" + Name : "tile";
  // Elements a thread stages: 1, or 2 (neighbours, or a block apart).
  unsigned Per = C.weighted("elements", {70, 15, 15});
  std::string Size = S.Const + (Per ? " * 2" : "");
  std::string Total = B + (Per ? " * 2" : "");
  bool Padded = C.chance("padded", 30);
  std::string Body;
  Body +=
      Dynamic
          ? "extern __shared__ " + std::string(E.Name) + " " + A + "[];\n"
          : "__shared__ " + std::string(E.Name) + " " + A + "[" + Size + "];\n";
  if (Dynamic)
    K.SharedBytes = "bx * " + num(Per ? 2 : 1) + " * sizeof(" + E.Name + ")";
  Body += "int t = threadIdx.x;\nint g = blockIdx.x * " + B + " + t;\n";
  auto Stage = [&](const std::string &El, const std::string &X) {
    if (Padded)
      return A + "[" + El + "] = in[" + X + "];\n";
    return A + "[" + El + "] = " + X + " < n ? in[" + X + "] : (" + E.Name +
           ")0;\n";
  };
  std::string First = "blockIdx.x * " + Total;
  std::string Before;
  switch (Per) {
  case 1:
    Body += "int base = " + First + ";\n" + Stage("2 * t", "base + 2 * t") +
            Stage("2 * t + 1", "base + 2 * t + 1");
    break;
  case 2:
    Body += "int base = " + First + ";\n" + Stage("t", "base + t") +
            Stage("t + " + B, "base + t + " + B);
    break;
  default:
    if (C.chance("stageReversed", 25))
      Body += "int base = " + First + ";\n" + Stage(B + " - 1 - t", "base + t");
    else
      Body += Stage("t", "g");
    break;
  }
  Body += "__syncthreads();\n";
  std::string Acc = E.Acc, Value, Guard = "g < n";
  auto At = [&](const std::string &I) { return A + "[" + I + "]"; };
  unsigned D = 1 + C.pick("distance", 4);
  switch (C.pick("shape", Per ? 7 : 12)) {
  case 0: // reversed
    Value = At(Total + " - 1 - t");
    break;
  case 1: // broadcast of one element
    Value = At("t") + " + " + At("0");
    break;
  case 2: // of the last one
    Value = At("t") + " - " + At(Total + " - 1");
    break;
  case 3: // half speed
    Value = At("t / 2") + " + " + At("t");
    break;
  case 4: // the group's first
    Value = At("t - t % 4") + " + " + At("(t & ~3) + 3");
    Guard += " && (t | 3) < " + Total;
    break;
  case 5: // with a guard at the borders of the tile
    Guard += " && t >= " + num(D) + " && t + " + num(D) + " < " + B;
    Value = At("t - " + num(D)) + " + " + At("t + " + num(D)) + " * 3";
    break;
  case 6: // stride
    if (Per)
      Value = At("2 * t") + " + " + At("2 * t + 1");
    else {
      Guard += " && 2 * t + 1 < " + B;
      Value = At("2 * t") + " - " + At("2 * t + 1");
    }
    break;
  case 7: // rotated
    Value = At("(t + " + num(D) + ") % " + B);
    break;
  case 8: // neighbour in a pair
    Guard += " && (t ^ 1) < " + B;
    Value = At("t ^ 1");
    break;
  case 9: // conditional distance
    Value = At("t > 0 ? t - 1 : t") + " + " + At("t");
    break;
  case 10: // broadcast over a loop
    Before = Acc +
             " sum = 0;\nfor (int j = 0; j < 8; ++j)\n  sum += " + At("j") +
             ";\n";
    Guard += " && " + B + " >= 8";
    Value = "sum + " + At("t");
    break;
  case 11: // wraps at the start
    Value = At("t == 0 ? " + B + " - 1 : t - 1");
    break;
  }
  std::string Result =
      C.chance("useInOneLine", 60)
          ? "out[g] = " + Value + ";\n"
          : "const " + Acc + " v = " + Value + ";\nout[g] = v;\n";
  Body += "if (" + Guard + ") {\n" + Before + Result + "}\n";
  std::string Count = Padded ? "(((n + bx - 1) / bx + 1) * bx" +
                                   std::string(Per ? " * 2)" : ")")
                             : "n";
  K.Params = {{Param::In, E.Name, "in", Count, "", true, Restrict},
              {Param::Out, Acc, "out", "n", "", false, Restrict},
              {Param::Scalar, "int", "n", "", "n"}};
  if (!Restrict && Acc == E.Name && !Per && !Padded) {
    K.AliasOf = "in";
    K.Aliased = "out";
  }
  K.Device = S.Before + S.Head + "__global__ void " + S.Bounds + Name + "(" +
             params(K) + ") {\n" + Body + "}\n";
  K.TemplateArgs = S.Args;
  K.Launches = lineLaunches(C, S, 8, !K.Aliased.empty());
  return K;
}

/// Every thread reads the whole tile, one tile after the other.
KernelText broadcastTiles(Choices &C, const std::string &Name) {
  KernelText K;
  K.Name = Name;
  SizeForm S = sizeForm(C, Name, false);
  const ElemType &E = elemType(C.pick("type", 9));
  bool Restrict = C.chance("restrict", 70);
  std::string B = S.Bd, Acc = E.Acc;
  unsigned Rounds = C.weighted("rounds", {50, 30, 20});
  std::string Loop = Rounds == 0   ? "base < m"
                     : Rounds == 1 ? "base < 2 * " + B
                                   : "base < gridDim.x * " + B;
  std::string Bound = C.chance("constantBound", 70) && S.Exact ? S.Const : B;
  std::string Op = "acc += own - other;\n";
  switch (C.pick("operation", 4)) {
  case 1:
    Op = "acc += other > own ? 1 : 0;\n";
    break;
  case 2:
    Op = "if (other < acc)\n  acc = other;\n";
    break;
  case 3:
    Op = "acc = other - acc;\n";
    break;
  }
  std::string Stage = C.chance("ifElse", 40)
                          ? "if (base + t < m)\n  tile[t] = in[base + "
                            "t];\nelse\n  tile[t] = 0;\n"
                          : "tile[t] = base + t < m ? in[base + t] : (" +
                                std::string(E.Name) + ")0;\n";
  std::string Unroll = C.chance("unroll", 30) ? "#pragma unroll 4\n" : "";
  std::string Body = "__shared__ " + std::string(E.Name) + " tile[" + S.Const +
                     "];\nint t = threadIdx.x;\nint g = blockIdx.x * " + B +
                     " + t;\n" + Acc + " acc = 0;\nconst " + Acc +
                     " own = g < n ? out[g] : 0;\nfor (int base = 0; " + Loop +
                     "; base += " + B + ") {\n" + Stage + "__syncthreads();\n" +
                     Unroll + "for (int j = 0; j < " + Bound +
                     "; ++j) {\nconst " + Acc + " other = tile[j];\n" + Op +
                     "}\n__syncthreads();\n}\nif (g < n)\n  out[g] = acc;\n";
  K.Params = {{Param::In, E.Name, "in", "(n / 2 + 3)", "", true, Restrict},
              {Param::InOut, Acc, "out", "n", "", false, Restrict},
              {Param::Scalar, "int", "n", "", "n"},
              {Param::Scalar, "int", "m", "", "n / 2 + 3"}};
  K.Device = S.Before + S.Head + "__global__ void " + S.Bounds + Name + "(" +
             params(K) + ") {\n" + Body + "}\n";
  K.TemplateArgs = S.Args;
  K.Launches = lineLaunches(C, S, 1, false);
  return K;
}

/// The second stage's tile is computed from the first stage's.
KernelText twoStages(Choices &C, const std::string &Name) {
  KernelText K;
  K.Name = Name;
  SizeForm S = sizeForm(C, Name, false);
  const ElemType &E = elemType(C.pick("type", 4));
  unsigned R = 1 + C.pick("radius", 3);
  bool Restrict = C.chance("restrict", 70);
  K.Params = {{Param::In, E.Name, "in", "n", "", true, Restrict},
              {Param::Out, E.Name, "out", "n", "", false, Restrict},
              {Param::Scalar, "int", "n", "", "n"}};
  std::string Halo2 = num(4 * R), Halo1 = num(2 * R);
  std::string Text = R"(__shared__ $T wide[$C + $H2];
__shared__ $T narrow[$C + $H1];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
const int base = blockIdx.x * $B;
for (int i = t; i < $B + $H2; i += $B) {
  const int x = base + i - $H1;
  wide[i] = x >= 0 && x < n ? in[x] : ($T)0;
}
__syncthreads();
for (int i = t; i < $B + $H1; i += $B)
  narrow[i] = wide[i] - wide[i + $H1] + wide[i + $R];
__syncthreads();
if (g < n)
  out[g] = narrow[t] + narrow[t + $R] - narrow[t + $H1];
)";
  K.Device = S.Before + S.Head + "__global__ void " + S.Bounds + Name + "(" +
             params(K) + ") {\n" +
             sub(Text, {{"T", E.Name},
                        {"C", S.Const},
                        {"B", S.Bd},
                        {"H1", Halo1},
                        {"H2", Halo2},
                        {"R", num(R)}}) +
             "}\n";
  K.TemplateArgs = S.Args;
  K.Launches = lineLaunches(C, S, 1, false);
  return K;
}

} // namespace

KernelText blockKernel(Choices &C, const std::string &Name) {
  switch (C.weighted("kind", {60, 28, 12})) {
  case 1:
    return broadcastTiles(C, Name);
  case 2:
    return twoStages(C, Name);
  default:
    return permutation(C, Name);
  }
}

/// Bodies with `$T` the element type, `$C` the extent, `$B` the block size.
/// All of them are defined for every n and for blocks that are a power of two.
static const char *const Outside[] = {
    // a tree
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
__syncthreads();
for (int d = $B / 2; d > 0; d /= 2) {
  if (t < d)
    s[t] = s[t] + s[t + d];
  __syncthreads();
}
if (t == 0 && g < n)
  out[g] = s[0];
)",
    // a scan
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
__syncthreads();
for (int d = 1; d < $B; d *= 2) {
  const $T left = t >= d ? s[t - d] : ($T)0;
  __syncthreads();
  s[t] = s[t] + left;
  __syncthreads();
}
if (g < n)
  out[g] = s[t];
)",
    // the index comes from the data
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)1;
__syncthreads();
if (g < n) {
  const int where = (int)((unsigned)(g * 2654435761u) >> 7) % $B;
  out[g] = s[where] + s[t];
}
)",
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)1;
__syncthreads();
if (g < n)
  out[g] = s[s[t] > s[0] ? t : 0];
)",
    // atomics
    R"(__shared__ int count[4];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
if (t < 4)
  count[t] = 0;
__syncthreads();
if (g < n)
  atomicAdd(&count[g % 4], in[g] > ($T)0 ? 1 : 0);
__syncthreads();
if (g < n)
  out[g] = ($T)count[t % 4];
)",
    // a window known at run time only
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
__syncthreads();
$T acc = 0;
for (int j = 0; j <= n % 5; ++j)
  if (t + j < $B)
    acc += s[t + j];
if (g < n)
  out[g] = acc;
)",
    // written again in place
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
__syncthreads();
const $T next = t + 1 < $B ? s[t + 1] : s[0];
__syncthreads();
s[t] = next - s[t];
__syncthreads();
if (g < n)
  out[g] = s[$B - 1 - t];
)",
    // a shared scalar and a pointer to an element
    R"(__shared__ $T s[$C];
__shared__ $T first;
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
if (t == 0)
  first = g < n ? in[g] : ($T)2;
__syncthreads();
const $T *p = &s[t];
if (g < n)
  out[g] = *p - first;
)",
    // the early exit of a while loop
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
__syncthreads();
int j = t;
while (j < $B && s[j] > ($T)0)
  ++j;
if (g < n)
  out[g] = ($T)j;
)",
    // volatile
    R"(__shared__ volatile $T s[$C + 1];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
if (t == 0)
  s[$B] = ($T)0;
__syncthreads();
if (g < n)
  out[g] = s[t + 1] - s[t];
)",
    // store in front of the barrier
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
if (g < n)
  out[g] = s[t];
__syncthreads();
if (g < n && t > 0)
  out[g] = s[t - 1] - out[g];
)",
    // a switch, a do loop, a comma, an assignment in a condition
    R"(__shared__ $T s[$C];
const int t = threadIdx.x;
const int g = blockIdx.x * $B + t;
s[t] = g < n ? in[g] : ($T)0;
__syncthreads();
$T acc = 0;
switch (t % 3) {
case 0:
  acc = s[t];
  break;
case 1:
  acc = s[t - 1];
  [[fallthrough]];
default:
  acc = acc + s[t / 2];
}
int j = 0;
do {
  acc = acc + s[j];
} while (++j < 3);
if (g < n)
  out[g] = acc;
)",
};

KernelText outsideKernel(Choices &C, const std::string &Name) {
  KernelText K;
  K.Name = Name;
  SizeForm S = sizeForm(C, Name, false);
  S.Block = S.Block == 96 || S.Block == 48 ? 64 : S.Block;
  S.Exact = true;
  S.Kind = SizeForm::Literal;
  S.Const = S.Bd = num(S.Block);
  S.Before = S.Head = S.Args = "";
  if (!S.Bounds.empty())
    S.Bounds = "__launch_bounds__(" + S.Const + ") ";
  const ElemType &E = elemType(C.pick("type", 3));
  bool Restrict = C.chance("restrict", 70);
  K.Params = {{Param::In, E.Name, "in", "n", "", true, Restrict},
              {Param::Out, E.Name, "out", "n", "", false, Restrict},
              {Param::Scalar, "int", "n", "", "n"}};
  unsigned I = C.pick("body", sizeof(Outside) / sizeof(Outside[0]));
  K.Device = "__global__ void " + S.Bounds + Name + "(" + params(K) + ") {\n" +
             sub(Outside[I], {{"T", E.Name}, {"C", S.Const}, {"B", S.Bd}}) +
             "}\n";
  K.Launches = lineLaunches(C, S, 1, false);
  return K;
}

} // namespace rcache::fuzz
