//! What in the types of a program says how far the rows or elements of a shared array lie apart?

use crate::source::Span;

/// Numbers in types that say how far the rows of an array lie apart, or a class that says how far its elements do.
/// They are made larger together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// By which the padder knows it.
    pub number: usize,
    /// What is made larger.
    pub what: TypedWhat,
    /// The names of the arrays whose rows become longer.
    pub arrays: Vec<Span>,
    /// Where one of these arrays is named by what becomes longer with it.
    pub named: Vec<Span>,
    /// What changes with them, and where the text may name each.
    pub uses: Vec<Use>,
    /// Whether nothing else changes if the text names all of these as it may.
    pub is_closed: bool,
}

/// Something that changes with longer rows, and the forms in which the text may name it so that nothing else does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Its name; empty for a class without one.
    pub name: String,
    /// Where it is declared, or has its name there.
    pub declared: Span,
    /// Where its name means it; `None`: everywhere.
    pub scope: Option<Span>,
    /// The forms.
    pub form: UseForm,
}

/// In which forms the text may name something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseForm {
    /// A class: where it is defined, and where this one shared object is declared.
    Class {
        /// The whole definition.
        extent: Span,
        /// The object's name.
        object: Span,
    },
    /// An object of a class: by an element of one of its members, which have so many dimensions.
    Object(Vec<(String, usize)>),
    /// Rows, or what leads to them: by an element, which has so many subscripts, and at these places.
    Rows(usize, Vec<Span>),
    /// A function: where it is defined and called.
    Function,
}

/// What is made larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedWhat {
    /// The last dimension of members, each of a class.
    Members(Vec<TypedLength>),
    /// That of an array, and of the pointers and references to its rows.
    Variables(Vec<TypedLength>),
    /// A number in the length of a member and in the indices of methods.
    Factors {
        /// The member, and its class.
        of: TypedLength,
        /// Where the number stands, in the member's length first.
        places: Vec<Span>,
    },
    /// A class, at its end, by a word of 4 bytes.
    Class {
        /// Its name.
        name: String,
        /// Its whole definition.
        extent: Span,
    },
}

/// Something with a last dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedLength {
    /// Its name.
    pub name: String,
    /// Of a member: its class; empty for one without a name.
    pub of: String,
    /// Its lengths as they are written, outermost first.
    pub lengths: Vec<Span>,
}
