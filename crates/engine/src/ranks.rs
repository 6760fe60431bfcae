//! The seam between the processes of a run: what is exchanged between two windows, and at the end.
//!
//! Parts are numbered over all processes: with `t` parts in each, those of rank `r` are `r * t` to
//! `r * t + t - 1`. Only the first thread of a process speaks to other processes. It does so at the
//! barrier, where all other threads of its process are waiting.

use std::fmt;
use std::sync::{Mutex, RwLock};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Part;
use crate::frame::Portable;
use crate::meeting::lock;
use crate::wire::{Arrival, Parcel};

/// What ranks agree on between two windows: one reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// First window in which anything happens: the least of all.
    pub next_window: u64,
    /// Frames sent so far, as all that follow a sum.
    pub hops: u64,
    /// Flows completed.
    pub flows_done: u64,
    /// Of these, flows whose completion the measured interval waits for.
    pub awaited_done: u64,
    /// Completed flows that are not fully acknowledged.
    pub unacknowledged: u64,
    /// Ranks that were asked to stop.
    pub interrupted: u64,
}

impl Totals {
    /// Number of words of [`Totals::words`].
    pub const WORDS: usize = 6;

    /// The totals of a rank without nodes: added to others it changes nothing.
    pub const NONE: Self = Self {
        next_window: u64::MAX,
        hops: 0,
        flows_done: 0,
        awaited_done: 0,
        unacknowledged: 0,
        interrupted: 0,
    };

    /// As words. The least of the first of several ranks, and the sums of the others, are the words of
    /// the ranks together.
    pub fn words(self) -> [u64; Self::WORDS] {
        let Self { next_window, hops, flows_done, awaited_done, unacknowledged, interrupted } =
            self;
        [next_window, hops, flows_done, awaited_done, unacknowledged, interrupted]
    }

    /// From words.
    pub fn from_words(words: [u64; Self::WORDS]) -> Self {
        let [next_window, hops, flows_done, awaited_done, unacknowledged, interrupted] = words;
        Self { next_window, hops, flows_done, awaited_done, unacknowledged, interrupted }
    }

    /// Adds the totals of other parts.
    pub fn add(&mut self, other: Self) {
        self.next_window = self.next_window.min(other.next_window);
        self.hops += other.hops;
        self.flows_done += other.flows_done;
        self.awaited_done += other.awaited_done;
        self.unacknowledged += other.unacknowledged;
        self.interrupted += other.interrupted;
    }
}

/// Frames between this rank and a neighbor, as octets.
#[derive(Clone, Debug, Default)]
pub struct Letters {
    /// The neighbor.
    pub rank: usize,
    /// Octets for it.
    pub out: Vec<u8>,
    /// Octets from it.
    pub into: Vec<u8>,
}

/// The processes of a run, which all make the same calls in the same order. A failure of
/// communication ends the process.
pub trait Ranks: fmt::Debug + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// The number of processes, at least 1.
    fn ranks(&self) -> usize;

    /// Between two windows: reduces the totals of all ranks, and exchanges letters with neighbors, which are
    /// mutual. `into` is replaced, and `out` may be used for anything.
    fn exchange(&self, mine: Totals, letters: &mut [Letters]) -> Totals;

    /// Rank 0 receives the octets of every rank, in order, one after the other; the others receive nothing.
    fn gather(&self, mine: Vec<u8>, take: &mut dyn FnMut(usize, Vec<u8>));

    /// Everybody receives the octets of rank 0; those of others are ignored.
    fn broadcast(&self, mine: Vec<u8>) -> Vec<u8>;
}

/// The mail of one process of a run to and from the others.
pub(crate) struct Abroad<'a, P: Part> {
    pub ranks: &'a dyn Ranks,
    /// Number of parts of each rank.
    workers: usize,
    /// By rank: its index in `letters`; `usize::MAX` for ranks that are no neighbors.
    index: Vec<usize>,
    /// For the first thread.
    letters: Mutex<Vec<Letters>>,
    /// By worker, then by neighbor: what it sends.
    out: Vec<Mutex<Vec<Vec<u8>>>>,
    /// By neighbor: what arrived.
    into: RwLock<Vec<Vec<u8>>>,
    encode: Encode<P>,
    decode: Decode<P>,
}

type Attached<P> = <P as Part>::Attached;
type Frame<P> = <P as Part>::Frame;
type Encode<P> = fn(u16, &Parcel<Frame<P>>, &Attached<P>, &mut Vec<u8>);
type Decode<P> = fn(&[u8; HEAD], &[u8]) -> (Parcel<Frame<P>>, Attached<P>);

impl<'a, P: Part> Abroad<'a, P>
where
    P::Frame: Portable,
    P::Attached: Serialize + DeserializeOwned,
{
    /// For a rank with this many parts that exchanges frames with these neighbors.
    pub fn new(ranks: &'a dyn Ranks, workers: usize, neighbors: &[usize]) -> Self {
        let mut index = vec![usize::MAX; ranks.ranks()];
        neighbors.iter().zip(0..).for_each(|(&rank, place)| index[rank] = place);
        let letters = neighbors.iter().map(|&rank| Letters { rank, ..Letters::default() });
        Self {
            ranks,
            workers,
            index,
            letters: Mutex::new(letters.collect()),
            out: (0..workers).map(|_| Mutex::new(vec![Vec::new(); neighbors.len()])).collect(),
            into: RwLock::new(vec![Vec::new(); neighbors.len()]),
            encode: encode::<P>,
            decode: decode::<P>,
        }
    }
}

impl<P: Part> Abroad<'_, P> {
    /// Whether a part belongs to another rank.
    pub fn is_abroad(&self, part: u16) -> bool {
        usize::from(part) / self.workers != self.ranks.rank()
    }

    /// Writes frames of this worker for a part of another rank.
    pub fn post(&self, worker: usize, to: u16, parcel: &Parcel<P::Frame>, attached: &P::Attached) {
        let neighbor = self.index[usize::from(to) / self.workers];
        (self.encode)(to, parcel, attached, &mut lock(&self.out[worker])[neighbor]);
    }

    /// Exchanges what the workers have posted; called by the first thread while the others wait.
    pub fn exchange(&self, mine: Totals) -> Totals {
        let mut letters = lock(&self.letters);
        let mut arrived = self.into.write().expect("no thread panicked while it held this");
        for (neighbor, letters) in letters.iter_mut().enumerate() {
            letters.out.clear();
            for out in &self.out {
                let out = &mut lock(out)[neighbor];
                match letters.out.is_empty() {
                    true => std::mem::swap(out, &mut letters.out),
                    false => letters.out.append(out),
                }
            }
            std::mem::swap(&mut letters.into, &mut arrived[neighbor]);
        }
        let all = self.ranks.exchange(mine, &mut letters);
        for (letters, arrived) in letters.iter_mut().zip(arrived.iter_mut()) {
            std::mem::swap(&mut letters.into, arrived);
        }
        all
    }

    /// Calls `take` with all frames for a part that have arrived from other ranks.
    pub fn collect(&self, part: u16, mut take: impl FnMut(Parcel<P::Frame>, P::Attached)) {
        for arrived in self.into.read().expect("no thread panicked while it held this").iter() {
            let mut rest = &arrived[..];
            while let Some((head, body)) = rest.split_first_chunk::<HEAD>() {
                let [to, octets] = [0, 4].map(|at| number(head, at));
                let (parcel, others) = body.split_at(octets as usize);
                if to == u32::from(part) {
                    let (parcel, attached) = (self.decode)(head, parcel);
                    take(parcel, attached);
                }
                rest = others;
            }
        }
    }
}

/// Octets before a parcel: the part that it is for, its length, its window, the number of its frames, and its block.
const HEAD: usize = 24;

/// Octets before a frame: when it arrives in the window, and the place of its node.
const BEFORE: usize = 8;

fn number(octets: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([octets[at], octets[at + 1], octets[at + 2], octets[at + 3]])
}

fn encode<P: Part>(to: u16, parcel: &Parcel<P::Frame>, attached: &P::Attached, out: &mut Vec<u8>)
where
    P::Frame: Portable,
    P::Attached: Serialize,
{
    let (begin, (block, window, arrivals)) = (out.len(), parcel.parts());
    let each = BEFORE + P::Frame::OCTETS;
    out.resize(begin + HEAD + arrivals.len() * each, 0);
    for (octets, arrival) in out[begin + HEAD..].chunks_exact_mut(each).zip(arrivals) {
        octets[..4].copy_from_slice(&arrival.after.to_le_bytes());
        octets[4..BEFORE].copy_from_slice(&arrival.place.to_le_bytes());
        arrival.frame.write(&mut octets[BEFORE..]);
    }
    *out = postcard::to_extend(attached, std::mem::take(out))
        .expect("what is attached are plain values, which can all be written");
    let octets = u32::try_from(out.len() - begin - HEAD).expect("less than 4 GiB in a window");
    let frames = u32::try_from(arrivals.len()).expect("less than 4 GiB of them");
    let head = [u32::from(to), octets, window as u32, (window >> 32) as u32, frames, block];
    let heads = out[begin..begin + HEAD].chunks_exact_mut(size_of::<u32>());
    heads.zip(head).for_each(|(octets, number)| octets.copy_from_slice(&number.to_le_bytes()));
}

/// From what [`encode`] has written; `octets` begin with the frames.
fn decode<P: Part>(head: &[u8; HEAD], octets: &[u8]) -> (Parcel<P::Frame>, P::Attached)
where
    P::Frame: Portable,
    P::Attached: DeserializeOwned,
{
    let window = u64::from(number(head, 8)) | u64::from(number(head, 12)) << 32;
    let each = BEFORE + P::Frame::OCTETS;
    let (frames, attached) = octets.split_at(number(head, 16) as usize * each);
    let arrival = |octets: &[u8]| Arrival {
        after: number(octets, 0),
        place: number(octets, 4),
        frame: P::Frame::read(&octets[BEFORE..]),
    };
    let parcel =
        Parcel::new(number(head, 20), window, frames.chunks_exact(each).map(arrival).collect());
    // The same program has written it: ranks compare the hash of their sources before a run.
    (parcel, postcard::from_bytes(attached).expect("octets as another rank has written them"))
}
