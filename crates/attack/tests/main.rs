//! The attack itself, for seconds.

mod short;
mod shrink;
