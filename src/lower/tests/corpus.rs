//! Runs over a directory of real code, when the environment names one.

use super::super::lower;
use crate::ir::{FunctionKind, print};
use crate::preproc::Expanded;
use crate::source::{FileId, SourceFile};
use crate::syntax::SyntaxTree;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `CUDALINT_CORPUS=dir cargo test corpus -- --nocapture` prints what was lowered and what was not.
#[test]
fn a_corpus_lowers_without_panic() {
    let Ok(root) = std::env::var("CUDALINT_CORPUS") else { return };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |what: &str, by: usize| *counts.entry(what.to_string()).or_default() += by;
    for entry in walkdir::WalkDir::new(root).into_iter().filter_map(Result::ok) {
        let extension = entry.path().extension().and_then(|e| e.to_str()).unwrap_or("");
        if !matches!(extension, "cu" | "cuh" | "h" | "hpp") || !entry.file_type().is_file() {
            continue;
        }
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        let file = Arc::new(SourceFile::new(FileId(0), entry.path().into(), bytes));
        let Some(tree) = SyntaxTree::parse(Expanded::unchanged(file)) else { continue };
        let module = lower(&tree);
        count("files", 1);
        count("functions", module.functions.len());
        count("records", module.records.len());
        count("damage", module.damage.len());
        for function in &module.functions {
            count("kernels", usize::from(function.kind == FunctionKind::Kernel && function.body.is_some()));
            count("damaged functions", usize::from(function.damaged));
            let text = print::body(function);
            count("shared declarations", text.matches("__shared__ ").count());
            count("<damaged>", text.matches("<damaged>").count());
            for part in text.split("<unsupported: ").skip(1) {
                count(&format!("unsupported {}", part.split('>').next().unwrap_or("")), 1);
            }
            count("<opaque>", text.matches("<opaque>").count());
        }
    }
    for (what, count) in counts {
        println!("{count:8} {what}");
    }
}
