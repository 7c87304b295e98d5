//! What is a lambda to a kernel that is launched with it?
//!
//! An object of its class, which stands beside the host function that makes it. The class has the template parameters of
//! that function, and they stand for what they are where it is made.

use super::launch::Argument;
use super::machine::{Machine, Mode};
use super::types::Ty;
use crate::events::LaunchArg;
use crate::ir::{Expr, ExprKind, Function, Lambda, Path, TemplateArg, TemplateParamKind, Type};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The class of a lambda of host code that was made in this frame, if it has one.
    pub(super) fn class_of_lambda(&mut self, lambda: &Lambda, frame: usize) -> Option<Ty> {
        if self.mode != Mode::Host {
            return None;
        }
        let made = self.state.frames.get(frame)?;
        let (function, env) = (Arc::clone(&made.function), Rc::clone(&made.env));
        let name = lambda.class_name(&function);
        // Of files that are alike, it is not told whose it is.
        if self.program.records(&name).len() != 1 {
            return None;
        }
        let args = function.template_params.iter().map(|param| {
            let path = Path::simple(param.name.clone());
            match param.kind {
                TemplateParamKind::Value(..) => TemplateArg::Value(Expr {
                    kind: ExprKind::Path(Box::new(path)),
                    span: function.name_span,
                }),
                _ => TemplateArg::Type(Type::Named(Box::new(path))),
            }
        });
        let args: Vec<TemplateArg> = args.collect();
        let path = Path { args: (!args.is_empty()).then_some(args), ..Path::simple(name) };
        let class = self.within_head(&function, env, |it| it.resolve_type(&Type::Named(Box::new(path))));
        matches!(class, Ty::Record(_)).then_some(class)
    }

    /// The class of a lambda as a template argument.
    pub(super) fn lambda_argument(&mut self, lambda: &Arc<Lambda>, frame: usize) -> Argument {
        let class = self.class_of_lambda(lambda, frame).and_then(|class| self.closed_type(&class));
        Argument::Known(class.map_or(LaunchArg::Unknown, LaunchArg::Type))
    }

    /// Whether a template parameter is the type of a lambda, which is unlike any other.
    pub(super) fn takes_lambda(&self, function: &Function, name: &str, args: &[Expr]) -> bool {
        function.params.iter().zip(args).any(|(param, arg)| {
            let is_it =
                |path: &Path| path.qualifiers.is_empty() && path.args.is_none() && *path.name == *name;
            matches!(super::deduce::strip(&param.ty), Type::Named(path) if is_it(path)) && self.is_lambda(arg)
        })
    }
}
