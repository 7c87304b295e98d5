//! Which verdicts hold for every size that an element type can have?
//!
//! No launch says what `T` is in `template <typename T> __global__ void k() { __shared__ T s[64]; }`.
//! A type of 1, 2, 4, 8 and 16 bytes is put in its place, each aligned to its size:
//!
//! | | 1 | 2 | 4 | 8 | 16 | verdict |
//! |---|---|---|---|---|---|---|
//! | `s[t]` | clean | clean | clean | clean | clean | clean |
//! | `s[2 * t]` | clean | clean | 2-way | 2-way | 2-way | depends on `sizeof(T)` |
//!
//! The types are integers, since an index type is a type parameter too; what an atomic costs goes
//! with more than the size, so atomics stay unknown. The code may ask for more than the size: in
//! `is_same_v<T, float> ? 33 : 32`, by an overload or by a specialisation. Where another verdict, or another barrier,
//! comes of `float` or `__half` than of the integer of that size, nothing is told.
//!
//! A member type of such a type, `typename T::value_type`, is one that is not known as well.
//!
//! Of several types that are not known, the sizes of one are tried while nothing is known of the others.
//! With `T s[64]; U u[64]`, the runs for `T` tell of `s` and not of `u`, those for `U` of `u` alone.
//! What depends on both sizes, as members of a `struct { T t; U u; }` do, stays unknown.

use super::{Judged, Variant};
use crate::domain::Reason;
use crate::events::{Access, AccessOp, Assumption, EventTree, Trace};
use crate::ir::{Function, Name, Path, Scalar, TemplateParamKind, Type};
use crate::source::Span;
use crate::verdict::{Judgement, Status, StrideTable, TableRow, TableSymbol, Totals};
use std::collections::BTreeSet;

/// The type parameters of a kernel and of its class of which nothing is known, and member types of those.
pub struct OpenTypes {
    names: Vec<Name>,
}

/// The size for which figures are given.
const USUAL: u32 = 4;
/// The sizes that a type is tried with.
pub(super) const SIZES: [u32; 5] = [1, 2, USUAL, 8, 16];
/// The most types whose sizes are tried.
const MOST_TYPES: usize = 6;

fn of_size(bytes: u32) -> Type {
    match bytes {
        1 => Type::Scalar(Scalar::I8),
        2 => Type::Scalar(Scalar::I16),
        8 => Type::Scalar(Scalar::I64),
        16 => Type::Named(Box::new(Path::simple("int4".into()))),
        _ => Type::Scalar(Scalar::I32),
    }
}

/// What else a type of some bytes may be, if the code asks which it is.
fn by_name() -> [(u32, Type); 2] {
    [(4, Type::Scalar(Scalar::F32)), (2, Type::Named(Box::new(Path::simple("__half".into()))))]
}

impl OpenTypes {
    /// Those whose size a run asked for in vain.
    pub fn of(kernel: &Function, trace: &Trace) -> Option<OpenTypes> {
        let params = kernel.template_params.iter().chain(&kernel.owner_params);
        let types = params.filter(|param| {
            matches!(param.kind, TemplateParamKind::Type(_)) && !param.pack && !param.name.is_empty()
        });
        // Many member types are only those of data in global memory.
        let is_sought =
            |access: &Access| access.unknown.as_ref().is_some_and(|why| why.reason == Reason::UnknownType);
        let members = trace.accesses.iter().any(is_sought);
        let asked = |param: &Name| {
            let is_of = |name: &&Name| {
                name.strip_prefix(&**param)
                    .is_some_and(|rest| rest.is_empty() || members && rest.starts_with("::"))
            };
            trace.unsized_types.iter().filter(is_of).cloned().collect::<Vec<_>>()
        };
        let names: Vec<Name> = types.flat_map(|param| asked(&param.name)).collect();
        (!names.is_empty() && names.len() <= MOST_TYPES).then_some(OpenTypes { names })
    }

    /// Runs with each size of each type; `open` is the run in which nothing is known of them. Returns the
    /// variant and the run in which all have the usual size, with the verdicts that hold for every size.
    pub fn try_sizes(
        &self,
        variant: &Variant,
        open: Judged,
        run: &mut dyn FnMut(&Variant) -> Judged,
    ) -> (Variant, Judged) {
        // What nothing is known of may hide accesses; where all that there are is known, of several it does not.
        let all_known = open.judgements.iter().flatten().all(|it| it.status != Status::Unknown);
        if self.names.len() > 1 && all_known && !open.trace.accesses.is_empty() {
            return (variant.clone(), open);
        }
        let with = |names: &[Name], bytes| {
            let types = names.iter().map(|name| (name.clone(), of_size(bytes))).collect();
            Variant { types, ..variant.clone() }
        };
        let mut told: Vec<Judged> = Vec::new();
        for name in self.names.chunks(1) {
            let mut usual = run(&with(name, USUAL));
            if usual.tells_more_than(&open) {
                let own = usual.judgements.clone();
                let others = OpenType { name: &name[0] }
                    .share(&mut usual, &open, &mut |bytes| run(&with(name, bytes)));
                for (bytes, ty) in by_name() {
                    let other = others.iter().find(|(of, _)| *of == bytes).map(|(_, run)| run);
                    let of_size = match bytes == USUAL {
                        true => Some((&usual, &own)),
                        false => other.map(|run| (run, &run.judgements)),
                    };
                    let Some((judged, own)) = of_size.filter(|_| usual.tells_more_than(&open)) else {
                        continue;
                    };
                    let types = vec![(name[0].clone(), ty)];
                    let named = run(&Variant { types, ..variant.clone() });
                    // A type of indices is no `float`.
                    if !judged.tells_more_than(&named) && judged.differs_from(own, &named) {
                        return (variant.clone(), open);
                    }
                }
                told.push(usual);
            }
        }
        if told.is_empty() {
            return (variant.clone(), open);
        }
        // Of a single type, the run for it is that for all of them.
        let all = with(&self.names, USUAL);
        let of_all = if self.names.len() > 1 { Some(run(&all)) } else { None };
        let runs: Vec<&Judged> = std::iter::once(&open).chain(&told).collect();
        let sites = self.settled(of_all.as_ref().unwrap_or(runs[runs.len() - 1]), &runs);
        let judged = of_all.or_else(|| told.pop()).map(|judged| judged.with_sites(sites, &open.trace));
        (all, judged.unwrap_or(open))
    }

    /// The verdicts that hold whatever is not known, on the sites of the first of `runs`, in their order there,
    /// then on those of `all` that it lacks. Of what has no size there and is not met in `all`, the latter is right:
    /// where nothing is known of `T`, which class an `Array<T>` is may be unknown, and then a mention of it is
    /// taken for an access of the whole.
    fn settled(&self, all: &Judged, runs: &[&Judged]) -> Vec<Site> {
        let open = runs[0];
        let of_open = (0..open.trace.accesses.len()).map(|at| (Place::of(&open.trace, at), Some(at)));
        let sized = |at: &Option<usize>| at.is_some_and(|at| open.trace.accesses[at].bytes.is_some());
        let of_open = of_open.filter(|(place, at)| sized(at) || place.find(&all.trace).is_some());
        let of_all = (0..all.trace.accesses.len()).map(|at| (Place::of(&all.trace, at), None));
        let of_all = of_all.filter(|(place, _)| place.find(&open.trace).is_none());
        let site = |(place, first): (Place, Option<usize>)| {
            let verdict = |target: usize| {
                let mut found =
                    runs.iter().filter_map(|run| Some(&run.judgements[target][place.find(&run.trace)?]));
                let known = found.clone().find(|judgement| judgement.status != Status::Unknown);
                known.or_else(|| found.next_back()).cloned().unwrap_or_else(|| self.unknown())
            };
            Site {
                first,
                at: place.find(&all.trace),
                verdicts: (0..all.judgements.len()).map(verdict).collect(),
            }
        };
        of_open.chain(of_all).map(site).collect()
    }

    fn unknown(&self) -> Judgement {
        let names: Vec<String> = self.names.iter().map(|name| format!("`{name}`")).collect();
        Judgement::unknown(Reason::UnknownType, format!("the sizes of {} are not known", names.join(", ")))
    }
}

/// A site and what holds of it, by target.
struct Site {
    /// Its number in the run in which nothing is known.
    first: Option<usize>,
    /// Its number in the run in which all types have the usual size.
    at: Option<usize>,
    verdicts: Vec<Judgement>,
}

/// One of them.
struct OpenType<'a> {
    name: &'a Name,
}

impl OpenType<'_> {
    /// Leaves the verdicts of the run for the usual size that those for the others share, and returns those.
    fn share(
        &self,
        usual: &mut Judged,
        open: &Judged,
        run: &mut dyn FnMut(u32) -> Judged,
    ) -> Vec<(u32, Judged)> {
        let mut others: Vec<(u32, Judged)> = Vec::new();
        let own = usual.judgements.clone();
        for bytes in SIZES.into_iter().filter(|bytes| *bytes != USUAL) {
            // Another size can only take a verdict back.
            if !usual.tells_more_than(open) {
                break;
            }
            others.push((bytes, run(bytes)));
            for number in 0..usual.trace.accesses.len() {
                let site = Place::of(&usual.trace, number);
                for (target, judgements) in usual.judgements.iter_mut().enumerate() {
                    let twins: Vec<(u32, Option<(&Access, &Judgement)>)> =
                        others.iter().map(|(bytes, other)| (*bytes, site.found(other, target))).collect();
                    // Another function may be called for another type.
                    let is_chosen = site
                        .found(open, target)
                        .is_some_and(|(_, judgement)| judgement.kind == Some(Reason::AmbiguousCall));
                    let access = &usual.trace.accesses[number];
                    judgements[number] = self.shared(access, &own[target][number], &twins, is_chosen);
                }
            }
        }
        others
    }

    fn unknown(&self) -> Judgement {
        Judgement::unknown(Reason::UnknownType, format!("the size of `{}` is not known", self.name))
    }

    /// The verdict that holds for all sizes; `twins` are the same site in the other runs. `is_chosen`: whether it is
    /// the type that says if the code is run at all.
    fn shared(
        &self,
        access: &Access,
        usual: &Judgement,
        twins: &[(u32, Option<(&Access, &Judgement)>)],
        is_chosen: bool,
    ) -> Judgement {
        if usual.status == Status::Unknown {
            return usual.clone();
        }
        // What is done with numbers is not done with 16 bytes: there, no verdict is no objection.
        let counts = |(bytes, twin): &(u32, Option<(&Access, &Judgement)>)| {
            *bytes < 16 || twin.is_some_and(|(_, judgement)| judgement.status != Status::Unknown)
        };
        let Some(twins) = twins
            .iter()
            .filter(|twin| counts(twin))
            .map(|(bytes, twin)| twin.map(|(access, judgement)| (*bytes, access, judgement)))
            .collect::<Option<Vec<_>>>()
        else {
            return self.unknown();
        };
        let sized = twins.iter().any(|(_, twin, _)| twin.bytes != access.bytes);
        let same = |j: &Judgement| (j.totals, &j.table) == (usual.totals, &usual.table);
        if !sized && !is_chosen && twins.iter().all(|(_, _, judgement)| same(judgement)) {
            return usual.clone();
        }
        let mut totals = twins
            .iter()
            .map(|(bytes, _, judgement)| Some((*bytes, judgement.totals?)))
            .collect::<Option<Vec<_>>>()
            .unwrap_or_default();
        let Some(own) = usual.totals.filter(|_| !totals.is_empty() && access.op != AccessOp::Atomic) else {
            return self.unknown();
        };
        totals.push((USUAL, own));
        totals.sort_by_key(|(bytes, _)| *bytes);
        let conflicts = totals.iter().filter(|(_, totals)| totals.wavefronts > totals.ideal).count();
        let mut judgement = usual.clone();
        if conflicts > 0 && conflicts < totals.len() {
            let row = |(bytes, totals): &(u32, Totals)| TableRow {
                values: vec![i64::from(*bytes)],
                wavefronts: totals.worst.wavefronts,
                ideal: totals.worst.ideal,
                ways: totals.worst.ways,
                at_most: false,
            };
            let symbols = vec![TableSymbol { name: format!("sizeof({})", self.name), modulus: None }];
            let table = StrideTable { symbols, rows: totals.iter().map(row).collect() };
            return judgement.depending_on(table);
        }
        let others = totals.iter().map(|(bytes, _)| *bytes).filter(|bytes| *bytes != USUAL).collect();
        let name = (**self.name).into();
        let assumed = Assumption::ElementSize { name, bytes: USUAL, others, conflicts: conflicts > 0 };
        judgement.status = judgement.status.resting_on_more();
        judgement.assumptions.push(assumed);
        judgement
    }
}

impl Judged {
    /// Whether a verdict is known here and not in the other run.
    pub(super) fn tells_more_than(&self, other: &Judged) -> bool {
        let known = |run: &Judged, target: usize, number: usize| {
            run.judgements[target][number].status != Status::Unknown
        };
        (0..self.trace.accesses.len()).any(|number| {
            let twin = Place::of(&self.trace, number).find(&other.trace);
            (0..self.judgements.len()).any(|target| {
                known(self, target, number) && !twin.is_some_and(|twin| known(other, target, twin))
            })
        })
    }

    /// Whether, with these verdicts, another is known for a site in the other run, or that has other barriers.
    fn differs_from(&self, judgements: &[Vec<Judgement>], other: &Judged) -> bool {
        let barriers = |run: &Judged| run.trace.barriers.iter().map(|it| it.span).collect::<BTreeSet<Span>>();
        let differs = |number: usize| {
            let site = Place::of(&self.trace, number);
            (0..judgements.len()).any(|target| {
                let (own, found) = (&judgements[target][number], site.found(other, target));
                let numbers = |it: Totals| (it.requests, it.wavefronts, it.ideal);
                let known = |it: &Judgement| it.totals.filter(|_| it.status != Status::Unknown).map(numbers);
                let both = known(own).zip(found.and_then(|(_, it)| known(it)));
                self.trace.accesses[number].op != AccessOp::Atomic && both.is_some_and(|(a, b)| a != b)
            })
        };
        barriers(self) != barriers(other) || (0..self.trace.accesses.len()).any(differs)
    }

    /// With these sites and verdicts; those that it does not reach are those of the run in which nothing is known.
    fn with_sites(mut self, sites: Vec<Site>, open: &Trace) -> Judged {
        let same = sites.iter().enumerate().all(|(number, site)| site.at == Some(number));
        if !same {
            // It speaks of other numbers.
            self.trace.tree = EventTree::default();
        }
        let shift = self.trace.symbols.len() as u32;
        if sites.iter().any(|site| site.at.is_none()) {
            self.trace.symbols.extend(open.symbols.iter().cloned().map(|mut symbol| {
                symbol.factors.iter_mut().for_each(|factor| *factor += shift);
                symbol
            }));
        }
        let own = std::mem::take(&mut self.trace.accesses);
        self.judgements.iter_mut().for_each(Vec::clear);
        for Site { first, at, verdicts } in sites {
            let adopted = || {
                let mut access = open.accesses[first?].clone();
                access.array = self.trace.adopt(&open.arrays[access.array]);
                let varying = access.patterns.iter_mut().flat_map(|pattern| &mut pattern.varying);
                varying.for_each(|(symbol, _)| *symbol += shift);
                Some(access)
            };
            let Some(access) = at.map(|at| own[at].clone()).or_else(adopted) else { continue };
            self.trace.accesses.push(access);
            for (judgements, verdict) in self.judgements.iter_mut().zip(verdicts) {
                judgements.push(verdict);
            }
        }
        self
    }
}

/// The text, what it does, and the name of the array.
type PlaceKey = (Span, AccessOp, Option<Span>);

/// A site of one run, to find it in another.
struct Place {
    key: PlaceKey,
    /// Which of those with the same key it is.
    nth: usize,
    /// How many there are.
    of: usize,
}

impl Place {
    fn key(trace: &Trace, access: &Access) -> PlaceKey {
        // Each size may have a name of its own for dynamic memory, of which there is one.
        let array = &trace.arrays[access.array];
        (access.span, access.op, (!array.dynamic).then_some(array.name_span))
    }

    fn of(trace: &Trace, number: usize) -> Place {
        let key = Place::key(trace, &trace.accesses[number]);
        let same = |access: &&Access| Place::key(trace, access) == key;
        let nth = trace.accesses.iter().take(number).filter(same).count();
        Place { key, nth, of: trace.accesses.iter().filter(same).count() }
    }

    /// The site and its verdict in another run.
    fn found<'a>(&self, other: &'a Judged, target: usize) -> Option<(&'a Access, &'a Judgement)> {
        let at = self.find(&other.trace)?;
        Some((&other.trace.accesses[at], &other.judgements[target][at]))
    }

    /// The number of the site in another run, when that run has as many of the kind.
    fn find(&self, trace: &Trace) -> Option<usize> {
        let same = |(_, access): &(usize, &Access)| Place::key(trace, access) == self.key;
        let all: Vec<usize> = trace.accesses.iter().enumerate().filter(same).map(|(at, _)| at).collect();
        if all.len() == self.of { all.get(self.nth).copied() } else { None }
    }
}
