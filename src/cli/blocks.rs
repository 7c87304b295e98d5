//! Is there a kernel for each block shape that was given?

use super::driver::Input;
use super::terminal;
use crate::config::Config;
use crate::source::Sources;
use crate::walk;
use memchr::memmem;
use rustc_hash::FxHashSet;
use std::path::Path;
use std::rc::Rc;

/// Says which block shapes are for a kernel that no file has: in the files given for a flag, in its folder
/// for a configuration file, which speaks of files that need not be given.
pub(super) fn warn_of_unknown_kernels(input: &Input, kernels: &FxHashSet<String>, sources: &Sources) {
    // A kernel that there was no reason to parse, or whose name a macro makes, is in the text at least.
    let is_met = |name: &str| {
        kernels.contains(name) || sources.all().iter().any(|file| has_word(file.text.as_bytes(), name))
    };
    let meant =
        |name: &str| nearest(name, kernels).map_or_else(String::new, |it| format!("; did you mean `{it}`?"));
    for name in input.args.blocks.iter().filter_map(|block| block.kernel.as_deref()) {
        if !is_met(name) {
            let meant = meant(name);
            terminal::say_warning(&format!("`--block`: the files given have no kernel `{name}`{meant}"));
        }
    }
    // A file that others extend may be about kernels of any of them.
    let absolute = |config: &Rc<Config>| input.settings.configs.absolute(&config.path);
    let own = |config: &Rc<Config>| absolute(config).parent() == Some(config.folder());
    for config in input.configs().into_iter().filter(own) {
        let named = config.blocks.iter().filter_map(|set| Some((set.value.0.as_deref()?, set.line)));
        for (name, line) in named.filter(|(name, _)| !is_met(name)) {
            if !is_below(name, &config, input) {
                let (path, meant) = (config.path.display(), meant(name));
                terminal::say_warning(&format!("{path}:{line}: no file here has a kernel `{name}`{meant}"));
            }
        }
    }
}

/// Whether a file in the folder of a configuration file, or below it, holds a word.
fn is_below(word: &str, config: &Rc<Config>, input: &Input) -> bool {
    let skip = |path: &Path, folder: bool| input.settings.skips(path, folder, input.args.no_ignore);
    let found = walk::find(&[config.folder().to_path_buf()], &[], &skip);
    let mut texts = found.candidates.iter().filter_map(|candidate| walk::read(candidate).ok().flatten());
    texts.any(|text| has_word(&text, word))
}

/// The kernel that is most likely meant.
fn nearest<'k>(name: &str, kernels: &'k FxHashSet<String>) -> Option<&'k str> {
    // Kernels are known by their bare names.
    let bare = name.split('<').next().unwrap_or(name);
    let bare = bare.rsplit("::").next().unwrap_or(bare).trim();
    let distance = |kernel: &str| strsim::damerau_levenshtein(kernel, bare);
    let near = kernels.iter().map(|kernel| (distance(kernel), kernel.as_str())).min()?;
    (near.0 <= near.1.len() / 3).then_some(near.1)
}

/// Whether a text holds a name by itself, not as part of a longer one.
fn has_word(text: &[u8], word: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_');
    let mut found = memmem::find_iter(text, word);
    !word.is_empty()
        && found.any(|at| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            !is_part(before) && !is_part(text.get(at + word.len()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_not_a_part_of_another() {
        assert!(has_word(b"void k(int)", "k") && has_word(b"k", "k") && has_word(b"kk k", "k"));
        assert!(!has_word(b"kk _k k1", "k") && !has_word(b"", "k") && !has_word(b"x", ""));
    }

    #[test]
    fn a_kernel_is_meant_by_a_name_near_it() {
        let kernels: FxHashSet<String> = ["transpose", "k"].map(str::to_owned).into_iter().collect();
        assert_eq!(nearest("transpos", &kernels), Some("transpose"));
        assert_eq!(nearest("lib::transpose<float>", &kernels), Some("transpose"));
        assert_eq!(nearest("k<4>", &kernels), Some("k"));
        assert_eq!(nearest("nosuch", &kernels), None);
    }
}
