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
//
// Elements that share words (InterleavedArray::inWord) have a type whose operators find them:
//
//     unsigned char b[9];        __shared__ in_words<unsigned char, 9, 128> b;
//     ++b[i];                    ++b[i][rc_thread];
//
// A table of constants has one copy for all threads (InterleavedArray::Once):
//
//     const float w[3] = ..;     static const float w[3] = ..;
//
// In dynamic memory (ByWarp) the name is a reference to the warp's part, behind what the
// kernel has of its own:
//
//     float (&v)[8][32] = *reinterpret_cast<float (*)[8][32]>(rc_warp);

#include "StatementText.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace rcache;

static const char *const Thread = "thread";
static const char *const Warp = "warp";

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
      if (!I.Once && R.contains(U.Range))
        E.push_back({{U.Range.End, U.Range.End}, "[" + N(Thread) + "]"});
  return apply(R, std::move(E));
}

/// The assignments that stand for an initialiser.
Code StatementText::interleavedInit(const PrivateArray &A) const {
  if (!A.HasInit)
    return "";
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
    // (`h = {}` of a __half could be any of its operators.)
    T += Element(Subscripts) + (A.IsRecord ? V.Type : "") + "{};";
  }
  for (const PrivateArray::Given &G : A.Init) {
    std::string Subscripts;
    int64_t Rest = G.Element;
    for (size_t D = V.ArrayExtents.size(); D-- > 0; Rest /= V.ArrayExtents[D])
      Subscripts =
          "[" + std::to_string(Rest % V.ArrayExtents[D]) + "]" + Subscripts;
    T += Element(Subscripts) + (G.Bare ? "{" : "") + interleavedUses(G.Text) +
         (G.Bare ? "};" : ";");
  }
  return T;
}

/// The array's extents as its declaration has them, `[N][2 * R + 1]`; in numbers
/// where it has none (an array by its type's name, or as long as its initialiser).
Code StatementText::interleavedExtents(const PrivateArray &A) const {
  const Var &V = M.Vars[A.Var];
  const TextRange Declarator = A.Declarators[A.Declarator];
  const std::string Text = M.text(Declarator);
  const size_t Name = V.NameRange.End - Declarator.Begin;
  size_t End = Name, Groups = 0;
  int Depth = 0;
  bool Said = false; // `[]`: the initialiser says it
  for (size_t At = Name; At < Text.size(); ++At) {
    const char C = Text[At];
    Depth += C == '[' ? 1 : C == ']' ? -1 : 0;
    if (C == ']' && Depth == 0) {
      Groups += Said;
      Said = false;
      End = At + 1;
    } else if (Depth > 0) {
      Said |= C != '[' && !isspace(static_cast<unsigned char>(C));
    } else if (Depth == 0 && !isspace(static_cast<unsigned char>(C))) {
      break; // an initialiser
    }
  }
  if (Groups == V.ArrayExtents.size())
    return Source.copy(
        {V.NameRange.End, Declarator.Begin + static_cast<unsigned>(End)});
  std::string Numbers;
  for (int64_t Extent : V.ArrayExtents)
    Numbers += "[" + std::to_string(Extent) + "]";
  return Numbers;
}

/// Where the thread, or its warp, finds its part.
Code StatementText::interleavedHead() const {
  const std::string Declared = "\nconst unsigned int " + N(Thread) + " = ";
  if (!P.ByWarp)
    return Declared + blockThread() + ";";
  std::string All = blockThread();
  if (All != "threadIdx.x")
    All = "(" + All + ")";
  const std::string Memory = N("memory");
  return "\nextern __shared__ __align__(16) unsigned char " + Memory + "[];" +
         Declared + All + " % 32;\nunsigned char *const " + N(Warp) + " = " +
         Memory + (P.besideOwn(M) ? " + " + N("own") : "") + " + " + All + " / 32 * " +
         std::to_string(P.interleavedBytes(M, 32)) + ";";
}

/// What is left of a declaration whose arrays \p Moved have one of their own.
Code StatementText::declaredBeside(
    const std::vector<const PrivateArray *> &Moved) const {
  const std::vector<TextRange> &All = Moved.front()->Declarators;
  if (Moved.size() == All.size())
    return "";
  Code T = "\n";
  const char *Between = "";
  for (unsigned D = 0; D < All.size(); ++D) {
    const auto Of = llvm::find_if(
        Moved, [&](const PrivateArray *A) { return A->Declarator == D; });
    if (Of == Moved.end()) {
      T += Between + interleavedUses(All[D]);
      Between = ", ";
    } else if (D == 0) { // the type
      T += Source.copy({All[D].Begin, M.Vars[(*Of)->Var].NameRange.Begin});
    }
  }
  return T + ";";
}

void StatementText::editInterleaved(TextRange R, Edits &E) const {
  if (P.Interleaved.empty())
    return;
  if (!llvm::all_of(P.Interleaved, [](const InterleavedArray &I) { return I.Once; }))
    E.push_back({{R.Begin, R.Begin}, interleavedHead()});
  // By declaration: what is declared anew, and what of it is.
  std::map<unsigned, std::pair<Code, std::vector<const PrivateArray *>>> All;
  std::set<unsigned> Static; // where declarations of tables begin
  int64_t Offset = 0;
  for (const InterleavedArray &I : P.Interleaved) {
    const PrivateArray &A = M.Privates[I.Array];
    const Var &V = M.Vars[A.Var];
    if (I.Once) {
      const unsigned At = V.DeclRange.Begin;
      if (Static.insert(At).second) // once for all of a declaration
        E.push_back({{At, At}, A.ConstElements ? "static " : "static const "});
      continue;
    }
    const Code Extents =
        interleavedExtents(A) + "[" + std::to_string(I.Threads) + "]";
    const std::string Part =
        N(Warp) + (Offset ? " + " + std::to_string(Offset) : "");
    const bool InWords = I.inWord(M) > 1;
    if (InWords)
      Helpers.insert("in_words");
    const std::string Packed = "::rcache::device::in_words<" + V.Type + ", " +
                               std::to_string(A.elements(M)) + ", " +
                               std::to_string(I.Threads) + ">";
    const Code Type = InWords ? Packed : V.Type, Behind = InWords ? "" : Extents;
    const Code Declared =
        P.ByWarp ? Type + (InWords ? " &" : " (&") + V.Name + (InWords ? "" : ")") + Behind +
                       " = *reinterpret_cast<" + Type + (InWords ? " *" : " (*)") + Behind +
                       ">(" + Part + ");"
                 : "__shared__ " + Type + " " + V.Name + Behind + ";";
    Offset += I.bytes(M);
    auto &[Text, Arrays] = All[V.DeclStmt];
    Text += (Arrays.empty() ? "" : "\n") + Declared + interleavedInit(A);
    Arrays.push_back(&A);
    for (const PrivateArray::Use &U : A.Uses)
      E.push_back({{U.Range.End, U.Range.End}, "[" + N(Thread) + "]"});
  }
  for (auto &[Id, Anew] : All)
    E.push_back({M.Vars[Anew.second.front()->Var].DeclRange,
                 Anew.first + declaredBeside(Anew.second)});
}
