//! Why octets are not what they were taken for.

use std::fmt;

/// Why octets are not of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// There are too few.
    Short {
        /// The format.
        format: &'static str,
        /// How many it has at least.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// A field has a value that the format does not have.
    Field {
        /// The format.
        format: &'static str,
        /// The field.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The value that it must have.
        expected: u64,
    },
    /// A length that the octets state and the number of octets differ.
    Length {
        /// The format.
        format: &'static str,
        /// The stated length.
        stated: usize,
        /// How many there are.
        found: usize,
    },
    /// A header is malformed.
    Header(&'static str),
    /// The frame check sequence is not that of the octets before it.
    Fcs,
    /// The invariant CRC of RoCEv2 is not that of the packet.
    Icrc,
}

impl Invalid {
    /// Refuses a field that has another value than the format.
    ///
    /// # Errors
    ///
    /// If it has.
    pub fn unless(
        format: &'static str,
        field: &'static str,
        found: impl Into<u64>,
        expected: impl Into<u64>,
    ) -> Result<(), Self> {
        let (found, expected) = (found.into(), expected.into());
        match found == expected {
            true => Ok(()),
            false => Err(Self::Field { format, field, found, expected }),
        }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { format, needed, found } => {
                write!(f, "{format}: there are {found} octets, and it has at least {needed}")
            }
            Self::Field { format, field, found, expected } => {
                write!(f, "{format}: {field} is {found:#x} and not {expected:#x}")
            }
            Self::Length { format, stated, found } => {
                write!(f, "{format}: its length is {stated}, and there are {found} octets")
            }
            Self::Header(format) => write!(f, "{format}: the header is malformed"),
            Self::Fcs => f.write_str("the FCS is not that of the octets before it"),
            Self::Icrc => f.write_str("the ICRC is not that of the packet"),
        }
    }
}

impl std::error::Error for Invalid {}
