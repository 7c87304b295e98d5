//! Which kernels does host code launch, and with what?

use super::host::settled::Settled;
use super::launched::Meant;
use super::machine::{ChosenKernel, Machine, Mode};
use super::packs::{launched_pack, takes_any_number};
use super::types::{Binding, Env, Ty};
use super::value::{Step, Steps, Value};
use crate::domain::{Int, gcd};
use crate::events::{LaunchArg, LaunchSite};
use crate::ir::names::type_names;
use crate::ir::{
    Expr, ExprKind, Function, Launch, Path, Scalar, TemplateArg, TemplateParam, TemplateParamKind, Type,
};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The most launches of one run of host code.
const MOST_LAUNCHES: usize = 1024;

/// What the type of a lambda is called: no class has such a name.
const LAMBDA: &str = "(lambda)";

/// What is known of a launch's configuration.
struct Configuration {
    grid: [Option<Int>; 3],
    block: [Option<Int>; 3],
    dynamic_bytes: Option<Int>,
    /// As in [`LaunchSite::is_told`].
    is_told: [bool; 2],
}

impl Machine<'_> {
    /// `kernel<<<grid, block, bytes>>>(args)`
    pub(crate) fn launch(&mut self, launch: &Launch, span: Span) {
        if self.mode == Mode::Device {
            self.trace.tree.set_watched();
            return;
        }
        let kernels = self.launched_kernels(&launch.kernel);
        let shape = |machine: &mut Self, expr: &Option<Expr>| {
            expr.as_ref().map_or([None, None, None], |expr| machine.shape_of(expr))
        };
        let grid = shape(self, &launch.grid);
        let block = shape(self, &launch.block);
        let dynamic_bytes = match &launch.dynamic_bytes {
            Some(expr) => self.integer(expr),
            None => Some(Int::constant(0)),
        };
        let is_told =
            [&launch.grid, &launch.block].map(|expr| expr.as_ref().is_some_and(|it| self.is_told(it)));
        let configuration = Configuration { grid, block, dynamic_bytes, is_told };
        for kernel in kernels {
            self.note_launches(&kernel, &configuration, &launch.args, span);
        }
    }

    /// `cudaLaunchKernel(f, grid, block, args, bytes, stream)` and its kin.
    pub(crate) fn launch_call(&mut self, name: &str, args: &[Expr], span: Span) {
        if self.mode == Mode::Device {
            self.trace.tree.set_watched();
            return;
        }
        let extended = name.starts_with("cudaLaunchKernelEx");
        let (kernel, configuration, arguments) = match args {
            [config, kernel, rest @ ..] if extended => (kernel, self.extended(config), rest),
            [kernel, grid, block, rest @ ..] if !extended => {
                let (grid, block) = (self.shape_of(grid), self.shape_of(block));
                let dynamic_bytes = rest.get(1).and_then(|expr| self.integer(expr));
                let is_told = [false; 2];
                (kernel, Configuration { grid, block, dynamic_bytes, is_told }, &[][..])
            }
            _ => return,
        };
        // Arguments in an array are not looked at.
        let arguments = if name == "cudaLaunchKernelExC" { &[] } else { arguments };
        for kernel in self.launched_kernels(kernel) {
            self.note_launches(&kernel, &configuration, arguments, span);
        }
    }

    /// The members of a `cudaLaunchConfig_t`.
    fn extended(&mut self, config: &Expr) -> Configuration {
        let value = match self.evaluate(config) {
            Value::Pointer(pointer) => self.read(&pointer, config.span),
            value => value,
        };
        let Value::Aggregate(parts) = value else {
            return Configuration {
                grid: [None, None, None],
                block: [None, None, None],
                dynamic_bytes: None,
                is_told: [false; 2],
            };
        };
        // Assigned by name, or given in the order of the members.
        let part = |name: &str, at: i64| -> Value {
            let inside = |step: &Step| -> Vec<(Steps, Value)> {
                let inner = parts.iter().filter(|(path, _)| path.first() == Some(step));
                inner.map(|(path, value)| (Steps::from(&path[1..]), value.clone())).collect()
            };
            let named = inside(&Step::Member(name.into()));
            let found = if named.is_empty() { inside(&Step::Index(at)) } else { named };
            match found.as_slice() {
                [(path, value)] if path.is_empty() => value.clone(),
                _ => Value::Aggregate(Rc::new(found)),
            }
        };
        let (grid, block) = (self.shape_value(&part("gridDim", 0)), self.shape_value(&part("blockDim", 1)));
        let dynamic_bytes = match part("dynamicSmemBytes", 2) {
            Value::Int(int, _) => Some(int),
            _ => None,
        };
        Configuration { grid, block, dynamic_bytes, is_told: [false; 2] }
    }

    /// The kernels that an expression may mean: a name, or what a pointer to a kernel was given.
    fn launched_kernels(&mut self, expr: &Expr) -> Vec<ChosenKernel> {
        let path = match &expr.kind {
            ExprKind::Cast(_, inner) | ExprKind::AddressOf(inner) => return self.launched_kernels(inner),
            ExprKind::Path(path) => match self.lookup(path, expr.span) {
                Value::Function(path) => path,
                Value::Pointer(pointer) => match self.read(&pointer, expr.span) {
                    Value::Function(path) => path,
                    _ => return Vec::new(),
                },
                _ => Rc::new(self.closed_path(path)),
            },
            _ => match self.evaluate(expr) {
                Value::Function(path) => path,
                _ => return self.kernels_of_table(expr),
            },
        };
        self.kernels_of(&path)
    }

    /// Notes a launch for each of the kernels of that name that it may mean.
    fn note_launches(
        &mut self,
        kernel: &ChosenKernel,
        configuration: &Configuration,
        args: &[Expr],
        span: Span,
    ) {
        if !self.recording {
            return;
        }
        for meant in self.kernels_meant(&kernel.path, args) {
            self.note_launch(kernel, &meant, configuration, args, span);
        }
    }

    fn note_launch(
        &mut self,
        ChosenKernel { path: kernel, way }: &ChosenKernel,
        Meant { kernels, rival }: &Meant,
        configuration: &Configuration,
        args: &[Expr],
        span: Span,
    ) {
        if self.trace.launches.len() >= MOST_LAUNCHES {
            return;
        }
        let takes = |f: &&Arc<Function>| args.len() <= f.params.len() || takes_any_number(f);
        let primary = kernels.iter().filter(takes).find(|f| f.specialization.is_empty());
        let known = primary.or_else(|| kernels.iter().find(takes));
        let template_args = self.template_arguments(kernel, known, args);
        let arguments: Vec<Option<Int>> = args.iter().map(|arg| self.integer(arg)).collect();
        // Everything that may depend on which way host code went, in one row.
        let mut row: Vec<Option<Int>> = Vec::new();
        row.extend(configuration.block.iter().cloned());
        row.extend(template_args.iter().flatten().map(|arg| match arg {
            Argument::Number(int) => Some(int.clone()),
            Argument::Known(_) => None,
        }));
        let settled = row.len();
        row.extend(configuration.grid.iter().cloned());
        row.push(configuration.dynamic_bytes.clone());
        let multiples: Vec<i64> = arguments.iter().map(|arg| self.multiple_of(arg.as_ref())).collect();
        let powers = self.powers_of_each(way, &arguments);
        let covers = self.covered_by(&configuration.grid, &configuration.block, &arguments);
        let most = self.most_of_each(way, &arguments);
        let most_blocks = self.most_blocks(&configuration.grid, args, &arguments);
        let is_untied =
            way.is_empty() && configuration.is_told[1] && self.are_untied(known, args, &arguments);
        row.extend(arguments);
        let warps = configuration.block.each_ref().map(|size| self.is_warp_size(size.as_ref()));
        // Where nothing tells which of the numbers is not as it was asked to be, none is believed.
        let believed = self.state.refuted.as_ref().is_none_or(|refuted| !refuted.numbers.is_empty());
        let declared = match kernels.as_slice() {
            [only] if only.body.is_none() => Some(only.params.iter().map(|it| it.ty.clone()).collect()),
            _ => None,
        };
        let cases = self.distinct_cases(&row, settled, way);
        let unmet = self.unmet(&row[..settled], &cases);
        for (case, is_unmet) in cases.into_iter().zip(unmet) {
            let template_args: Option<Vec<LaunchArg>> = template_args.as_ref().map(|list| {
                let numbers = list.iter().zip(&case[3..settled]).map(|(arg, number)| match arg {
                    Argument::Number(_) => number.map_or(LaunchArg::Unknown, |it| LaunchArg::Value(it.value)),
                    Argument::Known(arg) => arg.clone(),
                });
                numbers.collect()
            });
            let (definitions, special) = self.definitions_for(kernels, template_args.as_deref());
            // A block that is limited counts as that limit, and the launch says so. Of the rest, only what is sure.
            let block: [Option<Settled>; 3] = [case[0], case[1], case[2]];
            let sure = |number: &Option<Settled>| number.filter(|it| it.is_exact()).map(|it| it.value);
            let rest: Vec<Option<i64>> = case[settled..].iter().map(sure).collect();
            let shape = block.map(|size| size.map_or(0, |it| it.value));
            let threads = shape.iter().try_fold(1i64, |all, size| all.checked_mul(*size)).unwrap_or(0);
            let sizes = [&shape[..], &[threads, rest[3].unwrap_or(0)]].concat();
            let site = LaunchSite {
                span,
                kernel: kernel.clone(),
                template_args,
                grid: [rest[0], rest[1], rest[2]],
                most_blocks,
                block: block.map(|size| size.map(|it| it.value)),
                warps,
                is_at_limit: block.iter().flatten().any(|size| !size.is_exact()),
                dynamic_bytes: rest[3],
                is_told: configuration.is_told,
                args: rest[4..].iter().map(|arg| arg.filter(|_| believed)).collect(),
                definitions,
                declared: declared.clone(),
                rival: rival.or(special),
                multiples: multiples.clone(),
                most: if believed { most.clone() } else { Vec::new() },
                powers: if believed { powers.clone() } else { Vec::new() },
                covers: if believed && !self.host.guessed { covers.clone() } else { Vec::new() },
                refuted: self.state.refuted.clone(),
                is_asked_about: self.is_asked_about(&sizes),
                is_guessed: self.host.guessed,
                is_unmet,
                is_untied,
            };
            match self.trace.launches.iter_mut().find(|launch| launch.same(&site)) {
                Some(known) => known.agree(&site),
                None => self.trace.launches.push(site),
            }
        }
    }

    /// Of what an argument is surely a multiple because it was asked to be.
    fn multiple_of(&self, argument: Option<&Int>) -> i64 {
        let Some((argument, _)) = argument.zip(self.state.refuted.as_ref()) else { return 1 };
        let base = argument.base.as_constant().map_or(1, i64::unsigned_abs);
        i64::try_from(gcd(base, argument.terms_gcd())).unwrap_or(1).max(1)
    }

    /// The template arguments written, and those that the types of the arguments tell.
    fn template_arguments(
        &mut self,
        kernel: &Path,
        known: Option<&Arc<Function>>,
        args: &[Expr],
    ) -> Option<Vec<Argument>> {
        let mut list: Vec<Argument> =
            kernel.args.iter().flatten().map(|arg| self.launch_argument(arg)).collect();
        let written = list.len();
        let deduced = known.filter(|function| {
            let pack = function.template_params.iter().position(|param| param.pack);
            let is_open = list.len() < pack.unwrap_or(function.template_params.len());
            // Arguments may go on with a pack that is written in part.
            pack.is_none_or(|at| at + 1 == function.template_params.len())
                && (is_open || takes_any_number(function) && !is_expanded(kernel))
        });
        if let Some(function) = deduced {
            let mut env = Env::default();
            for (param, arg) in function.params.iter().zip(args).take_while(|(param, _)| !param.pack) {
                let ty = self.type_to_deduce_from(arg);
                super::deduce::deduce(self, &mut env, function, &param.ty, &ty);
            }
            for param in function.template_params.iter().skip(written).take_while(|param| !param.pack) {
                list.push(match env.bindings.get(&param.name) {
                    Some(Binding::Type(ty)) => {
                        let ty = self.closed_type(ty);
                        Argument::Known(ty.map_or(LaunchArg::Unknown, LaunchArg::Type))
                    }
                    Some(Binding::Value(Value::Int(int, _))) => Argument::Number(int.clone()),
                    _ if self.takes_lambda(function, &param.name, args) => {
                        let name = Path::simple(LAMBDA.into());
                        Argument::Known(LaunchArg::Type(Type::Named(Box::new(name))))
                    }
                    _ => Argument::Known(self.unseen_class_handed(function, &param.name, args)),
                });
            }
            if takes_any_number(function) {
                let of_pack = (list.len() + 1).saturating_sub(function.template_params.len());
                for arg in args.iter().skip(function.params.len() - 1 + of_pack) {
                    let ty = self.type_to_deduce_from(self.forwarded(arg).unwrap_or(arg));
                    let ty = self.closed_type(&super::deduce::decayed(&ty));
                    list.push(Argument::Known(ty.map_or(LaunchArg::Unknown, LaunchArg::Type)));
                }
            }
        }
        // What is neither written nor told by a type is the default.
        let has_default =
            |at: usize| known.and_then(|f| f.template_params.get(at)).is_some_and(TemplateParam::has_default);
        while list.len() > written
            && has_default(list.len() - 1)
            && matches!(list.last(), Some(Argument::Known(LaunchArg::Unknown)))
        {
            list.pop();
        }
        if let Some(function) = known {
            self.add_defaults(function, &mut list);
        }
        let all_unknown = list.iter().all(|arg| matches!(arg, Argument::Known(LaunchArg::Unknown)));
        (!all_unknown).then_some(list)
    }

    /// Adds the defaults of the parameters that are given nothing, as far as they are known: `k<2>` and `k<2, 4>` may
    /// be the same.
    fn add_defaults(&mut self, function: &Arc<Function>, list: &mut Vec<Argument>) {
        let params = &function.template_params;
        if params.iter().any(|param| param.pack) || !function.specialization.is_empty() {
            return;
        }
        let mut env = Env::default();
        for (at, param) in params.iter().enumerate() {
            let bound = match list.get(at) {
                Some(Argument::Number(int)) => Binding::Value(Value::Int(int.clone(), Scalar::I64)),
                Some(Argument::Known(LaunchArg::Type(ty))) => Binding::Type(self.resolve_argument(ty)),
                // No argument of the call tells it.
                Some(Argument::Known(LaunchArg::Unknown))
                    if param.has_default() && !is_told(function, param) =>
                {
                    let Some((bound, arg)) = self.default_argument(function, param, &env) else { return };
                    list[at] = Argument::Known(arg);
                    bound
                }
                Some(Argument::Known(_)) => return,
                None => {
                    let Some((bound, arg)) = self.default_argument(function, param, &env) else { return };
                    list.push(Argument::Known(arg));
                    bound
                }
            };
            env.bind(&param.name, bound);
        }
    }

    /// What a template parameter is by default, with those before it.
    fn default_argument(
        &mut self,
        function: &Arc<Function>,
        param: &TemplateParam,
        env: &Env,
    ) -> Option<(Binding, LaunchArg)> {
        let so_far = Rc::new(Env { bindings: env.bindings.clone() });
        match &param.kind {
            TemplateParamKind::Type(Some(ty)) | TemplateParamKind::Template(Some(ty)) => {
                let ty = self.within_head(function, so_far, |machine| machine.resolve_argument(ty));
                let closed = self.closed_type(&ty)?;
                Some((Binding::Type(ty), LaunchArg::Type(closed)))
            }
            TemplateParamKind::Value(ty, Some(expr)) => {
                let value = self.within_head(function, so_far, |machine| {
                    let ty = machine.resolve_type(ty);
                    let value = machine.evaluate(expr);
                    machine.convert(value, &ty)
                });
                let Value::Int(int, _) = &value else { return None };
                let number = int.as_constant()?;
                Some((Binding::Value(value), LaunchArg::Value(number)))
            }
            _ => None,
        }
    }

    pub(super) fn launch_argument(&mut self, arg: &TemplateArg) -> Argument {
        let number = |value: Value| match value {
            Value::Int(int, _) => Argument::Number(int),
            _ => Argument::Known(LaunchArg::Unknown),
        };
        match arg {
            TemplateArg::Value(expr) => number(self.evaluate(expr)),
            TemplateArg::Type(ty) => {
                if let Some(template) = self.closed_template(ty) {
                    return Argument::Known(LaunchArg::Type(template));
                }
                let resolved = self.resolve_argument(ty);
                // `kernel<N>`: the grammar cannot tell a value from a type by its name.
                if let (Type::Named(path), Ty::Unknown(_)) = (ty, &resolved) {
                    return match self.number_named(path) {
                        Value::Closure(lambda, frame) => self.lambda_argument(&lambda, frame),
                        value => number(value),
                    };
                }
                Argument::Known(match (self.closed_type(&resolved), ty) {
                    (Some(closed), _) => LaunchArg::Type(closed),
                    // It names what only this function knows.
                    (None, Type::Decltype(_)) => LaunchArg::Unknown,
                    (None, _) => LaunchArg::Type(ty.clone()),
                })
            }
        }
    }

    /// Whether a template argument is a number, and no type, if that is known.
    pub(super) fn gives_number(&mut self, arg: &TemplateArg) -> Option<bool> {
        match self.launch_argument(arg) {
            Argument::Number(_) | Argument::Known(LaunchArg::Value(_)) => Some(true),
            Argument::Known(LaunchArg::Type(_)) => Some(false),
            Argument::Known(LaunchArg::Unknown) => None,
        }
    }

    /// Template arguments as a launch has them.
    pub(crate) fn launch_arguments(&mut self, args: &[TemplateArg]) -> Vec<LaunchArg> {
        let list = args.iter().map(|arg| match self.launch_argument(arg) {
            Argument::Number(int) => int.as_constant().map_or(LaunchArg::Unknown, LaunchArg::Value),
            Argument::Known(arg) => arg,
        });
        list.collect()
    }

    fn integer(&mut self, expr: &Expr) -> Option<Int> {
        match self.operand(expr) {
            Value::Int(int, _) => Some(int),
            _ => None,
        }
    }

    /// A grid or block shape: a number, a `dim3`, or what is known of one.
    fn shape_of(&mut self, expr: &Expr) -> [Option<Int>; 3] {
        let dim3 = super::types::builtin("dim3");
        let value = match (&expr.kind, &dim3) {
            (ExprKind::InitList(items), Some(ty)) => self.construct(ty, items, expr.span),
            (_, Some(ty)) if self.is_of_own_class(expr) => match self.converted_shape(expr, ty) {
                Some(value) => value,
                None => return [None, None, None],
            },
            _ => self.evaluate(expr),
        };
        // A `dim3` of which nothing is known is a symbol; as a number it would be x alone.
        if let (Value::Int(int, _), Ty::Record(_)) = (&value, self.type_of(expr))
            && int.as_constant().is_none()
        {
            return [None, None, None];
        }
        self.shape_value(&value)
    }

    /// Whether it is an object of a class of the program, and no `dim3`.
    fn is_of_own_class(&mut self, expr: &Expr) -> bool {
        matches!(self.type_of(expr), Ty::Record(layout)
            if layout.record.is_some() && !matches!(&*layout.name, "dim3" | "uint3" | "int3"))
    }

    /// What the class of an object makes of it where a `dim3` is asked for: one, or a number.
    fn converted_shape(&mut self, expr: &Expr, dim3: &Ty) -> Option<Value> {
        let Ty::Record(layout) = dim3 else { return None };
        if let Some(made) = self.of_other_class(layout, expr) {
            return Some(made);
        }
        Some(self.operand(expr)).filter(|value| matches!(value, Value::Int(..)))
    }

    fn shape_value(&mut self, value: &Value) -> [Option<Int>; 3] {
        let one = || Some(Int::constant(1));
        match value {
            Value::Int(int, _) => [Some(int.clone()), one(), one()],
            Value::Float(number, _) => [Some(Int::constant(*number as i64)), one(), one()],
            Value::Aggregate(parts) => {
                // Members that were never written are 1, unless the whole was once not known.
                let whole = parts.iter().any(|(path, _)| path.is_empty());
                let mut at = 0;
                ["x", "y", "z"].map(|axis| {
                    let steps = [Step::Member(axis.into()), Step::Index(at)];
                    at += 1;
                    let is_axis = |path: &[Step]| path.len() == 1 && steps.contains(&path[0]);
                    match parts.iter().find(|(path, _)| is_axis(path)) {
                        Some((_, Value::Int(int, _))) => Some(int.clone()),
                        Some((_, Value::Float(number, _))) => Some(Int::constant(*number as i64)),
                        None if !whole && !parts.is_empty() => one(),
                        _ => None,
                    }
                })
            }
            _ => [None, None, None],
        }
    }
}

/// A template argument of a launch before it is known which way host code went.
pub(super) enum Argument {
    Number(Int),
    Known(LaunchArg),
}

/// Whether a pack stands among the template arguments that are written, of which it is not known how many it stands for.
fn is_expanded(kernel: &Path) -> bool {
    let is_pack = |arg: &TemplateArg| {
        matches!(arg, TemplateArg::Value(Expr { kind: ExprKind::Expansion(_) | ExprKind::Pack(_), .. }))
    };
    kernel.args.iter().flatten().any(is_pack)
}

/// An environment from the template arguments of a launch.
#[must_use]
pub(crate) fn launch_environment(machine: &mut Machine<'_>, function: &Function, args: &[LaunchArg]) -> Env {
    let mut env = Env::default();
    let params = &function.template_params;
    if let Some(at) = params.iter().position(|param| param.pack)
        && let Some(rest) = args.get(at..)
        && !args.is_empty()
        && at + 1 == params.len()
        && let Some(pack) = launched_pack(machine, function, &params[at], rest)
    {
        env.bind(&params[at].name, pack);
    }
    bind_launched(machine, params, args, &mut env);
    env
}

/// Binds template parameters to what is known of their arguments, as far as the first pack.
pub(crate) fn bind_launched(
    machine: &mut Machine<'_>,
    params: &[TemplateParam],
    args: &[LaunchArg],
    env: &mut Env,
) {
    for (param, arg) in params.iter().zip(args).take_while(|(param, _)| !param.pack) {
        let bound = match arg {
            LaunchArg::Value(value) => Some(Binding::Value(Value::int(*value))),
            LaunchArg::Type(ty) => match machine.resolve_argument(ty) {
                Ty::Unknown(_) if !param.has_default() => None,
                // Something was given, so the default is not what it is.
                Ty::Unknown(_) => Some(machine.unknown_parameter(param)),
                ty => Some(Binding::Type(ty)),
            },
            LaunchArg::Unknown => Some(machine.unknown_parameter(param)),
        };
        if let Some(bound) = bound {
            env.bindings.insert(param.name.clone(), bound);
        }
    }
}

/// Whether a template parameter is named where the arguments of a call may tell it.
fn is_told(function: &Function, param: &TemplateParam) -> bool {
    function.params.iter().any(|it| type_names(&it.ty).contains(&param.name))
}
