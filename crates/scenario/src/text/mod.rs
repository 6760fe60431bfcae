//! Text to values, keeping for each word where it stands, so that whatever is wrong later is
//! shown where it was written: in the file, in a variant, or in a `--set`.

mod decode;
mod fault;
mod item;
pub(crate) mod nearby;
pub(crate) mod overlay;
mod problem;
mod source;
pub mod suggest;

pub(crate) use decode::decode;
pub(crate) use item::{Entry, Item, Table, Value, parse, parse_value};
pub(crate) use overlay::{Setting, merge, normalize};
pub use problem::{Error, Problem};
pub use source::{Place, Position, Source};
