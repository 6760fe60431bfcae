//! Tags of CSIG: what a switch leaves in them when it sends a packet.

use floodway_model::{Duration, NodeId, Packet};

use super::Log;
use crate::csig::Tag;

/// Checks the tag of a data packet that has been in its queue for `waited`: it is at least what that time
/// stands for, and no more if this port is named as the place.
pub fn check(
    (node, place): (NodeId, (usize, usize)),
    packet: &Packet,
    tag: &Tag,
    waited: Duration,
    log: &mut Log,
) {
    if !packet.is_data() {
        return;
    }
    let (port, queue) = place;
    let own = tag.value_of(waited);
    let here = tag.place().is_some_and(|(at, of)| at == node && of.index() == port);
    let value = tag.value();
    if value < own || here && value > own {
        let text = format!("a tag has the value {value} after a delay of {own} units");
        log.queue(port, queue, text);
    }
}
