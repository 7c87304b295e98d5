//! Which well-known names does a file give a meaning of its own?
//!
//! `HD` may be a library's macro for `__host__ __device__`, whose header is not in sight. It is not where the file or
//! a header declares something of that name: no such macro can be defined there.
//!
//! ```text
//! template <int HD> ...        a template parameter
//! constexpr int KERNEL = 5;    a constant; also a variable or a member
//! struct DI { ... };           a type; also `using`, `typedef` and `class`
//! enum { HOST, DEVICE };       an enumerator
//! void CUDA_SAFE_CALL(int e) { a function
//! int twice(int DI)            not a parameter, whose name ends with its function
//! ```

use super::declared::DeclaredTypes;
use super::directives::Directives;
use super::lexer::{Kind, Lexer, Token};
use super::mask::{is_builtin_type, is_keyword};
use rustc_hash::FxHashSet;

impl Directives {
    /// Those of the well-known names that the file declares. Always ask for the same ones: the answer is kept.
    pub(super) fn own_names(&self, is_well_known: &dyn Fn(&str) -> bool) -> &FxHashSet<Box<str>> {
        self.seen.own_names.get_or_init(|| own_names(&self.file.text, is_well_known))
    }
}

fn own_names(text: &str, is_well_known: &dyn Fn(&str) -> bool) -> FxHashSet<Box<str>> {
    let mut search = Search { types: DeclaredTypes::default(), ..Search::default() };
    let mut met: FxHashSet<&str> = FxHashSet::default();
    let mut lexer = Lexer::new(text);
    let mut in_directive = false;
    while let Some(token) = lexer.next() {
        if token.first_in_line {
            in_directive = token.is(b'#');
        }
        if in_directive {
            continue;
        }
        let word = text.get(token.range()).unwrap_or("");
        let is_known = token.kind == Kind::Ident && is_well_known(word);
        if is_known {
            met.insert(word);
        }
        search.see(Word { text: word, token, is_known });
    }
    let Search { types, mut found, .. } = search;
    found.extend(met.into_iter().filter(|name| types.is_type(name)));
    found.into_iter().map(Box::from).collect()
}

#[derive(Clone, Copy)]
struct Word<'t> {
    text: &'t str,
    token: Token,
    /// It is one of the well-known names.
    is_known: bool,
}

impl Word<'_> {
    /// Whether a name may follow that is declared with it: it is a type, or the last word of one.
    fn is_type(self) -> bool {
        self.token.kind == Kind::Ident
            && !self.is_known
            && (!is_keyword(self.text) || is_builtin_type(self.text))
    }
}

#[derive(Default)]
struct Search<'t> {
    types: DeclaredTypes<'t>,
    found: FxHashSet<&'t str>,
    /// The last two words.
    before: [Option<Word<'t>>; 2],
    /// How many parentheses are open.
    parens: u32,
    /// How many braces are open.
    braces: u32,
    /// An `enum` was read, and not its `{` yet.
    after_enum: bool,
    /// How many braces were open when one opened that lists enumerators.
    enumerators: Option<u32>,
    /// What may be a function, and how many parentheses are open around its parameters.
    function: Option<(&'t str, u32)>,
}

impl<'t> Search<'t> {
    fn see(&mut self, word: Word<'t>) {
        self.types.see(word.text);
        let punct = match word.token.kind {
            Kind::Punct(punct) => punct,
            _ => 0,
        };
        let [first, last] = self.before;
        if let Some(name) = last.filter(|it| it.is_known) {
            if first.is_some_and(Word::is_type) {
                match punct {
                    b'=' | b';' | b'[' | b'{' => _ = self.found.insert(name.text),
                    b',' | b'>' if self.parens == 0 => _ = self.found.insert(name.text),
                    b'(' => self.function = Some((name.text, self.parens)),
                    _ => {}
                }
            }
            let is_listed =
                self.enumerators.is_some() && first.is_some_and(|it| it.token.is(b'{') || it.token.is(b','));
            if is_listed && matches!(punct, b',' | b'=' | b'}') {
                self.found.insert(name.text);
            }
        }
        if let Some((name, around)) = self.function
            && self.parens <= around
            && last.is_some_and(|it| it.token.is(b')'))
        {
            self.function = None;
            if punct == b'{' {
                self.found.insert(name);
            }
        }
        self.count(word.text, punct);
        self.before = [last, Some(word)];
    }

    /// Counts brackets, and notes where enumerators are listed.
    fn count(&mut self, text: &str, punct: u8) {
        match punct {
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            b'{' => {
                self.braces += 1;
                if std::mem::take(&mut self.after_enum) {
                    self.enumerators = Some(self.braces);
                }
            }
            b'}' => {
                if self.enumerators == Some(self.braces) {
                    self.enumerators = None;
                }
                self.braces = self.braces.saturating_sub(1);
            }
            b';' => self.after_enum = false,
            _ if text == "enum" => self.after_enum = true,
            _ => {}
        }
        if punct == b'(' || punct == b')' {
            self.after_enum = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let is_well_known = |name: &str| matches!(name, "DI" | "HD" | "DEVICE" | "KERNEL" | "CALL" | "ALIGN");
        let mut found: Vec<String> = own_names(text, &is_well_known).into_iter().map(String::from).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn declarations_are_found() {
        for text in [
            "template <class T, int HD> void f();",
            "template <unsigned HD, class T> void f();",
            "template <class HD> void f();",
            "constexpr int HD = 4;",
            "struct S { float HD; };",
            "float HD[4];",
            "typedef struct { int a; } HD;",
            "struct HD { };",
            "enum class Where { HOST, HD };",
            "enum { HD = 1, OTHER };",
            "int HD(int a, int (*b)(int)) { return a; }",
        ] {
            assert_eq!(names(text), ["HD"], "{text}");
        }
    }

    #[test]
    fn uses_are_not_declarations() {
        for text in [
            "DI float f(float x);",
            "static DEVICE float f();\nKERNEL void k(int DI);",
            "struct ALIGN(16) S { }; __shared__ ALIGN(8) int a;",
            "void f() { CALL(g()); return CALL(h()); }",
            "auto f = [=] HD { return 1; }; auto g = [=] HD (int i) { return i; };",
            "#define HD = 3\nint n = a * HD;",
            "f<<<1, HD>>>(); if (HD > 1) { g(HD, DI); }",
            "int f(int a) const HD;",
        ] {
            assert!(names(text).is_empty(), "{text}");
        }
    }
}
