//! What do the groups of cooperative groups do, as far as addresses and barriers go?

use super::barriers::Waits;
use super::machine::Machine;
use super::tree::Together;
use super::types::Ty;
use super::unseen::unseen;
use super::value::{Group, Target, Value};
use crate::builtins::{self, GroupMember, Kind};
use crate::domain::{Int, Lanes, Reason, Unknown, Variation};
use crate::events::WarpTile;
use crate::ir::{Expr, ExprKind, Path, Scalar, TemplateArg};
use crate::source::Span;

impl Machine<'_> {
    /// Methods and accessors of cooperative groups.
    pub(crate) fn group_method(
        &mut self,
        expr: &Expr,
        base: &Expr,
        name: &str,
        args: &[Expr],
    ) -> Option<Value> {
        let group = self.group_of(base)?;
        let shape = self.shape();
        let linear = Lanes::coordinate(0, shape)
            .add(&Lanes::coordinate(1, shape).scale(i64::from(shape.dims[0])), shape)
            .add(&Lanes::coordinate(2, shape).scale(i64::from(shape.dims[0] * shape.dims[1])), shape);
        let number = |lanes: Lanes| Some(Value::Int(Int::known(lanes), Scalar::U32));
        let member = GroupMember::of(name);
        match (group, member) {
            (_, Some(GroupMember::Sync)) => Some(self.group_sync(group, expr.span)),
            (Group::Block, Some(GroupMember::ThreadRank)) => number(linear),
            (Group::Block, Some(GroupMember::Size)) => number(Lanes::constant(shape.threads() as i64)),
            (Group::Block, Some(GroupMember::ThreadIndex)) => Some(self.all_axes("threadIdx")),
            (Group::Block, Some(GroupMember::BlockSize)) => Some(self.all_axes("blockDim")),
            (Group::Block, Some(GroupMember::BlockIndex)) => Some(self.all_axes("blockIdx")),
            (Group::Tile { lanes, .. }, Some(GroupMember::ThreadRank)) => {
                number(linear.map(shape, |v| v % i64::from(lanes)))
            }
            (Group::Tile { lanes, .. }, Some(GroupMember::Size)) => number(Lanes::constant(i64::from(lanes))),
            // Both are of the group that was divided into tiles, which may be a tile itself.
            (Group::Tile { lanes, of }, Some(GroupMember::TileRank)) => {
                let around = of.map_or(i64::MAX, i64::from);
                number(linear.map(shape, |v| v % around / i64::from(lanes)))
            }
            (Group::Tile { lanes, of }, Some(GroupMember::TileCount)) => {
                let around = of.map_or(shape.threads() as i64, i64::from);
                number(Lanes::constant((around + i64::from(lanes) - 1) / i64::from(lanes)))
            }
            (Group::Grid, Some(GroupMember::Size | GroupMember::BlockRank)) => {
                Some(self.uniform_unknown(name))
            }
            (Group::Grid, Some(GroupMember::ThreadRank)) => {
                let Value::Int(first, _) = self.uniform_unknown("the block's first rank") else {
                    return None;
                };
                let scaled = self.world.scale(&first, shape.threads() as i64);
                Some(Value::Int(self.world.add(&scaled, &Int::known(linear)), Scalar::U64))
            }
            _ => {
                let values: Vec<Value> = args.iter().map(|arg| self.evaluate(arg)).collect();
                // Whatever else lanes do together brings them together at the most.
                self.warp_order(Together::Warp, false, expr.span);
                let uniform = member == Some(GroupMember::Shuffle)
                    && values.first().is_some_and(|v| v.variation() == Variation::Uniform);
                Some(if uniform {
                    values[0].clone()
                } else {
                    Value::opaque(Variation::Maybe, unseen(name, expr.span))
                })
            }
        }
    }

    pub(super) fn group_of(&mut self, expr: &Expr) -> Option<Group> {
        let value = match &expr.kind {
            // To look must change nothing and access nothing, since the caller goes on if there is no group.
            _ if self.names_variable(expr) => {
                let place = match &expr.kind {
                    // A member of the class whose method runs.
                    ExprKind::Path(path) => self.own_member(&path.name, expr.span)?.ok()?,
                    _ => match self.type_of(expr) {
                        Ty::Unknown(name) if group_type(&name).is_some() => return group_type(&name),
                        _ => self.locate(expr).ok()?,
                    },
                };
                if let Ty::Unknown(name) = &place.pointee
                    && let Some(group) = group_type(name)
                {
                    return Some(group);
                }
                match &place.target {
                    Target::Place(_) if !self.is_atomic_object(&place.pointee) => {
                        self.read(&place, expr.span)
                    }
                    _ => return None,
                }
            }
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => match builtins::kind(&path.name) {
                    Some(Kind::ThisBlock | Kind::ThisGrid | Kind::Partition) => self.evaluate(expr),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        };
        match value {
            Value::Group(group) => Some(group),
            _ => None,
        }
    }

    /// Whether an expression only names a variable, or a part of one: to find it runs no function, and loads no
    /// pointer from memory.
    fn names_variable(&self, expr: &Expr) -> bool {
        let pointer = match &expr.kind {
            ExprKind::Local(_) | ExprKind::This => return true,
            ExprKind::Path(path) => return path.qualifiers.is_empty(),
            ExprKind::Member { base, arrow: false, .. } => return self.names_variable(base),
            ExprKind::Member { base, .. } | ExprKind::Deref(base) => base,
            _ => return false,
        };
        match &pointer.kind {
            ExprKind::This => true,
            ExprKind::Local(local) => {
                let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
                slot.is_some_and(|slot| !slot.reference && matches!(slot.ty, Ty::Pointer(_)))
            }
            _ => false,
        }
    }

    /// `cg::reduce(tile, value, cg::plus<T>())` and the scans, of tiles of a warp at the most: they hand on values by
    /// shuffles, and touch no memory. `None` for any other call.
    pub(super) fn group_reduction(&mut self, name: &str, args: &[Expr], span: Span) -> Option<Value> {
        let is_known = matches!(name, "reduce" | "inclusive_scan" | "exclusive_scan");
        let (ExprKind::Local(_), [value, rest @ ..]) = (&args.first()?.kind, args.get(1..)?) else {
            return None;
        };
        if !is_known || !self.program.functions(name).is_empty() {
            return None;
        }
        let Value::Group(Group::Tile { lanes: 1..=32, .. }) = self.evaluate(&args[0]) else { return None };
        self.evaluate(value);
        for operation in rest {
            let is_made = match &operation.kind {
                ExprKind::Call { args, .. } | ExprKind::Construct(_, args) => args.is_empty(),
                _ => false,
            };
            if !is_made {
                self.handed_over(operation);
            }
        }
        self.warp_order(Together::Warp, false, span);
        let why = Unknown::new(Reason::DataDependent, span, "a value that a group of threads computes");
        Some(Value::opaque(Variation::Maybe, why))
    }

    pub(super) fn group_sync(&mut self, group: Group, span: Span) -> Value {
        // A tile's is a `__syncwarp`: nothing is kept in registers or joined over it.
        self.compiler.epoch += u32::from(matches!(group, Group::Tile { .. }));
        match group {
            Group::Block => self.barrier("sync", span, Waits::ForBlock(0)),
            Group::Grid => self.barrier("sync", span, Waits::ForGrid),
            Group::Tile { lanes: 33.., .. } => self.may_order(span),
            Group::Tile { lanes, .. } => {
                let together = WarpTile::of(lanes).map_or(Together::Some, Together::InTiles);
                self.warp_order(together, true, span);
            }
        }
        Value::Undefined
    }

    pub(super) fn partition(&mut self, path: &Path, args: &[Expr]) -> Option<Value> {
        let size = match path.args.as_deref().and_then(|args| args.first()) {
            Some(TemplateArg::Value(size)) => self.constant(size),
            Some(TemplateArg::Type(crate::ir::Type::Named(name))) => {
                match self.lookup(name, args.first()?.span) {
                    Value::Int(int, _) => int.as_constant(),
                    _ => None,
                }
            }
            _ => args.get(1).and_then(|size| self.constant(size)),
        };
        // Tiles of those that happen to be here may be of any threads.
        let of = match self.group_of(args.first()?) {
            Some(Group::Block) => Some(None),
            Some(Group::Tile { lanes, .. }) => Some(Some(lanes)),
            _ => None,
        };
        match (size, of) {
            (Some(size @ 1..=1024), Some(of)) => Some(Value::Group(Group::Tile { lanes: size as u32, of })),
            _ => Some(Value::opaque(Variation::Uniform, unseen("tiled_partition", args.first()?.span))),
        }
    }
}

/// The group that a type of cooperative groups stands for, whatever holds it.
fn group_type(name: &str) -> Option<Group> {
    match name {
        "thread_block" => Some(Group::Block),
        "grid_group" => Some(Group::Grid),
        _ => None,
    }
}
