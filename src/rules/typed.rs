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
    /// Of a class: where it is used for something else, too.
    pub elsewhere: Option<Span>,
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
