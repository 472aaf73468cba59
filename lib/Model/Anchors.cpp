// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flattening works on the token stream, not on the AST: what the parser saw is
// what stands in the text. Between two tokens of the file the bytes are copied
// (white space, comments, `_Pragma`), less the lines of `#if` and the like and
// less what they skip.

#include "Anchors.h"
#include "Support/Words.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;
using llvm::StringRef;

namespace rcache {
namespace {

/// Tokens that later stages may have to reach as such: statement structure.
bool isStructure(tok::TokenKind K) {
  switch (K) {
  case tok::semi:
  case tok::l_brace:
  case tok::r_brace:
  case tok::kw_if:
  case tok::kw_else:
  case tok::kw_for:
  case tok::kw_while:
  case tok::kw_do:
  case tok::kw_switch:
  case tok::kw_return:
  case tok::kw_break:
  case tok::kw_continue:
  case tok::kw_goto:
  case tok::kw_asm:
    return true;
  default:
    return false;
  }
}

bool isWordChar(char C) {
  return isNameChar(C) || C == '"' || C == '\'';
}

/// A brace or bracket in its usual spelling, where \p Token is a digraph: as long.
StringRef withoutDigraphs(StringRef Token) {
  return llvm::StringSwitch<StringRef>(Token)
      .Case("<%", "{ ")
      .Case("%>", " }")
      .Case("<:", "[ ")
      .Case(":>", " ]")
      .Default(Token);
}

/// Two tokens that would become another one if written without a space.
bool wouldJoin(char A, char B) {
  if (isWordChar(A) && isWordChar(B))
    return true;
  StringRef Ops = "+-<>=&|*/:.#%^!";
  return Ops.contains(A) && Ops.contains(B);
}

struct Group {
  unsigned Begin = 0, End = 0; ///< offsets in the file
  bool Foreign = false;        ///< tokens of another file (#include in a body)
};

} // namespace

SourcePos sourcePos(const SourceManager &SM, SourceLocation Loc) {
  SourcePos P;
  PresumedLoc L = SM.getPresumedLoc(SM.getExpansionLoc(Loc), false);
  if (L.isInvalid())
    return P;
  P.File = L.getFilename();
  P.Line = L.getLine();
  P.Column = L.getColumn();
  P.Offset = SM.getFileOffset(SM.getExpansionLoc(Loc));
  return P;
}

unsigned firstTokenOfDeclaration(const TokenRecorder::Impl &Tokens,
                                 const SourceManager &SM, unsigned Index) {
  FileID File = SM.getFileID(SM.getExpansionLoc(Tokens.Tokens[Index].Loc));
  while (Index > 0) {
    const RecordedToken &T = Tokens.Tokens[Index - 1];
    if (T.Kind == tok::semi || T.Kind == tok::l_brace ||
        T.Kind == tok::r_brace ||
        SM.getFileID(SM.getExpansionLoc(T.Loc)) != File)
      break;
    --Index;
  }
  return Index;
}

std::optional<std::pair<unsigned, unsigned>>
definitionTokens(const TokenRecorder::Impl &Tokens, const SourceManager &SM,
                 SourceLocation Name, SourceLocation End) {
  auto N = Tokens.ByLocation.find(Name.getRawEncoding());
  auto E = Tokens.ByLocation.find(End.getRawEncoding());
  if (N == Tokens.ByLocation.end() || E == Tokens.ByLocation.end() ||
      E->second < N->second)
    return std::nullopt;
  return std::make_pair(firstTokenOfDeclaration(Tokens, SM, N->second),
                        E->second);
}

bool FlatText::isSkipped(unsigned Offset) const {
  for (auto [From, To] : SkippedOffsets)
    if (From <= Offset && Offset < To)
      return true;
  return false;
}

/// Copies [From, To) of the file. When it holds directives: line by line,
/// dropping skipped text and all directives but #pragma, #define and #undef.
void FlatText::emitGap(const char *Buffer, unsigned From, unsigned To) {
  if (From >= To)
    return;
  StringRef Gap(Buffer + From, To - From);
  if (!Gap.contains('#')) {
    Text += Gap;
    return;
  }
  bool InComment = false;
  bool Dropping = false; // a directive continued by a backslash
  unsigned Offset = From;
  while (!Gap.empty()) {
    size_t Eol = Gap.find('\n');
    StringRef Line =
        Gap.substr(0, Eol == StringRef::npos ? Gap.size() : Eol + 1);
    Gap = Gap.drop_front(Line.size());
    // The first piece follows a token, so it is no line of its own, unless the
    // token before it ended the line above.
    StringRef Trimmed = Line.ltrim(" \t");
    bool AtLineStart = Offset == 0 || Buffer[Offset - 1] == '\n';
    bool Directive = AtLineStart && !InComment && Trimmed.starts_with("#");
    StringRef Word =
        Directive ? Trimmed.drop_front().ltrim(" \t") : StringRef();
    bool Keep = !Directive || Word.starts_with("pragma") ||
                Word.starts_with("define") || Word.starts_with("undef");
    bool Continues = Line.rtrim("\r\n").ends_with("\\");
    if (isSkipped(Offset + (Line.size() - Trimmed.size())))
      Keep = false;
    if (Dropping)
      Keep = false;
    Dropping = !Keep && Continues && (Directive || Dropping);
    if (Keep) {
      Text += Line;
      if (!Directive) {
        // Comment state at the end of the line; `//` hides a `/*`.
        for (size_t I = 0; I + 1 < Line.size(); ++I) {
          if (!InComment && Line[I] == '/' && Line[I + 1] == '/')
            break;
          if (!InComment && Line[I] == '/' && Line[I + 1] == '*')
            InComment = true, ++I;
          else if (InComment && Line[I] == '*' && Line[I + 1] == '/')
            InComment = false, ++I;
        }
      }
    }
    Offset += Line.size();
  }
}

/// Where user code names the object-like macro of a system header that a token
/// comes from; invalid when there is none.
static SourceLocation toolkitMacro(const SourceManager &SM, SourceLocation L) {
  bool System = false;
  while (L.isMacroID()) {
    SourceLocation Spelling = SM.getSpellingLoc(L);
    if (!SM.isInSystemHeader(Spelling))
      return System ? L : SourceLocation();
    CharSourceRange R = SM.getImmediateExpansionRange(L);
    // Function-like: the invocation is more than a name.
    if (R.getBegin() != R.getEnd() || SM.isMacroArgExpansion(L))
      return SourceLocation();
    System = true;
    L = R.getBegin();
  }
  return SourceLocation();
}

/// Writes the recorded tokens [From, To) with single spaces where the original
/// tokens had space or would join.
void FlatText::emitExpanded(unsigned From, unsigned To) {
  for (unsigned I = From; I < To; ++I) {
    const RecordedToken &T = Tokens.Tokens[I];
    // `__shared__` inside a user's macro: its name, not what it stands for.
    if (SourceLocation Name = toolkitMacro(SM, T.Loc); Name.isValid()) {
      unsigned J = I;
      while (J < To && toolkitMacro(SM, Tokens.Tokens[J].Loc) == Name)
        ++J;
      const char *P = SM.getCharacterData(SM.getSpellingLoc(Name));
      unsigned Len = 0;
      while (isWordChar(P[Len]))
        ++Len;
      if (!Text.empty() && !isspace(static_cast<unsigned char>(Text.back())) &&
          Text.back() != '(')
        Text += ' ';
      unsigned Begin = Text.size();
      Text.append(P, Len);
      for (unsigned K = I; K < J; ++K)
        Places[Tokens.Tokens[K].Loc.getRawEncoding()] = {
            Begin, static_cast<unsigned>(Text.size()), ~0u, true, true};
      I = J - 1;
      continue;
    }
    StringRef Spelling(SM.getCharacterData(SM.getSpellingLoc(T.Loc)), T.Length);
    if (!Text.empty() && !Spelling.empty()) {
      char Before = Text.back();
      bool Space =
          (I > From && T.LeadingSpace) || wouldJoin(Before, Spelling[0]);
      if (Space && !isspace(static_cast<unsigned char>(Before)))
        Text += ' ';
    }
    unsigned Begin = Text.size();
    Text += withoutDigraphs(Spelling);
    Places[T.Loc.getRawEncoding()] = {Begin, static_cast<unsigned>(Text.size()),
                                      ~0u, true, true};
  }
}

/// The invocation that the token at \p L comes from, or the foreign text; nullopt:
/// it stands in \p File itself.
static std::optional<Group> groupOf(const SourceManager &SM, FileID File,
                                    SourceLocation L) {
  SourceLocation Exp = SM.getExpansionLoc(L);
  if (SM.getFileID(Exp) != File)
    return Group{0, 0, true};
  if (L.isFileID())
    return std::nullopt;
  CharSourceRange R = SM.getExpansionRange(L);
  SourceLocation E = R.getEnd();
  unsigned EndOffset = SM.getFileOffset(E);
  if (R.isTokenRange()) {
    // The last token of an invocation is its name or its `)`.
    const char *P = SM.getBufferData(File).data() + EndOffset;
    unsigned Len = 1;
    if (isWordChar(*P))
      while (isWordChar(P[Len]))
        ++Len;
    EndOffset += Len;
  }
  return Group{SM.getFileOffset(R.getBegin()), EndOffset, false};
}

void FlatText::build(unsigned First, unsigned Last,
                     const llvm::StringSet<> &Names) {
  Text.clear();
  Places.clear();
  Rebuild = false;
  File = SM.getFileID(SM.getExpansionLoc(Tokens.Tokens[First].Loc));
  const char *Buffer = SM.getBufferData(File).data();

  SkippedOffsets.clear();
  for (SourceRange R : Tokens.Skipped)
    if (SM.getFileID(R.getBegin()) == File)
      SkippedOffsets.push_back(
          {SM.getFileOffset(R.getBegin()), SM.getFileOffset(R.getEnd())});

  auto GroupOf = [&](unsigned I) {
    return groupOf(SM, File, Tokens.Tokens[I].Loc);
  };
  unsigned Cursor = ~0u; // end of what has been copied of the file
  for (unsigned I = First; I <= Last;) {
    std::optional<Group> G = GroupOf(I);
    if (!G) {
      const RecordedToken &T = Tokens.Tokens[I];
      unsigned Offset = SM.getFileOffset(T.Loc);
      if (Cursor != ~0u)
        emitGap(Buffer, Cursor, Offset);
      if (!Text.empty() && Text.back() != ' ' && (Cursor == Offset) &&
          wouldJoin(Text.back(), Buffer[Offset]) && I > First &&
          Tokens.Tokens[I - 1].Loc.isMacroID())
        Text += ' ';
      unsigned Begin = Text.size();
      Text += withoutDigraphs(StringRef(Buffer + Offset, T.Length));
      Places[T.Loc.getRawEncoding()] = {
          Begin, static_cast<unsigned>(Text.size()), ~0u, true, true};
      Cursor = Offset + T.Length;
      ++I;
      continue;
    }
    // All tokens of this invocation.
    unsigned J = I;
    bool Expand = G->Foreign || Forced.contains(G->Begin);
    // A definition that starts or ends inside an invocation.
    if (I == First && I > 0 && !G->Foreign) {
      std::optional<Group> Before = GroupOf(I - 1);
      Expand |= Before && !Before->Foreign && Before->Begin == G->Begin;
    }
    for (; J <= Last; ++J) {
      std::optional<Group> H = GroupOf(J);
      if (!H || H->Foreign != G->Foreign || H->Begin != G->Begin)
        break;
      G->End = std::max(G->End, H->End);
      const RecordedToken &T = Tokens.Tokens[J];
      StringRef Spelling(SM.getCharacterData(SM.getSpellingLoc(T.Loc)),
                         T.Length);
      Expand |= isStructure(T.Kind) || Names.contains(Spelling);
    }
    if (Cursor != ~0u && !G->Foreign)
      emitGap(Buffer, Cursor, G->Begin);
    if (Expand) {
      emitExpanded(I, J);
    } else {
      unsigned Begin = Text.size();
      Text.append(Buffer + G->Begin, G->End - G->Begin);
      for (unsigned K = I; K < J; ++K)
        Places[Tokens.Tokens[K].Loc.getRawEncoding()] = {
            Begin, static_cast<unsigned>(Text.size()), G->Begin, K == I,
            K + 1 == J};
    }
    if (!G->Foreign)
      Cursor = G->End;
    I = J;
  }
}

static bool isAngles(const TokenRecorder::Impl &Tokens, SourceLocation L) {
  const auto T = Tokens.ByLocation.find(L.getRawEncoding());
  return T != Tokens.ByLocation.end() &&
         (Tokens.Tokens[T->second].Kind == tok::greatergreater ||
          Tokens.Tokens[T->second].Kind == tok::greatergreatergreater);
}

std::optional<unsigned> tokenWithAngle(const TokenRecorder::Impl &Tokens, SourceLocation L) {
  if (L.isInvalid()) // what a structured binding copies stands nowhere
    return std::nullopt;
  for (const int Back : {0, -1, -2})
    if (const auto T = Tokens.ByLocation.find(L.getLocWithOffset(Back).getRawEncoding());
        T != Tokens.ByLocation.end() &&
        (Back == 0 || isAngles(Tokens, L.getLocWithOffset(Back))))
      return T->second;
  return std::nullopt;
}

std::optional<FlatText::TokenPlace> FlatText::endOf(SourceLocation L) const {
  if (const auto P = Places.find(L.getRawEncoding());
      P != Places.end() && !isAngles(Tokens, L))
    return P->second;
  const std::optional<unsigned> T = tokenWithAngle(Tokens, L);
  if (!T)
    return std::nullopt;
  const SourceLocation Begin = Tokens.Tokens[*T].Loc;
  const auto P = Places.find(Begin.getRawEncoding());
  if (P == Places.end())
    return std::nullopt;
  TokenPlace Found = P->second; // up to this angle
  Found.End = std::min(Found.End,
                       Found.Begin + L.getRawEncoding() - Begin.getRawEncoding() + 1);
  return Found;
}

std::optional<TextRange> FlatText::range(SourceRange R) {
  auto B = Places.find(R.getBegin().getRawEncoding());
  const std::optional<TokenPlace> End = endOf(R.getEnd());
  if (B == Places.end() || !End)
    return std::nullopt;
  const TokenPlace &Pb = B->second, &Pe = *End;
  if (Pb.Group != ~0u && !Pb.First && Forced.insert(Pb.Group).second)
    Rebuild = true;
  if (Pe.Group != ~0u && !Pe.Last && Forced.insert(Pe.Group).second)
    Rebuild = true;
  if (Pe.End < Pb.Begin)
    return std::nullopt;
  return TextRange{Pb.Begin, Pe.End};
}

std::optional<TextRange> FlatText::outerRange(SourceRange R) const {
  auto B = Places.find(R.getBegin().getRawEncoding());
  const std::optional<TokenPlace> E = endOf(R.getEnd());
  if (B == Places.end() || !E || E->End < B->second.Begin)
    return std::nullopt;
  return TextRange{B->second.Begin, E->End};
}

/// The bracket that the one at \p Close closes; nullopt: it stands in nothing recorded.
static std::optional<unsigned> opening(llvm::ArrayRef<RecordedToken> T, unsigned Close) {
  const tok::TokenKind K = T[Close].Kind;
  const tok::TokenKind Open = K == tok::r_paren ? tok::l_paren : tok::l_square;
  unsigned Depth = 0;
  for (unsigned I = Close + 1; I-- > 0;) {
    Depth += T[I].Kind == K;
    if (T[I].Kind == Open && --Depth == 0)
      return I;
  }
  return std::nullopt;
}

/// The first token of the statement that token \p Index begins for clang: of some
/// declarations attributes and specifiers stand in front of it (`__shared__ alignas(16)
/// float a[4];` begins at alignas).
static unsigned firstTokenOfStatement(llvm::ArrayRef<RecordedToken> T, unsigned Index) {
  while (Index > 0) {
    switch (T[Index - 1].Kind) {
    case tok::kw_static:
    case tok::kw_extern:
    case tok::kw_register:
    case tok::kw_thread_local:
    case tok::kw_inline:
    case tok::kw_const:
    case tok::kw_volatile:
    case tok::kw_constexpr:
    case tok::kw___extension__:
      --Index;
      continue;
    case tok::r_paren:
    case tok::r_square: {
      const bool Standard = T[Index - 1].Kind == tok::r_square; // [[..]]
      const auto Open = opening(T, Index - 1);
      if (!Open || *Open == 0)
        return Index;
      const tok::TokenKind Of = T[Standard ? *Open + 1 : *Open - 1].Kind;
      if (Standard ? Of != tok::l_square
                   : Of != tok::kw___attribute && Of != tok::kw_alignas &&
                         Of != tok::kw___declspec)
        return Index;
      Index = Standard ? *Open : *Open - 1;
      continue;
    }
    default:
      return Index;
    }
  }
  return Index;
}

std::optional<TextRange> FlatText::withSemi(SourceRange R) const {
  if (const auto B = Tokens.ByLocation.find(R.getBegin().getRawEncoding());
      B != Tokens.ByLocation.end())
    R.setBegin(Tokens.Tokens[firstTokenOfStatement(Tokens.Tokens, B->second)].Loc);
  std::optional<TextRange> Outer = outerRange(R);
  auto It = Tokens.ByLocation.find(R.getEnd().getRawEncoding());
  if (!Outer || It == Tokens.ByLocation.end() ||
      It->second + 1 >= Tokens.Tokens.size())
    return Outer;
  const RecordedToken &Next = Tokens.Tokens[It->second + 1];
  auto P = Places.find(Next.Loc.getRawEncoding());
  if (Next.Kind == tok::semi && P != Places.end())
    Outer->End = P->second.End;
  return Outer;
}

} // namespace rcache
