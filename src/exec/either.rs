//! What is known of a type that is one of two?
//!
//! `std::conditional_t<kSmall, AtEnd, InLoop>` is either class where `kSmall` is not known. A member that both
//! have at one place, of one type, lies there whichever it is:
//!
//! | `AtEnd : Sums` | `InLoop : Sums` | of either |
//! |---|---|---|
//! | the members of `Sums` | the same | those, where they are |
//! | `float rest[8]` | `int rest[8]` | not known |
//! | its size | its size | not known |

use super::machine::Machine;
use super::parts::some_overlap;
use super::same_type::same_type;
use super::types::{Binding, FieldLayout, Layout, Ty};
use crate::ir::{Path, TemplateParamKind};
use std::rc::Rc;

impl Machine<'_> {
    /// `conditional<b, T, F>::type`, of which `b` is not known: what `T` and `F` have in common, if they are classes
    /// and it is something.
    pub(super) fn one_of_two(&mut self, conditional: &Path) -> Option<Ty> {
        let [_, first, second] = conditional.args.as_deref()? else { return None };
        let kind = TemplateParamKind::Type(None);
        let pair = (self.bind_one(&kind, first), self.bind_one(&kind, second));
        let (Binding::Type(Ty::Record(a)), Binding::Type(Ty::Record(b))) = pair else { return None };
        let in_both = |field: &&FieldLayout| {
            let is_like = |other: &FieldLayout| {
                field.begins().is_some()
                    && field.begins() == other.begins()
                    && (field.reference, field.bit_field) == (other.reference, other.bit_field)
                    && same_type(&field.ty, &other.ty) == Some(true)
            };
            b.field(&field.name).is_some_and(is_like)
        };
        let fields: Vec<FieldLayout> = a.fields.iter().filter(in_both).cloned().collect();
        if fields.is_empty() {
            return None;
        }
        let align = a.align.min(b.align);
        let open_size = self.multiple_of_bytes(align, format!("sizeof({} or {})", a.name, b.name));
        Some(Ty::Record(Rc::new(Layout {
            name: format!("{} or {}", a.name, b.name).into(),
            size: None,
            open_size: Some(Rc::new(open_size)),
            align,
            open_align: true,
            overlaps: a.overlaps || b.overlaps || some_overlap(&fields),
            fields,
            record: None,
            env: Rc::default(),
        })))
    }
}
