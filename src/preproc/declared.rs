//! Which names that look like macros does a text declare as types?
//!
//! `HD` may be a macro for `__host__ __device__`, and it may be a class. It is a class after `struct HD {`,
//! `using HD = float;`, `template <class HD>` and `typedef struct { int v; } HD;`, but not after `struct HD Name {`.

use rustc_hash::FxHashSet;

/// What was seen of a text so far.
#[derive(Default)]
pub(super) struct DeclaredTypes<'t> {
    types: FxHashSet<&'t str>,
    /// The last two tokens.
    before: [&'t str; 2],
    /// How many brackets are open.
    depth: u32,
    /// Where `typedef`s began that have not ended, by how many brackets were open there.
    typedefs: Vec<u32>,
}

impl<'t> DeclaredTypes<'t> {
    /// Sees the next token.
    pub(super) fn see(&mut self, token: &'t str) {
        let [keyword, name] = self.before;
        let is_declared = match token {
            "{" | ":" | ";" | "=" | "," | ">" | "final" => {
                matches!(keyword, "struct" | "class" | "union" | "enum" | "using" | "typename")
            }
            _ => false,
        };
        let ends_typedef = token == ";" && self.typedefs.last() == Some(&self.depth);
        if (is_declared || ends_typedef) && is_upper(name) {
            self.types.insert(name);
        }
        match token {
            "{" | "(" | "[" => self.depth = self.depth.saturating_add(1),
            "}" | ")" | "]" => {
                self.depth = self.depth.saturating_sub(1);
                while self.typedefs.last().is_some_and(|depth| *depth > self.depth) {
                    self.typedefs.pop();
                }
            }
            "typedef" => self.typedefs.push(self.depth),
            _ if ends_typedef => {
                self.typedefs.pop();
            }
            _ => {}
        }
        self.before = [name, token];
    }

    /// Whether a name is that of a type that was declared.
    pub(super) fn is_type(&self, name: &str) -> bool {
        self.types.contains(name)
    }
}

/// Whether a word looks like a macro: capitals, digits and `_`.
pub(super) fn is_upper(word: &str) -> bool {
    word.len() >= 2
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && word.bytes().any(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::super::lexer::Lexer;
    use super::*;

    fn types(text: &str) -> Vec<&str> {
        let mut declared = DeclaredTypes::default();
        let mut lexer = Lexer::new(text);
        while let Some(token) = lexer.next() {
            declared.see(text.get(token.range()).unwrap());
        }
        let mut found: Vec<&str> = declared.types.into_iter().collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn types_are_told_from_attributes() {
        let all = "struct // c\nAA { typedef int BB; }; using CC = int; template <class DD, typename EE> f();
                   enum class FF : int { }; typedef struct { int v; } GG; class HH final { }; typedef int (*II)(JJ);";
        assert_eq!(types(all), ["AA", "BB", "CC", "DD", "EE", "FF", "GG", "HH"]);
        assert!(
            types("struct EXPORT Name { }; class API(1) Other { }; EXPORT void f(); } typedef int")
                .is_empty()
        );
    }
}
