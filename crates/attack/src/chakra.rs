//! The readers of Chakra traces, and of the process groups beside them.

use crate::readers::{STAR, beside, scratch, write};

/// Two traces with collectives of all ranks and of a group.
const SMALL: &[u8] = include_bytes!("../corpus/chakra/small.0.et");

/// A job whose ranks have the same trace.
pub fn traces(bytes: &[u8]) {
    let file = "job.et";
    let workload = format!("[[workload]]\n[workload.chakra]\nfiles = [\"{file}\", \"{file}\"]\n");
    beside(file, bytes, &format!("{STAR}{workload}"));
}

/// The same compressed: one block that is not (RFC 1951), and a message of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1];
    let length = SMALL.len() as u16;
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(SMALL);
    // The checksum of the corpus's file, so that the reader gets beyond it.
    packed.extend(crc(SMALL).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    // Types 1 to 6 with the attributes of both ends of a message.
    let attributes = b"\x52\x0e\x0a\x09comm_size\x48\x80\x08\x52\x0c\x0a\x08comm_dst\x48\x01\
                       \x52\x0c\x0a\x08comm_src\x48\x01\x52\x0c\x0a\x08comm_tag\x38\x07";
    let mut each = vec![0];
    for kind in 1..=6u8 {
        each.push(6 + attributes.len() as u8);
        each.extend([0x08, kind, 0x18, kind, 0x38, 3]);
        each.extend(attributes);
    }
    vec![packed, each]
}

/// The checksum of gzip (RFC 1952, section 8).
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    };
    !bytes.iter().fold(!0, step)
}

/// Process groups, as JSON.
pub fn groups(bytes: &[u8]) {
    write(&scratch().join("job.et"), SMALL);
    let workload = "[[workload]]\n[workload.chakra]\nfiles = [\"job.et\", \"job.et\"]\n\
                    groups = \"groups.json\"\n";
    beside("groups.json", bytes, &format!("{STAR}{workload}"));
}
