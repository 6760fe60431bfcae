//! Cycles among things that wait for each other.

/// Of so many events, those that wait for each other in a cycle, each for the one after it and the last for the
/// first, which has the lowest number; `None` if all can occur. `edges` are pairs of which the first event comes
/// before the second.
pub(super) fn find<I: Iterator<Item = (usize, usize)>>(
    events: usize,
    edges: impl Fn() -> I,
) -> Option<Vec<usize>> {
    let (mut start, mut open) = (vec![0usize; events + 1], vec![0u32; events]);
    for (from, to) in edges() {
        start[from + 1] += 1;
        open[to] += 1;
    }
    (0..events).for_each(|event| start[event + 1] += start[event]);
    let (mut next, mut after) = (start.clone(), vec![0usize; start[events]]);
    for (from, to) in edges() {
        after[next[from]] = to;
        next[from] += 1;
    }
    let mut ready: Vec<usize> = (0..events).filter(|&event| open[event] == 0).collect();
    while let Some(event) = ready.pop() {
        for &to in &after[start[event]..start[event + 1]] {
            open[to] -= 1;
            if open[to] == 0 {
                ready.push(to);
            }
        }
    }
    // An event that never occurs waits for another such, so that one comes into a cycle from each.
    let mut event = open.iter().position(|&open| open > 0)?;
    let mut before = vec![usize::MAX; events];
    for (from, to) in edges().filter(|&(from, to)| open[from] > 0 && open[to] > 0) {
        before[to] = from;
    }
    (0..events).for_each(|_| event = before[event]);
    let mut cycle = vec![event];
    let mut other = before[event];
    while other != event {
        cycle.push(other);
        other = before[other];
    }
    let lowest = (0..cycle.len()).min_by_key(|&place| cycle[place])?;
    cycle.rotate_left(lowest);
    Some(cycle)
}

/// The things of these events, each named once where it has several in a row.
pub(super) fn named_once<T: PartialEq>(events: impl Iterator<Item = T>) -> Vec<T> {
    let mut things: Vec<T> = events.collect();
    things.dedup();
    if things.len() > 1 && things.first() == things.last() {
        things.pop();
    }
    things
}

/// A sentence that says who waits for whom, and a remedy; `what` is a noun for one of them.
pub(super) fn sentence<T>(
    cycle: &[T],
    what: &str,
    name: impl Fn(&T) -> String,
) -> (String, String) {
    const SHOWN: usize = 6;
    let first = cycle.first().map(&name).unwrap_or_default();
    let mut message = format!("{first} waits for ");
    for at in cycle.iter().skip(1).take(SHOWN) {
        message += &format!("{}, which waits for ", name(at));
    }
    if cycle.len() > SHOWN + 1 {
        message += &format!("{} more, the last of them for ", cycle.len() - SHOWN - 1);
    }
    message += match cycle {
        [_] => "itself",
        _ => &first,
    };
    let what = floodway_model::check::count_of(cycle.len() as u64, what);
    let help = format!(
        "none of this cycle of {what} can ever finish: remove one of the dependencies, or send before \
         receiving"
    );
    (message, help)
}
