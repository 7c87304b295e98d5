//! What does the lowered program look like?
//!
//! What stands at file scope comes first, then each function with a body that can run on the device or
//! launches something that can.

use super::{place, render};
use crate::ir::{Function, FunctionKind, Module, print};
use crate::source::Sources;
use std::fmt::Write;
use std::sync::Arc;

/// What `lower` made of the files and of the headers that they include.
#[must_use]
pub(crate) fn program<'a>(
    sources: &Sources,
    files: &[String],
    modules: impl IntoIterator<Item = &'a Arc<Module>>,
) -> Vec<u8> {
    let mut blocks = Vec::new();
    for module in modules {
        let Some(file) = module.file else { continue };
        let path = sources.get(file).display_path();
        let mut outside = String::new();
        for variable in &module.variables {
            let at = place(sources, variable.name_span);
            let _ = writeln!(outside, "{at}: {};", print::declaration(variable));
        }
        for span in &module.damage {
            let _ = writeln!(outside, "{}: does not parse", place(sources, *span));
        }
        if !outside.is_empty() {
            blocks.push((path.clone(), 0, 0, outside));
        }
        for (at, function) in module.functions.iter().enumerate() {
            if let Some(text) = text(sources, function) {
                blocks.push((path.clone(), function.name_span.start, at, text));
            }
        }
    }
    render(blocks, files, "not lowered: nothing in it or in its headers can lead to a verdict")
}

/// A function with its body, if what it does can matter.
fn text(sources: &Sources, function: &Function) -> Option<String> {
    if function.body.is_none() || function.kind == FunctionKind::Host && !function.mentions.launch {
        return None;
    }
    let mut out = format!("{}: {}", place(sources, function.name_span), kind_word(function.kind));
    if let Some(([x, y, z], _)) = function.block_directive {
        let _ = write!(out, ", a comment says block {x}x{y}x{z}");
    }
    if function.damaged {
        out.push_str(", in part not parsed");
    }
    let _ = writeln!(out, "\n{} {{", print::head(function));
    for line in print::body(function).lines() {
        let _ = writeln!(out, "  {line}");
    }
    out.push_str("}\n");
    Some(out)
}

fn kind_word(kind: FunctionKind) -> &'static str {
    match kind {
        FunctionKind::Kernel => "kernel",
        FunctionKind::Device => "device function",
        FunctionKind::Host => "host function that launches",
    }
}
