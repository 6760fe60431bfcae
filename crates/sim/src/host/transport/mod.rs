//! Transports: how a message becomes packets and arrives complete.

mod numbers;
pub mod rocev2;
pub mod tcp;

floodway_model::family! {
    /// How a message becomes packets and arrives complete.
    "host.transport":
    Rocev2 = "rocev2" (rocev2::Spec):
        "RoCEv2 reliable connection: acknowledgements, loss recovery, retransmission timeout.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Rocev2(rocev2::Spec::default())
    }
}
