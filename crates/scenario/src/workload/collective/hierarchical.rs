//! All-reduce in two tiers: within servers, and between the ranks of the same place in each server.

use super::schedule::{Channel, Schedule, part};

impl Channel<'_> {
    /// A reduce-scatter in each server, an all-reduce of every shard between servers, and an all-gather in each server,
    /// all by rings. `in_server` divides the number of ranks, and the ranks of a server follow each other.
    pub(super) fn hierarchical(&self, in_server: usize, schedule: &mut Schedule) {
        let ranks = self.plan.ranks;
        let servers = ranks / in_server;
        // By rank, what its next message waits for.
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); ranks];
        let shard = |place: usize| part(self.bytes, in_server as u64, place as u64);
        let of_server = |server: usize| (0..in_server).map(move |place| server * in_server + place);
        let inside = |shift: usize, after: &mut [Vec<u32>], schedule: &mut Schedule| {
            for server in 0..servers {
                let members: Vec<usize> = of_server(server).collect();
                ring((&members, in_server - 1, shift), shard, after, schedule);
            }
        };
        // A rank ends with the sum of the shard of its place.
        inside(1, &mut after, schedule);
        for place in 0..in_server {
            let members: Vec<usize> = (0..servers).map(|of| of * in_server + place).collect();
            let of = |server: usize| part(shard(place), servers as u64, server as u64);
            ring((&members, 2 * (servers - 1), 0), of, &mut after, schedule);
        }
        inside(0, &mut after, schedule);
    }
}

/// Steps of a ring, in which each member passes on what it received in the step before: in the first one the part of
/// its own place, less `shift`.
fn ring(
    (members, steps, shift): (&[usize], usize, usize),
    part: impl Fn(usize) -> u64,
    after: &mut [Vec<u32>],
    schedule: &mut Schedule,
) {
    let count = members.len();
    for step in 0..steps {
        let sent: Vec<u32> = (0..count)
            .map(|place| {
                let bytes = part((place + 2 * count - step - shift) % count);
                let [from, to] = [place, (place + 1) % count].map(|place| members[place]);
                schedule.add(from, to, bytes, &after[from])
            })
            .collect();
        for (place, &member) in members.iter().enumerate() {
            after[member] = vec![sent[(place + count - 1) % count], sent[place]];
        }
    }
}
