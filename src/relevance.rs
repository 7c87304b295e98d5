//! Can a file's text lead to anything that is judged, or to a launch of it?
//!
//! Answered from bytes, before anything is parsed: for a kernel to be judged, shared memory or
//! a barrier of a block or warp must be spelled somewhere in its file, in a header that it includes or in
//! a macro. Most files of a project hold neither; their launches count only if they name a kernel
//! that another file's text makes worth judging. The answer errs towards yes: comments, untaken
//! branches and words inside other words all count.

use crate::ir::Name;
use crate::source::{FileId, SourceFile};
use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{BitOr, Range};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What one text, or several together, spell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// Shared memory, or a barrier of a block or warp.
    judged: bool,
    /// A piece of such a word, which `##` may put together.
    piece: bool,
    /// `##`, or another reason why a name may be used that no text spells.
    paste: bool,
    /// A launch.
    launch: bool,
}

impl BitOr for Words {
    type Output = Words;

    fn bitor(self, other: Words) -> Words {
        Words {
            judged: self.judged || other.judged,
            piece: self.piece || other.piece,
            paste: self.paste || other.paste,
            launch: self.launch || other.launch,
        }
    }
}

/// The words looked for, and what each is a sign of.
const WORDS: [(&str, Sign); 22] = [
    ("__shared__", Sign::Judged),
    ("__syncthreads", Sign::Judged),
    ("__barrier_sync", Sign::Judged),
    ("bar.sync", Sign::Judged),
    ("bar.red", Sign::Judged),
    ("barrier.", Sign::Judged),
    ("__syncwarp", Sign::Judged),
    ("__shfl", Sign::Judged),
    ("__any", Sign::Judged),
    ("__all", Sign::Judged),
    ("__ballot", Sign::Judged),
    ("__match_", Sign::Judged),
    ("__reduce_", Sign::Judged),
    ("sync", Sign::Sync),
    ("synchronize", Sign::Sync),
    ("shared", Sign::Piece),
    ("bar", Sign::Piece),
    ("threads", Sign::Piece),
    ("##", Sign::Paste),
    ("<<<", Sign::Launch),
    // As a formatter writes it that takes it for comparisons.
    ("< <", Sign::Launch),
    ("Launch", Sign::Launch),
];

#[derive(Clone, Copy, Debug)]
enum Sign {
    Judged,
    /// A barrier when it is a whole word, as in `block.sync()` or `synchronize(block)`.
    Sync,
    Piece,
    Paste,
    Launch,
}

impl Words {
    /// What a text spells.
    #[must_use]
    pub(crate) fn of(text: &str) -> Words {
        static FINDER: OnceLock<Option<AhoCorasick>> = OnceLock::new();
        let compile = || AhoCorasick::new(WORDS.iter().map(|(word, _)| word)).ok();
        let Some(finder) = FINDER.get_or_init(compile) else {
            return Words { judged: true, piece: true, paste: true, launch: true };
        };
        let mut words = Words::default();
        for found in finder.find_overlapping_iter(text) {
            match WORDS.get(found.pattern().as_usize()).map(|(_, sign)| *sign) {
                Some(Sign::Judged) => words.judged = true,
                Some(Sign::Sync) => {
                    words.piece = true;
                    words.judged |= is_whole_word(text, found.range());
                }
                Some(Sign::Piece) => words.piece = true,
                Some(Sign::Paste) => words.paste = true,
                Some(Sign::Launch) => words.launch = true,
                None => {}
            }
            if words.judged && words.launch && words.paste {
                break;
            }
        }
        words
    }

    /// The same, where names may come from elsewhere too, as from the command line.
    #[must_use]
    pub(crate) fn with_names_from_elsewhere(self) -> Words {
        Words { paste: true, ..self }
    }

    /// Whether a kernel that sees these texts, and no other, may be judged.
    #[must_use]
    pub(crate) fn may_be_judged(self) -> bool {
        self.judged || self.piece && self.paste
    }
}

/// Whether no letter, digit or underscore stands beside the bytes at `range`.
fn is_whole_word(text: &str, range: Range<usize>) -> bool {
    let in_word = |at: Option<usize>| {
        let byte = at.and_then(|at| text.as_bytes().get(at));
        byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    !in_word(range.start.checked_sub(1)) && !in_word(Some(range.end))
}

/// What each file spells, looked up once.
#[derive(Debug, Default)]
pub(crate) struct Spelled {
    files: Mutex<FxHashMap<FileId, Words>>,
}

impl Spelled {
    /// What a file spells.
    #[must_use]
    pub(crate) fn of(&self, file: &SourceFile) -> Words {
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&file.id).copied();
        known.unwrap_or_else(|| {
            let words = Words::of(&file.text);
            lock().insert(file.id, words);
            words
        })
    }

    /// Forgets all files but these.
    pub(crate) fn keep(&self, files: &FxHashSet<FileId>) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).retain(|file, _| files.contains(file));
    }
}

/// The kernels of a run that are worth judging, by name.
#[derive(Debug, Default)]
pub(crate) struct JudgedKernels {
    names: Arc<FxHashSet<Name>>,
    finder: Option<AhoCorasick>,
    /// Whether a file's text holds one of the names.
    files: Mutex<FxHashMap<FileId, bool>>,
}

impl JudgedKernels {
    /// The kernels with these names.
    #[must_use]
    pub(crate) fn new(names: Arc<FxHashSet<Name>>) -> JudgedKernels {
        let finder = AhoCorasick::new(names.iter().map(|name| name.as_bytes())).ok();
        JudgedKernels { names, finder, files: Mutex::default() }
    }

    /// The names.
    #[must_use]
    pub(crate) fn names(&self) -> &Arc<FxHashSet<Name>> {
        &self.names
    }

    /// Whether a kernel of this name is wanted.
    #[must_use]
    pub(crate) fn contains(&self, name: &Name) -> bool {
        self.names.contains(name)
    }

    /// Whether a program of these files, which spell `words` together, may launch one of the kernels.
    #[must_use]
    pub(crate) fn may_be_launched(&self, words: Words, files: &[&SourceFile]) -> bool {
        // A name may be put together too.
        words.launch
            && !self.names.is_empty()
            && (words.paste || files.iter().any(|file| self.named_in(file)))
    }

    /// Whether a file may define one of the kernels, though nothing in it is worth judging.
    #[must_use]
    pub(crate) fn may_be_defined(&self, file: &SourceFile) -> bool {
        let kernels = memchr::memmem::find(file.text.as_bytes(), b"__global__").is_some();
        kernels && !self.names.is_empty() && self.named_in(file)
    }

    fn named_in(&self, file: &SourceFile) -> bool {
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(&file.id).copied();
        known.unwrap_or_else(|| {
            let whole = |finder: &AhoCorasick| {
                let mut found = finder.find_overlapping_iter(&file.text);
                found.any(|found| is_whole_word(&file.text, found.range()))
            };
            let named = self.finder.as_ref().is_none_or(whole);
            lock().insert(file.id, named);
            named
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_is_a_whole_word() {
        let judged = |text: &str| Words::of(text).may_be_judged();
        for text in ["__syncwarp();", "v += __shfl_xor_sync(m, v, 1);", "__any_sync(m, p)"] {
            assert!(judged(text), "{text}");
        }
        for text in ["__shared__ int x;", "if (__syncthreads_or(p))", "block.sync();", "cg::sync(g);"] {
            assert!(judged(text), "{text}");
        }
        for text in
            ["synchronize(block);", "asm(\"bar.sync 1, 64;\");", "asm volatile(\"barrier.cta.sync 0;\");"]
        {
            assert!(judged(text), "{text}");
        }
        for text in ["cudaMemcpyAsync(a, b, n);", "cudaDeviceSynchronize();", "// shared"] {
            assert!(!judged(text), "{text}");
        }
        let spelled = Words::of("#define CAT(a, b) a##b")
            | Words::of("CAT(__shar, ed__) int x; CAT(__sync, threads)();");
        assert!(spelled.may_be_judged());
    }

    #[test]
    fn a_launch_counts_when_it_may_name_a_wanted_kernel() {
        let wanted = JudgedKernels::new(Arc::new([Name::from("scan")].into_iter().collect()));
        let launched = |id: u32, text: &str| {
            let file = SourceFile::new(FileId(id), "a.cu".into(), text.as_bytes().to_vec());
            wanted.may_be_launched(Words::of(text), &[&file])
        };
        assert!(launched(0, "scan<<<1, 2>>>();"));
        assert!(launched(1, "cudaLaunchKernel((void *)scan, 1, 2);"));
        assert!(launched(2, "#define RUN(x) sc##x<<<1, 2>>>()"));
        assert!(!launched(3, "fill<<<1, 2>>>(); rescan<<<1, 2>>>();"));
        assert!(!launched(4, "scan(1, 2);"));
        let file = SourceFile::new(FileId(5), "a.cu".into(), Vec::new());
        assert!(wanted.may_be_launched(Words::of("NAME<<<1, 2>>>();").with_names_from_elsewhere(), &[&file]));
        assert!(!JudgedKernels::default().may_be_launched(Words::of("fill<<<1, 2>>>();"), &[]));
    }

    #[test]
    fn every_barrier_is_judged() {
        use crate::builtins::{Kind, names};
        let barriers = [Kind::BlockBarrier, Kind::BlockVote, Kind::NamedBarrier, Kind::GroupBarrier];
        let found = names(&barriers);
        assert!(found.contains(&"__syncthreads") && found.contains(&"sync"));
        for name in found {
            assert!(Words::of(&format!("{name}(x);")).may_be_judged(), "{name}");
        }
    }
}
