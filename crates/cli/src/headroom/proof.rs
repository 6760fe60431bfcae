//! `floodway headroom --prove`: the worst case that a search finds by simulation. Its distance from the
//! computed headroom says how tight that is.
//!
//! A neighbor sends the frames that take most memory for their time as fast as its link carries
//! them, and nothing leaves the switch. The start times of three long frames decide: one that
//! crosses XOFF, one on the reverse wire that the pause frame finds in its way, and one that the
//! neighbor begins just before it obeys. The search tries start times of one after the other.

use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration};
use floodway_scenario::headroom::Sum;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::switch::cell::worst_frame;
use floodway_sim::switch::flow_control::pausing::{Link, Part};
use floodway_sim::{Outcome, Simulation};

use crate::failure::Failure;

/// Ethernet header and checksum.
const HEADER: u64 = 18;

/// What a search found.
pub struct Found {
    /// The largest occupancy above XOFF.
    pub bytes: Bytes,
    /// The scenario in which it occurs.
    pub scenario: String,
    /// Runs that the search took.
    pub runs: usize,
}

/// The start times of the long frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Starts {
    crossing: Duration,
    ahead: Duration,
    begun: Duration,
}

/// A link, and what the scenario of its worst case needs of it.
struct Search<'a> {
    link: &'a Link,
    response: Duration,
    /// Length of the frames that fill most memory.
    filler: u16,
    xoff: u64,
    limit: Duration,
    bound: Bytes,
    size: u64,
    runs: usize,
}

/// Searches for the worst case of a link with one lossless class.
pub fn search(link: &Link, response: Duration) -> Result<Found, Failure> {
    let (_, filler) =
        worst_frame(link.cell, link.smallest_frame, link.largest_frame, link.wire_overhead);
    let room = u64::from(link.cell.room(filler));
    // Enough that all long frames can begin after the start, and a whole number of fillers.
    let before = 2 * u64::from(link.largest_frame) / u64::from(filler) + 20;
    let sum = Sum::of(link, response);
    let until_obeyed: Duration = sum.rows.iter().map(|row| row.time).sum();
    let frame =
        |bytes: u16| link.rate.time_for(Bytes(u64::from(bytes) + u64::from(link.wire_overhead)));
    // The first one leaves at once for the receiver.
    let crossed = frame(filler) * (before + 1);
    let xoff = before * room;
    let mut search = Search {
        link,
        response,
        filler,
        xoff,
        limit: crossed + until_obeyed * 2 + frame(link.largest_frame) * 8,
        bound: sum.total,
        // `check` assumes the shortest frames of Ethernet.
        size: xoff + Link { smallest_frame: SHORTEST_FRAME, ..*link }.headroom(response).0,
        runs: 0,
    };
    let long = frame(link.largest_frame);
    let decided = crossed + long + link.delay + link.latency;
    let obeyed = link.times(response).into_iter().filter(|(part, _)| {
        matches!(part, Part::Ahead | Part::Pause | Part::Forth | Part::Response)
    });
    let mut starts = Starts {
        crossing: crossed,
        // It takes its own link to the switch first.
        ahead: before_by(decided, long + link.latency),
        begun: decided + obeyed.map(|(_, time)| time).sum(),
    };
    let mut most = search.occupancy(starts)?;
    for span in [long, frame(filler) * 8, frame(filler)] {
        for which in 0..3 {
            let middle = starts;
            for step in 0..=STEPS {
                let mut tried = middle;
                let time = match which {
                    0 => &mut tried.crossing,
                    1 => &mut tried.ahead,
                    _ => &mut tried.begun,
                };
                let offset = Duration(2 * span.0 / STEPS * step);
                *time = before_by(*time + offset, span);
                let found = search.occupancy(tried)?;
                if found > most {
                    (most, starts) = (found, tried);
                }
            }
        }
    }
    Ok(Found {
        bytes: Bytes(most.saturating_sub(search.xoff)),
        scenario: search.scenario(starts),
        runs: search.runs,
    })
}

/// Start times that are tried of a frame, around the best so far.
const STEPS: u64 = 64;

/// A time, earlier by some duration, or zero.
fn before_by(time: Duration, earlier: Duration) -> Duration {
    Duration(time.0.saturating_sub(earlier.0))
}

impl Search<'_> {
    /// The largest occupancy of a run.
    fn occupancy(&mut self, starts: Starts) -> Result<u64, Failure> {
        self.runs += 1;
        let text = self.scenario(starts);
        let library = [("headroom.toml", text.as_str())];
        let scenario = Scenario::of_library(&library, "headroom.toml", &Overrides::default())?;
        let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
        if !outcome.violations.is_empty() {
            return Err(Failure::Violations(outcome.violations));
        }
        Ok(largest_backlog(&outcome))
    }

    /// The scenario, as a user can run and change it.
    fn scenario(&self, starts: Starts) -> String {
        let Self { link, xoff, .. } = self;
        let payload = |frame: u16| u64::from(frame) - HEADER;
        let (filler, longest) = (payload(self.filler), payload(link.largest_frame));
        // The link to the receiver is so slow that nothing but the first frame leaves.
        let Duration(limit) = self.limit;
        let flow = |name: &str,
                    (src, dst): (u8, u8),
                    start: Duration,
                    payload: u64,
                    bytes: &str| {
            format!(
                "\n[[workload]]\nname = \"{name}\"\n[workload.transport.ethernet]\npayload = \"{payload}B\"\n\
                 [workload.congestion.line_rate]\n[[workload.list.flow]]\nsrc = {src}\ndst = {dst}\nstart = \"{start}\"\n{bytes}"
            )
        };
        let one = format!("bytes = \"{longest}B\"\n");
        let mut text = format!(
            "# The worst case that a search has found: above XOFF ({xoff}B), the queue to `sink` takes nearly all of the\n\
             # headroom of {} that follows from the link. Largest backlog: table `queues`. Nothing leaves the\n\
             # switch, so `floodway check` warns that flows do not finish.\n\
             name = \"headroom\"\narrivals = \"{limit}ps\"\nlimit = \"{}ps\"\nwire_overhead = \"{}B\"\n\n\
             [topology.custom]\nhosts = [\"neighbor\", \"other\", \"sink\"]\nswitches = [\"switch\"]\n\
             links = [\n  {{ ends = \"neighbor -- switch\", rate = \"{}\", delay = \"{}\" }},\n  \
             {{ ends = \"other -- switch\", rate = \"{}\", delay = \"0ns\" }},\n  \
             {{ ends = \"sink -- switch\", rate = \"1Kbps\", delay = \"0ns\" }},\n]\n\n\
             [switch]\nlatency = \"{}\"\ncell = \"{}B\"\n\n[switch.queue]\nsize = \"{}B\"\n\n\
             [switch.flow_control.pfc]\nmeasured_on = \"ingress\"\nxoff = \"{xoff}B\"\nxon = \"0B\"\nresponse = \"{}\"\n",
            self.bound,
            2 * limit,
            link.wire_overhead,
            link.rate,
            link.delay,
            link.rate,
            link.latency,
            link.cell.bytes(),
            self.size,
            self.response,
        );
        text += &flow("fillers", (0, 2), Duration::ZERO, filler, "");
        text += &flow("crossing", (0, 2), starts.crossing, longest, &one);
        text += &flow("begun", (0, 2), starts.begun, longest, &one);
        text += &flow("ahead", (1, 0), starts.ahead, longest, &one);
        text
    }
}

/// The largest backlog of the queue to the receiver.
fn largest_backlog(outcome: &Outcome) -> u64 {
    let queues = outcome.table("queues");
    let to_sink = |&(port, queue): &(&u64, &u64)| (*port, *queue) == (2, 0);
    let places = queues.u64s("port").iter().zip(queues.u64s("queue"));
    let place = places.into_iter().position(|place| to_sink(&place));
    place.map_or(0, |row| queues.u64s("max_backlog_bytes")[row])
}
