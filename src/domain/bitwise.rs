//! What do shifts and bitwise operators make of integers that are affine in unknown symbols?
//!
//! They stay affine where an operator only meets bits that are known: `(256 * k + x) & 31` is `x & 31`,
//! and `(32 * k) | x` is `32 * k + x` for `x` below 32. Where it meets the unknown bits as well, but these are the same
//! for all threads, what it makes of them is one more unknown number.

use super::{Int, NotAffine, World, gcd};

impl World {
    /// `a << b`
    pub(crate) fn shl(&mut self, a: &Int, b: &Int) -> Result<Int, NotAffine> {
        match b.as_constant() {
            Some(count @ 0..=62) => Ok(self.scale(a, 1i64 << count)),
            _ => self.known_or_symbolic("<<", a, b, |a, b| {
                if (0..64).contains(&b) { a.wrapping_shl(b as u32) } else { 0 }
            }),
        }
    }

    /// `a >> b`; without a sign, `a` is 64 bits.
    pub(crate) fn shr(&mut self, a: &Int, b: &Int, signed: bool) -> Result<Int, NotAffine> {
        match b.as_constant() {
            Some(count @ 0..=62) if !a.terms.is_empty() => self.floor_div(a, 1i64 << count),
            _ if !signed => self.known_or_symbolic("unsigned >>", a, b, |a, b| {
                if (0..64).contains(&b) { (a as u64 >> b) as i64 } else { 0 }
            }),
            _ => self.known_or_symbolic(">>", a, b, |a, b| if (0..64).contains(&b) { a >> b } else { 0 }),
        }
    }

    /// `a & b`
    pub(crate) fn and(&mut self, a: &Int, b: &Int) -> Result<Int, NotAffine> {
        if a.as_known().is_some() && b.as_known().is_none() {
            return self.and(b, a);
        }
        if let (Some(mask), None) = (b.as_constant(), a.as_known()) {
            // One run of ones, `((1 << width) - 1) << shift`, is a remainder with the low bits cut.
            let shift = mask.trailing_zeros().min(62);
            let run = mask >> shift;
            if mask < 0 && run == -1 {
                let low = self.floor_rem(a, 1i64 << shift)?;
                return Ok(self.sub(a, &low));
            }
            if mask > 0 && mask < 1 << 61 && (run & (run + 1)) == 0 {
                let kept = self.floor_rem(a, mask + (1i64 << shift))?;
                let cut = self.floor_rem(&kept, 1i64 << shift)?;
                return Ok(self.sub(&kept, &cut));
            }
        }
        self.bitwise("&", a, b, |a, b| a & b)
    }

    /// `a | b`
    pub(crate) fn or(&mut self, a: &Int, b: &Int) -> Result<Int, NotAffine> {
        self.bitwise("|", a, b, |a, b| a | b)
    }

    /// `a ^ b`
    pub(crate) fn xor(&mut self, a: &Int, b: &Int) -> Result<Int, NotAffine> {
        // With as many ones as a number has bits, all of them turn over: `x ^ 3` is `3 - x` for `x` in 0..3.
        for (number, ones) in [(a, b), (b, a)] {
            let all = ones.as_constant().filter(|ones| *ones > 0 && (ones & ones.wrapping_add(1)) == 0);
            if let Some(all) = all.filter(|all| number.as_known().is_none() && self.within(number, 0, *all)) {
                return Ok(self.sub(&Int::constant(all), number));
            }
        }
        self.bitwise("^", a, b, |a, b| a ^ b)
    }

    /// A bitwise operator. When the known side `w` fits into the low bits that the other side's
    /// terms leave untouched (every factor a multiple of `2^j`, `0 <= w < 2^j`), the operator
    /// only meets the known bits: `(T + base) ^ w = T + (base ^ w)`, and `&` drops `T`.
    fn bitwise(
        &mut self,
        op: &'static str,
        a: &Int,
        b: &Int,
        apply: impl Fn(i64, i64) -> i64 + Copy,
    ) -> Result<Int, NotAffine> {
        if a.as_known().is_some() && b.as_known().is_none() {
            return self.bitwise(op, b, a, apply);
        }
        if let (Some(w), None) = (b.as_known(), a.as_known()) {
            let (low, high) = w.bounds(self.shape);
            let reach = 64 - high.max(0).leading_zeros();
            let multiple = a.terms_gcd();
            if low >= 0 && (multiple == 0 || multiple.trailing_zeros() >= reach) {
                let base = a.base.zip(w, self.shape, apply);
                let terms = if op == "&" { Vec::new() } else { a.terms.clone() };
                return Ok(Int::of(base, terms));
            }
            if let Some(result) = self.in_parts(op, a, b, apply) {
                return Ok(result);
            }
            if low >= 0 && reach < 16 && !(a.is_uniform() && b.is_uniform()) {
                self.demand(a, 1 << reach);
            }
        } else if op != "&" && self.disjoint(a, b) {
            return Ok(self.add(a, b));
        } else if let Some(result) = self.in_parts(op, a, b, apply) {
            return Ok(result);
        }
        self.known_or_symbolic(op, a, b, apply)
    }

    /// A bitwise operator where all terms are multiples of `2^j`, and what lies above the low `j` bits is the same for
    /// all threads. It acts on the two parts of each side for itself: with `x` in 0..256, `(256 * k + x) ^ 512` is
    /// `256 * (k ^ 2) + x`, and `k ^ 2` is one more unknown number.
    fn in_parts(
        &mut self,
        op: &'static str,
        a: &Int,
        b: &Int,
        apply: impl Fn(i64, i64) -> i64 + Copy,
    ) -> Option<Int> {
        let multiple = gcd(a.terms_gcd(), b.terms_gcd());
        let unit = 1i64 << multiple.trailing_zeros().min(62);
        if multiple == 0 || unit == 1 || a.is_uniform() && b.is_uniform() {
            return None;
        }
        let (above_a, above_b) = (self.floor_div(a, unit).ok()?, self.floor_div(b, unit).ok()?);
        if !above_a.is_uniform() || !above_b.is_uniform() {
            return None;
        }
        let below = |number: &Int| number.base.map(self.shape, |v| v.rem_euclid(unit));
        let low = below(a).zip(&below(b), self.shape, apply);
        let high = self.known_or_symbolic(op, &above_a, &above_b, apply).ok()?;
        let high = self.scale(&high, unit);
        Some(self.add(&high, &Int::known(low)))
    }

    /// Whether no bit can be set in both: one is a multiple of `2^j`, the other below it.
    fn disjoint(&self, a: &Int, b: &Int) -> bool {
        let multiple = |v: &Int| gcd(v.terms_gcd(), v.base.gcd());
        let one_way = |a: &Int, b: &Int| {
            let zeros = multiple(a).trailing_zeros().min(62);
            multiple(a) != 0 && self.within(b, 0, (1i64 << zeros) - 1)
        };
        one_way(a, b) || one_way(b, a)
    }
}
