// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PtxModule.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

#include <map>
#include <optional>
#include <tuple>

using namespace llvm;

namespace rcache::check {

namespace {

bool isWord(char C) { return isAlnum(C) || C == '_' || C == '$' || C == '%'; }

class Reader {
public:
  Reader(LLVMContext &Context, const PtxText &Ptx)
      : C(Context), M(std::make_unique<Module>("ptx", Context)), DI(*M),
        B(Context), Text(Ptx.Text), Links(Ptx.Links) {}

  std::unique_ptr<Module> run(std::string &Error);

private:
  struct ParamDecl {
    std::string Name;
    Type *Scalar = nullptr; ///< null: bytes
    uint64_t Size = 0;      ///< bytes
    unsigned Align = 1;
  };
  struct FunctionDecl {
    Function *F = nullptr;
    std::vector<ParamDecl> Params, Results;
  };

  // --- text
  void skipSpace();
  bool at(StringRef Word) const { return rest().starts_with(Word); }
  StringRef rest() const { return Text.drop_front(Pos); }
  bool eat(StringRef Word);
  StringRef word();     ///< a name, or a directive with its dots
  StringRef line();     ///< what is left of the line
  StringRef until(char End); ///< and behind it
  bool fail(const Twine &Why);

  // --- declarations
  Type *typeNamed(StringRef Name);
  bool parameters(std::vector<ParamDecl> &Out);
  bool declaration(ParamDecl &Out, bool &Extern, std::string *Initial);
  bool variable(StringRef Space, bool Extern);
  Constant *initialiser(const ParamDecl &D, StringRef List);
  bool function(bool Entry);
  void file();
  void location();

  // --- bodies
  bool body(FunctionDecl &D);
  bool statement();
  bool instruction(StringRef S);
  bool call(StringRef S);
  bool plain(StringRef Mnemonic, ArrayRef<StringRef> Args);
  std::vector<StringRef> operands(StringRef S);
  BasicBlock *block(StringRef Label);
  AllocaInst *registerNamed(StringRef Name);
  Value *symbol(StringRef Name);
  AllocaInst *local(Type *T, unsigned Align, const Twine &Name);
  void startBlock(BasicBlock *BB);

  LLVMContext &C;
  std::unique_ptr<Module> M;
  DIBuilder DI;
  IRBuilder<> B;
  StringRef Text;
  ArrayRef<std::pair<std::string, std::string>> Links; ///< of PtxText
  size_t Pos = 0;
  std::string Error;

  std::map<std::string, FunctionDecl> Functions;
  std::map<std::string, GlobalVariable *> Variables;
  std::vector<std::pair<GlobalVariable *, std::pair<ParamDecl, std::string>>>
      Initials; ///< to be read when all names are known
  std::map<unsigned, DIFile *> Files;
  DIFile *AnyFile = nullptr;
  DICompileUnit *Unit = nullptr;

  // Of the function being read.
  Function *F = nullptr;
  FunctionDecl *Decl = nullptr;
  struct Scope {
    StringMap<Type *> Names, Prefixes;
    StringMap<AllocaInst *> Registers;
    StringMap<std::pair<Value *, ParamDecl>> Memory; ///< parameters, depots
    StringMap<std::vector<std::string>> Targets;     ///< of brx
  };
  std::vector<Scope> Scopes;
  StringMap<BasicBlock *> Labels;
  DISubprogram *Subprogram = nullptr;
  std::map<unsigned, DISubprogram *> Inlined; ///< by file
  /// What has been said of file, line and column: a call that was inlined names
  /// a place, and the calls around that stand with it.
  DenseMap<std::tuple<unsigned, unsigned, unsigned>, DILocation *> Places;
};

bool Reader::fail(const Twine &Why) {
  if (Error.empty()) {
    size_t Line = 1 + Text.take_front(Pos).count('\n');
    Error = (Why + " (line " + Twine(Line) + " of the PTX)").str();
  }
  return false;
}

void Reader::skipSpace() {
  while (Pos < Text.size()) {
    if (isSpace(Text[Pos])) {
      ++Pos;
    } else if (at("//")) {
      Pos = std::min(Text.find('\n', Pos), Text.size());
    } else if (at("/*")) {
      size_t End = Text.find("*/", Pos);
      Pos = End == StringRef::npos ? Text.size() : End + 2;
    } else {
      return;
    }
  }
}

bool Reader::eat(StringRef W) {
  skipSpace();
  if (!at(W))
    return false;
  Pos += W.size();
  return true;
}

StringRef Reader::word() {
  skipSpace();
  size_t From = Pos;
  while (Pos < Text.size() && (isWord(Text[Pos]) || Text[Pos] == '.'))
    ++Pos;
  return Text.slice(From, Pos);
}

StringRef Reader::line() {
  size_t End = std::min(Text.find('\n', Pos), Text.size());
  StringRef L = Text.slice(Pos, End);
  Pos = End;
  return L;
}

StringRef Reader::until(char End) {
  size_t From = Pos, I = Pos;
  for (; I < Text.size() && Text[I] != End; ++I)
    if (Text[I] == '"') // texts may hold anything
      I = std::min(Text.find('"', I + 1), Text.size() - 1);
  Pos = std::min(I + 1, Text.size());
  return Text.slice(From, I);
}

Type *Reader::typeNamed(StringRef Name) {
  Name.consume_front(".");
  return StringSwitch<Type *>(Name)
      .Case("pred", Type::getInt1Ty(C))
      .Cases({"b8", "u8", "s8"}, Type::getInt8Ty(C))
      .Cases({"b16", "u16", "s16", "f16", "bf16"}, Type::getInt16Ty(C))
      .Cases({"b32", "u32", "s32", "f16x2", "bf16x2"}, Type::getInt32Ty(C))
      .Cases({"b64", "u64", "s64"}, Type::getInt64Ty(C))
      .Case("b128", Type::getInt128Ty(C))
      .Case("f32", Type::getFloatTy(C))
      .Case("f64", Type::getDoubleTy(C))
      .Default(nullptr);
}

/// ".align 8 .b8 name[32]", ".u64 .ptr .align 1 name", ".u32 name = 3"
bool Reader::declaration(ParamDecl &Out, bool &Extern, std::string *Initial) {
  Type *T = nullptr;
  for (;;) {
    StringRef W = word();
    if (W.empty())
      return fail("a declaration of an unknown form");
    if (W == ".align") {
      if (word().getAsInteger(10, Out.Align))
        return fail("an alignment of an unknown form");
    } else if (W == ".ptr" || W == ".global" || W == ".const" ||
               W == ".shared" || W == ".local") {
      continue;
    } else if (W == ".attribute") {
      until(')');
    } else if (W.starts_with(".")) {
      T = typeNamed(W);
      if (!T)
        return fail("the type '" + W + "'");
    } else {
      Out.Name = W.str();
      break;
    }
  }
  if (!T)
    return fail("a declaration without a type");
  const DataLayout DL("");
  const uint64_t Each = T->isIntegerTy(1) ? 1 : T->getPrimitiveSizeInBits() / 8;
  Out.Size = Each;
  Out.Scalar = T;
  Out.Align = std::max<unsigned>(Out.Align, std::min<uint64_t>(Each, 16));
  Extern = false;
  while (eat("[")) {
    StringRef N = until(']').trim();
    uint64_t Count = 0;
    if (N.empty())
      Extern = true; // the launch gives its size
    else if (N.getAsInteger(0, Count))
      return fail("a size of an unknown form");
    Out.Size *= Count;
    Out.Scalar = nullptr;
  }
  skipSpace();
  if (Initial && eat("="))
    *Initial = (T->isIntegerTy(8) ? "1" : std::to_string(Each)) + ":" +
               until(';').trim().str();
  return true;
}

bool Reader::parameters(std::vector<ParamDecl> &Out) {
  if (!eat("("))
    return fail("no parameter list");
  while (!eat(")")) {
    eat(",");
    if (!eat(".param"))
      return fail("a parameter of an unknown form");
    ParamDecl P;
    bool Unused;
    if (!declaration(P, Unused, nullptr))
      return false;
    Out.push_back(std::move(P));
  }
  return true;
}

/// "1:{0, 0, 128, 63}", "8:generic(counter)": numbers, addresses.
Constant *Reader::initialiser(const ParamDecl &D, StringRef List) {
  uint64_t Each = 1;
  List.consumeInteger(10, Each);
  List.consume_front(":");
  List = List.trim();
  List.consume_front("{");
  List.consume_back("}");
  SmallVector<StringRef, 16> Items;
  List.split(Items, ',', -1, false);
  SmallVector<Constant *, 16> Values;
  Type *Int = Type::getIntNTy(C, Each * 8);
  bool Plain = true;
  for (StringRef S : Items) {
    S = S.trim();
    S.consume_front("{");
    S.consume_back("}");
    int64_t N;
    uint64_t Bits;
    if (S.starts_with_insensitive("0f") || S.starts_with_insensitive("0d")) {
      if (S.drop_front(2).getAsInteger(16, Bits))
        return nullptr;
      Values.push_back(ConstantInt::get(Int, Bits));
      continue;
    }
    StringRef Digits = S;
    Digits.consume_back("U");
    if (!Digits.getAsInteger(0, N)) {
      Values.push_back(ConstantInt::getSigned(Int, N));
      continue;
    }
    if (!Digits.getAsInteger(0, Bits)) {
      Values.push_back(ConstantInt::get(Int, Bits));
      continue;
    }
    if (S.consume_front("generic("))
      S.consume_back(")");
    auto [Name, Plus] = S.split('+');
    Name = Name.trim();
    Name.consume_back(")");
    int64_t Offset = 0;
    if (!Plus.empty() && Plus.trim().getAsInteger(0, Offset))
      return nullptr;
    auto It = Variables.find(Name.str());
    if (It == Variables.end() || Each != 8)
      return nullptr;
    Constant *A = ConstantExpr::getAddrSpaceCast(It->second,
                                                 PointerType::get(C, 0));
    if (Offset)
      A = ConstantExpr::getGetElementPtr(
          Type::getInt8Ty(C), A,
          ConstantInt::getSigned(Type::getInt64Ty(C), Offset));
    Values.push_back(A);
    Plain = false;
  }
  const uint64_t Count = D.Size / Each;
  if (Values.size() > Count)
    return nullptr;
  while (Values.size() < Count)
    Values.push_back(ConstantInt::get(Int, 0));
  if (Plain)
    return ConstantArray::get(ArrayType::get(Int, Count), Values);
  return ConstantStruct::getAnon(C, Values);
}

bool Reader::variable(StringRef Space, bool Extern) {
  ParamDecl D;
  bool Open = false;
  std::string Initial;
  if (!declaration(D, Open, &Initial))
    return false;
  if (Initial.empty() && !eat(";"))
    return fail("a variable of an unknown form");
  const unsigned AS = Space == ".shared" ? 3 : Space == ".const" ? 4 : 1;
  Type *T = ArrayType::get(Type::getInt8Ty(C), D.Size);
  GlobalVariable *&G = Variables[D.Name];
  if (G && !G->isDeclaration())
    return true; // extern after its definition
  std::string Name = D.Name;
  if (StringRef(Name).starts_with("$str"))
    Name = "." + Name.substr(1);
  auto *New = new GlobalVariable(
      *M, T, false, GlobalValue::ExternalLinkage,
      Extern || (AS == 3 && Open) ? nullptr
      : AS == 3 ? static_cast<Constant *>(UndefValue::get(T))
                : Constant::getNullValue(T),
      Name, nullptr, GlobalValue::NotThreadLocal, AS);
  New->setAlignment(Align(std::max(1u, D.Align)));
  G = New;
  if (!Initial.empty())
    Initials.push_back({New, {D, Initial}});
  return true;
}

void Reader::file() { // .file 1 "name", time, size
  StringRef L = line().trim();
  unsigned N;
  if (L.consumeInteger(10, N))
    return;
  std::string Name = L.split('"').second.split('"').first.str();
  for (auto &[Link, File] : Links)
    if (StringRef(Name).starts_with(Link)) {
      Name.replace(0, Link.size(), File);
      break;
    }
  // A name relative to the working directory is shorter to read, but this one
  // is what nvcc wrote.
  Files[N] = DI.createFile(Name, "");
  if (!AnyFile)
    AnyFile = Files[N];
}

bool Reader::function(bool Entry) {
  FunctionDecl D;
  skipSpace();
  if (!Entry && at("(") && !parameters(D.Results))
    return false;
  std::string Name = word().str();
  skipSpace();
  if (at("(") && !parameters(D.Params))
    return false;
  std::string MaxThreads;
  for (;;) {
    skipSpace();
    if (at("{") || at(";"))
      break;
    StringRef W = word();
    if (W == ".maxntid" || W == ".reqntid")
      MaxThreads = rest()
                       .take_until([](char C) { return C == '\n'; })
                       .trim()
                       .str();
    else if (!W.starts_with("."))
      return fail("a function of an unknown form");
    // Numbers behind a directive; some have none.
    Pos += rest().take_while([](char C) {
                   return isDigit(C) || C == ' ' || C == '\t' || C == ',' ||
                          C == '"' || C == '-';
                 }).size();
  }
  FunctionDecl &Known = Functions[Name];
  if (!Known.F) {
    SmallVector<Type *, 8> Types;
    for (const ParamDecl &P : D.Params)
      Types.push_back(P.Scalar ? P.Scalar : PointerType::get(C, 0));
    if (D.Results.size() > 1)
      return fail("several results");
    Type *R = D.Results.empty() ? Type::getVoidTy(C)
              : D.Results[0].Scalar
                  ? D.Results[0].Scalar
                  : ArrayType::get(Type::getInt8Ty(C), D.Results[0].Size);
    // As the lowering knows them.
    Type *Ptr = PointerType::get(C, 0), *I32 = Type::getInt32Ty(C),
         *I64 = Type::getInt64Ty(C);
    if (Name == "vprintf")
      Types = {Ptr, Ptr};
    else if (Name == "malloc")
      R = Ptr;
    else if (Name == "free")
      Types = {Ptr};
    else if (Name == "__assertfail")
      Types = {Ptr, Ptr, I32, Ptr, I64};
    Known.F = Function::Create(FunctionType::get(R, Types, false),
                               GlobalValue::ExternalLinkage, Name, M.get());
    for (size_t I = 0; I < D.Params.size(); ++I)
      if (!D.Params[I].Scalar) {
        Known.F->addParamAttr(
            I, Attribute::getWithByValType(
                   C, ArrayType::get(Type::getInt8Ty(C), D.Params[I].Size)));
        Known.F->addParamAttr(I, Attribute::getWithAlignment(
                                     C, Align(std::max(1u, D.Params[I].Align))));
      }
    if (Entry) {
      Known.F->setCallingConv(CallingConv::PTX_Kernel);
      if (!MaxThreads.empty())
        Known.F->addFnAttr("nvvm.maxntid", MaxThreads);
    }
  }
  Known.Params = D.Params;
  Known.Results = D.Results;
  if (eat(";"))
    return true;
  eat("{");
  return body(Known);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

AllocaInst *Reader::local(Type *T, unsigned Al, const Twine &Name) {
  BasicBlock &Entry = F->getEntryBlock();
  auto *A = new AllocaInst(T, 0, nullptr, Align(std::max(1u, Al)), Name,
                           Entry.begin());
  return A;
}

AllocaInst *Reader::registerNamed(StringRef Name) {
  for (size_t I = Scopes.size(); I-- > 0;) {
    Scope &S = Scopes[I];
    if (auto It = S.Registers.find(Name); It != S.Registers.end())
      return It->second;
    Type *T = S.Names.lookup(Name);
    if (!T)
      T = S.Prefixes.lookup(Name.rtrim("0123456789"));
    if (T)
      return S.Registers[Name] = local(T, 1, "");
  }
  return nullptr;
}

/// The address that a name stands for, as a number of 64 bits; null if it
/// stands for none.
Value *Reader::symbol(StringRef Name) {
  for (size_t I = Scopes.size(); I-- > 0;)
    if (auto It = Scopes[I].Memory.find(Name); It != Scopes[I].Memory.end())
      return B.CreatePtrToInt(It->second.first, B.getInt64Ty());
  if (auto It = Variables.find(Name.str()); It != Variables.end())
    return ConstantExpr::getPtrToInt(It->second, B.getInt64Ty());
  return nullptr;
}

BasicBlock *Reader::block(StringRef Label) {
  BasicBlock *&BB = Labels[Label];
  if (!BB)
    BB = BasicBlock::Create(C, "", F);
  return BB;
}

void Reader::startBlock(BasicBlock *BB) {
  if (!B.GetInsertBlock()->getTerminator())
    B.CreateBr(BB);
  B.SetInsertPoint(BB);
}

/// .loc file line column[, function_name label, inlined_at file line column]
void Reader::location() {
  SmallVector<StringRef, 12> W;
  StringRef L = line();
  SplitString(L, W, " \t,");
  unsigned N[3];
  auto Read = [&](size_t At) {
    for (unsigned I = 0; I < 3; ++I)
      if (At + I >= W.size() || W[At + I].getAsInteger(10, N[I]))
        return false;
    return Files.count(N[0]) != 0;
  };
  if (!F || !Read(0))
    return;
  const unsigned File = N[0], Line = N[1], Column = N[2];
  if (!Line) // what the compiler made belongs to nothing
    return;
  if (!Subprogram) {
    DISubroutineType *T =
        DI.createSubroutineType(DI.getOrCreateTypeArray({}));
    Subprogram = DI.createFunction(Unit, F->getName(), F->getName(),
                                   Files[File], Line, T, Line, DINode::FlagZero,
                                   DISubprogram::SPFlagDefinition);
    F->setSubprogram(Subprogram);
  }
  auto ScopeOf = [&](unsigned File) -> DIScope * {
    if (Files[File] == Subprogram->getFile())
      return Subprogram;
    return DI.createLexicalBlockFile(Subprogram, Files[File]);
  };
  for (size_t I = 3; I < W.size(); ++I)
    if (W[I] == "inlined_at" && Read(I + 1)) {
      DILocation *Call = Places.lookup({N[0], N[1], N[2]});
      unsigned Depth = 0; // functions that call themselves have no end
      for (DILocation *L = Call; L; L = L->getInlinedAt())
        ++Depth;
      if (!Call || Depth > 12)
        Call = DILocation::get(C, N[1], N[2], ScopeOf(N[0]));
      DISubprogram *&S = Inlined[File];
      if (!S)
        S = DI.createFunction(Unit, "", "", Files[File], Line,
                              DI.createSubroutineType(
                                  DI.getOrCreateTypeArray({})),
                              Line, DINode::FlagZero,
                              DISubprogram::SPFlagDefinition);
      DILocation *Place = DILocation::get(C, Line, Column, S, Call);
      Places[{File, Line, Column}] = Place;
      B.SetCurrentDebugLocation(Place);
      return;
    }
  DILocation *Place = DILocation::get(C, Line, Column, ScopeOf(File));
  Places[{File, Line, Column}] = Place;
  B.SetCurrentDebugLocation(Place);
}

std::vector<StringRef> Reader::operands(StringRef S) {
  std::vector<StringRef> Out;
  int Depth = 0;
  size_t From = 0;
  for (size_t I = 0; I <= S.size(); ++I) {
    if (I == S.size() || (S[I] == ',' && !Depth)) {
      if (StringRef P = S.slice(From, I).trim(); !P.empty())
        Out.push_back(P);
      From = I + 1;
      continue;
    }
    Depth += S[I] == '{' || S[I] == '[' || S[I] == '(';
    Depth -= S[I] == '}' || S[I] == ']' || S[I] == ')';
  }
  return Out;
}

/// call[.uni] [(result),] name[, (arguments)]
bool Reader::call(StringRef S) {
  std::vector<StringRef> Ops = operands(S);
  auto List = [&](StringRef P) {
    P.consume_front("(");
    P.consume_back(")");
    return operands(P);
  };
  StringRef Result;
  size_t I = 0;
  if (I < Ops.size() && Ops[I].starts_with("(")) {
    auto R = List(Ops[I++]);
    if (R.size() == 1)
      Result = R[0];
  }
  if (I >= Ops.size())
    return fail("a call of an unknown form");
  auto Callee = Functions.find(Ops[I++].str());
  if (Callee == Functions.end())
    return fail("a call through a pointer");
  std::vector<StringRef> Names;
  if (I < Ops.size())
    Names = List(Ops[I++]);
  if (I != Ops.size() || Names.size() != Callee->second.Params.size())
    return fail("a call of an unknown form");
  Function *To = Callee->second.F;
  SmallVector<Value *, 8> Args;
  for (size_t N = 0; N < Names.size(); ++N) {
    Value *P = nullptr;
    for (size_t K = Scopes.size(); K-- > 0 && !P;)
      P = Scopes[K].Memory.lookup(Names[N]).first;
    Type *T = To->getFunctionType()->getParamType(N);
    if (P)
      Args.push_back(Callee->second.Params[N].Scalar
                         ? B.CreateAlignedLoad(T, P, Align(1))
                         : P);
    else if (AllocaInst *R = registerNamed(Names[N]))
      Args.push_back(B.CreateLoad(R->getAllocatedType(), R));
    else
      return fail("an argument of an unknown form");
    if (Args.back()->getType() != T)
      return fail("an argument of another type");
  }
  CallInst *Call = B.CreateCall(To, Args);
  for (unsigned N = 0; N < Names.size(); ++N)
    if (!Callee->second.Params[N].Scalar)
      Call->addParamAttr(N, To->getParamAttribute(N, Attribute::ByVal));
  if (To->getReturnType()->isVoidTy())
    return true;
  if (Result.empty() || Result == "_")
    return true;
  Value *P = nullptr;
  for (size_t K = Scopes.size(); K-- > 0 && !P;)
    P = Scopes[K].Memory.lookup(Result).first;
  if (!P)
    return fail("a result of an unknown form");
  B.CreateAlignedStore(Call, P, Align(1));
  return true;
}

/// As inline PTX: registers and addresses are operands, all else is text.
bool Reader::plain(StringRef Mnemonic, ArrayRef<StringRef> Args) {
  StringRef Name = Mnemonic.split('.').first;
  const bool Writes =
      !StringSwitch<bool>(Name)
           .Cases({"st", "red", "membar", "fence", "trap", "brkpt", "prefetch",
                   "prefetchu", "cp", "nanosleep", "pmevent", "discard",
                   "applypriority", "setmaxnreg", "griddepcontrol"},
                  true)
           .Cases({"bar", "barrier"}, !Mnemonic.contains(".red"))
           .Default(false);
  SmallVector<AllocaInst *, 4> Outs;
  SmallVector<Value *, 8> Ins;
  std::string Texts;
  // Outputs are numbered first: "\1" and "\2" stand for the number until then.
  for (size_t A = 0; A < Args.size(); ++A) {
    StringRef S = Args[A];
    Texts += A ? ", " : " ";
    const bool Dest = A == 0 && Writes;
    for (size_t I = 0; I < S.size();) {
      if (!isWord(S[I])) {
        if (!isSpace(S[I]))
          Texts += S[I];
        ++I;
        continue;
      }
      size_t End = I;
      while (End < S.size() && (isWord(S[End]) || S[End] == '.'))
        ++End;
      StringRef W = S.slice(I, End);
      I = End;
      if (AllocaInst *R = registerNamed(W)) {
        if (Dest) {
          Texts += "\1" + std::to_string(Outs.size()) + "\1";
          Outs.push_back(R);
        } else {
          Texts += "\2" + std::to_string(Ins.size()) + "\2";
          Ins.push_back(B.CreateLoad(R->getAllocatedType(), R));
        }
      } else if (Value *V = symbol(W)) {
        Texts += "\2" + std::to_string(Ins.size()) + "\2";
        Ins.push_back(V);
      } else if (isDigit(W[0]) || W == "_" || W == "WARP_SZ" ||
                 W.starts_with("%")) {
        Texts += W.str();
      } else {
        return fail("the name '" + W + "'");
      }
    }
  }
  std::string Asm = Mnemonic.str();
  for (size_t I = 0; I < Texts.size(); ++I) {
    if (Texts[I] != '\1' && Texts[I] != '\2') {
      Asm += Texts[I];
      continue;
    }
    const char Kind = Texts[I];
    size_t End = Texts.find(Kind, I + 1);
    unsigned N = std::stoul(Texts.substr(I + 1, End - I - 1));
    Asm += "$" + std::to_string(Kind == '\1' ? N : N + Outs.size());
    I = End;
  }
  Asm += ";";
  SmallVector<Type *, 4> OutTypes, InTypes;
  std::string Constraints;
  for (AllocaInst *R : Outs) {
    OutTypes.push_back(R->getAllocatedType());
    Constraints += Constraints.empty() ? "=r" : ",=r";
  }
  for (Value *V : Ins) {
    InTypes.push_back(V->getType());
    Constraints += Constraints.empty() ? "r" : ",r";
  }
  Type *Result = Outs.empty()       ? B.getVoidTy()
                 : Outs.size() == 1 ? OutTypes[0]
                                    : StructType::get(C, OutTypes);
  auto *FT = FunctionType::get(Result, InTypes, false);
  Value *V = B.CreateCall(
      FT, InlineAsm::get(FT, Asm, Constraints, /*hasSideEffects=*/true), Ins);
  for (size_t I = 0; I < Outs.size(); ++I)
    B.CreateStore(Outs.size() == 1 ? V : B.CreateExtractValue(V, I), Outs[I]);
  return true;
}

bool Reader::instruction(StringRef S) {
  S = S.trim();
  BasicBlock *After = nullptr;
  if (S.consume_front("@")) {
    const bool Not = S.consume_front("!");
    size_t Space = S.find_first_of(" \t");
    AllocaInst *R = registerNamed(S.take_front(Space));
    if (!R)
      return fail("a predicate of an unknown form");
    S = S.drop_front(Space).trim();
    Value *P = B.CreateLoad(R->getAllocatedType(), R);
    if (Not)
      P = B.CreateNot(P);
    BasicBlock *Then = BasicBlock::Create(C, "", F);
    After = BasicBlock::Create(C, "", F);
    B.CreateCondBr(P, Then, After);
    B.SetInsertPoint(Then);
  }
  size_t Space = S.find_first_of(" \t\n");
  StringRef Mnemonic = S.take_front(Space);
  StringRef Rest = Space == StringRef::npos ? "" : S.drop_front(Space).trim();
  StringRef Name = Mnemonic.split('.').first;
  bool Ok = true;
  if (Name == "bra") {
    B.CreateBr(block(Rest));
  } else if (Name == "brx") { // brx.idx index, list
    auto Ops = operands(Rest);
    AllocaInst *R = Ops.size() == 2 ? registerNamed(Ops[0]) : nullptr;
    std::vector<std::string> *To = nullptr;
    if (R)
      for (Scope &X : Scopes)
        if (auto It = X.Targets.find(Ops[1]); It != X.Targets.end())
          To = &It->second;
    if (!To)
      return fail("a branch table of an unknown form");
    BasicBlock *Never = BasicBlock::Create(C, "", F);
    auto *Switch = B.CreateSwitch(B.CreateLoad(R->getAllocatedType(), R), Never,
                                  To->size());
    new UnreachableInst(C, Never);
    for (size_t I = 0; I < To->size(); ++I)
      Switch->addCase(
          cast<ConstantInt>(ConstantInt::get(R->getAllocatedType(), I)),
          block((*To)[I]));
  } else if (Name == "ret" || (Name == "exit" &&
                               F->getCallingConv() == CallingConv::PTX_Kernel)) {
    if (F->getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateRet(B.CreateAlignedLoad(
          F->getReturnType(),
          Scopes[0].Memory.lookup(Decl->Results[0].Name).first, Align(1)));
  } else if (Name == "call") {
    Ok = call(Rest);
  } else if (Name == "exit") {
    return fail("exit in a function");
  } else {
    Ok = plain(Mnemonic, operands(Rest));
  }
  if (After)
    startBlock(After);
  else if (B.GetInsertBlock()->getTerminator())
    B.SetInsertPoint(BasicBlock::Create(C, "", F)); // perhaps nobody comes here
  return Ok;
}

bool Reader::statement() {
  skipSpace();
  if (eat("{")) {
    Scopes.emplace_back();
    return true;
  }
  if (at(".loc ") || at(".loc\t")) {
    Pos += 4;
    location();
    return true;
  }
  if (eat(".reg")) {
    Type *T = typeNamed(word());
    if (!T)
      return fail("a register of an unknown type");
    for (StringRef N : operands(until(';'))) {
      auto [Prefix, Count] = N.split('<');
      (Count.empty() ? Scopes.back().Names : Scopes.back().Prefixes)[Prefix] = T;
      // A new register, whatever had its name before.
      Scopes.back().Registers.erase(N);
    }
    return true;
  }
  if (at(".param") || at(".local")) {
    word();
    ParamDecl D;
    bool Open = false;
    if (!declaration(D, Open, nullptr) || !eat(";"))
      return fail("a declaration of an unknown form");
    Value *A = local(ArrayType::get(B.getInt8Ty(), D.Size), D.Align, "");
    Scopes.back().Memory[D.Name] = {A, D};
    return true;
  }
  if (at(".shared") || at(".extern") || at(".global") || at(".const")) {
    bool Extern = eat(".extern");
    return variable(word(), Extern);
  }
  if (at(".pragma")) {
    until(';');
    return true;
  }
  // A label?
  const size_t Back = Pos;
  StringRef W = word();
  skipSpace();
  if (!W.empty() && at(":") && !at("::")) {
    ++Pos;
    skipSpace();
    if (eat(".branchtargets")) {
      auto &To = Scopes.back().Targets[W];
      for (StringRef L : operands(until(';')))
        To.push_back(L.str());
      return true;
    }
    if (at(".callprototype") || at(".calltargets"))
      return fail("a call through a pointer");
    startBlock(block(W));
    return true;
  }
  Pos = Back;
  return instruction(until(';'));
}

bool Reader::body(FunctionDecl &D) {
  F = D.F;
  Decl = &D;
  Scopes.clear();
  Scopes.emplace_back();
  Labels.clear();
  Subprogram = nullptr;
  Inlined.clear();
  Places.clear();
  B.SetCurrentDebugLocation(DebugLoc());
  BasicBlock::Create(C, "", F);
  B.SetInsertPoint(BasicBlock::Create(C, "", F));
  for (size_t I = 0; I < D.Params.size(); ++I) {
    const ParamDecl &P = D.Params[I];
    Value *At = F->getArg(I);
    if (P.Scalar) {
      At = local(ArrayType::get(B.getInt8Ty(), P.Size), P.Align, "");
      B.CreateAlignedStore(F->getArg(I), At, Align(1));
    }
    Scopes[0].Memory[P.Name] = {At, P};
  }
  for (const ParamDecl &P : D.Results)
    Scopes[0].Memory[P.Name] = {
        local(ArrayType::get(B.getInt8Ty(), P.Size), P.Align, ""), P};
  for (;;) {
    skipSpace();
    if (Pos >= Text.size())
      return fail("a body without an end");
    if (eat("}")) {
      if (Scopes.size() == 1)
        break;
      Scopes.pop_back();
      continue;
    }
    if (!statement())
      return false;
  }
  // Registers and the like were collected in the first block.
  BasicBlock &Entry = F->getEntryBlock();
  if (!B.GetInsertBlock()->getTerminator()) {
    if (F->getReturnType()->isVoidTy())
      B.CreateRetVoid();
    else
      B.CreateUnreachable();
  }
  BranchInst::Create(Entry.getNextNode(), &Entry);
  for (auto &L : Labels)
    if (L.second->empty())
      return fail("the label '" + L.first() + "'");
  F = nullptr;
  return true;
}

std::unique_ptr<Module> Reader::run(std::string &Why) {
  AnyFile = DI.createFile("ptx", "");
  Unit = DI.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C_plus_plus),
                              AnyFile, "nvcc", true, "", 0);
  M->addModuleFlag(Module::Warning, "Debug Info Version",
                   DEBUG_METADATA_VERSION);
  // Names of files stand at the end of the text, and are used before.
  for (size_t At = 0; (At = Text.find("\n\t.file", At)) != StringRef::npos;) {
    Pos = At + strlen("\n\t.file");
    file();
    At = Pos;
  }
  Pos = 0;
  for (bool Ok = true; Ok;) {
    skipSpace();
    if (Pos >= Text.size())
      break;
    bool Extern = false;
    StringRef W = word();
    while (W == ".visible" || W == ".weak" || W == ".extern" || W == ".common") {
      Extern |= W == ".extern";
      W = word();
    }
    if (W == ".version" || W == ".target" || W == ".address_size" ||
        W == ".file" || W == ".loc")
      line();
    else if (W == ".section") {
      until('{');
      until('}');
    } else if (W == ".func" || W == ".entry")
      Ok = function(W == ".entry");
    else if (W == ".global" || W == ".const" || W == ".shared")
      Ok = variable(W, Extern);
    else if (W == ".pragma")
      until(';');
    else
      Ok = fail("the directive '" + W + "'");
  }
  for (auto &[G, Init] : Initials) {
    if (!Error.empty())
      break;
    Constant *K = initialiser(Init.first, Init.second);
    if (!K) {
      fail("the initial value of '" + G->getName() + "'");
      break;
    }
    auto *New = new GlobalVariable(*M, K->getType(), false,
                                   GlobalValue::ExternalLinkage, K, "", nullptr,
                                   GlobalValue::NotThreadLocal,
                                   G->getAddressSpace());
    New->setAlignment(G->getAlign());
    New->takeName(G);
    G->replaceAllUsesWith(New);
    for (auto &[Name, V] : Variables)
      if (V == G)
        V = New;
    G->eraseFromParent();
    G = New;
  }
  DI.finalize();
  if (!Error.empty()) {
    Why = Error;
    return nullptr;
  }
  return std::move(M);
}

} // namespace

std::unique_ptr<Module> readPtx(LLVMContext &Context, const PtxText &Ptx,
                                std::string &Error) {
  std::unique_ptr<Module> M = Reader(Context, Ptx).run(Error);
  if (M)
    promoteRegisters(*M);
  return M;
}

} // namespace rcache::check
