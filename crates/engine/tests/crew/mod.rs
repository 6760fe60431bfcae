//! Ranks that are threads of one process, for tests of what goes between ranks without MPI.

use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex};

use floodway_engine::{Letters, Ranks, Totals};

#[derive(Debug)]
struct Crew {
    ranks: usize,
    barrier: Barrier,
    totals: Mutex<Totals>,
    /// From one rank to another.
    octets: Mutex<HashMap<(usize, usize), Vec<u8>>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Member {
    crew: Arc<Crew>,
    rank: usize,
}

/// Calls `work` on so many ranks at a time, and returns what it returns, by rank.
pub fn on<T: Send>(ranks: usize, work: impl Fn(&Member) -> T + Sync) -> Vec<T> {
    let (totals, octets) = (Mutex::new(Totals::NONE), Mutex::default());
    let crew = Arc::new(Crew { ranks, barrier: Barrier::new(ranks), totals, octets });
    std::thread::scope(|scope| {
        let start = |rank| {
            let (member, work) = (Member { crew: crew.clone(), rank }, &work);
            scope.spawn(move || work(&member))
        };
        let threads: Vec<_> = (0..ranks).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

impl Member {
    fn put(&self, to: usize, octets: Vec<u8>) {
        let earlier = self.crew.octets.lock().unwrap().insert((self.rank, to), octets);
        assert!(earlier.is_none(), "what was sent before has not been read");
    }

    fn get(&self, from: usize) -> Vec<u8> {
        self.crew.octets.lock().unwrap().remove(&(from, self.rank)).expect("it was sent")
    }
}

impl Ranks for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.crew.ranks
    }

    fn exchange(&self, mine: Totals, letters: &mut [Letters]) -> Totals {
        let crew = &self.crew;
        assert_eq!(Totals::from_words(mine.words()), mine);
        crew.totals.lock().unwrap().add(mine);
        letters.iter_mut().for_each(|of| self.put(of.rank, std::mem::take(&mut of.out)));
        crew.barrier.wait();
        letters.iter_mut().for_each(|of| of.into = self.get(of.rank));
        let all = *crew.totals.lock().unwrap();
        if crew.barrier.wait().is_leader() {
            *crew.totals.lock().unwrap() = Totals::NONE;
        }
        crew.barrier.wait();
        all
    }

    fn gather(&self, mine: Vec<u8>, take: &mut dyn FnMut(usize, Vec<u8>)) {
        if self.rank > 0 {
            self.put(0, mine);
            self.crew.barrier.wait();
        } else {
            self.crew.barrier.wait();
            take(0, mine);
            (1..self.ranks()).for_each(|rank| take(rank, self.get(rank)));
        }
        self.crew.barrier.wait();
    }

    fn broadcast(&self, mine: Vec<u8>) -> Vec<u8> {
        if self.rank == 0 {
            (1..self.ranks()).for_each(|rank| self.put(rank, mine.clone()));
        }
        self.crew.barrier.wait();
        let octets = if self.rank == 0 { mine } else { self.get(0) };
        self.crew.barrier.wait();
        octets
    }
}
