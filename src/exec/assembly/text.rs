//! Which instructions stand in the text of inline assembly?

use crate::builtins::ptx;

/// The instructions of a template that bear on anything, without escapes.
pub(crate) fn instructions(template: &str) -> Vec<String> {
    template.split([';', '\n']).map(clean).filter(|text| is_followed(text)).collect()
}

/// An instruction without escapes and what stands before it.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace("\\n", " ").replace("\\t", " ").replace("%%", "%");
    let text = text.trim().trim_start_matches(['{', '"']).trim_end_matches('"').trim();
    // Behind a label.
    let is_label =
        |name: &str| name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '='));
    match text.split_once(':') {
        Some((label, rest)) if is_label(label) && !rest.starts_with(':') => rest.trim().to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether an instruction is one that [`Machine::instruction`] does something for.
fn is_followed(text: &str) -> bool {
    let (opcode, _) = opcode_of(text);
    ptx::is_followed(opcode.split('.').next().unwrap_or(opcode))
}

/// An instruction's name and its operands, without its guard.
pub(crate) fn opcode_of(text: &str) -> (&str, &str) {
    let unguarded = match text.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim(),
        None => text,
    };
    unguarded.split_once(char::is_whitespace).unwrap_or((unguarded, ""))
}
