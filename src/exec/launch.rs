//! Kernel launches, seen when host code is run.

use super::machine::{Machine, Mode};
use super::types::{Env, Ty};
use super::value::{Step, Value};
use crate::ir::{Expr, ExprKind, Launch, Path, TemplateArg, Type};
use crate::source::Span;
use crate::trace::{LaunchArg, LaunchSite};

impl Machine<'_> {
    /// `kernel<<<grid, block, bytes>>>(args)`
    pub fn launch(&mut self, launch: &Launch, span: Span) {
        let Some(kernel) = callee_path(&launch.kernel) else { return };
        let grid = launch.grid.as_ref().map_or([None; 3], |expr| self.shape_of(expr));
        let block = launch.block.as_ref().map_or([None; 3], |expr| self.shape_of(expr));
        let dynamic_bytes = launch.dynamic_bytes.as_ref().map_or(Some(0), |expr| self.constant(expr));
        let args = launch.args.iter().map(|arg| self.constant(arg)).collect();
        self.note_launch(kernel, grid, block, dynamic_bytes, args, span);
    }

    /// `cudaLaunchKernel(f, grid, block, args, bytes, stream)` and its kin.
    pub fn launch_call(&mut self, name: &str, args: &[Expr], span: Span) {
        let Some(kernel) = args.first().and_then(callee_path) else { return };
        if name == "cudaLaunchKernelEx" || args.len() < 3 {
            // The shape is in a configuration record whose members are assigned elsewhere.
            return;
        }
        let (grid, block) = (self.shape_of(&args[1]), self.shape_of(&args[2]));
        let bytes = args.get(4).and_then(|expr| self.constant(expr));
        self.note_launch(kernel, grid, block, bytes, Vec::new(), span);
    }

    fn note_launch(
        &mut self,
        kernel: Path,
        grid: [Option<i64>; 3],
        block: [Option<i64>; 3],
        dynamic_bytes: Option<i64>,
        args: Vec<Option<i64>>,
        span: Span,
    ) {
        if self.mode == Mode::Device || !self.recording || self.trace.launches.len() >= 4096 {
            return;
        }
        let explicit = kernel.args.clone();
        let template_args = explicit.map(|list| list.iter().map(|arg| self.launch_argument(arg)).collect());
        self.trace.launches.push(LaunchSite {
            span,
            kernel,
            template_args,
            grid,
            block,
            dynamic_bytes,
            args,
        });
    }

    fn launch_argument(&mut self, arg: &TemplateArg) -> LaunchArg {
        match arg {
            TemplateArg::Value(expr) => match self.evaluate(expr) {
                Value::Int(int, _) => int.as_constant().map_or(LaunchArg::Unknown, LaunchArg::Value),
                _ => LaunchArg::Unknown,
            },
            TemplateArg::Type(ty) => {
                // `kernel<N>`: the grammar cannot tell a value from a type by its name.
                if let Type::Named(path) = ty {
                    let resolved = self.resolve_type(ty);
                    if matches!(resolved, Ty::Unknown(_)) {
                        return match self.lookup(path, super::resolve::NOWHERE) {
                            Value::Int(int, _) => {
                                int.as_constant().map_or(LaunchArg::Unknown, LaunchArg::Value)
                            }
                            _ => LaunchArg::Unknown,
                        };
                    }
                    return type_argument(&resolved).unwrap_or_else(|| LaunchArg::Type(ty.clone()));
                }
                let resolved = self.resolve_type(ty);
                type_argument(&resolved).unwrap_or_else(|| LaunchArg::Type(ty.clone()))
            }
        }
    }

    /// A grid or block shape: a number, a `dim3`, or what is known of one.
    fn shape_of(&mut self, expr: &Expr) -> [Option<i64>; 3] {
        let dim3 = super::types::builtin("dim3");
        let value = match (&expr.kind, &dim3) {
            (ExprKind::InitList(items), Some(ty)) => self.construct(ty, items, expr.span),
            _ => self.evaluate(expr),
        };
        match value {
            Value::Int(int, _) => [int.as_constant(), Some(1), Some(1)],
            Value::Float(number) => [Some(number as i64), Some(1), Some(1)],
            Value::Aggregate(parts) => ["x", "y", "z"].map(|axis| {
                let step = [Step::Member(axis.into())];
                match parts.iter().find(|(path, _)| path.as_slice() == step) {
                    Some((_, Value::Int(int, _))) => self.substitute(int).as_constant(),
                    _ => None,
                }
            }),
            _ => [None; 3],
        }
    }
}

/// The type in terms that any file can resolve.
fn type_argument(ty: &Ty) -> Option<LaunchArg> {
    Some(match ty {
        Ty::Scalar(scalar) => LaunchArg::Type(Type::Scalar(*scalar)),
        Ty::Sized { name, .. } => LaunchArg::Type(Type::Named(Box::new(Path::simple(name.clone())))),
        Ty::Record(layout) if layout.record.as_ref().is_none_or(|r| r.template_params.is_empty()) => {
            LaunchArg::Type(Type::Named(Box::new(Path::simple(layout.name.clone()))))
        }
        _ => return None,
    })
}

fn callee_path(expr: &Expr) -> Option<Path> {
    match &expr.kind {
        ExprKind::Path(path) => Some((**path).clone()),
        ExprKind::Cast(_, inner) | ExprKind::AddressOf(inner) => callee_path(inner),
        _ => None,
    }
}

/// An environment from the template arguments of a launch.
#[must_use]
pub fn launch_environment(
    machine: &mut Machine<'_>,
    params: &[crate::ir::TemplateParam],
    args: &[LaunchArg],
) -> Env {
    use super::types::Binding;
    let mut env = Env::default();
    for (param, arg) in params.iter().zip(args).filter(|(param, _)| !param.pack) {
        let bound = match arg {
            LaunchArg::Value(value) => Some(Binding::Value(Value::int(*value))),
            LaunchArg::Type(ty) => match machine.resolve_type(ty) {
                Ty::Unknown(_) => None,
                ty => Some(Binding::Type(ty)),
            },
            LaunchArg::Unknown => None,
        };
        if let Some(bound) = bound {
            env.bindings.insert(param.name.clone(), bound);
        }
    }
    env
}
