//! Rings that leave servers by different ranks, so that together they use all NICs: each rank has a NIC at a rail, and
//! a message between servers stays on its rail (the channels of NCCL, with `NCCL_CROSS_NIC=1`).

/// The ranks in the order of the ring of a channel: server by server, and in the order of the ranks if all are in one
/// server. A ring enters a server at the place at which it left the one before. Places of channels that follow each
/// other are next to each other, so that of as many channels as a server has ranks, each leaves by a rank of its own.
pub(super) fn order(ranks: usize, per_server: usize, channel: usize) -> Vec<usize> {
    let servers = ranks / per_server;
    if servers < 2 || per_server < 2 {
        return (0..ranks).collect();
    }
    // Alternately; with an odd number of servers the last one has a third place, since a ring leaves a server at another
    // rank than it enters at.
    let entry = |server: usize| {
        let last = server == servers - 1 && servers % 2 == 1;
        (channel + if last { 2 } else { server % 2 }) % per_server
    };
    let of_server = |server: usize| {
        let (first, last) = (entry(server), entry((server + 1) % servers));
        let others = (0..per_server).map(move |place| (first + place) % per_server);
        let others = others.filter(move |&place| place != last);
        others.chain([last]).map(move |place| server * per_server + place)
    };
    (0..servers).flat_map(of_server).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_servers_of_four() {
        assert_eq!(order(8, 4, 0), [0, 2, 3, 1, 5, 6, 7, 4]);
        assert_eq!(order(8, 4, 3), [3, 1, 2, 0, 4, 5, 6, 7]);
        assert_eq!(order(4, 4, 3), [0, 1, 2, 3]);
    }

    /// Every ring has all ranks once, each message between servers stays on its rail, and each rank of a server is left
    /// by one channel.
    #[test]
    fn rings_stay_on_their_rails_and_share_them_out() {
        for (servers, per_server) in [(2, 2), (4, 2), (2, 8), (3, 3), (5, 8), (8, 4)] {
            let ranks = servers * per_server;
            let mut leaves = vec![BTreeSet::new(); servers];
            for channel in 0..per_server {
                let order = order(ranks, per_server, channel);
                assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), (0..ranks).collect());
                let next = order.iter().cycle().skip(1);
                let crossing =
                    order.iter().zip(next).filter(|(a, b)| *a / per_server != *b / per_server);
                for (from, to) in crossing {
                    assert_eq!(from % per_server, to % per_server);
                    assert!(leaves[from / per_server].insert(from % per_server));
                }
            }
            assert!(leaves.iter().all(|places| places.len() == per_server));
        }
    }
}
