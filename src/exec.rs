//! What does every thread of a block compute?
//!
//! A symbolic run of one thread block: the lowered kernel is interpreted once for a scenario
//! (block shape, template arguments), for all threads at the same time. The result is a
//! [`Trace`](crate::events::Trace) of shared-memory requests and barriers.
//!
//! An integer is a known number per thread plus known factors of unknown uniform symbols
//! ([`Int`](crate::domain::Int)). A condition splits the set of active threads
//! ([`condition`]); a loop is run for real or all iterations at once ([`loops`]).

pub mod arithmetic;
pub mod arrays;
pub mod assembly;
pub mod barriers;
pub mod budget;
pub mod call;
mod compiler;
pub mod condition;
pub mod conditional;
pub mod construct;
pub mod coordinates;
pub mod copied_struct;
pub mod copies;
pub mod counted;
pub mod deduce;
pub mod destruct;
pub mod entry;
pub mod enumerate;
pub mod exposed;
pub mod expr;
#[cfg(test)]
mod forgetful;
pub mod fragment;
pub mod host;
pub mod intrinsics;
pub mod join;
pub mod launch;
pub mod layout;
pub mod leaving;
pub mod locals;
pub mod loop_plan;
pub mod loops;
pub mod machine;
pub mod members;
pub mod memo;
pub mod methods;
pub mod operator_functions;
pub mod operators;
pub mod overload;
pub mod parts;
pub mod pitch;
pub mod place;
pub mod record;
pub mod rejoin;
pub mod resolve;
pub mod slots;
pub mod static_types;
pub mod stmt;
pub mod straight;
pub mod switch;
pub mod templates;
pub mod types;
pub mod value;
