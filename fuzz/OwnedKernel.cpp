// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What threads of a block hand to each other again and again: trees, scans,
// sorts, butterflies, iterated stencils, in random sizes, types, words and
// directions. A warp may own their arrays.

#include "Grammar.h"

namespace rcache::fuzz {

namespace {

class OwnedKernel {
public:
  OwnedKernel(Choices &C, const std::string &Name) : C(C) { K.Name = Name; }

  KernelText run() {
    static const unsigned Blocks[] = {64, 128, 32, 256, 96, 512, 1024, 48};
    Block = Blocks[C.weighted("block", {28, 22, 12, 16, 8, 6, 4, 4})];
    static const char *const Types[] = {
        "int",   "float",     "unsigned int", "double",
        "short", "long long", "float",        "unsigned char"};
    T = Types[C.weighted("type", {28, 26, 10, 10, 8, 6, 8, 4})];
    Real = T == "float" || T == "double";
    Unsigned = C.chance("unsignedIndex", 30);
    I = Unsigned ? "unsigned int" : "int";
    Power = (Block & (Block - 1)) == 0;
    Size = num(Block);
    // Blocks of two dimensions: rows of Width threads.
    Width = Block;
    if (C.chance("rows", 30))
      Width = Block % 16 == 0 && C.chance("rowsOf16", 60)
                  ? 16
                  : Block >> (1 + C.pick("rowBits", 4));
    Body = "__shared__ " + T + " s[" + Size + "];\n";
    // Products of signed ints overflow.
    Products = T != "int" && T != "long long" && C.chance("products", 15);
    Called = C.weighted("called", {76, 8, 8, 8});
    Handed = C.weighted("handed", {72, 8, 8, 6, 6});
    Kind = C.weighted("kind", {18, 16, 20, 12, 10, 24, 20, 16});
    switch (Kind) {
    case 0:
      tree();
      break;
    case 1:
      scan();
      break;
    case 2:
      sort();
      break;
    case 3:
      butterfly();
      break;
    case 4:
      stencil();
      break;
    case 5:
      strided();
      break;
    case 6:
      tile();
      break;
    default:
      rowNorm();
    }
    if (Before.empty() && C.chance("padded", 15))
      pad();
    finish();
    if (Kind == 7)
      finishRows();
    return std::move(K);
  }

private:
  Choices &C;
  KernelText K;
  std::string T, I, Size, Body, Before;
  unsigned Block = 64, Width = 64;
  /// Products: what is put together is multiplied, or chosen. Called: 0, or put
  /// together by a function, an object, a lambda. Handed: 0, or loops over distances
  /// stand in a function that gets the array.
  unsigned Kind = 0, Called = 0, Handed = 0;
  bool Real = false, Unsigned = false, Power = true, Direction = false,
       Second = false, Products = false, CalledIsThere = false;

  //===--- Words ---===//

  /// Threads of a block, and the thread's number among them.
  std::string blockDim() const {
    return Width == Block ? "blockDim.x" : "(blockDim.x * blockDim.y)";
  }
  std::string thread() {
    if (Width == Block)
      return "threadIdx.x";
    switch (C.pick("linear", 3)) {
    case 0:
      return "(threadIdx.y * blockDim.x + threadIdx.x)";
    case 1:
      return "(threadIdx.x + " + num(Width) + " * threadIdx.y)";
    default:
      return "(" + num(Width) + " * threadIdx.y + threadIdx.x)";
    }
  }

  /// Elements that share a bank are put apart: `s[e + e / 32]`.
  void pad() {
    if (Body.compare(0, 13 + T.size(), "__shared__ " + T + " s") != 0 ||
        Body.find("volatile") != std::string::npos ||
        Body.find(" *v = s") != std::string::npos ||
        Body.find("][") != std::string::npos)
      return;
    const size_t End = Body.find("];");
    const unsigned Of = static_cast<unsigned>(
        std::stoul(Body.substr(Body.find('[') + 1)));
    const std::string Pad = "AT_" + K.Name;
    std::string Text =
        "__shared__ " + T + " s[" + num(Of + Of / 32 + 1) + "];";
    for (size_t I = End + 2; I < Body.size(); ++I) {
      const bool Is = Body.compare(I, 2, "s[") == 0 &&
                      !isalnum(static_cast<unsigned char>(Body[I - 1])) &&
                      Body[I - 1] != '_';
      if (!Is) {
        Text += Body[I];
        continue;
      }
      size_t To = I + 2;
      for (int Depth = 1; Depth > 0; ++To)
        Depth += Body[To] == '[' ? 1 : Body[To] == ']' ? -1 : 0;
      Text += "s[" + Pad + "(" + Body.substr(I + 2, To - I - 3) + ")]";
      I = To - 1;
    }
    Body = std::move(Text);
    Before = "#define " + Pad + "(e) ((e) + ((e) " +
             (C.chance("shiftPad", 50) ? ">> 5" : "/ 32") + "))\n";
  }

  /// What a thread begins with: where it is and what it stages.
  void begin(const std::string &Array = "s", const std::string &Other = "") {
    if (Body.find(" t = ") == std::string::npos)
      Body += "const " + I + " t = " +
              (!Unsigned && C.chance("threadWord", 50) ? "int" : "") +
              "(" + thread() + ");\nconst " + I + " g = blockIdx.x * " +
              (C.chance("blockDim", 40) ? blockDim() : Size) + " + t;\n";
    if (Array == "s" && Other.empty() && C.chance("row", 15))
      return beginWithRow();
    const std::string Else = C.chance("neutral", 70) ? "0" : "t";
    Body += Array + "[t] = " +
            (Other.empty() ? "g < n ? in[g] : (" + T + ")" + Else : Other) +
            ";\n";
  }
  /// The same of all that is given, whose length the launch tells.
  void beginWithRow() {
    const std::string Round = C.chance("rowUpdate", 50)
                                  ? "row += in[i];\n"
                                  : "row = " + combined("row", "in[i]") + ";\n",
                      Step = "i += " + (C.chance("rowOfBlockDim", 50) ? blockDim() : Size);
    Body += T + " row = 0;\n";
    // Of all, or of a part for each block.
    const bool Part = C.chance("rowPart", 30);
    const std::string Begin = Part ? "(" + I + ")blockIdx.x * 2 * " + Size + " + t" : "t",
                      While = Part && C.chance("rowPartEnds", 50)
                                  ? "i < n && i < (" + I + ")(blockIdx.x + 1) * 2 * " + Size
                                  : "i < n";
    switch (C.weighted("rowForm", {60, 20, 20})) {
    case 1:
      Body += "{\n" + I + " i = " + Begin + ";\nwhile (" + While + ") {\n" + Round + Step +
              ";\n}\n}\n";
      break;
    case 2:
      Body += "#pragma unroll 2\nfor (" + I + " i = " + Begin + "; " + While + "; " + Step +
              ")\n" + Round;
      break;
    default:
      Body += "for (" + I + " i = " + Begin + "; " + While + "; " + Step + ") {\n" + Round +
              "}\n";
    }
    Body += "s[t] = row;\n";
  }
  std::string sync() const { return "__syncthreads();\n"; }

  /// A loop over distances with \p Round as its body: doubling from \p First
  /// while below \p Limit, or halving from \p Limit / 2.
  std::string distances(const std::string &Round, bool Doubling,
                        const std::string &D = "d", unsigned First = 1,
                        std::string Limit = "") {
    Choices::Scope Of(C, "loop" + D);
    if (Limit.empty())
      Limit = C.chance("limitIsBlockDim", 15) ? "(" + I + ")" + blockDim() : Size;
    const bool Shift = C.chance("shift", 50);
    const std::string Next = Doubling ? (Shift ? D + " <<= 1" : D + " *= 2")
                                      : (Shift ? D + " >>= 1" : D + " /= 2");
    const std::string Begin = Doubling ? num(First) : Limit + " / 2",
                      While = Doubling ? D + " < " + Limit
                                       : D + (Unsigned ? " >= 1" : " > 0");
    switch (C.weighted("form", {70, 22, 8})) {
    case 1:
      return "{\n" + I + " " + D + " = " + Begin + ";\nwhile (" + While +
             ") {\n" + Round + Next + ";\n}\n}\n";
    case 2:
      return "{\n" + I + " " + D + " = " + Begin + ";\ndo {\n" + Round + Next +
             ";\n} while (" + While + ");\n}\n";
    default:
      return "for (" + I + " " + D + " = " + Begin + "; " + While + "; " +
             Next + ") {\n" + Round + "}\n";
    }
  }

  /// \p A and \p B put together.
  std::string combined(const std::string &A, const std::string &B) {
    if (!Called)
      return operation(A, B);
    const std::string Name = K.Name + "_both";
    if (!CalledIsThere) {
      CalledIsThere = true;
      const std::string Text = "(const " + T +
                               (Kind && C.chance("byReference", 30) ? " &" : " ") +
                               "a, const " + T + " b)",
                        Return = " { return " + operation("a", "b") + "; }";
      if (Called == 1)
        Before += "__device__ " + T + " " + Name + Text + Return + "\n";
      else if (Called == 2)
        Before += "struct " + Name + "_type {\n__device__ " + T + " operator()" + Text +
                  " const" + Return + "\n};\n";
      else
        Before += "template <typename X> __device__ X " + Name +
                  "(X a, X b) { return " + operation("a", "b") + "; }\n";
    }
    // What is volatile is no X of its own.
    return Name + (Called == 2 ? "_type()" : Called == 3 ? "<" + T + ">" : "") + "(" + A +
           ", " + B + ")";
  }
  std::string operation(const std::string &A, const std::string &B) {
    const unsigned Is = C.weighted("operation", {40, 20, 20, 20});
    if (Is == 1)
      return A + " > " + B + " ? " + A + " : " + B;
    if (Is == 2)
      return B + " < " + A + " ? " + B + " : " + A;
    if (Products)
      return A + " * " + B;
    if (Is == 3)
      return Real ? A + " - " + B : A + " ^ " + B;
    return A + " + " + B;
  }

  /// \p Loop, which uses s, t and constants, perhaps in a function of its own.
  std::string handed(const std::string &Loop) {
    if (!Handed || Body.compare(0, 13 + T.size(), "__shared__ " + T + " s") != 0)
      return Loop;
    const std::string Name = K.Name + "_loop";
    std::string Array = T + " (&s)[" + Size + "]", Arguments = "(s, t)";
    switch (Handed) {
    case 2:
      Array = T + " *s";
      break;
    case 3: // the type is the array's
      Array = "X &s";
      Before += "template <typename X> ";
      break;
    case 4: // the size is the array's
      Array = T + " (&s)[E]";
      Before += "template <unsigned E> ";
      break;
    default:
      break;
    }
    Before += "__device__ " + std::string(C.chance("inlined", 50) ? "__forceinline__ " : "") +
              "void " + Name + "(" + Array + ", const " + I + " t) {\n" + Loop + "}\n";
    return Name + Arguments + ";\n";
  }

  //===--- Kinds ---===//

  void tree() {
    Second = C.chance("second", 25);
    if (Second)
      Body += "__shared__ " + std::string("int") + " where[" + Size + "];\n";
    begin();
    if (Second)
      begin("where", "t");
    Body += sync();
    std::string Own = "t", From = "t + d", If;
    bool Doubling = false;
    switch (C.weighted("addressing", {45, 20, 15, 20})) {
    case 1:
      Doubling = true;
      If = "t % (2 * d) == 0";
      break;
    case 2:
      Doubling = true;
      If = "(t & (2 * d - 1)) == 0";
      break;
    case 3: // from the end
      Doubling = true;
      If = "t >= d && t % (2 * d) == 2 * d - 1";
      From = "t - d";
      break;
    default:
      If = "t < d";
    }
    if (!Power && From == "t + d")
      If += " && t + d < " + Size;
    const std::string A = "s[" + Own + "]", B = "s[" + From + "]";
    std::string Step;
    if (Second)
      Step = "if (" + B + (C.chance("less", 50) ? " < " : " > ") + A + ") {\n" +
             A + " = " + B + ";\nwhere[t] = where[" + From + "];\n}\n";
    else if (C.chance("update", 40))
      Step = A + " += " + B + ";\n";
    else if (C.chance("local", 30))
      Step = T + " v = " + B + ";\n" + A + " = " + combined(A, "v") + ";\n";
    else
      Step = A + " = " + combined(A, B) + ";\n";
    const std::string Round = "if (" + If + ") {\n" + Step + "}\n" + sync();
    if (Power && If == "t < d" && !Second && Block >= 64 && C.chance("tail", 25))
      Body += tail(Round);
    else if (C.chance("ladder", 15) && Power && !Doubling) {
      for (unsigned D = Block / 2; D > 0; D /= 2)
        Body += "{\nconst " + I + " d = " + num(D) + ";\n" + Round + "}\n";
    } else
      Body += Second ? distances(Round, Doubling) : handed(distances(Round, Doubling));
    switch (C.weighted("result", {35, 35, 30, 12})) {
    case 3: // a row of them
      Body += "if (blockIdx.x == 0)\nfor (" + I + " i = t; i < n; i += " + Size +
              ")\nout[i] = " + combined("in[i]", "s[0]") + ";\n";
      return;
    case 1: // all threads alike
      Body += "if (g < n)\nout[g] = s[0] + in[g];\n";
      return;
    case 2: // what is left of the array
      Body += "if (g < n)\nout[g] = s[t]" +
              std::string(Second ? " + (" + T + ")where[t]" : "") + ";\n";
      return;
    default:
      Body += "if (t == 0 && g < n)\nout[g] = s[0]" +
              std::string(Second ? " + (" + T + ")where[0]" : "") + ";\n";
    }
  }

  /// The same tree, whose end one warp does: \p Round down to 64 elements.
  std::string tail(const std::string &Round) {
    const std::string Wait = "__syncwarp();\n", Down = "d = 32; d > 0; d >>= 1";
    std::string Text;
    if (Block > 64)
      Text = "for (" + I + " d = " + num(Block / 2) + "; d > 32; d /= 2) {\n" +
             Round + "}\n";
    Text += "if (t < 32) {\n";
    switch (C.pick("tailForm", 4)) {
    case 0: // those that need not, do not
      return Text + "for (" + I + " " + Down + ") {\nif (t < d)\ns[t] = " +
             combined("s[t]", "s[t + d]") + ";\n" + Wait + "}\n}\n" + sync();
    case 1: // all do
      Text += C.chance("volatile", 60) ? "volatile " + T + " *v = s;\n"
                                       : T + " *v = s;\n";
      for (unsigned D = 32; D > 0; D /= 2)
        Text += "v[t] = " + combined("v[t]", "v[t + " + num(D) + "]") + ";\n" +
                Wait;
      return Text + "}\n" + sync();
    case 2: // stores when all have read
      Text += T + " v = s[t];\n";
      for (unsigned D = 32; D > 0; D /= 2)
        Text += "v = " + combined("v", "s[t + " + num(D) + "]") + ";\n" + Wait +
                "s[t] = v;\n" + Wait;
      return Text + "}\n" + sync();
    default: // in registers
      return Text + T + " v = " + combined("s[t]", "s[t + 32]") + ";\nfor (" + I +
             " d = 16; d > 0; d /= 2) {\nconst " + T +
             " w = __shfl_down_sync(0xffffffffu, v, d);\nv = " +
             combined("v", "w") + ";\n}\ns[t] = v;\n}\n" + sync();
    }
  }

  void scan() {
    const bool Backwards = C.chance("backwards", 25);
    const std::string If = Backwards ? "t + d < " + Size : "t >= d",
                      At = Backwards ? "t + d" : "t - d";
    if (C.chance("doubleBuffered", 35)) {
      Body = "__shared__ " + T + " s[2][" + Size + "];\n" + I + " from = 0;\n";
      begin("s[0]");
      Body += sync();
      const bool First = C.chance("toggleFirst", 30);
      const std::string To = First ? "from" : "1 - from",
                        Old = First ? "1 - from" : "from",
                        Toggle = "from = 1 - from;\n";
      const std::string Step =
          "if (" + If + ")\ns[" + To + "][t] = " +
          combined("s[" + Old + "][t]", "s[" + Old + "][" + At + "]") +
          ";\nelse\ns[" + To + "][t] = s[" + Old + "][t];\n";
      Body += distances(First ? Toggle + Step + sync() : Step + sync() + Toggle,
                        true);
      Body += "if (g < n)\nout[g] = s[from][t];\n";
      return;
    }
    begin();
    Body += sync();
    std::string Round;
    switch (C.pick("inPlace", 3)) {
    case 1:
      Round = T + " v = s[t];\nif (" + If +
              ")\nv = " + combined("v", "s[" + At + "]") + ";\n" + sync() +
              "s[t] = v;\n" + sync();
      break;
    case 2:
      Round = T + " v = " + If + " ? s[" + At + "] : (" + T + ")0;\n" + sync() +
              "s[t] += v;\n" + sync();
      break;
    default:
      Round = T + " v = 0;\nif (" + If + ")\nv = s[" + At + "];\n" + sync() +
              "if (" + If + ")\ns[t] = " + combined("s[t]", "v") + ";\n" +
              sync();
    }
    Body += handed(distances(Round, true));
    Body += C.chance("exclusive", 30)
                ? "if (g < n)\nout[g] = t > 0 ? s[t - 1] : (" + T + ")0;\n"
                : "if (g < n)\nout[g] = s[t];\n";
  }

  void sort() {
    Second = C.chance("payload", 35);
    Direction = C.chance("direction", 30);
    if (Second)
      Body += "__shared__ int value[" + Size + "];\n";
    begin();
    if (Second)
      begin("value", "g");
    Body += sync();
    const std::string Up = Direction ? "up != 0" : "true";
    auto Swap = [&](const std::string &P) {
      std::string X =
          C.chance("auxiliary", 50)
              ? T + " a = s[t], b = s[" + P + "];\ns[t] = b;\ns[" + P +
                    "] = a;\n"
              : T + " v = s[t];\ns[t] = s[" + P + "];\ns[" + P + "] = v;\n";
      if (Second)
        X += "int w = value[t];\nvalue[t] = value[" + P + "];\nvalue[" + P +
             "] = w;\n";
      return X;
    };
    if (!Power || C.chance("oddEven", 25)) {
      const std::string Rounds = C.chance("allRounds", 30) && Block <= 64
                                     ? Size
                                     : num(3 + C.pick("rounds", 9));
      Body += "for (" + I + " r = 0; r < " + Rounds +
              "; ++r) {\nif (t % 2 == r % 2 && t + 1 < " + Size +
              ") {\nif ((s[t] > s[t + 1]) == (" + Up + ")) {\n" +
              Swap("t + 1") + "}\n}\n" + sync() + "}\n";
    } else {
      std::string Round;
      const bool Below = C.chance("upperRuns", 25);
      const std::string Partner =
          "const " + I +
          " p = " + (C.chance("jFirst", 30) ? "j ^ t" : "t ^ j") + ";\n";
      const std::string Mine = Below ? "p < t" : "p > t";
      const std::string Rising = "((t & k) == 0) == (" + Up + ")";
      switch (C.weighted("condition", {35, 25, 20, 20})) {
      case 1:
        Round = Partner + "if (" + Mine + ") {\nif (" + Rising +
                " ? s[t] > s[p] : s[t] < s[p]) {\n" + Swap("p") + "}\n}\n";
        break;
      case 2:
        Round = Partner + "if (" + Mine + " && (s[t] > s[p]) == (" + Rising +
                ")) {\n" + Swap("p") + "}\n";
        break;
      case 3:
        Round = Partner + "if (" + Mine +
                ") {\nif ((t & k) == 0) {\nif (s[t] > s[p]) {\n" + Swap("p") +
                "}\n} else {\nif (s[t] < s[p]) {\n" + Swap("p") + "}\n}\n}\n";
        break;
      default:
        Round = Partner + "if (" + Mine + ") {\nconst bool rising = " + Rising +
                ";\nif ((s[t] > s[p]) == rising) {\n" + Swap("p") + "}\n}\n";
      }
      Round += sync();
      Body += distances(distances(Round, false, "j", 1, "k"), true, "k", 2,
                        num(2 * Block));
    }
    Body += "if (g < n)\nout[g] = s[t]" +
            std::string(Second ? " + (" + T + ")value[t]" : "") + ";\n";
  }

  void butterfly() {
    begin();
    Body += sync();
    if (!Power || C.chance("fixed", 30)) { // a permutation
      static const char *const From[] = {"$B - 1 - t", "t ^ 1", "t / 2 * 2", "(t + 5) % $B",
                                         "t % 16 * ($B / 16) + t / 16", "t / 3", "t * 2 % $B",
                                         "(t * 7 + 3) % $B"};
      const std::string F = sub(From[C.pick("permutation", 8)], {{"B", Size}});
      Body += "for (" + I + " r = 0; r < 3; ++r) {\n" + T + " v = s[" + F +
              "];\n" + sync() + "s[t] = v;\n" + sync() + "}\n";
    } else if (C.chance("inPlace", 40)) {
      Body += distances(
          "const " + I + " p = t ^ d;\nif (p > t) {\n" + T +
              " a = s[t], b = s[p];\ns[t] = a + b;\ns[p] = a - b;\n}\n" +
              sync(),
          C.chance("doubling", 50));
    } else
      Body += distances(T + " a = s[t], b = s[t ^ d];\n" + sync() + "s[t] = (" +
                            "t & d) ? b - a : a + b;\n" + sync(),
                        C.chance("doubling", 50));
    Body += "if (g < n)\nout[g] = s[t];\n";
  }

  /// Steps from array to array: pointers that change places, two or three of them, or
  /// two that each round chooses. \p Element of a thread, what \p Value makes of an array
  /// whose threads are inside by \p If.
  void inTurn(const std::string &Extents, const std::string &Element, const std::string &If,
              std::string (*Value)(OwnedKernel &, const std::string &)) {
    const unsigned Way = C.weighted("inTurn", {35, 40, 25}), Rounds = 1 + C.pick("steps", 6);
    const size_t Last = Extents.find("][");
    const std::string To = Last == std::string::npos
                               ? T + " *"
                               : T + " (*",
                      Of = Last == std::string::npos ? "" : ")" + Extents.substr(Last + 1);
    const auto Pointer = [&](const std::string &Name, const std::string &At) {
      return std::string(Way == 1 && C.chance("constPointer", 40) ? "const " : "") + To + Name +
             Of + " = " + At + ";\n";
    };
    // Arrays of their own, or rows of one in some order, by these names as well.
    std::string At[] = {"s", "r", "q"};
    const std::string Declared = "__shared__ " + T + " s" + Extents + ";\n";
    if (const size_t Begin = Body.find(Declared);
        Begin != std::string::npos && C.chance("rowsOfOne", 30)) {
      const unsigned First = static_cast<unsigned>(C.pick("firstRow", 3));
      const bool Backwards = C.chance("rowsBackwards", 50);
      std::string Rows = "__shared__ " + T + " rows[3]" + Extents + ";\n";
      for (unsigned I = 0; I < 3; ++I) {
        const std::string Row = "rows[" + num((First + (Backwards ? 3 - I : I)) % 3) + "]";
        Rows += To + At[I] + Of + " = " + Row + ";\n";
        At[I] = Row;
      }
      Body.replace(Begin, Declared.size(), Rows);
    } else {
      Body += "__shared__ " + T + " r" + Extents + ";\n";
      if (Way == 2)
        Body += "__shared__ " + T + " q" + Extents + ";\n";
    }
    if (Way == 2)
      Body += "r" + Element + " = s" + Element + ";\n";
    Body += sync();
    std::string Round, Turn;
    if (Way == 1) {
      const std::string Odd = C.chance("modulo", 40) ? "k % 2 == 1" : "k & 1";
      const bool Turned = C.chance("turned", 30);
      const std::string Choose = Turned ? "!(" + Odd + ") ? " + At[0] + " : " + At[1]
                                        : Odd + " ? " + At[1] + " : " + At[0],
                        Other = "(" + Odd + ") ? " + At[0] + " : " + At[1];
      Round = Pointer("p", Choose) + To + "w" + Of + " = " + Other + ";\n";
    } else {
      std::vector<std::string> Names = {"p", "w"};
      Body += Pointer("p", At[0]) + Pointer("w", At[1]);
      if (Way == 2) {
        Body += Pointer("h", At[2]);
        Names.push_back("h");
        if (C.chance("backwards", 40))
          std::swap(Names[1], Names[2]);
      }
      Turn = To + "z" + Of + " = " + Names[0] + ";\n";
      for (size_t I = 0; I < Names.size(); ++I)
        Turn += Names[I] + " = " + (I + 1 < Names.size() ? Names[I + 1] : "z") + ";\n";
    }
    // (Of three, the last is written from the two before.)
    const std::string Into = Way == 2 ? "h" : "w";
    Round += Into + Element + " = p" + Element + ";\n" + If + Into + Element + " = " +
             Value(*this, Way == 2 ? "w" : "p") + ";\n" + sync();
    Body += "for (int k = 0; k < " + num(Rounds) + "; ++k) {\n" + Round + Turn + "}\n";
    const std::string From = Way == 1 ? Rounds % 2 ? "r" : "s" : C.chance("another", 30) ? "w" : "p";
    Body += "if (g < n)\nout[g] = " + From + Element +
            (Way != 1 && C.chance("byName", 30) ? " - s" + Element : "") + ";\n";
  }

  void stencil() {
    if (C.chance("pointers", 40)) {
      begin();
      return inTurn("[" + Size + "]", "[t]", "if (t >= 1 && t + 1 < " + Size + ")\n",
                    [](OwnedKernel &Of, const std::string &From) {
                      return Of.combined(From + "[t - 1]", From + "[t + 1]");
                    });
    }
    const bool Two = C.chance("twoArrays", 50);
    if (Two)
      Body += "__shared__ " + T + " next[" + Size + "];\n";
    begin();
    Body += sync();
    const std::string Steps = num(1 + C.pick("steps", 6));
    const bool Shrinks = C.chance("shrinks", 50);
    const std::string If = Shrinks ? "t >= r + 1 && t + r + 1 < " + Size
                                   : "t >= 1 && t + 1 < " + Size;
    const std::string Value = combined("s[t - 1]", "s[t + 1]");
    Body += "for (" + I + " r = 0; r < " + Steps + "; ++r) {\n";
    if (Two)
      Body += "next[t] = s[t];\nif (" + If + ")\nnext[t] = " + Value + ";\n" +
              sync() + "s[t] = next[t];\n" + sync();
    else
      Body += T + " v = s[t];\nif (" + If + ")\nv = " + Value + ";\n" + sync() +
              "s[t] = v;\n" + sync();
    Body += "}\nif (g < n)\nout[g] = s[t];\n";
  }

  //===--- Rows ---===//

  /// A row of n elements a block, a fold or two over it by trees, each used by all.
  void rowNorm() {
    Width = Block;
    Handed = 0; // one loop a fold
    if (!Power) {
      Block = 64;
      Width = Block;
      Size = num(Block);
      Power = true;
      Body = "__shared__ " + T + " s[" + Size + "];\n";
    }
    const bool Line = C.chance("line", 50), Wide = C.chance("wide", 20);
    Body += "const " + I + " t = threadIdx.x;\n";
    const std::string Base = (Wide ? "(size_t)" : "(" + I + ")") + std::string("blockIdx.x * n");
    if (Line)
      Body += "const " + T + " *const line = in + " + Base + ";\n";
    const std::string X = Line ? "line[i]" : "in[" + Base + " + i]",
                      Step = C.chance("stepOfBlockDim", 50) ? "blockDim.x" : Size;
    auto Over = [&](const std::string &Round) {
      if (C.chance("while", 15))
        return "{\n" + I + " i = t;\nwhile (i < n) {\n" + Round + "i += " + Step + ";\n}\n}\n";
      return "for (" + I + " i = t; i < n; i += " + Step + ") {\n" + Round + "}\n";
    };
    const unsigned Folds = 1 + C.pick("folds", 2);
    std::string Known;
    for (unsigned F = 0; F < Folds; ++F) {
      Choices::Scope Of(C, "fold" + num(F));
      const std::string V = F ? "second" : "first";
      std::string Value = X;
      if (F)
        Value = Products ? X + " * first" : X + " - first";
      else if (T != "int" && T != "long long" && C.chance("square", 25))
        Value = X + " * " + X;
      Body += T + " " + V + " = " + (Products ? "1" : "0") + ";\n" +
              Over(V + " = " + combined(V, "(" + T + ")(" + Value + ")") + ";\n") + "s[t] = " + V +
              ";\n" + roundsOfRow() +
              V + " = s[0]" + (C.chance("after", 30) ? Products ? " * 3" : " + 3" : "") + ";\n";
      if (F + 1 < Folds)
        Body += sync();
      Known += (Products ? " * " : " - ") + V;
    }
    if (C.chance("divided", 20) && Real)
      Body += Over("out[" + Base + " + i] = " + X + " / first;\n");
    else if (C.chance("alone", 25))
      Body += "if (t == 0)\nout[blockIdx.x] = first;\n";
    else
      Body += Over("out[" + Base + " + i] = " + X + Known + ";\n");
  }
  /// A tree over what the threads have put together of a row: rounds that end or begin with
  /// a barrier, and that do more than the tree, or name what they put together.
  std::string roundsOfRow() {
    std::string Step = "if (t < d)\ns[t] = " + combined("s[t]", "s[t + d]") + ";\n", Front;
    switch (C.weighted("round", {70, 15, 15})) {
    case 1: // all threads do something
      Front = "int rounds = 0;\n";
      Step += C.chance("countsAll", 60) ? "rounds += 1;\n" : "if (t >= d)\nrounds += 1;\n";
      break;
    case 2:
      Step = "const " + T + " other = t < d ? s[t + d] : (" + T + ")0;\nif (t < d)\ns[t] = " +
             combined("s[t]", "other") + ";\n";
      break;
    default:
      break;
    }
    const bool First = C.chance("barrierFirst", 25);
    std::string Text = (First ? "" : sync()) +
                       distances(First ? sync() + Step : Step + sync(), false) +
                       (First ? sync() : "");
    if (!Front.empty())
      Text += "if (rounds > 99)\ns[0] = 0;\n" + sync();
    return Front.empty() ? Text : "{\n" + Front + Text + "}\n";
  }

  /// A row a block, where finish() has a part of one row for each.
  void finishRows() {
    for (Param &P : K.Params)
      if (P.Kind == Param::In || P.Kind == Param::Out)
        P.Count = "(n + 1) * rows";
    unsigned Count = 0;
    for (Launch &L : K.Launches) {
      Choices::Scope Of(C, "rowsOf" + num(Count++));
      L.push_back({"rows", 1 + C.pick("rows", 6)});
    }
    K.GridX = "rows";
  }

  //===--- Elements at multiples of the thread's number ---===//

  /// Parts * Block elements, of which thread t uses those at multiples.
  void strided() {
    const bool Two = !Power || C.chance("twoElements", 75);
    const unsigned N = Two ? 2 * Block : Block;
    const std::string Of = num(N);
    Body = "__shared__ " + T + " s[" + Of + "];\n";
    const bool Halves = C.chance("halves", 50);
    const std::string First = Halves || !Two ? "t" : "2 * t",
                      Other = Halves ? "t + " + Size : "2 * t + 1";
    Body += "const " + I + " t = " + thread() + ";\nconst " +
            (C.chance("signedBase", 30) ? "int" : I) + " base = blockIdx.x * " + Of + ";\n";
    auto Stage = [&](const std::string &E) {
      return "s[" + E + "] = base + " + E + " < n ? in[base + " + E + "] : (" +
             T + ")" + (C.chance("neutral" + E, 70) ? "0" : "t") + ";\n";
    };
    if (Two && Halves && C.chance("stagedInLoop", 40))
      Body += ofBoth("staged", Of, Stage("e"), "");
    else
      Body += Stage(First) + (Two ? Stage(Other) : "");
    if (Power || C.chance("shiftedPairs", 30))
      switch (C.weighted("stridedKind", {26, 18, 20, 20, 24})) {
      case 4:
        if (Power && Two) {
          handedOn(Of);
          break;
        }
        [[fallthrough]];
      case 1:
        if (Power) {
          multiples(Of, Two);
          break;
        }
        [[fallthrough]];
      case 2:
        if (Power && Two) {
          inserted(Of);
          break;
        }
        [[fallthrough]];
      case 3:
        neighbourPairs(N);
        break;
      default:
        upAndDown(Of, Two);
      }
    else
      neighbourPairs(N);
    // Or stored in the threads' order what is not read in it.
    const bool Elsewhere = C.chance("otherPlaces", 30), Whole = C.chance("wholeBlocks", 40);
    const auto Store = [&](const std::string &Place, const std::string &E) {
      Body += (Whole ? "" : "if (base + " + Place + " < n)\n") + "out[base + " + Place +
              "] = s[" + E + "];\n";
    };
    if (Two && Halves && C.chance("storedInLoop", 40)) {
      Body += sync() + ofBoth("stored", Of, "out[base + e] = s[e];\n", "base + e < n");
      return;
    }
    Body += sync() + (Whole ? "if (base + " + Of + " <= n) {\n" : "");
    Store(Elsewhere ? "t" : First, First);
    if (Two)
      Store(Elsewhere ? "t + " + Size : Other, Other);
    Body += Whole ? "}\n" : "";
  }

  /// \p Does for both elements e of a thread, t and t + Block, where \p If holds.
  std::string ofBoth(const std::string &Name, const std::string &Of, const std::string &Does,
                     const std::string &If) {
    const std::string Guarded = If.empty() ? Does : "if (" + If + ")\n" + Does;
    if (C.chance(Name + "InRounds", 40))
      return "for (int r = 0; r < 2; ++r) {\nconst " + I + " e = t + " + Size + " * r;\n" +
             Guarded + "}\n";
    const bool InHead = !If.empty() && C.chance(Name + "InHead", 50);
    return "for (" + I + " e = t; e < " + Of + (InHead ? " && " + If : "") + "; e += " +
           (C.chance(Name + "OfBlockDim", 50) ? blockDim() : Size) + ") {\n" +
           (InHead ? Does : Guarded) + "}\n";
  }

  /// Scans after Blelloch and Brent.
  void upAndDown(const std::string &Of, bool Two) {
    const std::string Half = Two ? Size : num(Block / 2),
                      Ai = "o * (2 * t + 1) - 1", Bi = "o * (2 * t + 2) - 1";
    std::string Use = "s[b] = " + combined("s[b]", "s[a]") + ";\n";
    if (C.chance("plus", 50))
      Use = "s[b] += s[a];\n";
    const std::string Pair = "const " + I + " a = " + Ai + ";\nconst " + I +
                             " b = " + Bi + ";\n";
    Body += I + " o = 1;\nfor (" + I + " d = " + Half +
            "; d > 0; d >>= 1) {\n" + sync() + "if (t < d) {\n" + Pair + Use +
            "}\no *= 2;\n}\n";
    switch (C.pick("down", 3)) {
    case 0: // up alone
      return;
    case 1: // inclusive
      Body += "for (" + I + " d = " + Half + " / 2; d > 0; d /= 2) {\n" +
              sync() + "const " + I +
              " e = (t + 1) * d * 2 - 1;\nif (e + d < " + Of +
              ")\ns[e + d] = " + combined("s[e + d]", "s[e]") + ";\n}\n";
      return;
    default:
      Body += C.chance("syncZero", 40) ? sync() : "";
      Body += "if (t == 0)\ns[" + Of + " - 1] = 0;\nfor (" + I +
              " d = 1; d < " + Of + "; d *= 2) {\no >>= 1;\n" + sync() +
              "if (t < d) {\n" + Pair + T +
              " v = s[a];\ns[a] = s[b];\ns[b] " +
              (C.chance("plusDown", 60) ? "+= v" : "= " + combined("v", "s[b]")) +
              ";\n}\n}\n";
    }
  }

  /// What a thread has read stays its own behind a barrier, and goes to elements of other
  /// threads, all of it or where something holds: Stockham's steps, butterflies in place,
  /// wavelets down and up.
  void handedOn(const std::string &Of) {
    const std::string Read = sync() + T + " a = ", Made = C.chance("apart", 50)
        ? "const " + T + " x = a + b, y = a - b;\n" : "";
    const std::string X = Made.empty() ? "a + b" : "x", Y = Made.empty() ? "a - b" : "y";
    const auto If = [&](const std::string &Name) {
      static const char *const Conditions[] = {"", "if (a > b)\n", "if (t & 2)\n", "if (n > 7)\n"};
      return std::string(Conditions[C.weighted(Name, {60, 14, 13, 13})]);
    };
    switch (C.pick("handedOn", 4)) {
    case 0:
      Body += distances(Read + "s[t], b = s[t + " + Size + "];\n" + Made + sync() + "const " + I +
                            " o = t / d * d * 2 + t % d;\n" + If("low") + "s[o] = " + X + ";\n" +
                            If("high") + "s[o + d] = " + Y + ";\n",
                        C.chance("up", 70), "d", 1, Of);
      return;
    case 1:
      Body += distances("const " + I + " p = 2 * t - (t & (d - 1));\n" + Read + "s[p], b = s[p + d];\n" +
                            Made + sync() + If("low") + "s[p] = " + X + ";\n" + If("high") +
                            "s[p + d] = " + Y + ";\n",
                        C.chance("up", 50), "d", 1, Of);
      return;
    case 2:
      Body += distances(sync() + T + " a = 0, b = 0;\nif (t < d) {\na = s[2 * t];\nb = s[2 * t + 1];\n}\n" +
                            Made + sync() + "if (t < d) {\ns[t] = " + X + ";\ns[d + t] = " + Y +
                            ";\n}\n",
                        false, "d", 1, Of);
      return;
    default:
      Body += distances(sync() + T + " a = 0, b = 0;\nif (t < d) {\na = s[t];\nb = s[d + t];\n}\n" +
                            Made + sync() + "if (t < d) {\n" + If("low") + "s[2 * t] = " + X +
                            ";\ns[2 * t + 1] = " + Y + ";\n}\n",
                        true, "d", 1, Of);
    }
  }

  /// A tree from neighbours up.
  void multiples(const std::string &Of, bool Two) {
    const std::string D = C.chance("modulo", 40) && Two ? "m" : "i";
    std::string Step = "const " + I + " e = " +
                       (D == "m" ? "2 * t" : C.chance("dFirst", 50)
                                                 ? "2 * d * t"
                                                 : "t * 2 * d") +
                       ";\nif (" +
                       (D == "m" ? "t % d == 0" : "e + d < " + Of) +
                       ")\ns[e] = " + combined("s[e]", "s[e + d]") + ";\n";
    Body += "for (" + I + " d = 1; d < " + Of + "; d *= 2) {\n" + sync() + Step +
            "}\n";
  }

  /// Sorts and butterflies of pairs that one bit tells apart.
  void inserted(const std::string &Of) {
    const bool Sorts = C.chance("sorts", 60);
    const auto placed = [&](const std::string &Of) {
      return "const " + I + " p = 2 * " + Of + " - (" + Of + " & (d - 1));\n";
    };
    const auto read = [&] { return T + " a = s[p], b = s[p + d];\n"; };
    const std::string Pos = placed("t") + read();
    if (!Sorts) {
      Body += "for (" + I + " d = " +
              (C.chance("up", 50) ? "1; d < " + Of + "; d *= 2"
                                  : Of + " / 2; d > 0; d /= 2") +
              ") {\n" + sync() + Pos + "s[p] = a + b;\ns[p + d] = a - b;\n}\n";
      return;
    }
    const bool Outside = C.chance("outside", 60);
    // A number of the round's own, which the direction and the place are made of.
    const bool Own = !Outside && C.chance("ownNumber", 50);
    const std::string Up = "const " + std::string("int") + " up = (" + (Own ? "u" : "t") +
                           " & (k / 2)) != 0;\n";
    Body += "for (" + I + " k = 2; k <= " + Of + "; k *= 2) {\n" +
            (Outside ? Up : "") + "for (" + I + " d = k / 2; d > 0; d /= 2) {\n" +
            sync() + (Own ? I + " u = t;\n" : "") +
            (Outside ? Pos : C.chance("upFirst", 50) ? Up + Pos : placed(Own ? "u" : "t") + Up + read()) +
            "if ((a > b) == " + (C.chance("upIs", 50) ? "up" : "(up == 0)") +
            ") {\ns[p] = b;\ns[p + d] = a;\n}\n}\n}\n";
  }

  /// Neighbours, from an even or an odd element on.
  void neighbourPairs(unsigned N) {
    const std::string From = C.chance("even", 60) ? "2 * t" : "2 * t + 1";
    const bool Both = C.chance("both", 50);
    Body += "for (int r = 0; r < " + num(1 + C.pick("rounds", 4)) + "; ++r) {\n" +
            sync() + "const " + I + " e = " + From + ";\nif (e + 1 < " + num(N) +
            ") {\n" + T + " v = s[e];\n" +
            (Both ? "s[e] = s[e + 1];\ns[e + 1] = v;\n"
                  : "s[e] = " + combined("v", "s[e + 1]") + ";\n") +
            "}\n}\n";
  }

  //===--- Tiles ---===//

  /// s[y][x], in rows that may be padded: trees along x or y, their results for all
  /// of a row or column, steps of a stencil with clamped borders.
  void tile() {
    if (Width == Block)
      Width = Block % 16 == 0 ? 16 : 8;
    const unsigned Height = Block / Width;
    const std::string W = num(Width), H = num(Height),
                      Row = num(Width + (C.chance("paddedRow", 35) ? 1 : 0));
    const bool Two = C.chance("twoTiles", 50);
    Body = "__shared__ " + T + " s[" + H + "][" + Row + "]" +
           (Two ? ", r[" + H + "][" + Row + "]" : "") + ";\nconst " + I +
           " x = threadIdx.x, y = threadIdx.y;\nconst " + I +
           " g = blockIdx.x * " + Size + " + y * " + W + " + x;\n" +
           "s[y][x] = g < n ? in[g] : (" + T + ")0;\n" + sync();
    switch (C.weighted("tileKind", {30, 25, 45})) {
    case 0:
    case 1: {
      const bool Along = C.chance("alongX", 50);
      const std::string At = Along ? "x" : "y",
                        From = Along ? "s[y][x + d]" : "s[y + d][x]",
                        Of = num(Along ? Width : Height);
      Body += "for (" + I + " d = " + Of + " / 2; d > 0; d /= 2) {\nif (" + At +
              " < d)\ns[y][x] = " + combined("s[y][x]", From) + ";\n" + sync() +
              "}\n";
      const bool All = C.chance("forAll", 50);
      Body += "if (g < n" + (All ? "" : " && " + At + " == 0") + ")\nout[g] = " +
              (!All    ? "s[y][x]"
               : Along ? "in[g] - s[y][0]"
                       : "in[g] - s[0][x]") +
              ";\n";
      return;
    }
    default:
      break;
    }
    if (!Two && C.chance("pointers", 35))
      return inTurn("[" + H + "][" + Row + "]", "[y][x]",
                    "if (x > 0 && y > 0 && y < " + num(Height - 1) + ")\n",
                    [](OwnedKernel &Of, const std::string &From) {
                      return Of.combined(From + "[y - 1][x]", From + "[y + 1][x]") + " + " +
                             From + "[y][x - 1]";
                    });
    const bool Clamps = C.chance("clamps", 60);
    const std::string Last[] = {num(Width - 1), num(Height - 1)};
    if (Clamps)
      Body += "const " + I + " w = x > 0 ? x - 1 : 0, e = x < " + Last[0] +
              " ? x + 1 : " + Last[0] + ";\nconst " + I +
              " u = y > 0 ? y - 1 : 0, d = y < " + Last[1] + " ? y + 1 : " +
              Last[1] + ";\n";
    const std::string Near =
        Clamps ? combined("s[u][x]", "s[d][x]") + (C.chance("both", 50)
                                                       ? " + s[y][w] + s[y][e]"
                                                       : "")
               : combined("s[y - 1][x]", "s[y + 1][x]") + " + s[y][x - 1]";
    const std::string If =
        Clamps ? ""
               : "if (x > 0 && y > 0 && y < " + Last[1] + ")\n";
    Body += "for (" + I + " k = 0; k < " + num(1 + C.pick("steps", 5)) +
            "; ++k) {\n";
    if (Two)
      Body += "r[y][x] = s[y][x];\n" + If + "r[y][x] = " + Near + ";\n" + sync() +
              "s[y][x] = r[y][x];\n" + sync();
    else
      Body += T + " v = s[y][x];\n" + If + "v = " + Near + ";\n" + sync() +
              "s[y][x] = v;\n" + sync();
    Body += "}\nif (g < n)\nout[g] = s[y][x];\n";
  }

  /// `__shared__ volatile int s[64];`, as old code has it beside its barriers.
  void makeVolatile() {
    if (Called || Handed || Body.find("volatile") != std::string::npos ||
        Body.find(T + " *") != std::string::npos || Body.find("(*") != std::string::npos)
      return;
    const std::string Declared = "__shared__ " + T;
    for (size_t At = 0; (At = Body.find(Declared, At)) != std::string::npos;
         At += Declared.size() + 9)
      Body.replace(At, Declared.size(), "__shared__ volatile " + T);
  }

  /// Elements that statements of \p Text set, by another name: `{ auto &cell = s[t]; cell =
  /// 3; }`.
  static std::string throughReferences(const std::string &Text) {
    std::string Out;
    for (size_t From = 0; From < Text.size();) {
      const size_t End = Text.find('\n', From) + 1;
      std::string Line = Text.substr(From, End - From);
      From = End;
      size_t At = 2;
      for (int Depth = 1; Line.compare(0, 2, "s[") == 0 && At < Line.size() && Depth > 0; ++At)
        Depth += Line[At] == '[' ? 1 : Line[At] == ']' ? -1 : 0;
      if (At > 2 && (Line.compare(At, 3, " = ") == 0 || Line.compare(At, 4, " += ") == 0) &&
          Line.compare(Line.size() - 2, 2, ";\n") == 0)
        Line = "{\nauto &cell = " + Line.substr(0, At) + ";\ncell" + Line.substr(At) + "}\n";
      Out += Line;
    }
    return Out;
  }

  void finish() {
    if (C.chance("references", 12)) {
      Body = throughReferences(Body);
      Before = throughReferences(Before);
    }
    if (C.chance("volatile", 12))
      makeVolatile();
    K.Params = {
        {Param::In, T, "in", "n", "", true, C.chance("restrict", 60)},
        {Param::Out, T, "out", "n", "", false, C.chance("restrictOut", 60)},
        {Param::Scalar, I, "n", "", "n"}};
    if (Direction)
      K.Params.push_back({Param::Scalar, "int", "up", "", "off & 1"});
    std::string Params;
    for (const Param &P : K.Params)
      Params += (Params.empty() ? "" : ", ") + P.decl();
    K.Device =
        Before + "__global__ void " + K.Name + "(" + Params + ") {\n" + Body + "}\n";
    SizeForm Form;
    Form.Kind = SizeForm::Literal;
    Form.Block = Block;
    Form.Exact = true;
    K.Launches = lineLaunches(C, Form, 1, false);
    if (Width != Block) {
      for (Launch &L : K.Launches) {
        for (auto &[Name, Value] : L)
          if (Name == "bx")
            Value = Width;
        L.push_back({"by", Block / Width});
      }
      K.GridX = "(n + bx * by - 1) / (bx * by) + extra";
    }
    K.OnNvcc = C.chance("onNvcc", 30);
  }
};

} // namespace

KernelText ownedKernel(Choices &C, const std::string &Name) {
  return OwnedKernel(C, Name).run();
}

} // namespace rcache::fuzz
