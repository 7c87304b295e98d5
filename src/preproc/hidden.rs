//! Which kernels are not seen because a macro is not defined?
//!
//! ```text
//! #ifdef USE_CUDA              a build with CUDA defines it, and nothing in the files does
//! __global__ void k() { ... }
//! #endif
//! ```
//!
//! Only files that have no kernels elsewhere count: in others, a branch that is not taken is a choice.

use super::directives::{DirectiveKind, Directives, HeaderCache, Test};
use crate::source::FileId;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// What a kernel has in its text.
const KERNEL: &str = "__global__";

/// A file whose kernels are not seen, and the macro that they wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The file.
    pub file: FileId,
    /// The macro.
    pub name: String,
}

impl HeaderCache {
    /// The files that have kernels only where a macro is defined that no file of the run defines, in no order.
    #[must_use]
    pub fn hidden(&self) -> Vec<Hidden> {
        let files = self.all();
        let defines = |file: &Directives| -> Vec<String> {
            let names = file.list.iter().filter_map(|directive| match &directive.kind {
                DirectiveKind::Define(define) => Some(define.name.to_string()),
                _ => None,
            });
            names.collect()
        };
        let hidden: Vec<Hidden> = files.iter().filter_map(|file| hidden_in(file)).collect();
        if hidden.is_empty() {
            return hidden;
        }
        let defined: FxHashSet<String> = files.iter().flat_map(|file| defines(file)).collect();
        hidden.into_iter().filter(|it| !defined.contains(&it.name)).collect()
    }
}

fn hidden_in(file: &Directives) -> Option<Hidden> {
    let text = file.file.text.as_str();
    let branches: Vec<(&str, Range<usize>)> = file
        .list
        .iter()
        .enumerate()
        .filter_map(|(at, directive)| match &directive.kind {
            DirectiveKind::If { test, next } if file.led_nowhere(at) => {
                let end = file.list.get(*next as usize).map_or(text.len(), |next| next.start as usize);
                Some((asked(text, test)?, directive.end as usize..end))
            }
            _ => None,
        })
        .collect();
    let holds_kernel =
        |range: &Range<usize>| text.get(range.clone()).is_some_and(|text| text.contains(KERNEL));
    let (name, _) = branches.iter().find(|(name, range)| is_of_build(name) && holds_kernel(range))?;
    let mut seen = 0;
    for (_, range) in branches.iter().filter(|(other, _)| other == name) {
        if holds_kernel(&(seen..range.start)) {
            return None;
        }
        seen = range.end;
    }
    (!holds_kernel(&(seen..text.len()))).then(|| Hidden { file: file.file.id, name: (*name).to_owned() })
}

/// What 1 is compared with so that the condition holds, to which `--define NAME` defines a name.
const OF_ONE: [(&str, &str); 4] = [("==", "1"), ("!=", "0"), (">=", "1"), (">", "0")];

/// The macro that a condition asks for, and nothing else: `#ifdef NAME`, `#if defined(NAME)`, `#if NAME`,
/// `#if NAME == 1`.
fn asked<'t>(text: &'t str, test: &Test) -> Option<&'t str> {
    let name = match test {
        Test::Defined(name) => text.get(name.clone())?,
        Test::NotDefined(_) => return None,
        Test::Expression(range) => {
            let condition = text.get(range.clone())?.trim();
            let is_one = |(operator, number): &(&str, &str)| {
                condition.strip_suffix(number)?.trim_end().strip_suffix(operator)
            };
            let condition = OF_ONE.iter().find_map(is_one).unwrap_or(condition).trim();
            let name = condition.strip_prefix("defined").unwrap_or(condition).trim();
            name.strip_prefix('(').and_then(|name| name.strip_suffix(')')).unwrap_or(name).trim()
        }
    };
    let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// Whether a build for CUDA may define a macro: not a compiler, and not one for other devices. HIP's headers define
/// theirs where nvcc compiles, too, and nvcc one for the features of each architecture, as in `sm_90a`.
fn is_of_build(name: &str) -> bool {
    const OWN: [&str; 3] = ["__HIPCC__", "__HIP_PLATFORM_NVIDIA__", "__HIP_PLATFORM_NVCC__"];
    let is_other =
        name.starts_with("__") || ["HIP", "ROCM", "SYCL", "MUSA"].iter().any(|other| name.contains(other));
    OWN.contains(&name) || name.starts_with("__CUDA_ARCH_FEAT_") || !is_other
}
