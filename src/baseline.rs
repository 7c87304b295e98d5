//! Which findings were there before and are to be left alone?
//!
//! A baseline is a list of fingerprints with what they stand for, one finding a line so that
//! version control shows what came and went.

use crate::diagnostic::Diagnostic;
use crate::fingerprint::SCHEME;
use crate::output::json;
use crate::source::Sources;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::path::Path;

#[derive(Deserialize, Serialize)]
struct Written<'a> {
    /// Owned where an escape stands in it: some write `/` as `\/`.
    #[serde(borrow)]
    fingerprints: Cow<'a, str>,
    findings: Vec<Entry>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    fingerprint: String,
    rule: String,
    file: String,
    kernel: String,
}

/// The findings that are known.
#[derive(Debug, Default)]
pub struct Baseline {
    known: FxHashSet<String>,
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// When it is none, in words.
    pub fn read(text: &str) -> Result<Baseline, String> {
        let written: Written<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if written.fingerprints != SCHEME {
            return Err(format!(
                "its fingerprints are `{}`, not `{SCHEME}`; write it anew",
                written.fingerprints
            ));
        }
        Ok(Baseline { known: written.findings.into_iter().map(|entry| entry.fingerprint).collect() })
    }

    /// Whether the finding with this fingerprint is known.
    #[must_use]
    pub fn contains(&self, fingerprint: &str) -> bool {
        self.known.contains(fingerprint)
    }

    /// How many findings are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// A baseline of these findings. `name` is what a file is called.
#[must_use]
pub fn render(
    sources: &Sources,
    findings: &[Diagnostic],
    fingerprints: &[String],
    name: &dyn Fn(&Path) -> String,
) -> Vec<u8> {
    let entries = findings.iter().zip(fingerprints).map(|(finding, fingerprint)| Entry {
        fingerprint: fingerprint.clone(),
        rule: finding.rule.to_owned(),
        file: name(&sources.get(finding.primary.file).path),
        kernel: finding.kernel.clone(),
    });
    let lines: Vec<String> = entries.map(|entry| json::line(&entry)).collect();
    let list = if lines.is_empty() { String::new() } else { format!("\n  {}\n", lines.join(",\n  ")) };
    format!("{{\n\"fingerprints\": \"{SCHEME}\",\n\"findings\": [{list}]\n}}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint;
    use crate::output::testing;

    #[test]
    fn what_is_written_is_read() {
        let (sources, finding) = testing::finding("a.cu", "x = s[i];", "s[i]");
        let findings = [finding.clone(), finding];
        let name = |path: &Path| path.to_string_lossy().into_owned();
        let prints = fingerprint::of_all(&sources, &findings, &name);
        let text = String::from_utf8(render(&sources, &findings[..1], &prints[..1], &name)).unwrap();
        let baseline = Baseline::read(&text).unwrap();
        assert!(baseline.contains(&prints[0]) && !baseline.contains(&prints[1]));
        assert!(Baseline::read(&text.replace("/v1", "\\/v1")).unwrap().contains(&prints[0]));
        let none = String::from_utf8(render(&sources, &[], &[], &name)).unwrap();
        assert!(Baseline::read(&none).unwrap().is_empty());
        assert!(Baseline::read("[]").is_err());
        assert!(Baseline::read(&text.replace("/v1", "/v0")).unwrap_err().contains("write it anew"));
    }
}
