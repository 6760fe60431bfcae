//! The formats, each against octets that were not made by this crate.
//!
//! Frames written by hand follow the tables of the modules. Datagrams in hexadecimal are of scapy 2.8.0, or captured
//! from a device where it is said.

mod capture;
mod experimental;
mod hand;
mod library;
mod pcapng;
mod random;

/// The octets of a text in hexadecimal; spaces are for the reader.
fn octets(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// Octets up to the FCS, padded to `length` with their FCS.
fn sealed(text: &str, length: usize) -> Vec<u8> {
    let mut frame = octets(text);
    frame.resize(length - 4, 0);
    let sum = floodway_wire::ethernet::fcs(&frame);
    frame.extend(sum);
    frame
}
