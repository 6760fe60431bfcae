//! `floodway headroom --prove`: the worst case that a search finds by simulation. Its distance from the
//! computed headroom says how tight that is.
//!
//! A neighbor sends the frames that take most memory for their time as fast as its link carries
//! them, and nothing leaves the switch. The start times of three long frames decide: one that
//! crosses XOFF, one on the reverse wire that the pause frame finds in its way, and one that the
//! neighbor begins just before it obeys. The search tries start times of one after the other.

use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::headroom::Sum;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::switch::cell::worst_frame;
use floodway_sim::switch::flow_control::pausing::{Link, Part, carried};
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
    /// Rate of the link to the receiver, so slow that nothing but the first frame leaves.
    sink: Rate,
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
    let limit = crossed + until_obeyed * 2 + frame(link.largest_frame) * 8;
    let frames =
        carried(limit, link.rate) / (u64::from(filler) + u64::from(link.wire_overhead)) + 1;
    if frames > MOST_FRAMES {
        return Err(Failure::Unknown(format!(
            "a run of the search has {frames} frames, and at most {MOST_FRAMES} are simulated: shorten the cable, the \
             response or the latency, or lower the rate"
        )));
    }
    let xoff = before * room;
    let mut search = Search {
        link,
        response,
        filler,
        xoff,
        limit,
        sink: Rate((link.rate.0 / (2 * frames)).max(1)),
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
    let first = Starts {
        crossing: crossed,
        // It takes its own link to the switch first.
        ahead: before_by(decided, long + link.latency),
        begun: decided + obeyed.map(|(_, time)| time).sum(),
    };
    // The frame on the reverse wire may have to begin earlier than the decision says.
    let mut best = (0, first);
    for earlier in [Duration::ZERO, Duration(long.0 / 2), long] {
        let ahead = before_by(first.ahead, earlier);
        let begun = before_by(first.begun, earlier);
        for starts in [Starts { ahead, ..first }, Starts { ahead, begun, ..first }] {
            let found = search.improve(starts, [long, frame(filler) * 8, frame(filler)])?;
            if found.0 > best.0 {
                best = found;
            }
            let near = search.bound.0.saturating_sub(u64::from(link.cell.room(link.largest_frame)));
            if best.0.saturating_sub(search.xoff) >= near {
                return Ok(search.result(best));
            }
        }
    }
    Ok(search.result(best))
}

/// The most frames of a run.
const MOST_FRAMES: u64 = 200_000;

/// Start times that are tried of a frame, around the best so far.
const STEPS: u64 = 64;

/// A time, earlier by some duration, or zero.
fn before_by(time: Duration, earlier: Duration) -> Duration {
    Duration(time.0.saturating_sub(earlier.0))
}

impl Search<'_> {
    /// Moves the long frames in time, one after the other, within these spans around the best start times so far.
    /// Returns the largest occupancy that was found, and where.
    fn improve(
        &mut self,
        mut starts: Starts,
        spans: [Duration; 3],
    ) -> Result<(u64, Starts), Failure> {
        let mut most = self.occupancy(starts)?;
        for span in spans {
            for which in 0..3 {
                let middle = starts;
                for step in 0..=STEPS {
                    let mut tried = middle;
                    let time = match which {
                        0 => &mut tried.crossing,
                        1 => &mut tried.ahead,
                        _ => &mut tried.begun,
                    };
                    *time = before_by(*time + Duration(2 * span.0 / STEPS * step), span);
                    let found = self.occupancy(tried)?;
                    if found > most {
                        (most, starts) = (found, tried);
                    }
                }
            }
        }
        Ok((most, starts))
    }

    fn result(&self, (most, starts): (u64, Starts)) -> Found {
        let bytes = Bytes(most.saturating_sub(self.xoff));
        Found { bytes, scenario: self.scenario(starts), runs: self.runs }
    }

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
             {{ ends = \"sink -- switch\", rate = \"{}\", delay = \"0ns\" }},\n]\n\n\
             [switch]\nlatency = \"{}\"\ncell = \"{}B\"\n\n[switch.queue]\nsize = \"{}B\"\n\n\
             [switch.flow_control.pfc]\nmeasured_on = \"ingress\"\nxoff = \"{xoff}B\"\nxon = \"0B\"\nresponse = \"{}\"\n",
            self.bound,
            2 * limit,
            link.wire_overhead,
            link.rate,
            link.delay,
            link.rate,
            self.sink,
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
