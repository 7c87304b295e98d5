//! Is this the finding that was there before?
//!
//! A fingerprint is made of the rule, the file, the kernel and the words under the finding without
//! white space, so that it survives moved and re-indented lines. What a file is called is told by the
//! caller, who knows where a path begins. Of several findings that agree in
//! all of it, the second, third, ... are told apart by their number.

use crate::diagnostic::Diagnostic;
use crate::source::Sources;
use fnv::FnvHasher;
use rustc_hash::FxHashMap;
use std::hash::Hasher;
use std::path::Path;

/// The scheme; a later one gets another number.
pub const SCHEME: &str = "cudalint/v1";

/// The fingerprints of findings, in their order: 16 hexadecimal digits, no two alike. `name` is what a file
/// is called.
#[must_use]
pub fn of_all(sources: &Sources, findings: &[Diagnostic], name: &dyn Fn(&Path) -> String) -> Vec<String> {
    let mut seen: FxHashMap<u64, u64> = FxHashMap::default();
    let mut numbered = |finding: &Diagnostic| {
        let hash = hash(sources, finding, name);
        let count = seen.entry(hash).or_default();
        *count += 1;
        if *count == 1 {
            return format!("{hash:016x}");
        }
        let mut hasher = FnvHasher::with_key(hash);
        hasher.write(&count.to_le_bytes());
        format!("{:016x}", hasher.finish())
    };
    findings.iter().map(&mut numbered).collect()
}

fn hash(sources: &Sources, finding: &Diagnostic, name: &dyn Fn(&Path) -> String) -> u64 {
    let file = sources.get(finding.primary.file);
    let mut hasher = FnvHasher::default();
    let path = name(&file.path);
    for part in [finding.rule, path.as_str(), finding.kernel.as_str()] {
        hasher.write(part.as_bytes());
        // No part may run into the next.
        hasher.write(&[0]);
    }
    for word in file.slice(finding.primary).split_whitespace() {
        hasher.write(word.as_bytes());
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::testing;

    fn name(path: &Path) -> String {
        path.to_string_lossy().into_owned()
    }

    fn of(path: &str, source: &str) -> String {
        let (sources, finding) = testing::finding(path, source, "s[");
        let end = source.rfind(']').map_or(0, |at| at as u32 + 1);
        let finding = Diagnostic { primary: crate::source::Span { end, ..finding.primary }, ..finding };
        of_all(&sources, &[finding], &name).remove(0)
    }

    #[test]
    fn moved_and_reindented_lines_keep_it() {
        let first = of("a.cu", "x = s[i + 1];");
        assert_eq!(of("a.cu", "\n\n\t  y = s[ i +\r\n  1 ];"), first);
        assert_ne!(of("a.cu", "x = s[i + 2];"), first);
        assert_ne!(of("b.cu", "x = s[i + 1];"), first);
    }

    #[test]
    fn equal_findings_are_told_apart_by_their_number() {
        let (sources, finding) = testing::finding("a.cu", "x = s[i];", "s[i]");
        let one = of_all(&sources, std::slice::from_ref(&finding), &name);
        let three = of_all(&sources, &[finding.clone(), finding.clone(), finding.clone()], &name);
        assert_eq!(three[0], one[0]);
        assert!(three[0] != three[1] && three[1] != three[2] && three[0] != three[2]);
        let other = Diagnostic { kernel: "other".into(), ..finding };
        assert_ne!(of_all(&sources, &[other], &name)[0], one[0]);
    }
}
