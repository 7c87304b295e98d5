//! Which lanes of an access give an address, and of how many bytes?

use crate::events::{Access, AccessOp};
use crate::source::Span;

/// An access, in all runs.
pub(super) type Key = (Span, AccessOp);

/// Bytes of a lane's address that stay together: of a matrix, a row of 16.
pub(super) fn width(access: &Access) -> u64 {
    if is_matrix(access) { 16 } else { access.bytes.map_or(1, u64::from) }
}

/// Whether lanes give the addresses of a matrix's rows.
pub(super) fn is_matrix(access: &Access) -> bool {
    matches!(access.op, AccessOp::MatrixLoad | AccessOp::MatrixStore)
}

/// The lanes whose addresses count: of matrices, eight for each.
pub(super) fn asked(access: &Access) -> u32 {
    let count = if is_matrix(access) { 8 * u32::from(access.tiles.matrices.max(1)) } else { 32 };
    u32::MAX.checked_shr(32u32.saturating_sub(count)).unwrap_or(0)
}
