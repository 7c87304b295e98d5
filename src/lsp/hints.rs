//! What does the editor show behind accesses with bank conflicts?
//!
//! `tile[lane / 8][lane % 8]` gets ` 8-way` behind it, in grey. Where runs of the kernel or targets differ,
//! `up to 8-way`. An access without conflicts, or of which nothing is known, gets nothing.

use super::Checked;
use super::places::Places;
use crate::analysis::MetSite;
use crate::source::Span;
use ls_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Position, Range};
use std::collections::BTreeMap;
use std::path::Path;

/// The hints of a part of a file, in order.
pub(super) fn hints(checked: &Checked, places: &Places<'_>, path: &Path, range: Range) -> Vec<InlayHint> {
    // A load and a store of one place, as `+=` makes them, are told once.
    let mut sites: BTreeMap<Span, MetSite> = BTreeMap::new();
    for site in checked.kernels.iter().flat_map(|kernel| &kernel.sites) {
        if places.path(site.span.file).is_some_and(|other| other == path) {
            sites.entry(site.span).or_insert(*site).join(site);
        }
    }
    let hint = |(span, site): (Span, MetSite)| {
        let position = places.range(span).end;
        (range.start <= position && position <= range.end).then(|| shown(position, &site)).flatten()
    };
    sites.into_iter().filter_map(hint).collect()
}

fn shown(position: Position, site: &MetSite) -> Option<InlayHint> {
    Some(InlayHint {
        position,
        label: InlayHintLabel::String(label(site)?),
        kind: None,
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String("the bank conflict of the worst warp request".to_owned())),
        padding_left: Some(true),
        padding_right: None,
        data: None,
    })
}

/// `8-way`, `up to 8-way`
fn label(site: &MetSite) -> Option<String> {
    let ways = site.ways.filter(|_| site.conflicts())?;
    let most = format!("{}-way", ways.most);
    Some(if ways.least == ways.most && !site.unknown { most } else { format!("up to {most}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::MetWays;
    use crate::events::AccessOp;
    use crate::source::FileId;

    #[test]
    fn what_differs_or_is_not_known_in_some_run_is_told_as_the_most() {
        let span = Span { file: FileId(0), start: 0, end: 1, nth: 0 };
        let told = |ways: Option<(u32, u32)>, unknown| {
            let ways = ways.map(|(least, most)| MetWays { least, most });
            label(&MetSite { span, op: AccessOp::Load, ways, unknown })
        };
        assert_eq!(told(Some((8, 8)), false).as_deref(), Some("8-way"));
        assert_eq!(told(Some((1, 8)), false).as_deref(), Some("up to 8-way"));
        assert_eq!(told(Some((8, 8)), true).as_deref(), Some("up to 8-way"));
        assert_eq!(told(Some((1, 1)), false), None);
        assert_eq!(told(None, true), None);
    }
}
