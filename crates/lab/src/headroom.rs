//! The worst case of a headroom, found by simulation. Its distance from the computed headroom shows how
//! tight that is; [`search`] looks for it.
//!
//! A neighbor sends the frames that take most of the buffer for their time on the wire, as fast as
//! its link carries them, and nothing leaves the switch. The start times of three long frames decide:
//! one that crosses XOFF, one on the reverse wire that delays the pause frame, and one that the
//! neighbor begins just before it obeys.

use std::fmt;

use floodway_model::packet::length::SHORTEST_FRAME;
use floodway_model::{Bytes, Duration, Rate};
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::switch::cell::worst_frame;
use floodway_sim::switch::flow_control::pausing::{Link, Part, carried};
use floodway_sim::{Outcome, Simulation};

/// Ethernet header and checksum.
const HEADER: u64 = 18;

/// The most frames of a run.
const MOST_FRAMES: u64 = 200_000;

/// Start times that are tried of a frame, around the best so far.
const STEPS: u64 = 64;

/// The worst case that a search has found.
#[derive(Clone, Debug)]
pub struct WorstCase {
    /// The largest occupancy above XOFF.
    pub bytes: Bytes,
    /// The scenario in which it occurs, as a file.
    pub scenario: String,
    /// Runs that the search took.
    pub runs: usize,
}

/// Why a search has no result.
#[derive(Debug)]
pub enum Failed {
    /// A run would have this many frames, more than are simulated.
    TooLong(u64),
    /// A scenario of the search is refused.
    Scenario(floodway_scenario::Error),
    /// A run broke rules that no sound run breaks, or exceeded the computed headroom.
    Violations(Vec<String>),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(frames) => write!(
                f,
                "a run of the search has {frames} frames, and at most {MOST_FRAMES} are simulated: \
                 shorten the cable, the response or the latency, or lower the rate"
            ),
            Self::Scenario(error) => f.write_str(&error.plain()),
            Self::Violations(wrong) => f.write_str(&wrong.join("; ")),
        }
    }
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
    /// Length of the frames that fill most of the buffer.
    filler: u16,
    /// Fillers that arrive before XOFF is reached.
    before: u64,
    limit: Duration,
    /// Rate of the link to the receiver, so slow that only the first frame leaves.
    sink: Rate,
    /// The computed headroom.
    bound: u64,
    runs: usize,
}

/// Searches for the worst case of a link with one lossless class, whose other end obeys a pause after
/// `response`. The search ends when it is within a longest frame of the computed headroom, or when
/// it has tried all its start times.
pub fn search(link: &Link, response: Duration) -> Result<WorstCase, Failed> {
    let mut search = Search::new(link, response)?;
    let long = search.on_wire(link.largest_frame);
    let first = search.expected();
    let near = search.bound.saturating_sub(link.cell.occupied(link.largest_frame).into());
    let mut best = (0, first);
    // The frame on the reverse wire may have to begin earlier than the decision says.
    for earlier in [Duration::ZERO, Duration(long.0 / 2), long] {
        let ahead = before_by(first.ahead, earlier);
        let begun = before_by(first.begun, earlier);
        for starts in [Starts { ahead, ..first }, Starts { ahead, begun, ..first }] {
            let found = search.improve(starts)?;
            if found.0 > best.0 {
                best = found;
            }
            if best.0 >= near {
                return search.result(best);
            }
        }
    }
    search.result(best)
}

/// A time, earlier by some duration, or zero.
fn before_by(time: Duration, earlier: Duration) -> Duration {
    Duration(time.0.saturating_sub(earlier.0))
}

impl<'a> Search<'a> {
    fn new(link: &'a Link, response: Duration) -> Result<Self, Failed> {
        let overhead = link.wire_overhead;
        let (_, filler) = worst_frame(link.cell, link.smallest_frame, link.largest_frame, overhead);
        let mut search = Self {
            link,
            response,
            filler,
            // Enough that all long frames can begin after the start.
            before: 2 * u64::from(link.largest_frame) / u64::from(filler) + 20,
            limit: Duration::ZERO,
            sink: link.rate,
            bound: link.headroom(response).0,
            runs: 0,
        };
        let obeyed: Duration = link.times(response).iter().map(|(_, time)| *time).sum();
        search.limit = search.crossed() + obeyed * 2 + search.on_wire(link.largest_frame) * 8;
        let frame = u64::from(filler) + u64::from(overhead);
        let frames = carried(search.limit, link.rate) / frame + 1;
        if frames > MOST_FRAMES {
            return Err(Failed::TooLong(frames));
        }
        search.sink = Rate((link.rate.0 / (2 * frames)).max(1));
        Ok(search)
    }

    fn on_wire(&self, bytes: u16) -> Duration {
        self.link.rate.time_for(Bytes(u64::from(bytes) + u64::from(self.link.wire_overhead)))
    }

    /// When the neighbor has sent so many fillers that occupancy is XOFF. The first one leaves at
    /// once for the receiver.
    fn crossed(&self) -> Duration {
        self.on_wire(self.filler) * (self.before + 1)
    }

    fn xoff(&self) -> u64 {
        self.before * u64::from(self.link.cell.occupied(self.filler))
    }

    /// The start times that follow from the parts of the headroom.
    fn expected(&self) -> Starts {
        let (link, crossing) = (self.link, self.crossed());
        let long = self.on_wire(link.largest_frame);
        let decided = crossing + long + link.delay + link.latency;
        let obeyed = link.times(self.response).into_iter().filter(|(part, _)| {
            matches!(part, Part::Ahead | Part::Pause | Part::Forth | Part::Response)
        });
        Starts {
            crossing,
            // It takes its own link to the switch first.
            ahead: before_by(decided, long + link.latency),
            begun: decided + obeyed.map(|(_, time)| time).sum(),
        }
    }

    /// Moves the long frames in time, one after the other, around the best start times so far and in smaller and smaller
    /// steps. Returns the largest occupancy above XOFF that was found, and where.
    fn improve(&mut self, mut starts: Starts) -> Result<(u64, Starts), Failed> {
        let filler = self.on_wire(self.filler);
        let mut most = self.occupancy(starts)?;
        for span in [self.on_wire(self.link.largest_frame), filler * 8, filler] {
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

    fn result(&self, (bytes, starts): (u64, Starts)) -> Result<WorstCase, Failed> {
        if bytes > self.bound {
            return Err(Failed::Violations(vec![format!(
                "a case takes {} above XOFF, more than the headroom of {} that was computed",
                Bytes(bytes),
                Bytes(self.bound)
            )]));
        }
        Ok(WorstCase { bytes: Bytes(bytes), scenario: self.scenario(starts), runs: self.runs })
    }

    /// The largest occupancy of a run above XOFF.
    fn occupancy(&mut self, starts: Starts) -> Result<u64, Failed> {
        self.runs += 1;
        let text = self.scenario(starts);
        let library = [("headroom.toml", text.as_str())];
        let scenario = Scenario::of_library(&library, "headroom.toml", &Overrides::default())
            .map_err(Failed::Scenario)?;
        let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
        if !outcome.violations.is_empty() {
            return Err(Failed::Violations(outcome.violations));
        }
        Ok(largest_backlog(&outcome).saturating_sub(self.xoff()))
    }

    /// The scenario, as a user can run and change it.
    fn scenario(&self, starts: Starts) -> String {
        let (link, xoff) = (self.link, self.xoff());
        // `check` assumes the shortest frames of Ethernet.
        let any = Link { smallest_frame: SHORTEST_FRAME, ..*link };
        let size = xoff + any.headroom(self.response).0;
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
            Bytes(self.bound),
            2 * limit,
            link.wire_overhead,
            link.rate,
            link.delay,
            link.rate,
            self.sink,
            link.latency,
            link.cell.bytes(),
            size,
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

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_scenario::headroom::{Sum, measured};
    use floodway_sim::switch::cell::Cell;

    /// How many packets a scenario loses, with a buffer of another size and losses that are no errors.
    fn lost(scenario: &str, size: (u64, u64)) -> u64 {
        let (old, new) = (format!("size = \"{}B\"", size.0), format!("size = \"{}B\"", size.1));
        assert!(scenario.contains(&old), "{old}");
        let text = scenario
            .replace(&old, &new)
            .replace("[switch.flow_control.pfc]", "[switch.flow_control.pfc]\nlossless = false");
        let library = [("headroom.toml", text.as_str())];
        let scenario = Scenario::of_library(&library, "headroom.toml", &Overrides::default());
        let scenario = scenario.map_err(|error| error.plain()).unwrap();
        let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
        outcome.counter("dropped_packets")
    }

    /// A cable of 5 m takes 25 ns in each direction and the neighbor 310 ns: a measurement of the round trip finds
    /// 360 ns, which are 4,500 bytes at 100 Gb/s. With a frame of 1538 ahead and the pause frame of 84 they are 6,122
    /// bytes, in which 72 frames of 84 end, each in a cell of 208; the longest frame takes 8, twice. With this headroom
    /// nothing is lost in the worst case, and with a cell less something is. The standard would allow the
    /// neighbor 2,017.28 ns: 25,216 bytes in place of 3,875.
    #[test]
    fn a_measured_headroom_loses_nothing_and_a_cell_less_does() {
        let link = Link {
            rate: Rate::from_gbps(100),
            delay: Duration::from_ns(25),
            lossless_classes: 1,
            smallest_frame: 64,
            largest_frame: 1_518,
            wire_overhead: 20,
            latency: Duration::ZERO,
            cell: Cell::of(208),
        };
        let response = Duration::from_ns(310);
        let headroom = Sum::measured(&link, link.delay * 2 + response).total.0;
        assert_eq!(headroom, (72 + 16) * 208);
        let worst = search(&link, response).unwrap();
        let buffer = |headroom: u64| {
            let xoff = worst.scenario.lines().find_map(|line| line.strip_prefix("xoff = \""));
            let xoff: u64 = xoff.unwrap().trim_end_matches("B\"").parse().unwrap();
            xoff + headroom
        };
        let old = buffer(link.headroom(response).0);
        assert_eq!(lost(&worst.scenario, (old, buffer(headroom))), 0);
        assert!(lost(&worst.scenario, (old, buffer(headroom - 208))) > 0);
        let standard = link.headroom(Duration(2_017_280)).0;
        // 1538, 84, 625 on the cable and 25,216 are 27,463 bytes, which fill 326 cells.
        assert_eq!(standard, (326 + 16) * 208);
        // A link without cable whose neighbor answers after the round trip is the same.
        let folded = measured(&link).headroom(link.delay * 2 + response);
        assert_eq!(folded.0, headroom);
    }
}
