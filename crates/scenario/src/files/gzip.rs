//! Files that are compressed with gzip (RFC 1952).

/// Whether a file begins like a compressed one.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// What is in the only member of a compressed file, of at most `limit` bytes. The error says what is wrong.
pub(super) fn unpacked(bytes: &[u8], limit: usize) -> Result<Vec<u8>, String> {
    const CUT: &str = "it is compressed with gzip and cut off";
    /// After the magic number and the method: flags, time, extra flags and system.
    const HEADER: usize = 10;
    const TRAILER: usize = 8;
    let [_, _, method, flags, ..] = *bytes else { return Err(CUT.to_owned()) };
    if method != 8 {
        return Err(format!("it is compressed with method {method}, and gzip has only 8, deflate"));
    }
    let mut rest = bytes.get(HEADER..).ok_or(CUT)?;
    // FEXTRA: a length and so many bytes.
    if flags & 4 != 0 {
        let [low, high, ..] = *rest else { return Err(CUT.to_owned()) };
        rest = rest.get(2 + usize::from(u16::from_le_bytes([low, high]))..).ok_or(CUT)?;
    }
    // FNAME and FCOMMENT: texts that end with a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|&byte| byte == 0).ok_or(CUT)?;
            rest = &rest[end + 1..];
        }
    }
    // FHCRC: two bytes.
    if flags & 2 != 0 {
        rest = rest.get(2..).ok_or(CUT)?;
    }
    let end = rest.len().checked_sub(TRAILER).ok_or(CUT)?;
    let (deflated, trailer) = rest.split_at(end);
    let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, limit)
        .map_err(|error| format!("it cannot be decompressed: {error}"))?;
    let checksum = crc32fast::hash(&inflated).to_le_bytes();
    if trailer[..4] != checksum || trailer[4..] != (inflated.len() as u32).to_le_bytes() {
        return Err("its decompressed content does not have the checksum that it should".to_owned());
    }
    Ok(inflated)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "chakra" as `gzip -n` and Python's `gzip.compress(b"chakra", mtime=0)` compress it: stored by hand in a
    /// block without compression (RFC 1951, 3.2.4).
    fn stored(flags: u8, extra: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
        bytes.extend(extra);
        bytes.extend([1, 6, 0, 0xf9, 0xff]);
        bytes.extend(b"chakra");
        bytes.extend(crc32fast::hash(b"chakra").to_le_bytes());
        bytes.extend(6u32.to_le_bytes());
        bytes
    }

    #[test]
    fn every_header_is_read() {
        let cases: [(u8, &[u8]); 5] =
            [(0, &[]), (4, &[2, 0, 7, 7]), (8, b"a.et\0"), (16, b"x\0"), (30, b"\x01\0zn\0c\0hh")];
        for (flags, extra) in cases {
            assert!(is_gzip(&stored(flags, extra)));
            assert_eq!(unpacked(&stored(flags, extra), 100).unwrap(), b"chakra", "{flags}");
        }
    }

    #[test]
    fn what_is_broken_is_an_error() {
        let whole = stored(8, b"a.et\0");
        for end in 2..whole.len() {
            assert!(unpacked(&whole[..end], 100).is_err(), "{end}");
        }
        let mut other = whole.clone();
        *other.last_mut().unwrap() = 1;
        assert!(unpacked(&other, 100).unwrap_err().contains("checksum"));
        assert!(unpacked(&whole, 5).is_err());
    }
}
