//! Which functions are kernels though a macro says so that nothing visible defines?
//!
//! ```text
//! MY_KERNEL void fill(float *out) { ... }        its header was not found
//! void run(float *out) { fill<<<1, 256>>>(out); }
//! ```
//!
//! Nothing but a kernel can be launched, so `MY_KERNEL` says `__global__`. It may say `void` too. A function that is
//! launched and launches something itself is another one of that name.

use super::super::declared::is_upper;
use super::Masker;
use super::words::is_specifier;
use rustc_hash::FxHashSet;

/// The most tokens of template arguments before a launch, or of a kernel's head before its name.
const MOST: usize = 256;

impl<'t> Masker<'t> {
    /// Whether a macro before this token stands before the type of a function that is launched.
    pub(super) fn heads_kernel(&self, from: usize) -> bool {
        let ty = self.past_specifiers(from);
        self.begins_head() && self.word(ty) == "void" && self.is_launched(self.past_specifiers(ty + 1))
    }

    /// The first token from this one on that is no specifier of a function, and no macro that may be one.
    fn past_specifiers(&self, from: usize) -> usize {
        let mut at = from;
        while at < from + MOST {
            let word = self.word(at);
            let call = self.close(at + 1);
            // What is called as a macro may be the function's name.
            let stays = match call {
                Some(close) => self.is(close + 1, b'{') || !(is_upper(word) || word == "__launch_bounds__"),
                None => !(is_specifier(word) || is_upper(word)),
            };
            if stays {
                break;
            }
            at = call.map_or(at, |close| close) + 1;
        }
        at
    }

    /// Whether the head of a function may begin, or go on, at the token at hand.
    fn begins_head(&self) -> bool {
        let before = self.word_before();
        self.begins_statement() || self.before_is(b">") || is_specifier(before) || before == "\"C\""
    }

    /// Whether the word at a token stands where the type of a function does that is launched.
    pub(super) fn is_head_of_kernel(&self, at: usize) -> bool {
        self.begins_head() && self.is_launched(self.past_specifiers(at + 1))
    }

    /// Whether the definition of a function that is launched has its name at a token.
    fn is_launched(&self, name: usize) -> bool {
        let body = self.close(name + 1).map(|close| close + 1).filter(|body| self.is(*body, b'{'));
        let Some((body, end)) = body.and_then(|body| Some((body, self.partner_of(body)?))) else {
            return false;
        };
        self.is_ident(name)
            && self.launched().contains(self.word(name))
            && !(body..end).any(|at| self.is_launch(at))
    }

    /// The names that are launched and that no head with `__global__` has.
    fn launched(&self) -> &FxHashSet<&'t str> {
        self.launched.get_or_init(|| {
            let launches = (1..self.tokens.len()).filter(|at| self.is_launch(*at));
            let mut names: FxHashSet<&'t str> =
                launches.filter_map(|at| Some(self.word(self.name_before(at - 1)?))).collect();
            if !names.is_empty() {
                let heads = (0..self.tokens.len()).filter(|at| self.word(*at) == "__global__");
                for name in heads.filter_map(|at| self.name_in_head(at + 1)) {
                    names.remove(self.word(name));
                }
            }
            names
        })
    }

    /// Whether `<<<` begins at a token.
    fn is_launch(&self, at: usize) -> bool {
        (at..at + 3).all(|at| self.is(at, b'<')) && at.checked_sub(1).is_none_or(|at| !self.is(at, b'<'))
    }

    /// The name that ends at a token, or before the template arguments that do.
    fn name_before(&self, end: usize) -> Option<usize> {
        let (mut at, mut depth) = (end, 0usize);
        loop {
            match () {
                () if self.is(at, b'>') => depth += 1,
                () if self.is(at, b'<') => depth = depth.checked_sub(1)?,
                () if depth == 0 => return Some(at).filter(|at| self.is_ident(*at)),
                () => {}
            }
            at = at.checked_sub(1).filter(|at| end - at < MOST)?;
        }
    }

    /// The name of the function whose head goes on at a token.
    fn name_in_head(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while at < from + MOST && at < self.tokens.len() {
            match self.close(at) {
                Some(close) if self.word(at - 1).starts_with("__") => at = close,
                Some(_) => return Some(at - 1),
                None if self.is(at, b'{') || self.is(at, b';') => return None,
                None => {}
            }
            at += 1;
        }
        None
    }
}
