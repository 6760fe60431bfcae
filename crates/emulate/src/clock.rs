//! The clock of a kernel: when it runs, and how far it may run by itself.
//!
//! The protocol is that of `include/uapi/linux/um_timetravel.h` in Linux, with shared memory (version 2): requests and times
//! are there, and what is left of messages says who runs. Each kernel has a memory and a socket of its own, in which it is
//! client 0 and the simulation client 1.

use std::fs::File;
use std::io::{IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{pread, pwrite};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

/// Messages. Those that are not here are not sent with shared memory.
mod operation {
    pub const ACK: u32 = 0;
    pub const START: u32 = 1;
    pub const REQUEST: u32 = 2;
    pub const WAIT: u32 = 3;
    pub const GET: u32 = 4;
    pub const UPDATE: u32 = 5;
    pub const RUN: u32 = 6;
    pub const GET_TOD: u32 = 8;
    pub const BROADCAST: u32 = 9;
}

/// Where things are in the shared memory: `struct um_timetravel_schedshm`.
mod place {
    pub const VERSION: u64 = 0;
    pub const LENGTH: u64 = 4;
    pub const FREE_UNTIL: u64 = 8;
    pub const TIME: u64 = 16;
    pub const RUNNING: u64 = 24;
    pub const CLIENTS: u64 = 26;
    /// Of client 0: the flags and the time of its request.
    pub const FLAGS: u64 = 4096 + 4;
    pub const REQUEST: u64 = 4096 + 8;
    /// Of client 1: what it is capable of.
    pub const CAPABLE: u64 = 4096 + 128;
    pub const SIZE: u64 = 4096 + 2 * 128;
}

const VERSION: u32 = 2;
/// It keeps times in the shared memory.
const TIME_SHARE: u32 = 1;
/// There is a request.
const REQUESTED: u32 = 1;
const KERNEL: u16 = 0;
const SIMULATION: u16 = 1;
/// Sequence numbers of this side.
const OURS: u32 = 0x8000_0000;

/// The time of day at the beginning of a run, in nanoseconds since 1970: 14 November 2023, 22:13:20.
pub const EPOCH: u64 = 1_700_000_000_000_000_000;

/// The clock of a kernel. Times are in nanoseconds from the beginning of the run.
#[derive(Debug)]
pub struct Clock {
    stream: UnixStream,
    shared: OwnedFd,
    sequence: u32,
    /// Whether the kernel waits to be run.
    pub waiting: bool,
    /// Its time.
    pub now: u64,
    free_until: u64,
}

type Result<T> = std::result::Result<T, String>;

fn failed<E: std::fmt::Display>(what: &'static str) -> impl FnOnce(E) -> String {
    move |error| format!("{what}: {error}")
}

impl Clock {
    /// Greets a kernel that has connected.
    pub fn greet(stream: UnixStream) -> Result<Self> {
        let refused = "the memory for its clock cannot be made";
        let shared =
            memfd_create("floodway-clock", MemfdFlags::CLOEXEC).map_err(failed(refused))?;
        ftruncate(&shared, place::SIZE).map_err(failed(refused))?;
        let mut clock = Self { stream, shared, sequence: 0, waiting: false, now: 0, free_until: 0 };
        clock.put(place::VERSION, &VERSION.to_le_bytes())?;
        clock.put(place::LENGTH, &(place::SIZE as u32).to_le_bytes())?;
        clock.put(place::CLIENTS, &2_u16.to_le_bytes())?;
        clock.put(place::CAPABLE, &TIME_SHARE.to_le_bytes())?;
        let (operation, sequence, _) = clock.message()?;
        if operation != operation::START {
            return Err(format!("it began with message {operation} to its clock"));
        }
        clock.answer_start(sequence)?;
        Ok(clock)
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn put(&self, place: u64, bytes: &[u8]) -> Result<()> {
        let written = pwrite(&self.shared, bytes, place);
        written.map(|_| ()).map_err(failed("its clock cannot be set"))
    }

    fn get<const N: usize>(&self, place: u64) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        pread(&self.shared, &mut bytes[..], place).map_err(failed("its clock cannot be read"))?;
        Ok(bytes)
    }

    /// The time as the kernel has set it.
    pub fn read(&mut self) -> Result<u64> {
        self.now = u64::from_le_bytes(self.get(place::TIME)?);
        Ok(self.now)
    }

    /// When it wants to run next.
    pub fn request(&self) -> Result<Option<u64>> {
        let requested = u32::from_le_bytes(self.get(place::FLAGS)?) & REQUESTED != 0;
        match requested {
            true => Ok(Some(u64::from_le_bytes(self.get(place::REQUEST)?))),
            false => Ok(None),
        }
    }

    fn message(&mut self) -> Result<(u32, u32, u64)> {
        let mut bytes = [0; 16];
        self.stream.read_exact(&mut bytes).map_err(failed("it does not speak to its clock"))?;
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let time = u64::from(number(12)) << 32 | u64::from(number(8));
        Ok((number(0), number(4), time))
    }

    fn send(&mut self, operation: u32, sequence: u32, time: u64) -> Result<()> {
        let sent = self.stream.write_all(&octets(operation, sequence, time));
        sent.map_err(failed("it does not listen to its clock"))
    }

    /// The answer brings the memory, a file for a log that nobody reads, and its number as a client.
    fn answer_start(&mut self, sequence: u32) -> Result<()> {
        let log = File::options().write(true).open("/dev/null");
        let log = log.map_err(failed("/dev/null cannot be opened"))?;
        let files = [self.shared.as_fd(), log.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&files));
        let message = octets(operation::ACK, sequence, KERNEL.into());
        let sent =
            sendmsg(&self.stream, &[IoSlice::new(&message)], &mut control, SendFlags::NOSIGNAL);
        sent.map(|_| ()).map_err(failed("it does not listen to its clock"))
    }

    /// Handles a message of the kernel.
    pub fn serve(&mut self) -> Result<()> {
        let (operation, sequence, _) = self.message()?;
        match operation {
            operation::ACK => Ok(()),
            operation::WAIT => {
                self.waiting = true;
                Ok(())
            }
            operation::GET => self.send(operation::ACK, sequence, self.now),
            operation::GET_TOD => self.send(operation::ACK, sequence, EPOCH + self.now),
            operation::REQUEST | operation::UPDATE | operation::BROADCAST => {
                self.send(operation::ACK, sequence, 0)
            }
            _ => Err(format!("it sent message {operation} to its clock")),
        }
    }

    /// Lets the kernel run at the time of its request; it goes on by itself as long as its next event is before `until`.
    pub fn run(&mut self, at: u64, until: u64) -> Result<()> {
        self.free_until = until;
        self.put(place::FREE_UNTIL, &until.to_le_bytes())?;
        self.put(place::RUNNING, &KERNEL.to_le_bytes())?;
        self.put(place::TIME, &at.to_le_bytes())?;
        (self.now, self.waiting) = (at, false);
        self.sequence += 1;
        self.send(operation::RUN, self.sequence | OURS, at)
    }

    /// While the kernel waits for an answer of its NIC: it may not go on by itself beyond this time.
    pub fn hold(&mut self, until: u64) -> Result<()> {
        if until < self.free_until {
            self.free_until = until;
            self.put(place::FREE_UNTIL, &until.to_le_bytes())?;
        }
        Ok(())
    }

    /// Before an interrupt of a kernel that waits: the simulation is at `now`.
    pub fn set(&mut self, now: u64) -> Result<()> {
        self.now = self.now.max(now);
        self.put(place::RUNNING, &SIMULATION.to_le_bytes())?;
        self.put(place::TIME, &self.now.to_le_bytes())
    }
}

fn octets(operation: u32, sequence: u32, time: u64) -> Vec<u8> {
    let [a, b] = [operation, sequence].map(u32::to_le_bytes);
    [&a[..], &b, &time.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(stream: &mut UnixStream, operation: u32, sequence: u32) {
        stream.write_all(&octets(operation, sequence, 0)).unwrap();
    }

    fn answer(stream: &mut UnixStream) -> (u32, u32, u64) {
        let mut bytes = [0; 16];
        stream.read_exact(&mut bytes).unwrap();
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        (number(0), number(4), u64::from(number(12)) << 32 | u64::from(number(8)))
    }

    #[test]
    fn a_kernel_starts_asks_for_the_time_and_runs() {
        let (here, mut there) = UnixStream::pair().unwrap();
        send(&mut there, operation::START, 7);
        let mut clock = Clock::greet(here).unwrap();
        assert_eq!(answer(&mut there), (operation::ACK, 7, 0));
        send(&mut there, operation::GET_TOD, 8);
        clock.serve().unwrap();
        assert_eq!(answer(&mut there), (operation::ACK, 8, EPOCH));
        assert_eq!(clock.request(), Ok(None));
        clock.put(place::FLAGS, &REQUESTED.to_le_bytes()).unwrap();
        clock.put(place::REQUEST, &500_u64.to_le_bytes()).unwrap();
        send(&mut there, operation::WAIT, 9);
        clock.serve().unwrap();
        assert!(clock.waiting);
        assert_eq!(clock.request(), Ok(Some(500)));
        clock.run(500, 900).unwrap();
        assert_eq!(answer(&mut there), (operation::RUN, 1 | OURS, 500));
        assert_eq!(clock.get(place::FREE_UNTIL), Ok(900_u64.to_le_bytes()));
        clock.hold(1_000).unwrap();
        clock.hold(600).unwrap();
        assert_eq!(clock.get(place::FREE_UNTIL), Ok(600_u64.to_le_bytes()));
        send(&mut there, 77, 10);
        assert_eq!(clock.serve(), Err("it sent message 77 to its clock".to_owned()));
    }

    #[test]
    fn what_does_not_start_is_no_kernel() {
        let (here, mut there) = UnixStream::pair().unwrap();
        send(&mut there, operation::WAIT, 1);
        let refused = Clock::greet(here).unwrap_err();
        assert_eq!(refused, "it began with message 3 to its clock");
    }
}
