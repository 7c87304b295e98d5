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
//! with more than the size, so atomics stay unknown.

use super::{Judged, Variant};
use crate::domain::Reason;
use crate::events::{Access, AccessOp, Assumption, LaunchArg, Trace};
use crate::ir::{Function, Name, Path, Scalar, TemplateParamKind, Type};
use crate::source::Span;
use crate::verdict::{Judgement, Status, StrideTable, TableRow, TableSymbol};

/// A type parameter of which nothing is known.
pub struct OpenType {
    /// Its name.
    name: Name,
    /// Its place among the template parameters.
    at: usize,
}

/// The size for which figures are given.
const USUAL: u32 = 4;

fn of_size(bytes: u32) -> Type {
    match bytes {
        1 => Type::Scalar(Scalar::I8),
        2 => Type::Scalar(Scalar::I16),
        8 => Type::Scalar(Scalar::I64),
        16 => Type::Named(Box::new(Path::simple("int4".into()))),
        _ => Type::Scalar(Scalar::I32),
    }
}

impl OpenType {
    /// The only type parameter whose size a run asked for in vain.
    pub fn of(kernel: &Function, variant: &Variant, trace: &Trace) -> Option<OpenType> {
        let open = |(at, name): &(usize, &Name)| {
            matches!(variant.template_args.get(*at), None | Some(LaunchArg::Unknown))
                && trace.unsized_types.contains(*name)
        };
        let types = kernel.template_params.iter().enumerate().filter(|(_, param)| {
            matches!(param.kind, TemplateParamKind::Type(_)) && !param.pack && !param.name.is_empty()
        });
        let mut types = types.map(|(at, param)| (at, &param.name)).filter(open);
        let (at, name) = types.next().filter(|_| types.next().is_none())?;
        Some(OpenType { name: name.clone(), at })
    }

    /// Runs with each size; returns the variant and the run for the usual one, with the verdicts
    /// that the others share.
    pub fn try_sizes(&self, variant: &Variant, run: &mut dyn FnMut(&Variant) -> Judged) -> (Variant, Judged) {
        let with = |bytes: u32| {
            let mut variant = variant.clone();
            // Those before it that were not given either have no default, or it would have one too.
            while variant.template_args.len() <= self.at {
                variant.template_args.push(LaunchArg::Unknown);
            }
            variant.template_args[self.at] = LaunchArg::Type(of_size(bytes));
            variant
        };
        let usual = with(USUAL);
        let mut judged = run(&usual);
        let mut others: Vec<(u32, Judged)> = Vec::new();
        let mut shared = judged.judgements.clone();
        for bytes in [1, 2, 8, 16] {
            // Another size can only take a verdict back.
            if super::nothing_known(&shared) {
                break;
            }
            others.push((bytes, run(&with(bytes))));
            for (target, judgements) in shared.iter_mut().enumerate() {
                for (number, judgement) in judgements.iter_mut().enumerate() {
                    let site = Place::of(&judged.trace, number);
                    let twins: Vec<(u32, Option<(&Access, &Judgement)>)> =
                        others.iter().map(|(bytes, other)| (*bytes, site.find(other, target))).collect();
                    let usual = &judged.judgements[target][number];
                    *judgement = self.shared(&judged.trace.accesses[number], usual, &twins);
                }
            }
        }
        judged.judgements = shared;
        (usual, judged)
    }

    fn unknown(&self) -> Judgement {
        Judgement::unknown(Reason::UnknownType, format!("the size of `{}` is not known", self.name))
    }

    /// The verdict that holds for all sizes; `twins` are the same site in the other runs.
    fn shared(
        &self,
        access: &Access,
        usual: &Judgement,
        twins: &[(u32, Option<(&Access, &Judgement)>)],
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
        if !sized && twins.iter().all(|(_, _, judgement)| same(judgement)) {
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
            let row = |(bytes, totals): &(u32, crate::verdict::Totals)| TableRow {
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
        let name = (*self.name).into();
        let assumed = Assumption::ElementSize { name, bytes: USUAL, others, conflicts: conflicts > 0 };
        judgement.status = judgement.status.resting_on_more();
        judgement.assumptions.push(assumed);
        judgement
    }
}

/// A site of one run, to find it in another.
struct Place {
    key: (Span, AccessOp, Span),
    /// Which of those with the same key it is.
    nth: usize,
    /// How many there are.
    of: usize,
}

impl Place {
    fn key(trace: &Trace, access: &Access) -> (Span, AccessOp, Span) {
        (access.span, access.op, trace.arrays[access.array].name_span)
    }

    fn of(trace: &Trace, number: usize) -> Place {
        let key = Place::key(trace, &trace.accesses[number]);
        let same = |access: &&Access| Place::key(trace, access) == key;
        let nth = trace.accesses.iter().take(number).filter(same).count();
        Place { key, nth, of: trace.accesses.iter().filter(same).count() }
    }

    /// The site in another run, when that run has as many of the kind.
    fn find<'a>(&self, other: &'a Judged, target: usize) -> Option<(&'a Access, &'a Judgement)> {
        let all = other.trace.accesses.iter().zip(other.judgements.get(target)?);
        let same: Vec<_> = all.filter(|(access, _)| Place::key(&other.trace, access) == self.key).collect();
        if same.len() == self.of { same.get(self.nth).copied() } else { None }
    }
}
