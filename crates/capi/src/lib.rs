//! Sessions ([`floodway_lab::session`]) for programs in C and C++. `include/floodway.h` describes the functions.
//!
//! - `boundary`: the functions themselves, and all of the unsafe code: pointers of C become references and texts there
//! - `handle`: what is behind a handle, in safe code
//!
//! [Decision 93](https://github.com/floodway-sim/floodway/blob/main/docs/decisions/0093-a-session-starts-flows-a-latency-later.md)
//! has the reasons.

#[allow(unsafe_code)]
mod boundary;
mod handle;
