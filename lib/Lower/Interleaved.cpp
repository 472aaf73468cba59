// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private arrays in shared memory (Plan::Interleaved): the array gets one more
// dimension, its last, and each use one more subscript, the thread. The rest of
// the text is the original's, declarations included: a shared variable may be
// declared in any block of the kernel.
//
//     float v[8] = {1};          __shared__ float v[8][128];
//                                for (int rc_i0 = 0; rc_i0 < 8; ++rc_i0)
//                                  v[rc_i0][rc_thread] = {};
//                                v[0][rc_thread] = 1;
//     v[i] += v[i + 1];          v[i][rc_thread] += v[i + 1][rc_thread];

#include "StatementText.h"

using namespace rcache;

static const char *const Thread = "thread";

/// The thread's number in its block.
std::string StatementText::blockThread() const {
  auto Times = [](int64_t Factor) { return " * " + std::to_string(Factor); };
  if (!P.Map.Block)
    return "(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + "
           "threadIdx.x";
  const auto [X, Y, Z] = *P.Map.Block;
  if (Z > 1)
    return "(threadIdx.z" + Times(Y) + " + threadIdx.y)" + Times(X) +
           " + threadIdx.x";
  return Y > 1 ? "threadIdx.y" + Times(X) + " + threadIdx.x" : "threadIdx.x";
}

/// \p R with a subscript more at each element of an interleaved array.
Code StatementText::interleavedUses(TextRange R) const {
  Edits E;
  for (const InterleavedArray &I : P.Interleaved)
    for (const PrivateArray::Use &U : M.Privates[I.Array].Uses)
      if (R.contains(U.Range))
        E.push_back({{U.Range.End, U.Range.End}, "[" + N(Thread) + "]"});
  return apply(R, std::move(E));
}

/// The assignments that stand for an initialiser.
Code StatementText::interleavedInit(const PrivateArray &A) const {
  const Var &V = M.Vars[A.Var];
  auto Element = [&](const std::string &Subscripts) {
    return Code("\n" + V.Name + Subscripts + "[" + N(Thread) + "] = ");
  };
  Code T;
  if (static_cast<int64_t>(A.Init.size()) < A.elements(M)) {
    std::string Subscripts;
    for (size_t D = 0; D < V.ArrayExtents.size(); ++D) {
      const std::string I = N("i" + std::to_string(D));
      T += "\nfor (int " + I + " = 0; " + I + " < " +
           std::to_string(V.ArrayExtents[D]) + "; ++" + I + ")";
      Subscripts += "[" + I + "]";
    }
    T += Element(Subscripts) + "{};";
  }
  for (const PrivateArray::Given &G : A.Init) {
    std::string Subscripts;
    int64_t Rest = G.Element;
    for (size_t D = V.ArrayExtents.size(); D-- > 0; Rest /= V.ArrayExtents[D])
      Subscripts =
          "[" + std::to_string(Rest % V.ArrayExtents[D]) + "]" + Subscripts;
    T += Element(Subscripts) + interleavedUses(G.Text) + ";";
  }
  return T;
}

void StatementText::editInterleaved(TextRange R, Edits &E) const {
  if (P.Interleaved.empty())
    return;
  E.push_back(
      {{R.Begin, R.Begin},
       "\nconst unsigned int " + N(Thread) + " = " + blockThread() + ";"});
  for (const InterleavedArray &I : P.Interleaved) {
    const PrivateArray &A = M.Privates[I.Array];
    const Var &V = M.Vars[A.Var];
    std::string Extents;
    for (int64_t Extent : V.ArrayExtents)
      Extents += "[" + std::to_string(Extent) + "]";
    E.push_back(
        {V.DeclRange, Code("__shared__ " + V.Type + " " + V.Name + Extents +
                           "[" + std::to_string(I.Threads) + "];") +
                          interleavedInit(A)});
    for (const PrivateArray::Use &U : A.Uses)
      E.push_back({{U.Range.End, U.Range.End}, "[" + N(Thread) + "]"});
  }
}
