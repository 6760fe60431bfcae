//! Lists that grow with the flows that have begun, and not with all flows of a host.

use floodway_model::{FlowId, Instant};

use super::transport::Sent;

/// By index among the outgoing flows: the slot of the sender, while there is one.
#[derive(Debug, Default)]
pub struct Slots(Vec<u32>);

impl Slots {
    /// The slot of the sender of this flow; [`u32::MAX`] if it has none.
    #[inline]
    pub fn of(&self, place: u32) -> u32 {
        self.0.get(place as usize).copied().unwrap_or(u32::MAX)
    }

    /// Asks for the slot of the sender of this flow.
    #[inline]
    pub fn look(&self, place: u32) {
        self.0.get(place as usize).into_iter().for_each(floodway_prefetch::ask_for);
    }

    /// The sender of this flow, which had a slot, has ended.
    #[inline]
    pub fn clear(&mut self, place: u32) {
        self.0[place as usize] = u32::MAX;
    }

    /// Bytes of memory that they take.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.0.capacity() * 4
    }

    /// Sets the slot of the sender of this flow, one of so many.
    #[inline]
    pub fn set(&mut self, place: usize, slot: u32, flows: usize) {
        if place >= self.0.len() {
            reserve(&mut self.0, flows);
            self.0.resize(place + 1, u32::MAX);
        }
        self.0[place] = slot;
    }
}

/// Makes room for all flows when the first one needs it: memory that is not used yet costs nothing, and lists that grow
/// leave the shorter ones behind.
pub fn reserve<T>(list: &mut Vec<T>, flows: usize) {
    if list.capacity() == 0 {
        list.reserve_exact(flows);
    }
}

/// The counters of senders that have ended. Most have sent every packet once and have measured no round-trip time.
#[derive(Debug, Default)]
pub struct Ended {
    /// The flow, its packets, and when it was acknowledged, [`Instant::NEVER`] if it was not.
    usual: Vec<(FlowId, u32, Instant)>,
    /// All others.
    others: Vec<(FlowId, Sent)>,
}

/// The packets of a sender, and when it was acknowledged, if it has no other counters.
pub fn usual(sent: Sent) -> Option<(u32, Instant)> {
    let (packets, at) = (u32::try_from(sent.packets).ok()?, sent.acknowledged);
    (sent == all(packets, at)).then_some((packets, at.unwrap_or(Instant::NEVER)))
}

/// The counters of a sender that has no others than these.
pub fn all(packets: u32, acknowledged: Option<Instant>) -> Sent {
    Sent { packets: packets.into(), acknowledged, ..Sent::default() }
}

impl Ended {
    /// The sender of a flow, one of so many, has ended.
    pub fn push(&mut self, flow: FlowId, sent: Sent, flows: usize) {
        match usual(sent) {
            Some((packets, at)) => {
                reserve(&mut self.usual, flows);
                self.usual.push((flow, packets, at));
            }
            None => self.others.push((flow, sent)),
        }
    }

    /// All of them, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (FlowId, Sent)> + '_ {
        let usual = self.usual.iter().map(|&(flow, packets, at)| {
            (flow, all(packets, Some(at).filter(|at| *at < Instant::NEVER)))
        });
        usual.chain(self.others.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::Duration;

    #[test]
    fn counters_are_returned_as_they_were() {
        let usual = all(3, Some(Instant(7)));
        let sent = [
            usual,
            Sent { acknowledged: None, ..usual },
            Sent { retransmitted: 1, ..usual },
            Sent { timeouts: 1, ..usual },
            Sent { rtts: 1, rtt_sum: Duration(5), ..usual },
            Sent { packets: 1 << 32, ..usual },
        ];
        let mut ended = Ended::default();
        (0..).map(FlowId).zip(sent).for_each(|(flow, sent)| ended.push(flow, sent, 6));
        assert_eq!((ended.usual.len(), ended.others.len()), (2, 4));
        assert!(ended.iter().eq((0..).map(FlowId).zip(sent)));
        assert_eq!(size_of::<(FlowId, u32, Instant)>(), 16);
    }

    #[test]
    fn slots_grow_with_the_flows_that_have_begun() {
        let mut slots = Slots::default();
        assert_eq!(slots.of(1_000_000), u32::MAX);
        slots.set(2, 5, 9);
        assert_eq!([0, 1, 2, 3].map(|place| slots.of(place)), [u32::MAX, u32::MAX, 5, u32::MAX]);
        slots.clear(2);
        assert_eq!((slots.of(2), slots.0.len()), (u32::MAX, 3));
    }
}
