//! Which function does a name mean that is handed on?
//!
//! ```text
//! template <bool kChecked> __global__ void kernel(...) {
//!     const int kRows = 64;
//!     multiply<load<kRows, kChecked>>(...);      // `kRows` and `kChecked` say nothing in `multiply`
//! }
//! ```
//!
//! A function is kept by its name, and called elsewhere: its template arguments have to say what they say here.

use super::launch::Argument;
use super::machine::{Machine, Mode};
use super::types::{Binding, Ty};
use super::value::{NOWHERE, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::events::LaunchArg;
use crate::ir::{Expr, ExprKind, Path, Scalar, TemplateArg, Type};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The function of a name, as a value.
    pub(super) fn function_named(&mut self, path: &Path) -> Value {
        if self.mode != Mode::Device {
            return Value::Function(Rc::new(self.closed_path(path)));
        }
        match self.closed_in_kernel(path) {
            Some(path) => Value::Function(Rc::new(path)),
            None => {
                let why = Unknown::new(
                    Reason::Unsupported,
                    NOWHERE,
                    format!("which instance of `{}` it is", path.name),
                );
                Value::opaque(Variation::Uniform, why)
            }
        }
    }

    /// The path of a kernel, with template arguments that mean the same in any other function.
    pub(super) fn closed_path(&mut self, path: &Path) -> Path {
        let mut path = path.clone();
        if self.mode == Mode::Device {
            return path;
        }
        for arg in path.args.iter_mut().flatten() {
            match self.launch_argument(arg) {
                Argument::Number(int) => {
                    if let Some(number) = self.substitute(&int).as_constant() {
                        *arg = literal(number, Scalar::I64);
                    }
                }
                Argument::Known(LaunchArg::Type(ty)) => *arg = TemplateArg::Type(ty),
                Argument::Known(_) => {}
            }
        }
        path
    }

    /// The path of a function that a kernel hands on; none if an argument cannot be said elsewhere.
    fn closed_in_kernel(&mut self, path: &Path) -> Option<Path> {
        let mut closed = path.clone();
        if let Some(class) = self.qualifying_class(path)
            && let Some(Type::Named(class)) = self.closed_type(&Ty::Record(class))
        {
            closed.qualifiers = class.qualifiers;
            closed.qualifiers.push((class.name, class.args.unwrap_or_default()));
            closed.global |= class.global;
        }
        for (at, arg) in closed.args.iter_mut().flatten().enumerate() {
            *arg = self.closed_argument(path, at, arg)?;
        }
        Some(closed)
    }

    fn closed_argument(&mut self, function: &Path, at: usize, arg: &TemplateArg) -> Option<TemplateArg> {
        let value = match arg {
            TemplateArg::Value(Expr { kind: ExprKind::Int(..), .. }) => return Some(arg.clone()),
            // A pack in full is not one argument.
            TemplateArg::Value(Expr { kind: ExprKind::Expansion(_) | ExprKind::Pack(_), .. }) => return None,
            TemplateArg::Value(expr) => self.evaluate(expr),
            TemplateArg::Type(ty) => {
                if let Some(template) = self.closed_template(ty) {
                    return Some(TemplateArg::Type(template));
                }
                match (ty, self.resolve_argument(ty)) {
                    // The grammar cannot tell a value from a type by its name.
                    (Type::Named(path), Ty::Unknown(_)) => self.lookup(path, NOWHERE),
                    (_, resolved) => return self.closed_type(&resolved).map(TemplateArg::Type),
                }
            }
        };
        match value {
            Value::Int(int, scalar) => match self.substitute(&int).as_constant() {
                Some(number) => Some(literal(number, scalar)),
                None => self.is_own_parameter(function, at, &int).then_some(TemplateArg::Type(Type::Opaque)),
            },
            Value::Function(path) => {
                let kind = ExprKind::Path(Box::new((*path).clone()));
                Some(TemplateArg::Value(Expr { kind, span: NOWHERE }))
            }
            _ => None,
        }
    }

    /// Whether a number is what stands for a template parameter of the function that is given nothing.
    fn is_own_parameter(&mut self, function: &Path, at: usize, int: &Int) -> bool {
        let functions: Vec<_> = self.program.functions(&function.name).iter().map(Arc::clone).collect();
        let mut params = functions.iter().map(|function| function.template_params.get(at));
        !functions.is_empty()
            && params.all(|param| {
                let unknown = param.map(|param| self.unknown_parameter(param));
                matches!(unknown, Some(Binding::Value(Value::Int(unknown, _))) if unknown == *int)
            })
    }
}

fn literal(number: i64, scalar: Scalar) -> TemplateArg {
    TemplateArg::Value(Expr { kind: ExprKind::Int(number.into(), scalar), span: NOWHERE })
}
