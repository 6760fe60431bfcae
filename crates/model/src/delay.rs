//! What the time of a flow can be spent on.

/// A kind of delay, or of the time that an idle network takes as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Delay {
    /// A frame of the flow is put on a wire.
    Serialization,
    /// It propagates on a link, or a node processes it.
    Propagation,
    /// The port may not send the class: PFC or PAUSE.
    Paused,
    /// The port sends another flow of the same class.
    OtherFlows,
    /// The port sends another class.
    OtherClasses,
    /// The port sends a packet of the same flow.
    OwnFlow,
    /// The port sends a MAC control frame.
    MacControl,
    /// The port is idle.
    Held,
    /// Congestion control limits the rate of the sender.
    Rate,
    /// The window of the sender is full, or credit is missing.
    Window,
    /// The connection is set up.
    Handshake,
    /// A loss is not yet known to the sender.
    Recovery,
    /// The receiver has not yet acknowledged a packet.
    Answer,
}

impl Delay {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::Serialization,
        Self::Propagation,
        Self::Paused,
        Self::OtherFlows,
        Self::OtherClasses,
        Self::OwnFlow,
        Self::MacControl,
        Self::Held,
        Self::Rate,
        Self::Window,
        Self::Handshake,
        Self::Recovery,
        Self::Answer,
    ];

    /// Its name in tables and JSON, and what it is due to in a sentence.
    const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Serialization => ["serialization", "serialization"],
            Self::Propagation => ["propagation", "propagation"],
            Self::Paused => ["paused", "pauses"],
            Self::OtherFlows => ["other_flows", "queueing behind other flows"],
            Self::OtherClasses => ["other_classes", "queueing while other classes are sent"],
            Self::OwnFlow => ["own_flow", "queueing behind packets of the same flow"],
            Self::MacControl => ["mac_control", "queueing behind MAC control frames"],
            Self::Held => ["held", "the scheduler or a mechanism, with an idle port"],
            Self::Rate => ["rate", "the rate that congestion control allows"],
            Self::Window => ["window", "a full window or missing credit"],
            Self::Handshake => ["handshake", "the handshake"],
            Self::Recovery => ["recovery", "loss recovery"],
            Self::Answer => ["answer", "acknowledgements not yet sent"],
        }
    }

    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        self.texts()[0]
    }

    /// What it is due to, in a sentence.
    pub const fn words(self) -> &'static str {
        self.texts()[1]
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether an idle network takes this time too.
    pub const fn is_ideal(self) -> bool {
        matches!(self, Self::Serialization | Self::Propagation)
    }
}

#[cfg(test)]
mod tests {
    use super::Delay;

    #[test]
    fn names_are_different_and_lead_back() {
        for (place, kind) in Delay::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place, "in the order of their definition");
            assert_eq!(Delay::named(kind.name()), Some(kind));
        }
        assert_eq!(Delay::named("boredom"), None);
    }
}
