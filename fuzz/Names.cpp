// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Names.h.

#include "Names.h"
#include "Grammar.h"

namespace rcache::fuzz {

static bool isWordChar(char Ch) {
  return isalnum(static_cast<unsigned char>(Ch)) || Ch == '_';
}

static size_t findWord(const std::string &Text, const std::string &Word,
                       size_t From) {
  for (size_t At = Text.find(Word, From); At != std::string::npos;
       At = Text.find(Word, At + 1)) {
    const size_t End = At + Word.size();
    // A member of that name is another one.
    const bool Before =
        At == 0 || (!isWordChar(Text[At - 1]) && Text[At - 1] != '.');
    if (Before && (End == Text.size() || !isWordChar(Text[End])))
      return At;
  }
  return std::string::npos;
}

std::string replaceWord(const std::string &Text, const std::string &From,
                        const std::string &To) {
  std::string Out = Text;
  for (size_t At = findWord(Out, From, 0); At != std::string::npos;
       At = findWord(Out, From, At + To.size()))
    Out.replace(At, From.size(), To);
  return Out;
}

/// A name of the pool that the statement does not use.
std::string Names::Block::free(Choices &C, const std::string &Stem) const {
  static const char *const Pool[] = {"v",    "e",  "at",  "x",
                                     "here", "it", "own", "lo"};
  const unsigned First = C.pick(Stem, 8);
  for (unsigned I = 0; I < 8; ++I) {
    const std::string N = Pool[(First + I) % 8];
    if (findWord(Open + Close + " " + this->I + " " + V + " " + Pattern, N,
                 0) == std::string::npos)
      return N;
  }
  return Stem + "_all_taken";
}

void Names::once(const std::string &Mark, const std::string &Text) {
  if (Before.find(Mark) == std::string::npos)
    Before += sub(Text, {{"K", Kernel}, {"T", Type}});
}

void Names::typeAlias(Block &B) {
  static const char *const Aliases[] = {
      "using $E = $T;",
      "typedef $T $E;",
      "using $E = decltype($T());",
      "using $E = types_$K::element;",
      "using $E = types_$K::of<int, $T>::type;",
      "using types_$K::element;",
      "typedef decltype($T(1) * $T(1)) $E;"};
  const unsigned F = C.pick("alias", 7);
  if (F >= 3 && F <= 5)
    once("types_" + Kernel, "namespace types_$K {\nusing element = "
                            "$T;\ntemplate <class A, class B> "
                            "struct of {\n  using type = B;\n};\n}\n");
  const std::string E =
      F == 5 ? "element" : std::string(C.chance("upper", 60) ? "E" : "element");
  B.Open +=
      "{\n" + sub(Aliases[F], {{"E", E}, {"T", Type}, {"K", Kernel}}) + "\n";
  B.Close = "}\n" + B.Close;
  if (C.chance("variable", 50)) {
    const std::string N = B.free(C, "name");
    B.Open += "const " + E + " " + N + " = " + B.V + ";\n";
    B.V = N;
  } else
    B.V = E + "(" + B.V + ")";
}

/// A function that a block sees another one of.
void Names::hidingFunction(Block &B) {
  once("tools_" + Kernel, "__device__ $T twist_$K($T v) { return v + v; "
                          "}\nnamespace tools_$K {\nnamespace deep {\n"
                          "__device__ inline $T twist_$K($T v) { return v; "
                          "}\n__device__ inline int place_$K(int i) { "
                          "return i; }\n}\n__device__ inline $T place_$K($T v) "
                          "{ return v - v; }\n}\n");
  unsigned F = C.pick("function", 5);
  if (F == 0 &&
      Type == "__half") // a struct of the global namespace: both are found
    F = 1;
  static const char *const Says[] = {
      "using tools_$K::deep::twist_$K;", "namespace here = tools_$K::deep;",
      "using namespace tools_$K::deep;", "namespace here = ::tools_$K;",
      "using tools_$K::deep::place_$K;"};
  B.Open += "{\n" + sub(Says[F], {{"K", Kernel}}) + "\n";
  B.Close = "}\n" + B.Close;
  const std::string Twist = "twist_" + Kernel, Place = "place_" + Kernel;
  if (F == 0)
    B.V = Twist + "(" + B.V + ")";
  else if (F == 1)
    B.V = "here::" + Twist + "(" + B.V + ")";
  else if (F == 3)
    B.I = "here::deep::" + Place + "(" + B.I + ")";
  else
    B.I = Place + "(" + B.I + ")";
}

void Names::localStruct(Block &B) {
  const std::string N = B.free(C, "name");
  static const char *const Structs[] = {
      "struct Both_$N {\n  int i;\n  $T w;\n};\nconst Both_$N $N = {(int)($I), "
      "$T($V)};\n",
      "struct {\n  $T w;\n  int i;\n} $N = {$T($V), (int)($I)};\n",
      "struct Both_$N {\n  int i;\n  $T w;\n  __device__ int place() const { "
      "return i; }\n};\nBoth_$N "
      "$N{(int)($I), $T($V)};\n",
      "struct Both_$N {\n  using element = $T;\n  enum { less = 2 };\n  int "
      "i;\n  "
      "element w;\n};\nBoth_$N "
      "$N;\n$N.i = $I + Both_$N::less;\n$N.w = $V;\n"};
  const unsigned F = C.pick("struct", 4);
  B.Open +=
      "{\n" + sub(Structs[F], {{"N", N}, {"T", Type}, {"I", B.I}, {"V", B.V}});
  B.Close = "}\n" + B.Close;
  static const char *const Indices[] = {"$N.i", "$N.i", "$N.place()",
                                        "$N.i - Both_$N::less"};
  B.I = sub(Indices[F], {{"N", N}});
  B.V = N + ".w";
}

/// A local of the kernel's is another variable in here.
void Names::shadow(Block &B) {
  const std::string L =
      Locals[C.pick("local", static_cast<unsigned>(Locals.size()))];
  const std::string N = B.free(C, "name");
  static const char *const Types[] = {"const int", "int", "const long long",
                                      "const auto"};
  const std::string T = Types[C.pick("type", 4)];
  B.Open += "{\nconst int " + N + " = " + L + ";\n{\n";
  B.Close = "}\n}\n" + B.Close;
  // What stands here may have a variable of that name itself.
  const bool Blocks = B.Pattern.find('{') != std::string::npos;
  if (C.chance("same", 40) || Blocks) {
    B.Open += T + " " + L + " = " + N + ";\n";
    return;
  }
  // It has another value, which what stands here takes into account.
  const std::string D = num(1 + C.pick("distance", 5)),
                    Now = "(" + L + " - " + D + ")";
  B.Open += T + " " + L + " = " + N + " + " + D + ";\n";
  for (std::string *S : {&B.I, &B.V, &B.Pattern})
    *S = replaceWord(*S, L, Now);
}

void Names::initStatement(Block &B) {
  const std::string N = B.free(C, "name");
  static const char *const Heads[] = {
      "if (const int $N = $I; $N >= 0) {\n",
      "switch (const int $N = $I; $N & 0) {\ndefault:\n",
      "if (const $T $N = $V; true) {\n",
      "for (const int $N : {(int)($I)}) {\n",
      "if (int $N[2] = {1, (int)($I)}; $N[0]) {\n",
      "switch (const $T $N = $V; 1) {\ndefault: {\n"};
  const unsigned F = C.pick("init", 6);
  B.Open += sub(Heads[F], {{"N", N}, {"T", Type}, {"I", B.I}, {"V", B.V}});
  B.Close = (F == 5 ? "}\n}\n" : "}\n") + B.Close;
  (F == 2 || F == 5 ? B.V : B.I) = F == 4 ? N + "[1]" : N;
}

void Names::constant(Block &B) {
  const std::string N = B.free(C, "name");
  static const char *const Says[] = {
      "constexpr int $N = 3;", "enum { $N = 3 };",
      "static constexpr int $N = 3;",
      "enum class By : int { one = 3 };\nconstexpr By $N = By::one;"};
  const unsigned F = C.pick("constant", 4);
  B.Open += "{\n" + sub(Says[F], {{"N", N}}) + "\n";
  B.Close = "}\n" + B.Close;
  B.I = B.I + " + " + (F == 3 ? "int(" + N + ")" : N) + " - 3";
}

std::string Names::wrapped(const std::string &Where, Block B, unsigned Depth) {
  static const char *const Forms[] = {"type alias",     "hiding function",
                                      "local struct",   "shadowed local",
                                      "init-statement", "constant"};
  Choices::Scope Sc(C, Where);
  // No using-declarations inside of one another: their names would be the same.
  const unsigned F = C.weighted("names", {22, Depth ? 0u : 20u, 15, 20, 15, 8});
  Used.push_back(Forms[F]);
  if (F == 0)
    typeAlias(B);
  else if (F == 1)
    hidingFunction(B);
  else if (F == 2)
    localStruct(B);
  else if (F == 3)
    shadow(B);
  else if (F == 4)
    initStatement(B);
  else
    constant(B);
  if (Depth < 2 && C.chance("inside", 30))
    return wrapped("inside", B, Depth + 1);
  std::string S = B.Pattern;
  for (size_t At; (At = S.find("@I")) != std::string::npos;)
    S.replace(At, 2, B.I);
  for (size_t At; (At = S.find("@V")) != std::string::npos;)
    S.replace(At, 2, B.V);
  return B.Open + S + B.Close;
}

std::string Names::assign(const std::string &Where, const std::string &Pattern,
                          const std::string &I, const std::string &V) {
  if (C.chance(Where + "Named", Odd))
    return wrapped(Where + "Names", {"", "", Pattern, I, V}, 0);
  std::string S = Pattern;
  for (size_t At; (At = S.find("@I")) != std::string::npos;)
    S.replace(At, 2, I);
  for (size_t At; (At = S.find("@V")) != std::string::npos;)
    S.replace(At, 2, V);
  return S;
}

std::string Names::around(const std::string &Where, const std::string &S) {
  if (!C.chance(Where + "Named", Odd))
    return S;
  Choices::Scope Sc(C, Where + "Names");
  Block B{"", "", S, "0", Type + "(0)"};
  if (C.chance("shadow", 60) && !Locals.empty()) {
    Used.push_back("shadowed local");
    shadow(B);
  } else {
    Used.push_back("init-statement");
    initStatement(B);
  }
  return B.Open + B.Pattern + B.Close;
}

} // namespace rcache::fuzz
