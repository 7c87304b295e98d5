//! Does a call of a mathematical function mean CUDA's own, though the program has a function of that name?
//!
//! CUDA's take part in overload resolution beside the program's:
//!
//! | declared | called with | means |
//! |---|---|---|
//! | `double fabs(const Complex &)` | `double`, `float`, `int` | CUDA's |
//! | the same | `Complex` | the program's |
//! | the same | what is not known | either |
//! | `template <class T> T max(T, T)` | two `float` | CUDA's: it is no template |
//! | `float max(float, float)` | two `float` | the program's |
//! | `float max(float, float)` | two `double` | CUDA's: it converts nothing |
//! | `int ceil(int, int)` | two `int` | the program's: CUDA's takes one |
//!
//! A function in a namespace around the call hides CUDA's, and so does a method of the class around it. Where it cannot
//! take the arguments, a `using` that is not followed has brought CUDA's in.

use super::arithmetic::{common, promote};
use super::deduce::{NO_FIT, fit, strip};
use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::Value;
use crate::builtins::maths::{Maths, Number, maths};
use crate::builtins::{self, Kind};
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::{BinaryOp, Expr, Function, Path, Scalar, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Which function a call means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meant {
    Cuda,
    Own,
    /// It hangs on a type that is not known.
    Either,
}

/// How an argument becomes what a parameter takes: the later, the better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Never,
    /// By a constructor or conversion of the program.
    ByClass,
    Converted,
    Exact,
}

impl Machine<'_> {
    /// Which function a call of a mathematical function means; none of any other.
    pub(super) fn maths_meant(&mut self, path: &Path, args: &[Expr]) -> Option<Meant> {
        let is_standard = |name: &str| matches!(name, "std" | "cuda");
        let function =
            maths(&path.name).filter(|_| path.qualifiers.iter().all(|(name, _)| is_standard(name)))?;
        if self.program.functions(&path.name).is_empty() {
            return Some(Meant::Cuda);
        }
        let is_plain = path.qualifiers.is_empty() && path.args.is_none();
        let candidates = self.choose_functions(path, args);
        let Some(first) = candidates.first() else { return Some(Meant::Cuda) };
        if !is_plain || args.len() != function.operands || candidates.iter().any(|it| it.owner.is_some()) {
            return Some(Meant::Own);
        }
        let types: Vec<Ty> = args.iter().map(|arg| self.type_of(arg)).collect();
        let ways = |machine: &mut Self, of: &Arc<Function>| {
            let given = of.params.iter().zip(&types);
            given.map(|(param, ty)| machine.own_way(of, strip(&param.ty), ty)).collect::<Vec<_>>()
        };
        let around = self.namespace();
        if !first.namespace.is_empty() && around.starts_with(&first.namespace) {
            let takes = |it: &Option<Way>| *it != Some(Way::Never);
            let is_taken = candidates.iter().any(|it| ways(self, it).iter().all(takes));
            return Some(if is_taken { Meant::Own } else { Meant::Cuda });
        }
        let cuda: Vec<Option<Way>> = types.iter().map(|ty| self.cuda_way(function, ty)).collect();
        let mut found: Option<Meant> = None;
        for candidate in &candidates {
            let own = ways(self, candidate);
            let meant = between(&own, &cuda, !candidate.template_params.is_empty());
            let meant = match meant {
                // Host code is run for its launches alone; what computes alike is as good as any.
                Meant::Either if self.mode == Mode::Host || !self.takes_objects(candidate) => {
                    match builtins::kind(&path.name) {
                        Some(Kind::Extremum) => Meant::Cuda,
                        _ => Meant::Own,
                    }
                }
                meant => meant,
            };
            found = Some(match found {
                None => meant,
                Some(other) if other == meant => meant,
                Some(_) => Meant::Either,
            });
        }
        found
    }

    /// How an argument becomes what a parameter of a function of the program takes; none if that is not known.
    fn own_way(&mut self, function: &Arc<Function>, param: &Type, ty: &Ty) -> Option<Way> {
        if matches!(ty, Ty::Unknown(_)) {
            return None;
        }
        let env = self.lookups.memo.no_env();
        let (points, taken) = self.within_head(function, env, |machine| {
            (fit(machine, function, param, ty), machine.resolve_written(param))
        });
        Some(match (points, taken) {
            (points, _) if points <= NO_FIT => Way::Never,
            (points, _) if points >= 2 => Way::Exact,
            (_, Ty::Record(_)) if !matches!(ty, Ty::Record(_)) => Way::ByClass,
            (_, Ty::Scalar(_)) if matches!(ty, Ty::Record(_)) => Way::ByClass,
            _ => Way::Converted,
        })
    }

    /// The same of CUDA's.
    fn cuda_way(&mut self, function: Maths, ty: &Ty) -> Option<Way> {
        Some(match ty.unqualified() {
            Ty::Unknown(_) => return None,
            Ty::Scalar(scalar) if function.of_floats && scalar != Scalar::F32 => Way::Converted,
            Ty::Scalar(scalar) if scalar.is_integer() && !function.keeps => Way::Converted,
            Ty::Scalar(_) => Way::Exact,
            Ty::Sized { .. } | Ty::Record(_) => Way::ByClass,
            _ => Way::Never,
        })
    }

    /// Whether a function takes an object of a class that is no template parameter.
    fn takes_objects(&mut self, function: &Arc<Function>) -> bool {
        let env = self.lookups.memo.no_env();
        function.params.iter().any(|param| {
            let ty = strip(&param.ty);
            let taken = self.within_head(function, Rc::clone(&env), |machine| machine.resolve_written(ty));
            matches!(taken, Ty::Record(_))
        })
    }

    /// A call that may mean CUDA's function or one of the program.
    pub(super) fn call_either(&mut self, path: &Path, args: &[Expr], span: Span) -> Value {
        let functions = self.choose_functions(path, args);
        let functions = self.on_own_object(functions, path, args);
        let words = format!("which of {} functions `{}` is called", functions.len() + 1, path.name);
        let why = Unknown::new(Reason::AmbiguousCall, span, words);
        let before = self.state.clone();
        self.state.add_doubt(&why);
        self.in_own_branch(true, |machine| {
            for arg in args {
                machine.evaluate(arg);
            }
        });
        (self.state.active, self.state.doubt) =
            (before.active.minus(&self.state.exited), before.doubt.clone());
        self.call_several(functions, path, args, (span, true));
        Value::opaque(Variation::Maybe, why)
    }

    /// The type of what CUDA's function hands back, where a call means it.
    pub(super) fn type_of_maths(&mut self, path: &Path, args: &[Expr]) -> Option<Ty> {
        let function = maths(&path.name).filter(|it| it.operands == args.len())?;
        // The run gets no further by it.
        let steps = self.steps;
        let meant = self.maths_meant(path, args);
        self.steps = steps;
        if meant != Some(Meant::Cuda) {
            return None;
        }
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            match self.type_of(arg).unqualified() {
                Ty::Scalar(scalar) => given.push(scalar),
                _ if function.of_floats => {}
                _ => return None,
            }
        }
        if function.keeps {
            return match given.as_slice() {
                [one] => Some(Ty::Scalar(promote(*one, *one, BinaryOp::Add))),
                [one, other] => common(&Ty::Scalar(*one), &Ty::Scalar(*other)).map(Ty::Scalar),
                _ => None,
            };
        }
        let given: Vec<Number> = given
            .iter()
            .map(|scalar| match scalar {
                Scalar::F32 => Number::Single,
                Scalar::F64 => Number::Double,
                _ => Number::Whole,
            })
            .collect();
        match function.result(&given)? {
            Number::Single => Some(Ty::Scalar(Scalar::F32)),
            Number::Double => Some(Ty::Scalar(Scalar::F64)),
            Number::Whole => None,
        }
    }
}

/// Which of two functions is meant by how they take each argument.
fn between(own: &[Option<Way>], cuda: &[Option<Way>], is_template: bool) -> Meant {
    let cannot = |ways: &[Option<Way>]| ways.contains(&Some(Way::Never));
    match (cannot(own), cannot(cuda)) {
        (true, _) => return Meant::Cuda,
        (_, true) => return Meant::Own,
        _ => {}
    }
    let both = || own.iter().zip(cuda).filter_map(|(own, cuda)| own.zip(*cuda));
    let is_open = own.iter().chain(cuda).any(Option::is_none);
    let (better, worse) = (both().any(|(own, cuda)| own > cuda), both().any(|(own, cuda)| own < cuda));
    match (better, worse) {
        (true, false) => Meant::Own,
        (false, true) => Meant::Cuda,
        (false, false) if !is_open && is_template => Meant::Cuda,
        // Two functions of the very same types are one: that of the program.
        (false, false) if !is_open => Meant::Own,
        _ => Meant::Either,
    }
}
