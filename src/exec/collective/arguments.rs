//! What is a collective asked for, by the arguments of a call?

use super::steps::COMMUTATIVE_ONLY;
use super::{Collective, Moved};
use crate::domain::{Unknown, Variation};
use crate::events::AccessOp;
use crate::exec::machine::Machine;
use crate::exec::types::Ty;
use crate::exec::unseen::Callee;
use crate::exec::value::{Pointer, Target, Value};
use crate::ir::Expr;
use crate::source::Span;

/// What a call asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The arguments that a result is stored in.
    results: Vec<usize>,
    /// The arguments that are arrays of each thread's own.
    items: Vec<usize>,
    /// The argument that all threads are told one result in: that of all items.
    pub aggregate: Option<usize>,
    /// Whether a scan begins with a value that it is given.
    pub has_initial: bool,
    /// Whether an item is of a class, whose members the compiler may access each for itself.
    pub of_class: bool,
}

/// What an argument is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Item,
    /// So many items of the thread's own, if that is known.
    Items(Option<i64>),
    Operator,
    Address,
    /// Something of a type that is not known.
    Unclear,
}

impl Asked {
    pub(super) fn is_result(&self, at: usize) -> bool {
        self.results.contains(&at) || self.aggregate == Some(at)
    }

    pub(super) fn of_items(self, item: &Ty) -> Asked {
        Asked { of_class: matches!(item, Ty::Record(_)), ..self }
    }

    pub(super) fn are_items(&self, at: usize) -> bool {
        self.items.contains(&at)
    }
}

impl Machine<'_> {
    /// What a call asks for; none if it is something that is not followed.
    pub(super) fn asked_of_collective(
        &mut self,
        collective: Collective,
        name: &str,
        args: &[Expr],
        item: &Ty,
    ) -> Option<Asked> {
        match collective {
            Collective::WarpReduce => Some(Asked::default()),
            Collective::WarpScan => {
                let results = (0..args.len()).filter(|at| self.is_result_of_warp(name, *at, &args[*at]));
                Some(Asked { results: results.collect(), ..Asked::default() })
            }
            Collective::BlockReduce(algorithm) => self.asked_to_reduce(algorithm, name, args, item),
            Collective::BlockScan(_) => self.asked_to_scan(name, args, item),
            Collective::BlockExchange(_) => match (name, &self.kinds(args, item)?[..]) {
                (
                    "BlockedToStriped" | "StripedToBlocked" | "BlockedToWarpStriped" | "WarpStripedToBlocked",
                    [Kind::Items(_)] | [Kind::Items(_), Kind::Items(_)],
                ) => Some(Asked { results: vec![args.len() - 1], items: vec![0], ..Asked::default() }),
                _ => None,
            },
            Collective::BlockLoad(..) => match (name, &self.kinds(args, item)?[..]) {
                ("Load", [Kind::Address, Kind::Items(_), rest @ ..])
                    if rest.iter().all(|it| *it == Kind::Item) =>
                {
                    Some(Asked { results: vec![1], ..Asked::default() })
                }
                _ => None,
            },
            // Where some items are not valid, their number goes through memory, too.
            Collective::BlockStore(_, moved) => match (name, &self.kinds(args, item)?[..]) {
                ("Store", [Kind::Address, Kind::Items(_)]) => {
                    Some(Asked { items: vec![1], ..Asked::default() })
                }
                ("Store", [Kind::Address, Kind::Items(_), Kind::Item]) if moved == Moved::Directly => {
                    Some(Asked { items: vec![1], ..Asked::default() })
                }
                _ => None,
            },
            Collective::Hidden => self.asked_of_hidden(name, args, item),
        }
    }

    /// What is asked of a class whose accesses are not followed: any array may be a result.
    fn asked_of_hidden(&mut self, name: &str, args: &[Expr], item: &Ty) -> Option<Asked> {
        let kinds = self.kinds(args, item)?;
        let is_known = match name {
            "Sort" | "SortDescending" | "SortBlockedToStriped" | "SortDescendingBlockedToStriped" => {
                !kinds.contains(&Kind::Operator)
            }
            "FlagHeads" | "FlagTails" | "FlagHeadsAndTails" => true,
            _ => false,
        };
        let is_own = |kind: &Kind| matches!(kind, Kind::Items(_));
        let is_unclear = kinds.contains(&Kind::Unclear) && name.starts_with("Sort");
        if !is_known || is_unclear || !kinds.first().is_some_and(is_own) || kinds.contains(&Kind::Address) {
            return None;
        }
        let of_own: Vec<usize> = (0..args.len()).filter(|at| is_own(&kinds[*at])).collect();
        Some(Asked { results: of_own, ..Asked::default() })
    }

    fn kinds(&mut self, args: &[Expr], item: &Ty) -> Option<Vec<Kind>> {
        args.iter().map(|arg| self.kind(arg, item)).collect()
    }

    fn asked_to_reduce(&mut self, algorithm: i64, name: &str, args: &[Expr], item: &Ty) -> Option<Asked> {
        let all = match name {
            "Sum" => 1,
            "Reduce" => 2,
            _ => return None,
        };
        let is_full = args.len() == all;
        // Where there are too few items another way is taken.
        if !is_full && (args.len() != all + 1 || algorithm == COMMUTATIVE_ONLY) {
            return None;
        }
        match self.kind(&args[0], item)? {
            Kind::Item | Kind::Operator | Kind::Unclear => Some(Asked::default()),
            Kind::Items(_) if is_full => Some(Asked { items: vec![0], ..Asked::default() }),
            Kind::Items(_) | Kind::Address => None,
        }
    }

    fn asked_to_scan(&mut self, name: &str, args: &[Expr], item: &Ty) -> Option<Asked> {
        use Kind::{Item, Items, Operator, Unclear};
        let mut kinds = self.kinds(args, item)?;
        // Of items that are numbers, nothing else is a class.
        if matches!(item, Ty::Scalar(_)) {
            kinds.iter_mut().skip(2).filter(|kind| **kind == Unclear).for_each(|kind| *kind = Operator);
        }
        let (is_sum, is_exclusive) = match name {
            "ExclusiveSum" => (true, true),
            "InclusiveSum" => (true, false),
            "ExclusiveScan" => (false, true),
            "InclusiveScan" => (false, false),
            _ => return None,
        };
        let (first, rest) = kinds.split_at_checked(2)?;
        let several = match first {
            [Item | Unclear, Item] => false,
            [Items(count), Items(_)] => count.is_none_or(|count| count > 1),
            _ => return None,
        };
        let (has_initial, aggregate) = match (is_sum, rest) {
            (true, []) => (is_exclusive || several, None),
            (true, [Item]) => (is_exclusive || several, Some(2)),
            (false, [Operator]) => (false, None),
            (false, [Operator, Item]) => (false, Some(3)),
            (false, [Item, Operator]) => (true, None),
            (false, [Item, Operator, Item]) => (true, Some(4)),
            _ => return None,
        };
        let items = if matches!(first[0], Items(_)) { vec![0, 1] } else { Vec::new() };
        Some(Asked { results: vec![1], items, aggregate, has_initial, ..Asked::default() })
    }

    /// What an argument is to a collective of such items.
    fn kind(&mut self, arg: &Expr, item: &Ty) -> Option<Kind> {
        if self.is_lambda(arg) {
            return Some(Kind::Operator);
        }
        match self.type_of(arg) {
            Ty::Array(_, length) => {
                let is_own = matches!(self.locate(arg), Ok(Pointer { target: Target::Place(_), .. }));
                is_own.then(|| Kind::Items(length.and_then(|length| length.as_constant())))
            }
            ty if ty == *item => Some(Kind::Item),
            Ty::Pointer(_) => Some(Kind::Address),
            Ty::Scalar(_) => Some(Kind::Item),
            Ty::Record(_) => Some(Kind::Operator),
            _ => Some(Kind::Unclear),
        }
    }

    /// Whether a scan of a warp stores a result in an argument: what it makes of each item, and of all.
    fn is_result_of_warp(&mut self, name: &str, at: usize, arg: &Expr) -> bool {
        let may_be = match name {
            "InclusiveSum" | "ExclusiveSum" => at >= 1,
            // The third is an operator or a value to begin with.
            "InclusiveScan" | "ExclusiveScan" => at == 1 || at >= 3,
            "Scan" => at == 1 || at == 2,
            _ => false,
        };
        may_be && !matches!(self.type_of(arg), Ty::Record(_)) && !self.is_lambda(arg)
    }

    /// What lies in memory elsewhere than in the storage: `Load` reads it, and `Store` writes it.
    pub(super) fn move_items(&mut self, collective: Collective, address: &Value, (name, span): (&str, Span)) {
        let op = match collective {
            Collective::BlockLoad(..) => AccessOp::Load,
            Collective::BlockStore(..) => AccessOp::Store,
            _ => return,
        };
        match address {
            Value::Pointer(pointer) if matches!(pointer.target, Target::Place(_)) => {}
            Value::Pointer(pointer) if self.is_shared(pointer) => {
                self.touch_unknown(pointer, (op, None), name, span);
            }
            Value::Pointer(_) => {}
            _ => self.may_access(span),
        }
        match op {
            AccessOp::Load => self.reads_unrecorded(span),
            _ => self.writes_unrecorded(span),
        }
    }

    /// What a call hands back by its arguments.
    pub(super) fn store_results(
        &mut self,
        args: &[Expr],
        asked: &Asked,
        (name, why): (&str, &Unknown),
        span: Span,
    ) {
        for (at, arg) in args.iter().enumerate().filter(|(at, _)| asked.is_result(*at)) {
            let of_all = asked.aggregate == Some(at);
            let variation = if of_all { Variation::Uniform } else { Variation::Maybe };
            match self.locate(arg) {
                Ok(Pointer { target: Target::Place(place), pointee: Ty::Array(..), .. }) => {
                    self.change_whole(&place, why.clone(), span);
                }
                Ok(place) => self.write(&place, Value::opaque(variation, why.clone()), arg.span),
                Err(_) => self.change_referred(arg, Callee::Named(name), span),
            }
        }
    }
}
