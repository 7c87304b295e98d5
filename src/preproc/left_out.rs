//! Which kernel code is left out because it is for a newer architecture?
//!
//! ```text
//! __global__ void k() {
//! #if __CUDA_ARCH__ >= 1000     for sm_90, the kernel is empty
//!     __shared__ float s[32];
//!     ...
//! #endif
//! }
//! ```
//!
//! Where another branch has shared memory too, the code is not missed: it is a choice.

use super::directives::{DirectiveKind, Directives, HeaderCache, Test};
use super::replay::Replay;
use super::{Defines, NoIncludes};
use crate::source::{FileId, SourceFile};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// What conditions on the architecture ask for.
const ARCHITECTURE: &str = "__CUDA_ARCH__";
/// What code for shared memory has in its text.
const SHARED: &str = "__shared__";
/// What a kernel has.
const KERNEL: &str = "__global__";

/// A file that has kernel code which is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file.
    pub file: FileId,
    /// The first architecture for which some of it is not, as `__CUDA_ARCH__` says it.
    pub arch: u32,
}

impl HeaderCache {
    /// The files that have kernel code for architectures which come later than that of the run, in no order. `newer`:
    /// those, in order, as `__CUDA_ARCH__` says them.
    #[must_use]
    pub fn left_out(&self, newer: &dyn Fn(&Path) -> Vec<u32>) -> Vec<LeftOut> {
        let files = self.all();
        let of = |file: &Arc<Directives>| {
            let conditions = conditions(file);
            if conditions.is_empty() {
                return None;
            }
            let archs = newer(&file.file.path).into_iter();
            let mut archs = archs.map(|arch| (arch, Defines::new(arch, [])));
            let (arch, _) =
                archs.find(|(_, defines)| conditions.iter().any(|condition| holds(condition, defines)))?;
            Some(LeftOut { file: file.file.id, arch })
        };
        files.iter().filter_map(of).collect()
    }
}

/// The conditions on the architecture that were not met and keep kernel code away.
fn conditions(file: &Directives) -> Vec<&str> {
    let text = file.file.text.as_str();
    let unmet = file.list.iter().enumerate().filter(|(at, _)| file.led_nowhere(*at));
    let asked = unmet.filter_map(|(at, directive)| match &directive.kind {
        DirectiveKind::If { test: Test::Expression(range), .. } => {
            let condition = text.get(range.clone()).filter(|it| it.contains(ARCHITECTURE))?;
            is_missed(file, at).then_some(condition)
        }
        _ => None,
    });
    asked.collect()
}

/// Whether the branch that a directive opens has code for shared memory, or all of a kernel, and no other branch has
/// code for shared memory.
fn is_missed(file: &Directives, at: usize) -> bool {
    let text = file.file.text.as_str();
    let part = |range: Range<usize>| text.get(range).unwrap_or("");
    let Some((own, others, end)) = branches(file, at) else { return false };
    let start = file.list.get(at).map_or(0, |directive| directive.start as usize);
    let has_shared = part(own.clone()).contains(SHARED);
    if others.into_iter().any(|other| part(other).contains(SHARED)) {
        return false;
    }
    let before = part(0..start);
    let head = before.rfind(KERNEL).and_then(|kernel| before.get(kernel..)).unwrap_or("");
    let begins = head.trim_end().ends_with('{') && head.matches('{').count() == 1;
    let is_body = begins && part(end..text.len()).trim_start().starts_with('}');
    has_shared || is_body && !part(own).trim().is_empty() || part(start..end).contains(KERNEL)
}

/// Where the branch lies that a directive opens, where those lie that stand for it, and where the last ends.
fn branches(file: &Directives, at: usize) -> Option<(Range<usize>, Vec<Range<usize>>, usize)> {
    let mut all = Vec::new();
    let mut open = file.list.get(at)?;
    loop {
        let next = match open.kind {
            DirectiveKind::If { next, .. }
            | DirectiveKind::Elif { next, .. }
            | DirectiveKind::Else { next } => file.list.get(next as usize)?,
            _ => break,
        };
        all.push(open.end as usize..next.start as usize);
        open = next;
    }
    let own = all.first()?.clone();
    Some((own, all.split_off(1), open.end as usize))
}

/// Whether a condition holds with some definitions.
fn holds(condition: &str, defines: &Defines) -> bool {
    let text = format!("#if {condition}\n#endif\n");
    let file = SourceFile::new(FileId(u32::MAX), "<condition>".into(), text.into_bytes());
    let file = Arc::new(Directives::read(Arc::new(file), false));
    let cache = HeaderCache::default();
    Replay::new(defines.macros.for_file(Arc::clone(&file)), &NoIncludes, &cache, false).run();
    !file.led_nowhere(0)
}
