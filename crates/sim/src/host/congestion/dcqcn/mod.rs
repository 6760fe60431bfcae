//! DCQCN (Zhu et al., SIGCOMM 2015).

mod spec;

pub use spec::{Spec, Variant};
