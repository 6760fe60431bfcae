//! The receiving side of a flow: what every transport counts, and the transport.

use floodway_model::{Ecn, FlowId, FlowSpec, Instant, Packet};

use super::Profile;
use super::transport::{self, datagram, rocev2, tcp};

/// The receiving side of one flow.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The flow.
    pub flow: FlowId,
    /// The connection of the sender, for feedback.
    pub back: u32,
    /// How what arrives is put together.
    pub transport: Transport,
    /// When the last packet came.
    pub finished: Option<Instant>,
    /// Packets with CE.
    pub marked: u64,
    /// Packets that came after one that was sent later.
    pub reordered: u64,
    /// When its timer rings, as the host has it: its deadline may have moved on since.
    pub timer_at: Instant,
    persistent: bool,
    /// When the last packet that came had been sent.
    last_sent_at: Option<Instant>,
}

/// The receiving side of the transport, whichever it is.
#[derive(Clone, Debug)]
pub enum Transport {
    /// See [`rocev2`].
    Rocev2(rocev2::Receiver),
    /// See [`tcp`].
    Tcp(Box<tcp::Receiver>),
    /// See [`datagram`].
    Datagram(datagram::Receiver),
}

impl Receiver {
    /// The receiver of a flow whose sender is reached by the connection `back`.
    pub fn new(id: FlowId, flow: &FlowSpec, back: u32, profile: &Profile) -> Self {
        Self {
            flow: id,
            back,
            transport: match &profile.transport {
                transport::Spec::Rocev2(spec) => {
                    Transport::Rocev2(rocev2::Receiver::new(flow, spec))
                }
                transport::Spec::Tcp(spec) => {
                    let segments = (!flow.is_persistent()).then(|| spec.segments(flow.bytes));
                    let mut receiver = tcp::Receiver::new(spec, segments);
                    if let Some(application) = &profile.application {
                        receiver.keep_pushes();
                        if let Some(bytes) = application.answer() {
                            receiver.answer_pushes(bytes);
                        }
                    }
                    Transport::Tcp(Box::new(receiver))
                }
                transport::Spec::Udp(spec) => {
                    Transport::Datagram(datagram::Receiver::new(spec.cut(), flow))
                }
                transport::Spec::Ethernet(spec) => {
                    Transport::Datagram(datagram::Receiver::new(spec.cut(), flow))
                }
            },
            finished: None,
            marked: 0,
            reordered: 0,
            timer_at: Instant::NEVER,
            persistent: flow.is_persistent(),
            last_sent_at: None,
        }
    }

    /// A packet that was sent at `sent_at` has come: what is counted for every transport.
    #[inline]
    pub fn count(&mut self, packet: &Packet, sent_at: Instant) {
        // Those that left for the memory of the NIC at one time cannot be distinguished.
        if self.last_sent_at.is_some_and(|last| sent_at < last) {
            self.reordered += 1;
        }
        self.last_sent_at = Some(sent_at);
        self.marked += u64::from(packet.ecn() == Ecn::Ce);
    }

    /// When it has to send something by itself.
    #[inline]
    pub fn deadline(&self) -> Instant {
        match &self.transport {
            Transport::Tcp(receiver) => receiver.deadline(),
            Transport::Rocev2(_) | Transport::Datagram(_) => Instant::NEVER,
        }
    }

    /// The number of the last segment of each frame of an application, and when it had arrived with
    /// everything before it.
    pub fn pushed(&self) -> &[(u32, Instant)] {
        match &self.transport {
            Transport::Tcp(receiver) => receiver.pushes(),
            Transport::Rocev2(_) | Transport::Datagram(_) => &[],
        }
    }

    /// [`Receiver::delivered`] of a flow that never ends; 0 of any other.
    pub fn delivered_of_persistent(&self) -> u64 {
        if self.persistent { self.delivered() } else { 0 }
    }

    /// Payload bytes that have arrived, each once; of RoCEv2 also what is held behind a missing
    /// packet.
    pub fn delivered(&self) -> u64 {
        match &self.transport {
            Transport::Rocev2(receiver) => receiver.delivered(),
            Transport::Tcp(receiver) => receiver.delivered(),
            Transport::Datagram(receiver) => receiver.delivered(),
        }
    }
}
