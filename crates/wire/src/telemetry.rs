//! In-band telemetry of HPCC (Li et al., SIGCOMM 2019, section 4.1 and figure 7): two octets and eight for each of up to
//! five hops. The widths are those of the paper; the units of time, octets and queue are not in it and are those of
//! its authors' simulator, as is the code of the rate. Where it stands in a packet of RoCEv2 is assumed: behind BTH
//! and AETH.

use crate::Invalid;
use crate::layout::{check_length, layout};

layout! {
    /// What precedes the hops.
    Header[2] "telemetry" {
        /// Number of hops.
        hops: u8 = (0, 0, 4),
        /// Identifier of the path; the simulation has none.
        path: u16 = (0, 4, 12),
    }
}

layout! {
    /// The entry of a hop.
    Hop[8] "telemetry of a hop" {
        /// Code of the rate of the port: see [`rate_code`].
        rate: u8 = (0, 0, 4),
        /// Time of departure in nanoseconds, modulo 2^24.
        time: u32 = (0, 4, 24),
        /// Octets that the port has sent, in units of 128, modulo 2^20.
        sent: u32 = (3, 4, 20),
        /// Backlog of the port, in units of 80 octets; the maximum for more.
        queue: u16 = (6, 0, 16),
    }
}

/// Number of hops for which there is room.
pub const HOPS: usize = 5;

/// Number of octets, whatever the number of hops.
pub const LEN: usize = Header::LEN + HOPS * Hop::LEN;

/// Rates with a code, in Gb/s: the code is the place in this list.
pub const RATES: [u64; 8] = [10, 25, 40, 50, 100, 200, 400, 800];

/// The code of a rate in bits per second; 15 for one that is not in [`RATES`].
pub fn rate_code(bits_per_second: u64) -> u8 {
    let known = RATES.iter().position(|gbps| gbps * 1_000_000_000 == bits_per_second);
    known.map_or(15, |place| place as u8)
}

/// The octets of these hops, at most [`HOPS`].
pub fn octets(hops: &[Hop]) -> [u8; LEN] {
    assert!(hops.len() <= HOPS);
    let mut octets = [0; LEN];
    octets[..Header::LEN].copy_from_slice(&Header { hops: hops.len() as u8, path: 0 }.octets());
    let places = octets[Header::LEN..].chunks_mut(Hop::LEN);
    places.zip(hops).for_each(|(at, hop)| at.copy_from_slice(&hop.octets()));
    octets
}

/// Reads the hops.
///
/// # Errors
///
/// If there are fewer octets than [`LEN`], or more hops than there is room for.
pub fn parse(octets: &[u8]) -> Result<Vec<Hop>, Invalid> {
    check_length("telemetry", octets, LEN)?;
    let hops = usize::from(Header::parse(octets)?.hops);
    if hops > HOPS {
        return Err(Invalid::Length { format: "telemetry", stated: hops, found: HOPS });
    }
    octets[Header::LEN..].chunks(Hop::LEN).take(hops).map(Hop::parse).collect()
}
