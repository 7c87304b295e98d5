//! What type does an expression have, without running it?

use super::machine::Machine;
use super::types::Ty;
use crate::ir::namespace::meant;
use crate::ir::{Expr, ExprKind, Scalar, Type};
use std::rc::Rc;

impl Machine<'_> {
    /// The static type of an expression, as far as it is cheap to tell; nothing is executed.
    pub fn type_of(&mut self, expr: &Expr) -> Ty {
        let unknown = || Ty::Unknown("auto".into());
        match &expr.kind {
            ExprKind::Int(_, scalar) | ExprKind::Float(_, scalar) => Ty::Scalar(*scalar),
            ExprKind::Local(local) => {
                let slot = self.frame().and_then(|f| f.slots.get(local.0 as usize));
                slot.map_or_else(unknown, |slot| slot.ty.clone())
            }
            ExprKind::Cast(ty, _) | ExprKind::Construct(ty, _) => self.resolve_type(ty),
            ExprKind::Index(base, _) => match self.type_of(base) {
                Ty::Array(element, _) | Ty::Pointer(element) => (*element).clone(),
                Ty::Record(_) => self.type_of_method(expr).unwrap_or_else(unknown),
                _ => unknown(),
            },
            ExprKind::Deref(inner) => match self.type_of(inner) {
                Ty::Pointer(inner) | Ty::Array(inner, _) => (*inner).clone(),
                _ => unknown(),
            },
            ExprKind::This => {
                let this = self.frame().and_then(|frame| frame.this.as_ref());
                this.map_or_else(unknown, |this| Ty::Pointer(Rc::new(this.pointee.clone())))
            }
            ExprKind::AddressOf(inner) => Ty::Pointer(Rc::new(self.type_of(inner))),
            ExprKind::Member { base, name, arrow } => {
                let mut ty = self.type_of(base);
                if *arrow && let Ty::Pointer(inner) = &ty {
                    ty = (**inner).clone();
                }
                match &ty {
                    Ty::Record(layout) => layout.field(name).map_or_else(unknown, |field| field.ty.clone()),
                    _ => unknown(),
                }
            }
            ExprKind::Binary(op, a, b) => match (self.type_of(a), self.type_of(b)) {
                (Ty::Scalar(Scalar::F64), Ty::Scalar(_)) | (Ty::Scalar(_), Ty::Scalar(Scalar::F64)) => {
                    Ty::Scalar(Scalar::F64)
                }
                (Ty::Scalar(Scalar::F32), Ty::Scalar(_)) | (Ty::Scalar(_), Ty::Scalar(Scalar::F32)) => {
                    Ty::Scalar(Scalar::F32)
                }
                (Ty::Scalar(x), Ty::Scalar(y)) => Ty::Scalar(super::operators::promote(x, y, *op)),
                (pointer @ (Ty::Pointer(_) | Ty::Array(..)), _) => decayed(pointer),
                (_, pointer @ (Ty::Pointer(_) | Ty::Array(..))) => decayed(pointer),
                (other, _) => other,
            },
            ExprKind::Unary(_, inner)
            | ExprKind::Assign(_, inner, _)
            | ExprKind::Step { target: inner, .. } => self.type_of(inner),
            ExprKind::Conditional(_, a, _) => self.type_of(a),
            ExprKind::Comma(_, b) => self.type_of(b),
            ExprKind::Path(path) => {
                if let Some(variable) = self.program.variable_meant(path, &self.namespace()).cloned() {
                    return self.resolve_type(&variable.ty);
                }
                Ty::Scalar(Scalar::I32)
            }
            ExprKind::Call { callee, .. } => {
                if let ExprKind::Path(path) = &callee.kind {
                    let name = path.name.strip_prefix("make_").unwrap_or(&path.name);
                    if let Some(ty) = super::types::builtin(name) {
                        return ty;
                    }
                    let from = self.namespace();
                    let mut named = meant(self.program.functions(&path.name), &path.qualifiers, &from);
                    if let (Some(function), None) = (named.next(), named.next())
                        && function.template_params.is_empty()
                        && function.owner.as_ref() != Some(&path.name)
                    {
                        let ty = function.return_type.clone();
                        return self.resolve_type(&ty);
                    }
                    return self.resolve_type(&Type::Named(path.clone()));
                }
                self.type_of_method(expr).unwrap_or_else(unknown)
            }
            _ => unknown(),
        }
    }
}

fn decayed(ty: Ty) -> Ty {
    match ty {
        Ty::Array(element, _) => Ty::Pointer(element),
        other => other,
    }
}
