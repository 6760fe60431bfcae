//! How long an exchange between ranks takes, without a simulation: each rank sends so many octets to every other, and
//! one reduction is made at the same time.
//!
//! ```text
//! mpirun -n 2 target/release/examples/exchange
//! ```

use std::error::Error;
use std::time::Instant;

use floodway_engine::{Letters, Ranks, Totals};
use floodway_mpi::World;

const TIMES: usize = 2_000;

fn main() -> Result<(), Box<dyn Error>> {
    let world = World::start(None)?;
    let others = (0..world.ranks()).filter(|&rank| rank != world.rank());
    let mut letters: Vec<Letters> =
        others.map(|rank| Letters { rank, ..Letters::default() }).collect();
    if world.rank() == 0 {
        println!("{} ranks, {}", world.ranks(), world.version());
        println!("{:>10}  {:>10}  {:>10}", "octets", "median us", "p99 us");
    }
    for octets in [0, 64, 1_000, 8_000, 64_000, 1_000_000] {
        letters.iter_mut().for_each(|letters| letters.out = vec![7; octets]);
        let mut times = Vec::new();
        for _ in 0..if octets > 100_000 { TIMES / 20 } else { TIMES } {
            let begun = Instant::now();
            world.exchange(Totals::NONE, &mut letters);
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        assert!(letters.iter().all(|letters| letters.into.len() == octets));
        times.sort_by(f64::total_cmp);
        if world.rank() == 0 {
            let [median, p99] = [times[times.len() / 2], times[times.len() * 99 / 100]];
            println!("{octets:>10}  {median:>10.1}  {p99:>10.1}");
        }
    }
    world.finish();
    Ok(())
}
