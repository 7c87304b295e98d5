//! Which byte counts of launches hold the rows of an array in dynamic shared memory?
//!
//! A byte count that is a product with the row's elements for a factor holds whole rows, and with the
//! factor longer it holds as many. Every launch of the kernel that the program knows must have such a
//! one, and nothing else may name the kernel: not knowing is no answer.

use super::super::runs::Subject;
use super::sites::{Factor, Part, Product, is_written_out, product_of, visit};
use crate::exec::entry::constant_in_kernel;
use crate::ir::program::Program;
use crate::ir::visit::children;
use crate::ir::{Declaration, Expr, ExprKind, Function, Launch, LocalId};
use crate::rules::{Length, PitchSite};
use crate::trace::Array;
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

/// How the launches of the kernel change when the rows of `elements` elements of its one array in dynamic
/// shared memory become longer; `fixed` are the bytes of its other arrays.
pub fn counted(subject: &Subject<'_>, array: &Array, elements: i64, fixed: i64) -> Option<Length> {
    let row = i64::try_from(array.element_bytes?).ok()?.checked_mul(elements).filter(|row| *row > 0)?;
    let mut found = Found { kernel: subject.kernel, elements, row, fixed, sites: Vec::new(), room: i64::MAX };
    for modules in subject.hosts {
        let host = Program::new(modules.to_vec());
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
    /// Elements and bytes of a row.
    elements: i64,
    row: i64,
    /// Bytes of the kernel's other arrays.
    fixed: i64,
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
            let Product { factors, .. } = product_of(count);
            let is_row = |it: &&Factor<'_>| {
                let written = it.shifted.is_none() && is_written_out(function, it.expr);
                written && value(it.expr) == Some(self.elements)
            };
            let factor = factors.iter().rev().find(is_row)?;
            let rows = bytes.checked_div(self.row).filter(|rows| *rows > 0 && bytes % self.row == 0)?;
            let more = MOST_BYTES.checked_sub(self.fixed)?.checked_sub(bytes)?;
            let element = self.row.checked_div(self.elements)?;
            self.room = self.room.min(more.checked_div(rows.checked_mul(element)?)?);
            self.sites.push(factor.site());
        }
        Some(())
    }
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
