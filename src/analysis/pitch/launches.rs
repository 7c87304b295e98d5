//! Which byte counts of launches hold the rows of an array in dynamic shared memory?
//!
//! A byte count that is a product with the row's elements for a factor holds whole rows, and with the
//! factor longer it holds as many. Every launch of the kernel that the program knows must have such a
//! one, and nothing else may name the kernel: not knowing is no answer.

use super::super::runs::Subject;
use super::sites::{Factor, Part, Product, is_written_out, product_of, visit};
use crate::events::Array;
use crate::exec::entry::constant_in_kernel;
use crate::ir::program::Program;
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, Function, Launch, LocalId};
use crate::rules::{Length, PitchSite};
use std::sync::Arc;

/// Bytes of shared memory that a kernel may use unless its host code asks for more.
const MOST_BYTES: i64 = 48 * 1024;

/// The expressions and declarations in a function.
struct Body<'p> {
    exprs: Vec<&'p Expr>,
    declarations: Vec<&'p Declaration>,
}

impl<'p> Body<'p> {
    fn of(function: &'p Function) -> Body<'p> {
        let mut body = Body { exprs: Vec::new(), declarations: Vec::new() };
        visit(function.body.as_deref().unwrap_or(&[]), &mut |part| match part {
            Part::Expr(expr) => body.exprs.push(expr),
            Part::Declaration(declaration) => body.declarations.push(declaration),
        });
        body
    }

    /// What a variable holds that is never written again, and is named `uses` times.
    fn value_of(&self, local: LocalId, uses: usize) -> Option<&'p Expr> {
        let named = self.exprs.iter().filter(|expr| expr.kind == ExprKind::Local(local)).count();
        let declaration = self.declarations.iter().find(|it| it.local == local)?;
        declaration.init.as_ref().filter(|_| named == uses)
    }
}

/// What grows.
#[derive(Clone, Copy, Debug)]
pub struct Grown {
    /// Elements of a row.
    pub elements: i64,
    /// How many rows there are, if known.
    pub rows: Option<i64>,
    /// Bytes of the kernel's other arrays.
    pub fixed: i64,
}

/// How the launches of the kernel change when the rows of its one array in dynamic shared memory become
/// longer.
pub fn counted(subject: &Subject<'_>, array: &Array, grown: Grown) -> Option<Length> {
    let element = i64::try_from(array.element_bytes?).ok().filter(|element| *element > 0)?;
    let row = element.checked_mul(grown.elements).filter(|row| *row > 0)?;
    let mut found = Found { kernel: subject.kernel, grown, row, sites: Vec::new(), room: i64::MAX };
    subject.program.seek_all();
    for modules in subject.hosts {
        let host = subject.program.beside(modules.to_vec());
        host.modules.iter().flat_map(|it| &it.functions).try_for_each(|it| found.add(&host, it))?;
    }
    let own = subject.program.modules.iter().flat_map(|module| &module.functions);
    own.into_iter().try_for_each(|function| found.add(subject.program, function))?;
    let Found { mut sites, room, .. } = found;
    sites.sort();
    sites.dedup();
    (!sites.is_empty()).then_some(Length::Launches(sites, u64::try_from(room).ok()?))
}

/// The factors found so far.
struct Found<'k> {
    kernel: &'k Function,
    grown: Grown,
    /// Bytes of a row.
    row: i64,
    sites: Vec<PitchSite>,
    /// How many elements more find room in shared memory.
    room: i64,
}

impl Found<'_> {
    /// Adds the launches in a function; `None` when one of them cannot change.
    fn add(&mut self, program: &Program, function: &Arc<Function>) -> Option<()> {
        let body = Body::of(function);
        let kernel = self.kernel;
        let launches: Vec<&Launch> = body.exprs.iter().filter_map(|expr| launch_of(expr, kernel)).collect();
        let named = body.exprs.iter().filter(|expr| is_named(expr, kernel)).count();
        // Something else may be told of its bytes, or launch it.
        if named != launches.len() {
            return None;
        }
        for launch in &launches {
            let written = launch.dynamic_bytes.as_ref()?;
            let count = match written.kind {
                ExprKind::Local(local) => {
                    let same =
                        |it: &&&Launch| it.dynamic_bytes.as_ref().is_some_and(|it| it.kind == written.kind);
                    body.value_of(local, launches.iter().filter(same).count())?
                }
                _ => written,
            };
            let value = |expr: &Expr| match has_locals(expr) {
                true => None,
                false => constant_in_kernel(program, function, &[], expr),
            };
            let bytes = value(count)?;
            let is_row = |it: &Factor<'_>| {
                let written = it.shifted.is_none() && is_written_out(function, it.expr);
                written && value(it.expr) == Some(self.grown.elements)
            };
            let product = product_of(count);
            let (site, rows) = match product.factors.iter().rev().find(|it| is_row(it)) {
                Some(factor) => (factor.site(), whole(bytes, self.row)?),
                // Of a sum, the term that holds the rows.
                None => self.term(&product, bytes, &value, &is_row)?,
            };
            let more = MOST_BYTES.checked_sub(self.grown.fixed)?.checked_sub(bytes)?;
            let element = self.row.checked_div(self.grown.elements)?;
            self.room = self.room.min(more.checked_div(rows.checked_mul(element)?)?);
            self.sites.push(site);
        }
        Some(())
    }

    /// The factor of a sum's term that holds at least the rows there are, and how many it holds; `bytes` is
    /// what the product with the sum is.
    fn term(
        &self,
        product: &Product<'_>,
        bytes: i64,
        value: &dyn Fn(&Expr) -> Option<i64>,
        is_row: &dyn Fn(&Factor<'_>) -> bool,
    ) -> Option<(PitchSite, i64)> {
        let needed = self.grown.rows?;
        let is_sum = |it: &&Factor<'_>| matches!(it.expr.kind, ExprKind::Binary(BinaryOp::Add, ..));
        for sum in product.factors.iter().filter(is_sum) {
            let outer = bytes.checked_div(value(sum.expr)?)?;
            for term in &sum.inner {
                let factors = term.factors.iter().map(|it| value(it.expr).filter(|_| it.shifted.is_none()));
                let bytes = factors.collect::<Option<Vec<i64>>>().and_then(|factors| {
                    factors.into_iter().try_fold(outer, |all, factor| all.checked_mul(factor))
                });
                let Some(bytes) = bytes else { continue };
                let factor = term.factors.iter().rev().find(|it| is_row(it));
                let found = match factor {
                    Some(factor) => {
                        let rows = whole(bytes, self.row).filter(|rows| *rows >= needed);
                        rows.map(|rows| (factor.site(), rows))
                    }
                    None => self.term(term, bytes, value, is_row),
                };
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }
}

/// How many rows of that many bytes these are, if they are whole.
fn whole(bytes: i64, row: i64) -> Option<i64> {
    bytes.checked_div(row).filter(|rows| *rows > 0 && bytes.checked_rem(row) == Some(0))
}

/// Whether a function names the kernel, for a launch or anything else.
pub fn names(function: &Function, kernel: &Function) -> bool {
    Body::of(function).exprs.iter().any(|expr| is_named(expr, kernel))
}

/// A launch of the kernel.
fn launch_of<'p>(expr: &'p Expr, kernel: &Function) -> Option<&'p Launch> {
    match &expr.kind {
        ExprKind::Launch(launch) if is_named(&launch.kernel, kernel) => Some(launch),
        _ => None,
    }
}

fn is_named(expr: &Expr, kernel: &Function) -> bool {
    matches!(&expr.kind, ExprKind::Path(path) if path.name == kernel.name)
}

fn has_locals(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Local(_) | ExprKind::This | ExprKind::Lambda(_));
    children(expr, &mut |child| found |= has_locals(child));
    found
}
