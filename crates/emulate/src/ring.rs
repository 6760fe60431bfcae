//! A queue of a virtio device: split virtqueues (Virtual I/O Device 1.1, section 2.6), with notifications by index
//! (VIRTIO_F_EVENT_IDX).

use crate::memory::Memory;

/// A queue as the kernel has set it up.
#[derive(Debug, Default)]
pub struct Ring {
    /// Number of descriptors, a power of two.
    pub size: u16,
    /// Addresses of the descriptors, and of what is used and available.
    pub descriptors: u64,
    /// What the device has used.
    pub used: u64,
    /// What the kernel has made available.
    pub available: u64,
    /// How many available buffers were taken, modulo 65,536.
    pub taken: u16,
    /// How many used buffers the kernel has been interrupted for.
    announced: u16,
}

/// Part of a buffer.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    address: u64,
    length: u32,
    flags: u16,
    next: u16,
}

const NEXT: u16 = 1;

impl Ring {
    /// Whether the kernel has set it up.
    pub fn is_ready(&self) -> bool {
        self.size > 0 && self.available != 0
    }

    /// The next available buffer, by its first descriptor. If there is none, the kernel notifies the device of the next.
    pub fn take(&mut self, memory: &Memory) -> Result<Option<u16>, String> {
        let event = self.used + 4 + 8 * u64::from(self.size);
        memory.write(event, &self.taken.to_le_bytes())?;
        if memory.word(self.available + 2)? == self.taken {
            return Ok(None);
        }
        let place = u64::from(self.taken % self.size);
        let head = memory.word(self.available + 4 + 2 * place)?;
        self.taken = self.taken.wrapping_add(1);
        Ok(Some(head))
    }

    fn descriptor(&self, memory: &Memory, number: u16) -> Result<Descriptor, String> {
        if number >= self.size {
            return Err(format!("its NIC names descriptor {number} of {}", self.size));
        }
        let bytes: [u8; 16] = memory.get(self.descriptors + 16 * u64::from(number))?;
        let [a, b, c, d] = [0, 4, 8, 12]
            .map(|at| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let address = u64::from(b) << 32 | u64::from(a);
        Ok(Descriptor { address, length: c, flags: d as u16, next: (d >> 16) as u16 })
    }

    /// The parts of a buffer: addresses and lengths.
    fn parts(&self, memory: &Memory, head: u16) -> Result<Vec<(u64, usize)>, String> {
        let (mut parts, mut number) = (Vec::new(), head);
        loop {
            let Descriptor { address, length, flags, next } = self.descriptor(memory, number)?;
            parts.push((address, length as usize));
            if flags & NEXT == 0 {
                return Ok(parts);
            }
            if parts.len() >= usize::from(self.size) {
                return Err("its NIC has a buffer without an end".to_owned());
            }
            number = next;
        }
    }

    /// What is in a buffer of at most `most` bytes.
    pub fn read(&self, memory: &Memory, head: u16, most: usize) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        for (address, length) in self.parts(memory, head)? {
            let at = bytes.len();
            if at + length > most {
                return Err(format!("its NIC sends more than {most} bytes at once"));
            }
            bytes.resize(at + length, 0);
            memory.read(address, &mut bytes[at..])?;
        }
        Ok(bytes)
    }

    /// Fills a buffer from its beginning. Returns whether there is room.
    pub fn write(&self, memory: &Memory, head: u16, mut bytes: &[u8]) -> Result<bool, String> {
        for (address, length) in self.parts(memory, head)? {
            let (now, rest) = bytes.split_at(length.min(bytes.len()));
            memory.write(address, now)?;
            bytes = rest;
        }
        Ok(bytes.is_empty())
    }

    /// Gives a buffer back, of which `length` bytes were written.
    pub fn give_back(&self, memory: &Memory, head: u16, length: u32) -> Result<(), String> {
        let index = memory.word(self.used + 2)?;
        let element = self.used + 4 + 8 * u64::from(index % self.size);
        let bytes = u64::from(length) << 32 | u64::from(head);
        memory.write(element, &bytes.to_le_bytes())?;
        memory.write(self.used + 2, &index.wrapping_add(1).to_le_bytes())
    }

    /// Whether the kernel wants an interrupt for what was given back since the last one.
    pub fn interrupts(&mut self, memory: &Memory) -> Result<bool, String> {
        let wanted = memory.word(self.available + 4 + 2 * u64::from(self.size))?;
        let now = memory.word(self.used + 2)?;
        let before = std::mem::replace(&mut self.announced, now);
        Ok(now.wrapping_sub(wanted).wrapping_sub(1) < now.wrapping_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    /// Four descriptors at 0, available at 0x100, used at 0x200.
    fn ring() -> (Ring, Memory) {
        let file = memfd_create("ring", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 0x2000).unwrap();
        let mut memory = Memory::default();
        memory.add((0, 0x2000), file, 0);
        let ring =
            Ring { size: 4, descriptors: 0, available: 0x100, used: 0x200, ..Ring::default() };
        (ring, memory)
    }

    fn describe(
        memory: &Memory,
        number: u64,
        (address, length, flags, next): (u64, u32, u16, u16),
    ) {
        let bytes = [
            &address.to_le_bytes()[..],
            &length.to_le_bytes(),
            &flags.to_le_bytes(),
            &next.to_le_bytes(),
        ];
        memory.write(16 * number, &bytes.concat()).unwrap();
    }

    #[test]
    fn a_buffer_in_two_parts_is_read_and_given_back() {
        let (mut ring, memory) = ring();
        assert_eq!(ring.take(&memory), Ok(None));
        describe(&memory, 2, (0x1000, 3, NEXT, 1));
        describe(&memory, 1, (0x1800, 2, 0, 0));
        memory.write(0x1000, b"abc").unwrap();
        memory.write(0x1800, b"de").unwrap();
        memory.write(0x104, &2_u16.to_le_bytes()).unwrap();
        memory.write(0x102, &1_u16.to_le_bytes()).unwrap();
        assert_eq!(ring.take(&memory), Ok(Some(2)));
        assert_eq!(ring.read(&memory, 2, 5).unwrap(), b"abcde");
        let refused = ring.read(&memory, 2, 4).unwrap_err();
        assert_eq!(refused, "its NIC sends more than 4 bytes at once");
        assert_eq!(ring.write(&memory, 2, b"12345"), Ok(true));
        assert_eq!(ring.write(&memory, 2, b"123456"), Ok(false));
        assert_eq!(memory.get(0x1800), Ok(*b"45"));
        ring.give_back(&memory, 2, 5).unwrap();
        assert_eq!(memory.get(0x202), Ok([1, 0, 2, 0, 0, 0, 5, 0, 0, 0]));
        // The kernel asks for an interrupt after the buffer with index 0, and after that with index 3.
        assert_eq!(ring.interrupts(&memory), Ok(true));
        memory.write(0x10c, &3_u16.to_le_bytes()).unwrap();
        ring.give_back(&memory, 2, 5).unwrap();
        assert_eq!(ring.interrupts(&memory), Ok(false));
    }

    #[test]
    fn a_ring_that_leads_nowhere_is_refused() {
        let (ring, memory) = ring();
        describe(&memory, 0, (0x1000, 1, NEXT, 0));
        let refused = ring.read(&memory, 0, 100).unwrap_err();
        assert_eq!(refused, "its NIC has a buffer without an end");
        let refused = ring.read(&memory, 4, 100).unwrap_err();
        assert_eq!(refused, "its NIC names descriptor 4 of 4");
    }
}
