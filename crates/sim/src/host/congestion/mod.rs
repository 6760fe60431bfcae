//! Congestion control: how fast a flow may send.

pub mod dcqcn;
pub mod line_rate;

floodway_model::family! {
    /// How fast a flow may send.
    "host.congestion":
    LineRate = "line_rate" (line_rate::Spec): "No control: every flow sends as fast as the NIC.",
    Dcqcn = "dcqcn" (dcqcn::Spec): "Rate control of RoCEv2 by congestion notification packets.",
}

impl Default for Spec {
    fn default() -> Self {
        Self::Dcqcn(dcqcn::Spec::default())
    }
}
