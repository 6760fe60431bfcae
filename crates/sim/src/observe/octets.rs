//! Frees the octets of frames of kernels that are dropped. Those of frames that arrive are taken by their receivers; those
//! that a failed link loses are kept until the end of the run.

use std::sync::Arc;

use super::{At, Fact, Kinds, Observer, Setup};
use crate::kernel::Octets;

/// Of a run with kernels.
#[derive(Debug)]
pub struct Dropped(Arc<Octets>);

impl Observer for Dropped {
    const WANTS: Kinds = Kinds::DROPPED;

    fn new(setup: &Setup<'_>) -> Option<Self> {
        setup.octets.map(|octets| Self(octets.clone()))
    }

    fn on(&mut self, fact: &Fact<'_>, _at: &At) {
        if let Fact::Dropped { packet, .. } = fact {
            self.0.take(packet);
        }
    }

    fn merge(&mut self, _other: Self) {}
}
