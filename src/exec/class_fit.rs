//! How well does an object of a class fit a parameter, or a value one that is an object?
//!
//! | parameter | argument | |
//! |---|---|---|
//! | `bool_constant<true>` | `bool_constant<true>` | the very type |
//! | `Base` | an object of a class made of it | converted: the nearer the base, the better |
//! | `bool_constant<true>` | `bool_constant<false>` | none fits the other, as neither says how |
//! | a class with constructors | anything | perhaps: which are called is not asked |

use super::deduce::{CONVERTED, NO_FIT};
use super::machine::Machine;
use super::members::BASES;
use super::same_type::same_type;
use super::types::{Layout, Ty};
use std::rc::Rc;

/// The very type, as any other.
const SAME: i32 = 3;
/// It may be as good as any.
const OPEN: i32 = 2;
/// A class that the argument's is made of.
const NEAR_BASE: i32 = 0;

impl Machine<'_> {
    /// How well a type fits another, if one of them is a class.
    pub(super) fn class_fit(&mut self, param: &Ty, ty: &Ty) -> Option<i32> {
        match (param, ty) {
            (Ty::Record(to), Ty::Record(from)) => Some(self.object_fit(to, from)),
            (Ty::Record(to), Ty::Scalar(_)) => Some(match self.may_be_made(to) {
                true => CONVERTED,
                false => NO_FIT,
            }),
            (Ty::Scalar(_), Ty::Record(from)) => Some(match self.may_convert(from, BASES, false) {
                true => CONVERTED,
                false => NO_FIT,
            }),
            _ => None,
        }
    }

    fn object_fit(&mut self, to: &Rc<Layout>, from: &Rc<Layout>) -> i32 {
        let (param, ty) = (Ty::Record(Rc::clone(to)), Ty::Record(Rc::clone(from)));
        match same_type(&param, &ty) {
            Some(true) => SAME,
            None if param == ty => SAME,
            None => OPEN,
            Some(false) => match self.base_distance(from, to, BASES) {
                Some(1) => NEAR_BASE,
                Some(_) => CONVERTED,
                None if self.may_be_made(to) || self.may_convert(from, BASES, true) => CONVERTED,
                None => NO_FIT,
            },
        }
    }

    /// How many classes lie between a class and one that it is made of, the last one counted.
    fn base_distance(&mut self, class: &Rc<Layout>, base: &Rc<Layout>, depth: usize) -> Option<usize> {
        let record = class.record.clone().filter(|_| depth > 0)?;
        let bases = self.bases(&record, &class.env, depth);
        let asked = Ty::Record(Rc::clone(base));
        let distances = bases.iter().filter_map(|it| match same_type(&Ty::Record(Rc::clone(it)), &asked) {
            Some(false) => self.base_distance(it, base, depth - 1).map(|distance| distance + 1),
            _ => Some(1),
        });
        distances.min()
    }

    /// Whether an object of a class may be made of something else.
    fn may_be_made(&self, layout: &Layout) -> bool {
        // The text of other classes of the standard library leaves constructors out.
        let is_open = layout.built_in().is_some_and(|name| name != "integral_constant");
        layout.record.is_none() || is_open || self.has_constructors(layout)
    }

    /// Whether an object of a class may become something else: an object, or a number.
    fn may_convert(&mut self, layout: &Rc<Layout>, depth: usize, to_object: bool) -> bool {
        let Some(record) = layout.record.clone().filter(|_| depth > 0) else { return true };
        let conversions = self.program.conversions(&layout.name).to_vec();
        let converts = conversions.iter().any(|function| {
            let env = Rc::clone(&layout.env);
            match self.within_head(function, env, |it| it.resolve_type(&function.return_type)) {
                Ty::Scalar(_) => !to_object,
                Ty::Record(_) => to_object,
                _ => true,
            }
        });
        let bases = self.bases(&record, &layout.env, depth);
        converts
            || bases.len() < record.bases.len()
            || bases.iter().any(|base| self.may_convert(base, depth - 1, to_object))
    }
}
