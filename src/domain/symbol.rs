//! Which numbers are not known, and which of them are the same for every thread of the block?
//!
//! A kernel parameter, `blockIdx.x`, a loop counter, a value read from a uniform address: each
//! is a symbol. The same expression over the same symbols is the same symbol, so that it
//! cancels in differences between lanes.
//!
//! What each thread reads for itself is a symbol, too, but one number in each thread: it cancels in
//! differences between the numbers of one thread, and never between threads. Example, where each thread
//! reads `d`:
//!
//! | expression | for one thread | between threads |
//! |---|---|---|
//! | `d - d` | 0 | 0 |
//! | `(d & 31) + 32 * threadIdx.y` | 32 rows apart where `y` differs | 0 to 31 apart where it does not |
//!
//! Where all lanes of a warp read `d` from one address, or get it from one lane, they have the same number, and it
//! cancels between them: `d + lane` are neighbours.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;
use std::rc::Rc;

/// Bytes of a name that is composed of others. Without a limit the name of `w ^ (w >> 16)` doubles with
/// every iteration of `w = w ^ (w >> 16)`.
const LONGEST_NAME: usize = 120;
/// The largest constant that a large number divided by is still large.
const LARGEST_DIVISOR: i64 = 1 << 10;
/// A number that no block of threads comes up to.
const LARGE: i64 = 1 << 15;
/// What stands in a name for a part that would make it too long.
const ELIDED: &str = "...";
/// What the key of a symbol begins with that stands for a name without a definition.
pub(crate) const UNSEEN_NAME: &str = "name ";

/// A symbol of one run. They are ordered as they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SymbolId(u32);

impl SymbolId {
    /// What stands for the constant of a canonical form.
    pub(super) const CONSTANT: u32 = u32::MAX;

    fn new(number: usize, per_thread: bool) -> SymbolId {
        SymbolId((number as u32) << 1 | u32::from(per_thread))
    }

    /// A number that tells it from others.
    #[must_use]
    pub(crate) fn packed(self) -> u32 {
        self.0
    }

    /// How many were made before it.
    #[must_use]
    pub(crate) fn number(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether each thread has a number of its own for it.
    #[must_use]
    pub(crate) fn is_per_thread(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What a symbol stands for. The order is the order in which a bounds guard lets one outgrow the
/// other: in `blockIdx.x * 32 + k * 8 < n`, an interior block has `n` larger than any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// Which side of an undecided uniform condition was taken: 0 or 1.
    Choice,
    /// A variable that changes from iteration to iteration in a way that is not followed.
    LoopValue,
    /// The iteration number of a loop.
    Loop,
    /// `blockIdx`
    BlockIndex,
    /// `gridDim`
    GridSize,
    /// Anything given at run time: a parameter, a value from memory, and what is computed of it.
    Given,
    /// What each thread reads from global memory, and what is computed of it.
    Read,
    /// What each thread has of its own in some other way: the old value of an atomic, a sum over threads before it.
    Own,
}

/// What is known of a symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    /// For messages: `n`, `blockIdx.x`, `width / 4`.
    pub name: Cow<'static, str>,
    /// What it stands for.
    pub origin: Origin,
    /// Whether the name is what the user wrote, so that a rule over it can be acted upon.
    pub named: bool,
    /// Whether the compiler knows it though the text seen does not tell: a template argument, a constant
    /// defined elsewhere, the size of a type, and what is made of them.
    pub compiled: bool,
    /// What it is to the blocks of a grid.
    pub among_blocks: AmongBlocks,
    /// Of one number in each thread: whether all lanes of a warp have the same.
    pub of_warp: bool,
    /// The least value, if known.
    pub low: Option<i64>,
    /// The greatest value, if known.
    pub high: Option<i64>,
    /// For a product: its factors, sorted; for any other symbol, itself.
    pub factors: SmallVec<[SymbolId; 2]>,
}

/// What a number is to the blocks of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AmongBlocks {
    /// The block's own number, by axis.
    Index(usize),
    /// All blocks have the same: it is given by the launch, or made of what is.
    Same,
    /// Blocks may have different ones.
    Any,
}

/// What makes two symbols the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A parameter, by name.
    Named(String),
    /// `blockIdx`, by axis.
    Block(usize),
    /// `gridDim`, by axis.
    Grid(usize),
    /// The size of a type that is not known.
    Size(String),
    /// A product of symbols, sorted.
    Product(Vec<SymbolId>),
    /// An operator applied to two uniform values (constant and terms each).
    Operation(&'static str, Vec<(u32, i64)>, Vec<(u32, i64)>),
}

/// Whether what is made so differs between threads.
fn is_per_thread(key: &Key) -> bool {
    let any = |terms: &[(u32, i64)]| {
        terms.iter().any(|(id, _)| *id != SymbolId::CONSTANT && SymbolId(*id).is_per_thread())
    };
    match key {
        Key::Named(_) | Key::Block(_) | Key::Grid(_) | Key::Size(_) => false,
        Key::Product(factors) => factors.iter().any(|id| id.is_per_thread()),
        Key::Operation(_, a, b) => any(a) || any(b),
    }
}

/// A sum: its constant part, and each symbol with its factor.
pub(super) type Sum = (i64, Vec<(SymbolId, i64)>);

/// A symbol that is the remainder of another, `(factor * of + plus) % modulus`, which is not below 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remainder {
    /// The symbol that is divided.
    pub of: SymbolId,
    /// What it is multiplied with.
    pub factor: i64,
    /// What is added.
    pub plus: i64,
    /// What it is divided by.
    pub modulus: i64,
}

impl Remainder {
    /// Its value where the other symbol has this one.
    #[must_use]
    pub(crate) fn at(&self, value: i64) -> i64 {
        self.factor.wrapping_mul(value).wrapping_add(self.plus).rem_euclid(self.modulus)
    }
}

/// All symbols of one run.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    list: Vec<Symbol>,
    by_key: FxHashMap<Rc<Key>, SymbolId>,
    keys: FxHashMap<SymbolId, Rc<Key>>,
    /// Values that symbols have on what was assumed of a loop.
    likely: FxHashMap<SymbolId, i64>,
    /// Those of which, or of a sum with which, a remainder was asked for.
    with_remainder: FxHashSet<SymbolId>,
    /// Those that are read from memory.
    read: FxHashSet<SymbolId>,
    /// Those that threads read from shared memory.
    read_from_shared: FxHashSet<SymbolId>,
    /// What stands for the numbers of warps in requests of a single one.
    within_warps: FxHashMap<SymbolId, SymbolId>,
}

impl Symbols {
    /// The symbol's facts.
    #[must_use]
    pub(crate) fn get(&self, id: SymbolId) -> &Symbol {
        &self.list[id.number()]
    }

    /// The value that the symbol has if the loop before it ran as was assumed.
    #[must_use]
    pub(crate) fn likely(&self, id: SymbolId) -> Option<i64> {
        self.likely.get(&id).copied()
    }

    /// All such values.
    pub(crate) fn all_likely(&self) -> impl Iterator<Item = (SymbolId, i64)> + '_ {
        self.likely.iter().map(|(id, value)| (*id, *value))
    }

    /// Remembers such a value, and what it tells of another.
    pub(crate) fn set_likely(&mut self, id: SymbolId, value: i64) {
        let told = self.told_by(id, value);
        self.likely.extend(told);
    }

    /// A value, and what it tells of others: where `n / 2` is 128, `n` is taken to be 256.
    pub(crate) fn told_by(&self, id: SymbolId, value: i64) -> Vec<(SymbolId, i64)> {
        let of_dividend = |(id, value): &(SymbolId, i64)| {
            let (dividend, divisor) = self.quotient(*id)?;
            Some((dividend, value.checked_mul(divisor)?))
        };
        std::iter::successors(Some((id, value)), of_dividend).collect()
    }

    /// The symbol that was made for `key`.
    #[must_use]
    pub(crate) fn known_by(&self, key: &Key) -> Option<SymbolId> {
        self.by_key.get(key).copied()
    }

    /// What the symbol was made for, if that is a name.
    #[must_use]
    pub(crate) fn name_key(&self, id: SymbolId) -> Option<&Key> {
        self.key(id).filter(|key| matches!(key, Key::Named(_) | Key::Block(_) | Key::Grid(_)))
    }

    fn key(&self, id: SymbolId) -> Option<&Key> {
        self.keys.get(&id).map(|key| &**key)
    }

    /// The symbol and the number of which it is the quotient.
    fn quotient(&self, id: SymbolId) -> Option<(SymbolId, i64)> {
        let Key::Operation("/", dividend, divisor) = self.key(id)? else { return None };
        match (dividend.as_slice(), divisor.as_slice()) {
            ([(SymbolId::CONSTANT, 0), (id, 1)], [(SymbolId::CONSTANT, divisor)]) => {
                Some((SymbolId(*id), *divisor))
            }
            _ => None,
        }
    }

    /// The symbol for `key`, made on first use.
    pub(crate) fn intern(
        &mut self,
        key: Key,
        name: impl FnOnce(&Symbols) -> String,
        origin: Origin,
        low: Option<i64>,
        high: Option<i64>,
    ) -> SymbolId {
        if let Some(&id) = self.by_key.get(&key) {
            return id;
        }
        let id = SymbolId::new(self.list.len(), is_per_thread(&key));
        let name = name(self);
        let named = self.is_named(&key);
        let compiled = self.is_compiled(&key);
        let among_blocks = self.among_blocks(&key);
        let of_warp = self.is_of_warp(&key);
        let (name, factors) = (Cow::Owned(name), smallvec![id]);
        self.list.push(Symbol { name, origin, named, compiled, among_blocks, of_warp, low, high, factors });
        if let Key::Operation(op, dividend, _) = &key
            && op.ends_with('%')
        {
            let ids = dividend.iter().map(|(id, _)| *id).filter(|id| *id != SymbolId::CONSTANT);
            self.with_remainder.extend(ids.map(SymbolId));
        }
        let key = Rc::new(key);
        self.keys.insert(id, Rc::clone(&key));
        self.by_key.insert(key, id);
        id
    }

    /// Whether what is made so is one number in each warp. What a key is made of has the same factors in all threads.
    fn is_of_warp(&self, key: &Key) -> bool {
        let alike = |id: SymbolId| !id.is_per_thread() || self.get(id).of_warp;
        let all = |terms: &[(u32, i64)]| {
            terms.iter().all(|(id, _)| *id == SymbolId::CONSTANT || alike(SymbolId(*id)))
        };
        match key {
            Key::Named(_) | Key::Block(_) | Key::Grid(_) | Key::Size(_) => true,
            Key::Product(factors) => factors.iter().all(|id| alike(*id)),
            Key::Operation(_, a, b) => all(a) && all(b),
        }
    }

    fn is_named(&self, key: &Key) -> bool {
        let given = |id: SymbolId| self.get(id).named && self.get(id).origin == Origin::Given;
        let all = |terms: &[(u32, i64)]| {
            terms.iter().all(|(id, _)| *id == SymbolId::CONSTANT || given(SymbolId(*id)))
        };
        match key {
            Key::Named(_) | Key::Block(_) | Key::Grid(_) => true,
            Key::Product(factors) => factors.iter().all(|id| given(*id)),
            Key::Operation(_, a, b) => all(a) && all(b),
            Key::Size(_) => false,
        }
    }

    fn among_blocks(&self, key: &Key) -> AmongBlocks {
        let same = |id: SymbolId| self.get(id).among_blocks == AmongBlocks::Same;
        let all = |terms: &[(u32, i64)]| {
            terms.iter().all(|(id, _)| *id == SymbolId::CONSTANT || same(SymbolId(*id)))
        };
        let are_same = match key {
            Key::Block(axis) => return AmongBlocks::Index(*axis),
            Key::Named(_) | Key::Grid(_) | Key::Size(_) => true,
            Key::Product(factors) => factors.iter().all(|id| same(*id)),
            Key::Operation(_, a, b) => all(a) && all(b),
        };
        if are_same { AmongBlocks::Same } else { AmongBlocks::Any }
    }

    /// Whether a symbol stands for a name without qualifiers and without a definition, such as a macro that only a
    /// build defines.
    #[must_use]
    pub(crate) fn is_undefined(&self, id: SymbolId) -> bool {
        let is_unseen = matches!(self.name_key(id), Some(Key::Named(key)) if key.starts_with(UNSEEN_NAME));
        is_unseen && !self.get(id).name.contains("::")
    }

    fn is_compiled(&self, key: &Key) -> bool {
        let known = |id: SymbolId| self.get(id).compiled;
        let all = |terms: &[(u32, i64)]| {
            terms.iter().all(|(id, _)| *id == SymbolId::CONSTANT || known(SymbolId(*id)))
        };
        match key {
            Key::Named(name) => name.starts_with(UNSEEN_NAME) || name.starts_with("template parameter "),
            Key::Block(_) | Key::Grid(_) => false,
            Key::Size(_) => true,
            Key::Product(factors) => factors.iter().all(|id| known(*id)),
            Key::Operation(_, a, b) => all(a) && all(b),
        }
    }

    /// The symbols of which one is made and that are made of no others; `None` where that is not known, as of a value
    /// that is computed in a way that is not followed.
    #[must_use]
    pub(crate) fn roots(&self, id: SymbolId) -> Option<Vec<SymbolId>> {
        let of_all = |parts: &mut dyn Iterator<Item = SymbolId>| {
            let mut roots: Vec<SymbolId> = Vec::new();
            for part in parts {
                roots.extend(self.roots(part)?);
            }
            Some(roots)
        };
        match self.key(id) {
            Some(Key::Named(_) | Key::Block(_) | Key::Grid(_) | Key::Size(_)) => Some(vec![id]),
            Some(Key::Product(factors)) => of_all(&mut factors.iter().copied()),
            Some(Key::Operation(_, a, b)) => {
                let terms = a.iter().chain(b).map(|(id, _)| *id).filter(|id| *id != SymbolId::CONSTANT);
                of_all(&mut terms.map(SymbolId))
            }
            None => (self.get(id).origin == Origin::Loop).then(|| vec![id]),
        }
    }

    /// The remainder that the symbol is, if it is one of a single symbol.
    #[must_use]
    pub(crate) fn remainder(&self, id: SymbolId) -> Option<Remainder> {
        let Key::Operation("%", dividend, divisor) = self.key(id)? else { return None };
        match (dividend.as_slice(), divisor.as_slice()) {
            ([(SymbolId::CONSTANT, plus), (of, factor)], [(SymbolId::CONSTANT, modulus @ 1..)]) => {
                let (of, factor, plus, modulus) = (SymbolId(*of), *factor, *plus, *modulus);
                (self.get(of).low >= Some(0)).then_some(Remainder { of, factor, plus, modulus })
            }
            _ => None,
        }
    }

    /// Of a remainder of numbers that all threads share, by a constant: what is divided, as its constant part and each symbol
    /// with its factor, and the constant.
    #[must_use]
    pub(crate) fn uniform_remainder(&self, id: SymbolId) -> Option<(Sum, i64)> {
        let Key::Operation("%", dividend, divisor) = self.key(id)? else { return None };
        let [(SymbolId::CONSTANT, by @ 1..)] = divisor.as_slice() else { return None };
        let [(SymbolId::CONSTANT, base), terms @ ..] = dividend.as_slice() else { return None };
        let terms = terms.iter().map(|(id, factor)| (SymbolId(*id), *factor)).collect();
        (!id.is_per_thread()).then_some(((*base, terms), *by))
    }

    /// Whether a remainder of a symbol, or of a sum with it, was asked for.
    #[must_use]
    pub(crate) fn has_remainder(&self, id: SymbolId) -> bool {
        self.with_remainder.contains(&id)
    }

    /// Of a quotient of a multiple of another symbol: that symbol, and the quotient where it is 0.
    #[must_use]
    pub(crate) fn at_zero(&self, id: SymbolId) -> Option<(SymbolId, i64)> {
        let Key::Operation("/", dividend, divisor) = self.key(id)? else { return None };
        match (dividend.as_slice(), divisor.as_slice()) {
            ([(SymbolId::CONSTANT, plus), (of, _)], [(SymbolId::CONSTANT, divisor @ 1..)]) => {
                Some((SymbolId(*of), plus / divisor))
            }
            _ => None,
        }
    }

    /// By which operator a symbol is made, and of what two numbers, if it is.
    pub(super) fn operation(&self, id: SymbolId) -> Option<(&'static str, [Sum; 2])> {
        let Key::Operation(op, a, b) = self.key(id)? else { return None };
        let sum = |side: &[(u32, i64)]| -> Sum {
            let (constants, terms): (Vec<_>, Vec<_>) =
                side.iter().partition(|(id, _)| *id == SymbolId::CONSTANT);
            let terms = terms.into_iter().map(|(id, factor)| (SymbolId(id), factor));
            (constants.iter().map(|it| it.1).sum(), terms.collect())
        };
        Some((op, [sum(a), sum(b)]))
    }

    /// The symbols of what is divided, of a quotient or remainder.
    pub(crate) fn dividend(&self, id: SymbolId) -> Option<impl Iterator<Item = SymbolId> + '_> {
        let Key::Operation(op, dividend, _) = self.key(id)? else { return None };
        let is_division = op.ends_with('/') || op.ends_with('%');
        let ids = dividend.iter().map(|(id, _)| *id).filter(|id| *id != SymbolId::CONSTANT);
        is_division.then(|| ids.map(SymbolId))
    }

    /// The symbol that will be made next.
    #[must_use]
    pub(crate) fn next(&self) -> SymbolId {
        SymbolId::new(self.list.len(), false)
    }

    /// Whether it is a quotient by so large a constant that even of a large number it is small: of `n / (1 << 29)`
    /// there are four.
    #[must_use]
    pub(crate) fn is_small_part(&self, id: SymbolId) -> bool {
        let Some(Key::Operation("/", _, divisor)) = self.key(id) else { return false };
        matches!(divisor.as_slice(), [(SymbolId::CONSTANT, by)] if *by > LARGEST_DIVISOR)
    }

    /// Whether nothing that is known keeps it from being as large as one likes: it has a name and is not
    /// made of others but as a product or a quotient by a constant.
    #[must_use]
    pub(crate) fn is_unbounded(&self, id: SymbolId) -> bool {
        self.may_be_large(id, false)
    }

    /// The same; `for_data`: or where data let it, which are read from memory.
    fn may_be_large(&self, id: SymbolId, for_data: bool) -> bool {
        let large = self.get(id).high.is_none_or(|high| high >= LARGE);
        large
            && match self.key(id) {
                Some(Key::Named(_) | Key::Block(_) | Key::Grid(_)) => true,
                Some(Key::Product(factors)) => factors.iter().all(|id| self.may_be_large(*id, for_data)),
                Some(Key::Operation("/", dividend, divisor)) => {
                    let grows = |(id, factor): &(u32, i64)| {
                        *id == SymbolId::CONSTANT || *factor > 0 && self.may_be_large(SymbolId(*id), for_data)
                    };
                    matches!(divisor.as_slice(), [(SymbolId::CONSTANT, 1..=LARGEST_DIVISOR)])
                        && dividend.iter().all(grows)
                }
                _ => for_data && self.read.contains(&id),
            }
    }

    /// Whether nothing that is known keeps it from being so large that bounds by it let all threads in; `for_data` as
    /// above.
    #[must_use]
    pub(crate) fn lets_all_in(&self, id: SymbolId, for_data: bool) -> bool {
        self.may_be_large(id, for_data) || self.reaches_its_bound(id, for_data)
    }

    /// Notes that a number is one that is read from memory, where any may stand.
    pub(crate) fn note_read(&mut self, id: SymbolId) {
        self.read.insert(id);
    }

    /// Whether a number is one that is read from global memory, where any may stand.
    #[must_use]
    pub(crate) fn is_read(&self, id: SymbolId) -> bool {
        self.read.contains(&id)
    }

    /// Notes that a number is one that is read from shared memory, where threads may have put any.
    pub(crate) fn note_read_from_shared(&mut self, id: SymbolId) {
        self.read_from_shared.insert(id);
    }

    /// Whether a number is one that is read from shared memory.
    #[must_use]
    pub(crate) fn is_read_from_shared(&self, id: SymbolId) -> bool {
        self.read_from_shared.contains(&id)
    }

    /// Whether nothing that is known keeps it from being as large as its bound: the lesser of a number and of what may
    /// be as large as one likes, as `min(64, n - first)`.
    pub(super) fn reaches_its_bound(&self, id: SymbolId, for_data: bool) -> bool {
        let Some(Key::Operation("min", a, b)) = self.key(id) else { return false };
        let is_number = |side: &[(u32, i64)]| side.iter().all(|(id, _)| *id == SymbolId::CONSTANT);
        // What is taken away may be 0: the number of a round, or of a block.
        let may_be_none = |id: SymbolId| matches!(self.get(id).origin, Origin::Loop | Origin::BlockIndex);
        let is_open = |(id, factor): &&(u32, i64)| {
            let id = SymbolId(*id);
            if *factor > 0 { self.may_be_large(id, for_data) } else { may_be_none(id) }
        };
        let grows = |side: &[(u32, i64)]| {
            let mut terms = side.iter().filter(|(id, _)| *id != SymbolId::CONSTANT);
            terms.clone().any(|(_, factor)| *factor > 0) && terms.all(|term| is_open(&term))
        };
        is_number(a) && grows(b) || is_number(b) && grows(a)
    }

    /// A symbol like no other.
    pub(crate) fn fresh(
        &mut self,
        name: Cow<'static, str>,
        origin: Origin,
        low: Option<i64>,
        high: Option<i64>,
    ) -> SymbolId {
        self.push_fresh(SymbolId::new(self.list.len(), false), name, origin, (low, high))
    }

    /// A number like no other that each thread has of its own.
    pub(crate) fn fresh_per_thread(&mut self, origin: Origin, range: (Option<i64>, Option<i64>)) -> SymbolId {
        self.push_fresh(SymbolId::new(self.list.len(), true), "a thread's own number".into(), origin, range)
    }

    /// The same, which all lanes of a warp have in common.
    pub(crate) fn fresh_of_warp(&mut self, origin: Origin, range: (Option<i64>, Option<i64>)) -> SymbolId {
        let id = self.fresh_per_thread(origin, range);
        self.list[id.number()].of_warp = true;
        id
    }

    /// A symbol that stands, within one warp, for the number that its lanes have in common.
    pub(crate) fn within_warp(&mut self, id: SymbolId) -> SymbolId {
        if let Some(&known) = self.within_warps.get(&id) {
            return known;
        }
        let Symbol { low, high, .. } = *self.get(id);
        let within = self.fresh("a number of the warp's".into(), Origin::Given, low, high);
        self.within_warps.insert(id, within);
        within
    }

    fn push_fresh(
        &mut self,
        id: SymbolId,
        name: Cow<'static, str>,
        origin: Origin,
        (low, high): (Option<i64>, Option<i64>),
    ) -> SymbolId {
        let factors = smallvec![id];
        let (named, compiled, among_blocks) = (false, false, AmongBlocks::Any);
        let of_warp = !id.is_per_thread();
        self.list.push(Symbol { name, origin, named, compiled, among_blocks, of_warp, low, high, factors });
        id
    }

    /// A number like no other that the compiler knows and the text seen does not tell: where a member lies.
    pub(crate) fn compiled(&mut self, name: String, low: i64) -> SymbolId {
        let id = self.fresh(name.into(), Origin::Given, Some(low), None);
        self.list[id.number()].compiled = true;
        id
    }

    /// The product of two symbols.
    pub(crate) fn product(&mut self, a: SymbolId, b: SymbolId) -> SymbolId {
        let mut factors = self.get(a).factors.to_vec();
        factors.extend_from_slice(&self.get(b).factors);
        factors.sort_unstable();
        let origin = self.get(a).origin.max(self.get(b).origin);
        let nonnegative = [a, b].iter().all(|&s| self.get(s).low.is_some_and(|low| low >= 0));
        let high = match (self.get(a).high, self.get(b).high) {
            (Some(x), Some(y)) if nonnegative => x.checked_mul(y),
            _ => None,
        };
        let names = |symbols: &Symbols| {
            let names: Vec<&str> = factors.iter().map(|&f| &*symbols.get(f).name).collect();
            joined(&names, " * ")
        };
        let id = self.intern(Key::Product(factors.clone()), names, origin, nonnegative.then_some(0), high);
        self.list[id.number()].factors = factors.into();
        id
    }
}

/// A number's name as messages say it: what stands in the code in backticks, and words as they are.
#[must_use]
pub(crate) fn quoted(name: &str) -> String {
    // Code in it has backticks of its own.
    let outside: String = name.split('`').step_by(2).collect();
    let is_words = ["a ", "an ", "the ", "how ", "which "].iter().any(|begin| name.starts_with(begin))
        && outside.chars().all(|c| c.is_ascii_lowercase() || c == ' ' || c == '\'');
    if is_words { name.to_owned() } else { format!("`{name}`") }
}

/// The parts with `between` them. What would be too long is elided: of very many parts the last ones,
/// else the longest.
#[must_use]
pub(crate) fn joined<S: AsRef<str>>(parts: &[S], between: &str) -> String {
    let mut parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    let most = LONGEST_NAME / between.len().max(1);
    if parts.len() > most {
        parts.truncate(most / 2);
        parts.push(ELIDED);
    }
    let mut length: usize = parts.iter().map(|part| part.len() + between.len()).sum();
    while length > LONGEST_NAME
        && let Some(longest) = parts.iter_mut().max_by_key(|part| part.len())
        && longest.len() > ELIDED.len()
    {
        length -= longest.len() - ELIDED.len();
        *longest = ELIDED;
    }
    parts.join(between)
}
