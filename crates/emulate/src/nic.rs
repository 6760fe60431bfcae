//! The NIC of a kernel: the other side of virtio-net over vhost-user with notifications in band, as User Mode Linux speaks it
//! (`arch/um/drivers/virtio_uml.c`).
//!
//! No offloads are offered, so every buffer is a frame.

use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use floodway_wire::Mac;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};

use crate::memory::Memory;
use crate::ring::Ring;

/// Requests of the kernel (vhost-user protocol, and its extension by in-band notifications).
mod request {
    pub const GET_FEATURES: u32 = 1;
    pub const SET_FEATURES: u32 = 2;
    pub const SET_OWNER: u32 = 3;
    pub const SET_MEM_TABLE: u32 = 5;
    pub const SET_VRING_NUM: u32 = 8;
    pub const SET_VRING_ADDR: u32 = 9;
    pub const SET_VRING_BASE: u32 = 10;
    pub const GET_PROTOCOL_FEATURES: u32 = 15;
    pub const SET_PROTOCOL_FEATURES: u32 = 16;
    pub const SET_VRING_ENABLE: u32 = 18;
    pub const SET_BACKEND_REQ_FD: u32 = 21;
    pub const GET_CONFIG: u32 = 24;
    pub const VRING_KICK: u32 = 35;
    /// Of the device, on a socket of its own: an interrupt.
    pub const VRING_CALL: u32 = 4;
}

/// Virtio 1, notifications by index, vhost-user's own features, a MAC address.
const FEATURES: u64 = 1 << 32 | 1 << 29 | 1 << 30 | 1 << 5;
/// Replies, requests of the device, configuration space, notifications in band.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;
const VERSION: u32 = 1;
const IS_REPLY: u32 = 4;
const NEEDS_REPLY: u32 = 8;
/// The longest message.
const LONGEST: usize = 1024;
/// Before a frame: `struct virtio_net_hdr_v1`, whose field at offset 10 is the number of buffers.
const HEADER: usize = 12;
const BUFFERS: usize = 10;
/// The longest frame that is taken, with its header.
const LONGEST_FRAME: usize = 1 << 16;
/// The queues, as seen by the kernel.
const RECEIVE: usize = 0;
const TRANSMIT: usize = 1;

type Result<T> = std::result::Result<T, String>;

fn failed<E: std::fmt::Display>(error: E) -> String {
    format!("its NIC does not answer: {error}")
}

/// The NIC.
#[derive(Debug)]
pub struct Nic {
    stream: UnixStream,
    /// Where the device has requests.
    back: Option<UnixStream>,
    mac: Mac,
    memory: Memory,
    rings: [Ring; 2],
}

/// A message of the kernel.
struct Message {
    request: u32,
    flags: u32,
    payload: Vec<u8>,
    files: Vec<OwnedFd>,
}

impl Message {
    fn word(&self, at: usize) -> Result<u32> {
        let bytes = self.payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        let bytes =
            bytes.ok_or_else(|| format!("request {} of its NIC is cut off", self.request))?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn long(&self, at: usize) -> Result<u64> {
        Ok(u64::from(self.word(at + 4)?) << 32 | u64::from(self.word(at)?))
    }
}

/// What a message asks for beyond an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// Nothing.
    Nothing,
    /// Frames wait to be taken; the answer is [`Nic::answer_kick`].
    Kick(Answer),
}

/// What a kick is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer(Option<u32>);

impl Nic {
    /// That of a kernel that has connected.
    pub fn new(stream: UnixStream, mac: Mac) -> Self {
        Self { stream, back: None, mac, memory: Memory::default(), rings: Default::default() }
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// The socket on which the kernel answers interrupts.
    pub fn back(&self) -> Option<BorrowedFd<'_>> {
        self.back.as_ref().map(UnixStream::as_fd)
    }

    fn message(&mut self) -> Result<Message> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(8))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut head = [0; 12];
        let mut parts = [IoSliceMut::new(&mut head)];
        let got =
            recvmsg(&self.stream, &mut parts, &mut control, RecvFlags::WAITALL).map_err(failed)?;
        if got.bytes != 12 {
            return Err("its NIC has closed the connection".to_owned());
        }
        let mut files = Vec::new();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                files.extend(rights);
            }
        }
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (request, flags, size) = (word(0), word(4), word(8) as usize);
        if size > LONGEST {
            return Err(format!("request {request} of its NIC has {size} bytes"));
        }
        let mut payload = vec![0; size];
        self.stream.read_exact(&mut payload).map_err(failed)?;
        Ok(Message { request, flags, payload, files })
    }

    fn reply(&mut self, request: u32, payload: &[u8]) -> Result<()> {
        self.stream.write_all(&octets(request, VERSION | IS_REPLY, payload)).map_err(failed)
    }

    /// Handles a message of the kernel.
    pub fn serve(&mut self) -> Result<Asks> {
        let mut message = self.message()?;
        match message.request {
            request::GET_FEATURES => self.reply(message.request, &FEATURES.to_le_bytes())?,
            request::GET_PROTOCOL_FEATURES => {
                self.reply(message.request, &PROTOCOL_FEATURES.to_le_bytes())?;
            }
            request::GET_CONFIG => self.configuration(message)?,
            request::VRING_KICK => {
                let answer = Answer((message.flags & NEEDS_REPLY != 0).then_some(message.request));
                if message.word(0)? as usize == TRANSMIT {
                    return Ok(Asks::Kick(answer));
                }
                self.answer_kick(answer)?;
            }
            _ => {
                self.set(&mut message)?;
                if message.flags & NEEDS_REPLY != 0 {
                    self.reply(message.request, &0_u64.to_le_bytes())?;
                }
            }
        }
        Ok(Asks::Nothing)
    }

    /// The configuration space begins with the MAC address.
    fn configuration(&mut self, message: Message) -> Result<()> {
        let mut payload = message.payload;
        let space = payload.get_mut(12..).unwrap_or_default();
        space.fill(0);
        space.iter_mut().zip(self.mac.0).for_each(|(to, from)| *to = from);
        self.reply(message.request, &payload)
    }

    /// Handles a message that sets something.
    fn set(&mut self, message: &mut Message) -> Result<()> {
        match message.request {
            request::SET_OWNER
            | request::SET_FEATURES
            | request::SET_PROTOCOL_FEATURES
            | request::SET_VRING_ENABLE => {}
            request::SET_BACKEND_REQ_FD => {
                self.back = message.files.pop().map(UnixStream::from);
            }
            request::SET_MEM_TABLE => self.set_memory(message)?,
            request::SET_VRING_NUM => {
                let size = message.word(4)?;
                let size = u16::try_from(size).ok().filter(|size| size.is_power_of_two());
                let size =
                    size.ok_or_else(|| "its NIC has a queue of no possible size".to_owned())?;
                self.ring(message)?.size = size;
            }
            request::SET_VRING_BASE => {
                self.ring(message)?.taken = message.word(4)? as u16;
            }
            request::SET_VRING_ADDR => {
                let (descriptors, used, available) =
                    (message.long(8)?, message.long(16)?, message.long(24)?);
                let ring = self.ring(message)?;
                (ring.descriptors, ring.used, ring.available) = (descriptors, used, available);
            }
            other => return Err(format!("its NIC has a request {other}, which is unknown")),
        }
        Ok(())
    }

    fn ring(&mut self, message: &Message) -> Result<&mut Ring> {
        let number = message.word(0)?;
        let ring = self.rings.get_mut(number as usize);
        ring.ok_or_else(|| format!("its NIC names queue {number} of 2"))
    }

    fn set_memory(&mut self, message: &mut Message) -> Result<()> {
        self.memory = Memory::default();
        let files: Vec<OwnedFd> = message.files.drain(..).collect();
        if files.len() != message.word(0)? as usize {
            return Err("its NIC names memory without a file".to_owned());
        }
        for (number, file) in files.into_iter().enumerate() {
            let at = 8 + 32 * number;
            let region = (message.long(at)?, message.long(at + 8)?);
            self.memory.add(region, file, message.long(at + 24)?);
        }
        Ok(())
    }

    /// Answers a kick, after which the kernel goes on.
    pub fn answer_kick(&mut self, answer: Answer) -> Result<()> {
        match answer.0 {
            Some(request) => self.reply(request, &0_u64.to_le_bytes()),
            None => Ok(()),
        }
    }

    /// The next frame that the kernel sends, with the number by which its buffer is given back.
    pub fn take(&mut self) -> Result<Option<(u16, Vec<u8>)>> {
        let ring = &mut self.rings[TRANSMIT];
        let Some(head) = ring.take(&self.memory)? else { return Ok(None) };
        let mut bytes = ring.read(&self.memory, head, LONGEST_FRAME)?;
        if bytes.len() < HEADER {
            return Err("its NIC sends less than a header".to_owned());
        }
        Ok(Some((head, bytes.split_off(HEADER))))
    }

    /// Gives back the buffer of a frame that was sent.
    pub fn give_back(&mut self, head: u16) -> Result<()> {
        self.rings[TRANSMIT].give_back(&self.memory, head, 0)
    }

    /// Puts a frame into the kernel's memory. Returns whether there is a buffer for it.
    pub fn deliver(&mut self, frame: &[u8]) -> Result<bool> {
        let ring = &mut self.rings[RECEIVE];
        if self.back.is_none() || !ring.is_ready() {
            return Ok(false);
        }
        let Some(head) = ring.take(&self.memory)? else { return Ok(false) };
        let mut bytes = vec![0; HEADER];
        bytes[BUFFERS] = 1;
        bytes.extend(frame);
        if !ring.write(&self.memory, head, &bytes)? {
            return Err(format!("its NIC has no room for a frame of {} bytes", frame.len()));
        }
        ring.give_back(&self.memory, head, bytes.len() as u32)?;
        Ok(true)
    }

    /// The queue about which the kernel wants an interrupt: that of received frames, or that of sent ones.
    pub fn wants_interrupt(&mut self, received: bool) -> Result<Option<u32>> {
        let queue = if received { RECEIVE } else { TRANSMIT };
        let wanted = self.rings[queue].interrupts(&self.memory)?;
        Ok(wanted.then_some(queue as u32))
    }

    /// Interrupts the kernel about a queue; its answer comes on the socket [`Nic::back`].
    pub fn interrupt(&mut self, queue: u32) -> Result<()> {
        let Some(back) = &mut self.back else { return Ok(()) };
        let state = u64::from(queue).to_le_bytes();
        let message = octets(request::VRING_CALL, VERSION | NEEDS_REPLY, &state);
        back.write_all(&message).map_err(failed)
    }

    /// Takes the answer to an interrupt.
    pub fn interrupted(&mut self) -> Result<()> {
        let Some(back) = &mut self.back else { return Ok(()) };
        let mut answer = [0; 20];
        back.read_exact(&mut answer).map_err(failed)?;
        match answer[12..] {
            [0, 0, 0, 0, 0, 0, 0, 0] => Ok(()),
            _ => Err("its NIC refuses an interrupt".to_owned()),
        }
    }
}

fn octets(request: u32, flags: u32, payload: &[u8]) -> Vec<u8> {
    let [request, flags, size] = [request, flags, payload.len() as u32].map(u32::to_le_bytes);
    [&request[..], &flags, &size, payload].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nic() -> (Nic, UnixStream) {
        let (here, there) = UnixStream::pair().unwrap();
        (Nic::new(here, Mac([2, 0, 10, 0, 0, 1])), there)
    }

    #[test]
    fn the_configuration_space_has_the_mac_address() {
        let (mut nic, mut there) = nic();
        there.write_all(&octets(request::GET_CONFIG, VERSION, &[9; 20])).unwrap();
        assert_eq!(nic.serve(), Ok(Asks::Nothing));
        let mut answer = [0; 32];
        there.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..12], octets(request::GET_CONFIG, VERSION | IS_REPLY, &[0; 20])[..12]);
        assert_eq!(answer[24..], [2, 0, 10, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn what_a_kernel_does_not_send_is_refused() {
        let refuse = |bytes: &[u8]| {
            let (mut nic, mut there) = nic();
            there.write_all(bytes).unwrap();
            nic.serve().unwrap_err()
        };
        let state = |queue: u32, value: u32| [queue.to_le_bytes(), value.to_le_bytes()].concat();
        let refused = refuse(&octets(request::SET_VRING_NUM, VERSION, &state(0, 100)));
        assert_eq!(refused, "its NIC has a queue of no possible size");
        let refused = refuse(&octets(request::SET_VRING_NUM, VERSION, &state(2, 128)));
        assert_eq!(refused, "its NIC names queue 2 of 2");
        assert_eq!(refuse(&octets(99, VERSION, &[])), "its NIC has a request 99, which is unknown");
        let refused = refuse(&octets(request::SET_MEM_TABLE, VERSION, &state(1, 0)));
        assert_eq!(refused, "its NIC names memory without a file");
        assert_eq!(
            refuse(&octets(request::SET_VRING_BASE, VERSION, &[0])),
            "request 10 of its NIC is cut off"
        );
        let mut long = octets(2, VERSION, &[]);
        long[8..12].copy_from_slice(&4096_u32.to_le_bytes());
        assert_eq!(refuse(&long), "request 2 of its NIC has 4096 bytes");
    }
}
