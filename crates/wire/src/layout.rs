//! Formats as tables: each field of a format is one row with its place and width, from which both
//! directions follow.

use std::net::Ipv4Addr;

use crate::Invalid;

/// A value that a field of up to 64 bits holds.
pub trait Value: Sized {
    /// The value as a number.
    fn to_bits(self) -> u64;
    /// The value of these bits, of which there are `width`.
    fn from_bits(bits: u64, width: u32) -> Self;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn to_bits(self) -> u64 {
                self.into()
            }

            fn from_bits(bits: u64, _: u32) -> Self {
                bits as Self
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64);

impl Value for bool {
    fn to_bits(self) -> u64 {
        self.into()
    }

    fn from_bits(bits: u64, _: u32) -> Self {
        bits != 0
    }
}

/// Two's complement, in a field of 16 bits.
impl Value for i16 {
    fn to_bits(self) -> u64 {
        self.cast_unsigned().into()
    }

    fn from_bits(bits: u64, _: u32) -> Self {
        (bits as u16).cast_signed()
    }
}

impl Value for Ipv4Addr {
    fn to_bits(self) -> u64 {
        u32::from(self).into()
    }

    fn from_bits(bits: u64, _: u32) -> Self {
        (bits as u32).into()
    }
}

/// The place of a field: counted from the first octet, and in it from the most significant bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The octet in which it begins.
    pub octet: usize,
    /// The bit of that octet.
    pub bit: u32,
    /// Its width in bits, at most 64.
    pub width: u32,
}

impl Field {
    fn bits(&self) -> impl Iterator<Item = (usize, u32)> + use<> {
        let first = self.octet as u32 * 8 + self.bit;
        (first..first + self.width).map(|bit| ((bit / 8) as usize, 7 - bit % 8))
    }

    /// Reads the field.
    pub fn get(&self, octets: &[u8]) -> u64 {
        if self.bit == 0 && self.width.is_multiple_of(8) {
            let end = self.octet + (self.width / 8) as usize;
            return octets[self.octet..end].iter().fold(0, |all, &one| all << 8 | u64::from(one));
        }
        self.bits().fold(0, |all, (octet, bit)| all << 1 | u64::from(octets[octet] >> bit & 1))
    }

    /// Writes the field, whose bits are 0 before. Panics if the value is wider than the field.
    pub fn set(&self, octets: &mut [u8], value: u64) {
        let fits = self.width == 64 || value >> self.width == 0;
        assert!(fits, "{} has {} bits, and {value} does not fit", self.name, self.width);
        for (place, (octet, bit)) in self.bits().enumerate() {
            octets[octet] |= ((value >> (self.width - 1 - place as u32) & 1) as u8) << bit;
        }
    }
}

/// Refuses octets that are fewer than a format has.
pub fn check_length(format: &'static str, octets: &[u8], needed: usize) -> Result<(), Invalid> {
    match octets.len() < needed {
        true => Err(Invalid::Short { format, needed, found: octets.len() }),
        false => Ok(()),
    }
}

/// Defines a format: its length in octets, its name in errors, and its fields, each with its type and its
/// place as (octet, bit, width). Fields after `fixed` always have the same value. Bits without a field are
/// reserved: they are sent as 0 and ignored when they arrive.
macro_rules! layout {
    (
        $(#[$doc:meta])*
        $name:ident[$octets:literal] $title:literal {
            $($(#[doc = $about:literal])+ $field:ident: $type:ty = ($octet:literal, $bit:literal, $width:literal),)*
            $(fixed $fixed:literal = ($foctet:literal, $fbit:literal, $fwidth:literal) is $value:expr,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name {
            $(
                $(#[doc = $about])+
                #[doc = concat!(" [octet ", $octet, ", bit ", $bit, ", width ", $width, "]")]
                pub $field: $type,
            )*
        }

        impl $name {
            /// Number of octets.
            pub const LEN: usize = $octets;

            /// The fields, those with a fixed value last.
            pub const FIELDS: &'static [$crate::layout::Field] = &[
                $($crate::layout::Field {
                    name: stringify!($field), octet: $octet, bit: $bit, width: $width,
                },)*
                $($crate::layout::Field {
                    name: $fixed, octet: $foctet, bit: $fbit, width: $fwidth,
                },)*
            ];

            /// Reads it from the beginning of these octets.
            ///
            /// # Errors
            ///
            /// If there are too few, or a fixed field has another value.
            pub fn parse(octets: &[u8]) -> Result<Self, $crate::Invalid> {
                $crate::layout::check_length($title, octets, Self::LEN)?;
                let mut fields = Self::FIELDS.iter();
                let mut next = || fields.next().expect("there is one for each row");
                $(let $field = {
                    let field = next();
                    <$type as $crate::layout::Value>::from_bits(field.get(octets), field.width)
                };)*
                $({
                    let field = next();
                    $crate::Invalid::unless($title, field.name, field.get(octets), $value)?;
                })*
                Ok(Self { $($field,)* })
            }

            /// Its octets. Panics if a value does not fit into its field.
            pub fn octets(&self) -> [u8; $octets] {
                let mut octets = [0; $octets];
                let mut fields = Self::FIELDS.iter();
                let mut next = || fields.next().expect("there is one for each row");
                $(next().set(&mut octets, $crate::layout::Value::to_bits(self.$field));)*
                $(next().set(&mut octets, u64::from($value));)*
                octets
            }
        }
    };
}

pub(crate) use layout;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_may_cross_octets() {
        let field = Field { name: "field", octet: 1, bit: 6, width: 12 };
        let mut octets = [0; 4];
        field.set(&mut octets, 0b1011_0011_0101);
        assert_eq!(octets, [0, 0b10, 0b1100_1101, 0b0100_0000]);
        assert_eq!(field.get(&octets), 0b1011_0011_0101);
    }

    #[test]
    #[should_panic(expected = "psn has 24 bits, and 16777216 does not fit")]
    fn a_value_that_does_not_fit_is_not_cut() {
        Field { name: "psn", octet: 0, bit: 0, width: 24 }.set(&mut [0; 4], 1 << 24);
    }
}
