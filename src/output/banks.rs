//! How is the bank model shown: the banks of an array as a picture, and a table of requests beside the model?

mod picture;
mod requests;

pub use picture::{ParseShapeError, Shape, write_picture};
pub use requests::{Agreement, RequestsError, compare_requests};
