//! MPI for runs that go over many processes.
//!
//! The library of MPI is loaded at run time, by the standard ABI of MPI 5: one program for all clusters, with
//! nothing of MPI at build time ([decision 75](https://github.com/floodway-sim/floodway/blob/main/docs/decisions/0075-mpi-is-loaded-at-run-time.md)).
//! [`World`] is what floodway needs of it, without unsafe code. All of that is in `calls`.

#[allow(unsafe_code)]
mod calls;
mod error;
mod find;

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use floodway_engine::{Letters, Ranks, Totals};

use calls::Calls;
pub use error::Error;
pub use find::VARIABLE;

/// MPI of this process, once it is started.
static STARTED: OnceLock<Started> = OnceLock::new();

struct Started {
    calls: Calls,
    /// By neighbor, kept for their allocations.
    firsts: Mutex<Vec<First>>,
    traffic: Mutex<Traffic>,
}

/// What this rank has exchanged with others between windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Number of exchanges.
    pub exchanges: u64,
    /// Octets sent.
    pub octets: u64,
    /// Time in exchanges, in which it mostly waited for slower ranks.
    pub waited: Duration,
    /// Packet-hops of this rank and of all ranks, in the last run.
    pub hops: [u64; 2],
}

/// The first messages to a neighbor and from it.
#[derive(Default)]
struct First {
    sent: Vec<u8>,
    received: Vec<u8>,
}

/// All processes that were started together.
#[derive(Clone, Copy)]
pub struct World {
    started: &'static Started,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.ranks())
    }
}

impl World {
    /// Starts MPI with this library, or with the first that is found (see [`VARIABLE`]). To be called once in a process,
    /// which must have been started by a launcher such as `mpirun`.
    pub fn start(library: Option<&Path>) -> Result<Self, Error> {
        let candidates = find::candidates(library);
        let (path, library) = calls::load(&candidates).map_err(Error::NotLoaded)?;
        let calls = Calls::start(&path, library)?;
        let started = STARTED.get_or_init(|| Started {
            calls,
            firsts: Mutex::default(),
            traffic: Mutex::default(),
        });
        if started.calls.ranks < 2 {
            started.calls.finalize();
            return Err(Error::Alone(path, started.calls.version.clone()));
        }
        Ok(Self { started })
    }

    /// What the library says it is.
    pub fn version(&self) -> &str {
        &self.started.calls.version
    }

    /// What this rank has exchanged so far.
    pub fn traffic(&self) -> Traffic {
        *self.started.traffic.lock().expect("no exchange panics")
    }

    /// Ends MPI: the last call. It waits for the other ranks.
    pub fn finish(self) {
        self.started.calls.finalize();
    }
}

/// Ends all ranks at once if MPI is started: without it they would wait forever for a rank that has a fault.
pub fn abort(code: u8) {
    if let Some(started) = STARTED.get() {
        started.calls.abort(code.into());
    }
}

/// Messages of an exchange: the first octets, and the rest if there are more.
const FIRST: i32 = 1;
const REST: i32 = 2;
/// Length of octets, and the octets.
const LENGTH: i32 = 3;
const OCTETS: i32 = 4;

/// Most octets of the first message between two neighbors. A rank is ready for as many before it knows how many
/// there are, so a window with more takes a second exchange.
const SHORT: usize = 1 << 16;

/// Octets of a length.
const HEAD: usize = 8;

impl Ranks for World {
    fn rank(&self) -> usize {
        self.started.calls.rank
    }

    fn ranks(&self) -> usize {
        self.started.calls.ranks
    }

    fn exchange(&self, mine: Totals, letters: &mut [Letters]) -> Totals {
        let (begun, mut words) = (Instant::now(), mine.words());
        let mut firsts = self.started.firsts.lock().expect("no exchange panics");
        let count = letters.len().max(firsts.len());
        firsts.resize_with(count, First::default);
        let (mut out, mut into) = (Vec::new(), Vec::new());
        for (letters, first) in letters.iter().zip(firsts.iter_mut()) {
            let First { sent, received } = first;
            sent.clear();
            sent.extend((letters.out.len() as u64).to_le_bytes());
            sent.extend(&letters.out[..letters.out.len().min(SHORT)]);
            received.resize(HEAD + SHORT, 0);
            out.push((letters.rank, FIRST, &sent[..]));
            into.push((letters.rank, FIRST, &mut received[..]));
        }
        self.started.calls.exchange(Some(&mut words), &out, &mut into);
        let (mut out, mut into) = (Vec::new(), Vec::new());
        for (letters, first) in letters.iter_mut().zip(firsts.iter()) {
            let Letters { rank, out: sent, into: arrived } = letters;
            let (head, body) = first.received.split_at(HEAD);
            let length = u64::from_le_bytes(head.try_into().expect("as long as a length")) as usize;
            arrived.clear();
            arrived.extend(&body[..length.min(SHORT)]);
            if length > SHORT {
                arrived.resize(length, 0);
                into.push((*rank, REST, &mut arrived[SHORT..]));
            }
            if sent.len() > SHORT {
                out.push((*rank, REST, &sent[SHORT..]));
            }
        }
        if !out.is_empty() || !into.is_empty() {
            self.started.calls.exchange(None, &out, &mut into);
        }
        let mut traffic = self.started.traffic.lock().expect("no exchange panics");
        traffic.exchanges += 1;
        traffic.octets += letters.iter().map(|letters| letters.out.len() as u64).sum::<u64>();
        traffic.waited += begun.elapsed();
        let all = Totals::from_words(words);
        if all.hops > 0 {
            traffic.hops = [mine.hops, all.hops];
        }
        all
    }

    fn gather(&self, mine: Vec<u8>, take: &mut dyn FnMut(usize, Vec<u8>)) {
        if self.rank() > 0 {
            return self.give(0, &mine);
        }
        take(0, mine);
        (1..self.ranks()).for_each(|rank| take(rank, self.get(rank)));
    }

    fn broadcast(&self, mine: Vec<u8>) -> Vec<u8> {
        if self.rank() > 0 {
            return self.get(0);
        }
        (1..self.ranks()).for_each(|rank| self.give(rank, &mine));
        mine
    }
}

impl World {
    fn give(&self, rank: usize, octets: &[u8]) {
        let length = (octets.len() as u64).to_le_bytes();
        self.started.calls.exchange(
            None,
            &[(rank, LENGTH, &length), (rank, OCTETS, octets)],
            &mut [],
        );
    }

    fn get(&self, rank: usize) -> Vec<u8> {
        let mut length = [0; HEAD];
        self.started.calls.exchange(None, &[], &mut [(rank, LENGTH, &mut length)]);
        let mut octets = vec![0; u64::from_le_bytes(length) as usize];
        self.started.calls.exchange(None, &[], &mut [(rank, OCTETS, &mut octets)]);
        octets
    }
}

// The reduction of `calls` is that of totals.
const _: () = assert!(calls::WORDS == Totals::WORDS);
