//! Which remainders do conditions of host code leave?
//!
//! `n % 128 == 0` says more than that one remainder: `n % 64` is 0, too, and `(n / 8) % 16`. Example: in
//! `if (n % 128 == 0)` a block of `n % 64 == 0 ? 4 : 8` rows has 4.

use crate::domain::gcd;

/// The most quotients in each other that are looked through.
const DEEPEST: u32 = 3;

/// What is known of sums: by which number and with which remainder they can be divided.
pub(super) struct Residues<S> {
    known: Vec<(S, i64, i64)>,
}

/// A sum that a symbol is the quotient of, the constant that is added to it, and the divisor.
pub(super) type Quotient<S> = (S, i64, i64);

impl<S> Default for Residues<S> {
    fn default() -> Residues<S> {
        Residues { known: Vec::new() }
    }
}

impl<S: PartialEq> Residues<S> {
    /// Takes in that `sum` leaves `residue` when divided by `modulus`, which is above 0.
    pub(super) fn add(&mut self, sum: S, modulus: i64, residue: i64) {
        self.known.push((sum, modulus, residue.rem_euclid(modulus)));
    }

    /// What `sum` leaves when divided by `modulus`, if that is known. `quotient`: what a symbol is the quotient of.
    pub(super) fn of(
        &self,
        sum: &S,
        modulus: i64,
        quotient: &impl Fn(&S) -> Option<Quotient<S>>,
    ) -> Option<i64> {
        self.residue(sum, modulus, quotient, DEEPEST)
    }

    fn residue(
        &self,
        sum: &S,
        modulus: i64,
        quotient: &impl Fn(&S) -> Option<Quotient<S>>,
        depth: u32,
    ) -> Option<i64> {
        if modulus == 1 {
            return Some(0);
        }
        if let Some(residue) = self.directly(sum, modulus) {
            return Some(residue);
        }
        let depth = depth.checked_sub(1)?;
        // `n / 8` where `n` is a multiple of 8 and more is known of it.
        if let Some((dividend, added, divisor)) = quotient(sum) {
            let whole = self.residue(&dividend, modulus.checked_mul(divisor)?, quotient, depth)?;
            let whole = whole.checked_add(added)?;
            return (whole % divisor == 0).then(|| (whole / divisor).rem_euclid(modulus));
        }
        // `n` where `n` is a multiple of 8 and more is known of `n / 8`.
        self.known.iter().find_map(|(other, known, residue)| {
            let (dividend, added, divisor) = quotient(other)?;
            let is_exact =
                dividend == *sum && self.directly(sum, divisor) == Some((-added).rem_euclid(divisor));
            let fits = is_exact && known.checked_mul(divisor)? % modulus == 0;
            fits.then(|| residue.wrapping_mul(divisor).wrapping_sub(added).rem_euclid(modulus))
        })
    }

    /// What is known of the very sum, by one number or by several that make up the modulus.
    fn directly(&self, sum: &S, modulus: i64) -> Option<i64> {
        let of_sum = || self.known.iter().filter(|(other, ..)| other == sum);
        if let Some((.., residue)) = of_sum().find(|(_, known, _)| known % modulus == 0) {
            return Some(residue.rem_euclid(modulus));
        }
        let divides = |known: i64| of_sum().any(|(_, other, residue)| *residue == 0 && *other == known);
        let mut multiple = 1i64;
        for (_, known, _) in of_sum().filter(|(_, known, _)| divides(*known)) {
            let step = known / gcd(known.unsigned_abs(), multiple.unsigned_abs()) as i64;
            multiple = multiple.checked_mul(step)?;
        }
        (multiple % modulus == 0).then_some(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_multiples_of_divisors() {
        let mut residues = Residues::default();
        residues.add('n', 128, 0);
        let none = |_: &char| None;
        assert_eq!(residues.of(&'n', 64, &none), Some(0));
        assert_eq!(residues.of(&'n', 48, &none), None);
        assert_eq!(residues.of(&'q', 64, &none), None);
        residues.add('n', 3, 0);
        assert_eq!(residues.of(&'n', 48, &none), Some(0));
    }

    #[test]
    fn quotients_are_looked_through_both_ways() {
        // `q` is `n / 8`.
        let quotient = |of: &char| (*of == 'q').then_some(('n', 0, 8));
        let mut residues = Residues::default();
        residues.add('n', 64, 16);
        assert_eq!(residues.of(&'q', 8, &quotient), Some(2));
        let mut residues = Residues::default();
        residues.add('q', 8, 2);
        assert_eq!(residues.of(&'n', 64, &quotient), None);
        residues.add('n', 8, 0);
        assert_eq!(residues.of(&'n', 64, &quotient), Some(16));
    }
}
