//! The claims, by experiment. Their rules were written before the runs that count, after previews with
//! other random numbers (`seed=7`).

pub mod entries;
pub mod mixed;
pub mod sweeps;

use crate::claim::Claim;

/// The claims that are not checks, in the words of the deck.
pub const CLAIMS: &[Claim] = &[
    Claim::new(
        "B2a",
        "Directional Mechanisms reduce HOL Blocking at Tx Ports [throughput and latency compared with \
         802.3x measured at output ports]",
    ),
    Claim::new(
        "B2b",
        "Directional Mechanisms reduce HOL Blocking at Tx Ports [compared with 802.3x measured at \
         input ports]",
    ),
    Claim::new(
        "B2c",
        "Directional Mechanisms reduce HOL Blocking at Tx Ports [compared with no flow control]",
    ),
    Claim::new(
        "B2d",
        "Directional Mechanisms reduce HOL Blocking at Tx Ports [if directions are only stopped]",
    ),
    Claim::new("B2e", "802.3x = 0, DRC_RED_ECN = 0 [drops, of the backplane too]"),
    Claim::new(
        "B3a",
        "Directional Mechanisms also show benefit in Multi-stage Topologies [compared with 802.3x \
         measured at output ports]",
    ),
    Claim::new(
        "B3b",
        "Directional Mechanisms also show benefit in Multi-stage Topologies [compared with 802.3x \
         measured at input ports]",
    ),
    Claim::new(
        "B3d",
        "Directional Mechanisms also show benefit in Multi-stage Topologies [if directions are only \
         stopped]",
    ),
    Claim::new("B4", "L2-CI with ECN improves TCP Performance"),
    Claim::new("B5", "L2-CI can significantly reduce packet drops & reduce buffer requirements"),
    Claim::new(
        "B7a",
        "Drops: NoFC_RED = 2554, 802.3x = 0, NoFC_RED_ECN = 72, DRC_RED_ECN = 0 [64 KB per port]",
    ),
    Claim::new("B7b", "L2-CI/ECN shows excellent characteristic for short range TCP."),
    Claim::new(
        "B8a",
        "Drops: NoFC_RED = 2373, 802.3x = 0, NoFC_RED_ECN = 105, DRC_RED_ECN = 0 [32 KB per port]",
    ),
    Claim::new("B8b", "L2-CI/ECN maintains performance even with small switch buffers")
        .told(&mixed::by_memory),
    Claim::new("B9", "Addition of DRC eliminates drops and response spikes."),
];
