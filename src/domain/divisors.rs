//! Which numbers divide others?

/// Greatest common divisor; `gcd(0, n)` is `n`.
#[must_use]
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Least common multiple, saturating; `lcm(0, n)` is `n`.
#[must_use]
pub(crate) fn lcm(a: u64, b: u64) -> u64 {
    match gcd(a, b) {
        0 => 0,
        _ if a == 0 || b == 0 => a.max(b),
        divisor => (a / divisor).saturating_mul(b),
    }
}
