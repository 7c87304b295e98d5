//! What does every thread of a block compute?
//!
//! A symbolic run of one thread block: the lowered kernel is interpreted once for a scenario
//! (block shape, template arguments), for all threads at the same time. The result is a
//! [`Trace`](crate::events::Trace) of shared-memory requests and barriers.
//!
//! An integer is a known number per thread plus known factors of unknown uniform symbols
//! ([`Int`](crate::domain::Int)). A condition splits the set of active threads
//! ([`condition`]); a loop is run for real or all iterations at once ([`loops`]).

mod access;
mod address;
mod aggregate;
mod alternatives;
mod arithmetic;
mod arrays;
mod as_truth;
mod asked;
mod assembly;
mod assign;
mod associated;
mod atomic_object;
mod atomic_overloads;
mod barriers;
mod bound;
mod branch;
pub(crate) mod budget;
mod call;
mod call_env;
mod called_place;
mod captured;
mod carried;
mod changed;
mod chosen;
mod class_arguments;
mod class_fit;
mod closed_type;
mod collective;
mod compiler;
mod condition;
mod conditional;
mod constant_calls;
mod constant_memory;
mod construct;
mod converted;
mod coordinates;
mod copied;
mod copied_bytes;
mod copied_struct;
mod copies;
mod counted;
mod covered;
mod declared;
mod deduce;
mod destruct;
mod either;
mod element;
pub(crate) mod entry;
mod enum_operators;
mod enum_types;
mod enumerate;
mod exposed;
mod expr;
mod extremum;
#[cfg(test)]
mod forgetful;
mod fragment;
mod groups;
mod hidden;
mod host;
mod initialisers;
mod inner_branches;
mod instead;
mod integers;
mod intrinsics;
mod join;
mod lambda_call;
mod lanes;
mod launch;
mod launched;
mod launched_lambda;
mod launched_numbers;
mod layout;
mod leaving;
mod lent;
mod locals;
mod loop_plan;
mod loops;
#[allow(unreachable_pub)] // `pub` there is for the evaluator
mod machine;
mod maths;
mod members;
#[allow(unreachable_pub)] // `pub` there is for the evaluator
mod memo;
mod methods;
mod named_function;
mod of_blocks;
mod of_warp;
mod one_of_two;
mod one_value;
mod operator_functions;
mod operators;
mod other_class;
mod overload;
mod own_object;
mod packs;
mod padding;
mod parameters;
mod partial;
mod partial_order;
mod parts;
pub(crate) mod pitch;
mod place;
mod receivers;
#[allow(unreachable_pub)] // `pub` there is for the evaluator
mod record;
mod recurrence;
mod recursion;
mod rejoin;
mod resolve;
mod rest;
mod revised;
mod same_type;
mod second_round;
mod select;
mod short_circuit;
mod sides;
mod slots;
mod special_members;
mod static_types;
mod stmt;
mod storage;
mod straight;
mod subsumption;
mod switch;
mod sync_object;
mod tables;
mod templates;
mod told;
mod tree;
mod two_ends;
mod two_phases;
mod types;
mod unseen;
mod value;
mod viable;
mod virtuals;
mod volatiles;
mod walked;
