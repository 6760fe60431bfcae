//! The memory of a kernel. It is a file that the kernel has mapped, and which is read and written here as a file: the
//! system keeps both views the same.

use std::os::fd::OwnedFd;

use rustix::io::{pread, pwrite};

/// Some of it, by the addresses that the kernel's devices use.
#[derive(Debug)]
struct Region {
    from: u64,
    size: u64,
    file: OwnedFd,
    offset: u64,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Memory(Vec<Region>);

impl Memory {
    /// Adds `size` bytes at the address `from`, which are in a file at an offset.
    pub fn add(&mut self, (from, size): (u64, u64), file: OwnedFd, offset: u64) {
        self.0.push(Region { from, size, file, offset });
    }

    fn at(&self, address: u64, length: usize) -> Result<(&OwnedFd, u64), String> {
        let holds = |region: &&Region| {
            let place = address.checked_sub(region.from);
            let end = place.and_then(|place| place.checked_add(length as u64));
            end.is_some_and(|end| end <= region.size)
        };
        let region = self.0.iter().find(holds);
        let region = region.ok_or_else(|| {
            format!("its NIC names address {address:#x}, which is not in its memory")
        })?;
        Ok((&region.file, region.offset + (address - region.from)))
    }

    /// Reads what is at an address.
    pub fn read(&self, address: u64, into: &mut [u8]) -> Result<(), String> {
        let (file, mut offset) = self.at(address, into.len())?;
        let mut into = into;
        while !into.is_empty() {
            match pread(file, &mut *into, offset) {
                Ok(0) => return Err("its memory ends early".to_owned()),
                Ok(count) => {
                    into = &mut into[count..];
                    offset += count as u64;
                }
                Err(error) => return Err(format!("its memory cannot be read: {error}")),
            }
        }
        Ok(())
    }

    /// The same, of a fixed length.
    pub fn get<const N: usize>(&self, address: u64) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// A number of 16 bits at an address.
    pub fn word(&self, address: u64) -> Result<u16, String> {
        self.get(address).map(u16::from_le_bytes)
    }

    /// Writes to an address.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), String> {
        let (file, mut offset) = self.at(address, bytes.len())?;
        let mut bytes = bytes;
        while !bytes.is_empty() {
            match pwrite(file, bytes, offset) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    offset += count as u64;
                }
                Err(error) => return Err(format!("its memory cannot be written: {error}")),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    #[test]
    fn addresses_are_looked_up_in_regions() {
        let file = memfd_create("memory", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 0x3000).unwrap();
        let mut memory = Memory::default();
        memory.add((0x10_0000, 0x1000), file.try_clone().unwrap(), 0x2000);
        memory.add((0x20_0000, 0x1000), file.try_clone().unwrap(), 0);
        memory.write(0x10_0ffe, &[1, 2]).unwrap();
        memory.write(0x20_0000, &[3, 4, 5]).unwrap();
        assert_eq!(memory.word(0x10_0ffe), Ok(0x0201));
        let mut there = [0; 2];
        pread(&file, &mut there[..], 0x2ffe).unwrap();
        assert_eq!(there, [1, 2]);
        assert_eq!(memory.get(0x20_0000), Ok([3, 4, 5]));
        for address in [0x10_0fff, 0x0f_ffff, 0x20_1000, u64::MAX] {
            let refused = memory.word(address).unwrap_err();
            let expected =
                format!("its NIC names address {address:#x}, which is not in its memory");
            assert_eq!(refused, expected);
        }
    }
}
