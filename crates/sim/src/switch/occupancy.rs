//! How much memory data takes, in a port or in a whole switch: all data queues together. The queue
//! of feedback is not in it.

/// Data bytes that wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupancy {
    bytes: u64,
    /// Of these, what waits at the inputs of a crossbar where that is not to count as congestion.
    hidden: u64,
    /// The most there have ever been. As in a queue, a packet that goes straight to the wire is
    /// there for a moment.
    pub max: u64,
    /// Sum of the samples, bytes.
    pub sampled: u64,
}

impl Occupancy {
    /// Bytes that wait now.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Those of them that count as congestion; see [`Queue::congestion`](super::queue::Queue::congestion).
    #[inline]
    pub fn congestion(&self) -> u64 {
        self.bytes - self.hidden
    }

    /// A packet that is there does not count as congestion from now on.
    pub fn hide(&mut self, bytes: u16) {
        self.hidden += u64::from(bytes);
    }

    /// A packet that did not count as congestion does from now on, or is to leave.
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

/// What an occupancy is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The data queues of one port.
    Port,
    /// Those of all ports of a switch.
    Switch,
}

impl Scope {
    /// All scopes, in the order of their numbers.
    pub const ALL: [Self; 2] = [Self::Port, Self::Switch];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::Switch => "switch",
        }
    }
}
