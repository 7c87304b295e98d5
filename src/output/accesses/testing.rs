//! Verdicts to try the formats on.

use crate::domain::Reason;
use crate::events::AccessOp;
use crate::output::testing;
use crate::shape::BlockFrom;
use crate::source::Sources;
use crate::verdict::{SiteVerdict, Status};

pub(super) fn verdict(sources: &Sources, at: &str) -> SiteVerdict {
    let file = sources.get(crate::source::FileId(0));
    SiteVerdict {
        span: testing::span(&file.text, file.id, at),
        kernel: "transpose<float>".into(),
        array: "tile".into(),
        op: AccessOp::Load,
        bytes: Some(4),
        block: [32, 8, 1],
        block_from: BlockFrom::Launch,
        target: "sm_90".into(),
        status: Status::Exact,
        assumptions: Vec::new(),
        reason: None,
        kind: None,
        requests: Some(8),
        wavefronts: Some(256),
        ideal: Some(8),
        usual: Some(8),
        worst: Some(32),
        worst_ideal: Some(1),
        uncounted_loops: Vec::new(),
        rounds: 1,
        table: None,
    }
}

pub(super) fn unknown(known: &SiteVerdict, reason: &str) -> SiteVerdict {
    SiteVerdict {
        status: Status::Unknown,
        reason: Some(reason.into()),
        kind: Some(Reason::DataDependent),
        bytes: None,
        requests: None,
        wavefronts: None,
        ideal: None,
        usual: None,
        worst: None,
        worst_ideal: None,
        ..known.clone()
    }
}

pub(super) fn sources() -> Sources {
    testing::finding("d/a.cu", "x = tile[a];\ny = tile[b];\n", "").0
}
