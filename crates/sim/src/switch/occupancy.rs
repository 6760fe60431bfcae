//! Buffer occupancy by data, per port or per switch: all data queues together. The control queue is
//! not included.

/// Data bytes queued.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    bytes: u64,
    /// Of these, bytes at the inputs of a crossbar that do not count as congestion.
    hidden: u64,
    /// Largest occupancy so far. As in a queue, a packet that goes straight to the wire counts as
    /// present for an instant.
    pub max: u64,
}

impl Occupancy {
    /// Bytes queued now.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that count as congestion; see [`Queue::congestion`](super::queue::Queue::congestion).
    #[inline]
    pub fn congestion(&self) -> u64 {
        self.bytes - self.hidden
    }

    /// Excludes a queued packet from congestion.
    pub fn hide(&mut self, bytes: u16) {
        self.hidden += u64::from(bytes);
    }

    /// Counts a packet toward congestion again, or prepares it to leave.
    pub fn show(&mut self, bytes: u16) {
        self.hidden -= u64::from(bytes);
    }

    /// A packet joins one of the queues.
    #[inline]
    pub fn join(&mut self, bytes: u16) {
        self.bytes += u64::from(bytes);
        self.max = self.max.max(self.bytes);
    }

    /// A packet leaves one of the queues.
    #[inline]
    pub fn leave(&mut self, bytes: u16) {
        self.bytes -= u64::from(bytes);
    }

    /// A packet joins a queue and leaves it at once.
    #[inline]
    pub fn pass(&mut self, bytes: u16) {
        self.max = self.max.max(self.bytes + u64::from(bytes));
    }
}

/// The scope of an occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The data queues of one port.
    Port,
    /// The data queues of all ports of a switch.
    Switch,
}

impl Scope {
    /// All scopes, in numeric order.
    pub const ALL: [Self; 2] = [Self::Port, Self::Switch];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::Switch => "switch",
        }
    }
}
