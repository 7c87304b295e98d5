//! How is the bank model shown: the banks of an array as a picture, and a table of requests beside the model?

mod picture;
mod requests;

pub use picture::{MOST_ELEMENT_BYTES, ParseShapeError, Shape, write_picture};
pub use requests::{Agreement, RequestsError, compare_requests};
