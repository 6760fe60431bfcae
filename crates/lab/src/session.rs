//! A scenario that another program drives: it injects flows in the place of one workload, advances time, and collects
//! completions ([`floodway_sim::session`]).
//!
//! ```
//! use floodway_lab::session::{Choice, open};
//! use floodway_scenario::{Overrides, Scenario};
//!
//! let text = r#"
//!     name = "two-hosts"
//!     arrivals = "1us"
//!     limit = "1ms"
//!     topology.star.hosts = 2
//!     host.congestion = "line_rate"
//!     workload = [{ permutation.bytes = "1KB" }]
//! "#;
//! let scenario = Scenario::parse(text, "two-hosts.toml", &Overrides::default())?;
//! let mut session = open(&scenario, &Choice::default())?;
//! let [a, b] = ["host 0", "host 1"].map(|name| session.host(name).unwrap());
//!
//! // A request, and a response as soon as it has arrived.
//! let request = session.inject(a, b, 1_000)?;
//! let arrived = session.next(None)?.unwrap();
//! assert_eq!(arrived.flow, request);
//! session.inject(b, a, 64_000)?;
//! let answered = session.next(None)?.unwrap();
//! assert_eq!(answered.start, arrived.at + session.latency());
//!
//! let outcome = session.close();
//! assert_eq!(outcome.table("flows").u64s("bytes"), [1_000, 64_000]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::path::Path;

use floodway_model::Duration;
use floodway_report::format::{Sheet, csv};
use floodway_scenario::{Scenario, Variant, suggest};
use floodway_sim::Outcome;
use floodway_sim::session::{self, Options, Session, without_workload};

use crate::Budget;

/// Which run of a scenario is a session, and how.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The variant; may be left out if there is one only.
    pub variant: Option<String>,
    /// The replication, counted from 0; may be left out if there is one only.
    pub replication: Option<u32>,
    /// The workload whose place the injected flows take, by name or number; may be left out if there is one only.
    pub workload: Option<String>,
    /// Time from the injection of a flow to its start, at least a window; `None` for exactly a window.
    pub latency: Option<Duration>,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Whether the auditor checks the invariants at every event.
    pub audit: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self {
            variant: None,
            replication: None,
            workload: None,
            latency: None,
            threads: 1,
            audit: false,
        }
    }
}

/// Why a session cannot be opened.
#[derive(Debug)]
pub enum Error {
    /// The scenario, or its need of memory.
    Scenario(floodway_scenario::Error),
    /// The choice.
    Choice(String),
    /// The simulation.
    Session(session::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(error) => f.write_str(error.plain().trim_end()),
            Self::Choice(error) => f.write_str(error),
            Self::Session(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<floodway_scenario::Error> for Error {
    fn from(error: floodway_scenario::Error) -> Self {
        Self::Scenario(error)
    }
}

impl From<session::Error> for Error {
    fn from(error: session::Error) -> Self {
        Self::Session(error)
    }
}

/// Opens a session: a run of the scenario in which the flows of one workload are those that are injected, with its
/// transport, congestion control and DSCP. Other workloads send as they do in a run.
pub fn open(scenario: &Scenario, choice: &Choice) -> Result<Session, Error> {
    let variant = variant(scenario, choice.variant.as_deref())?;
    let replication = replication(scenario, choice.replication)?;
    let workload = workload(variant, choice.workload.as_deref())?;
    let seed = scenario.replication_seed(replication);
    Budget::of_one(variant, seed, 1).check(&scenario.file_name)?;
    let spec = without_workload(variant.build_replication(replication, seed), workload);
    let Choice { latency, threads, audit, .. } = *choice;
    Ok(Session::open(spec, Options { workload, latency, threads, audit })?)
}

/// The variant of a session.
pub fn variant<'a>(scenario: &'a Scenario, name: Option<&str>) -> Result<&'a Variant, Error> {
    match (name, scenario.variants()) {
        (Some(name), _) => Ok(scenario.variant(name)?),
        (None, [only]) => Ok(only),
        (None, all) => {
            let names: Vec<&str> = all.iter().map(|variant| &*variant.name).collect();
            Err(Error::Choice(format!(
                "the scenario `{}` has the variants {}, and a session is one run: choose a variant",
                scenario.name,
                names.join(", ")
            )))
        }
    }
}

/// The replication of a session.
pub fn replication(scenario: &Scenario, number: Option<u32>) -> Result<u32, Error> {
    let (name, replications) = (&scenario.name, scenario.replications);
    match number {
        Some(number) if number < replications => Ok(number),
        Some(number) => Err(Error::Choice(format!(
            "there is no replication {number}: the scenario `{name}` has {replications}, counted from 0"
        ))),
        None if replications == 1 => Ok(0),
        None => Err(Error::Choice(format!(
            "the scenario `{name}` has {replications} replications, and a session is one run: choose a replication \
             from 0 to {}",
            replications - 1
        ))),
    }
}

/// The number of the workload whose place injected flows take.
fn workload(variant: &Variant, name: Option<&str>) -> Result<u16, Error> {
    let names = variant.workload_names();
    let known = |(number, name): (usize, &String)| match &**name {
        "" => number.to_string(),
        name => name.to_owned(),
    };
    let known: Vec<String> = names.iter().enumerate().map(known).collect();
    let number = match name {
        None if names.len() == 1 => 0,
        None => {
            return Err(Error::Choice(format!(
                "there are the workloads {}, and injected flows take the place of one: choose a workload",
                known.join(", ")
            )));
        }
        Some(name) => {
            let by_name = names.iter().position(|other| other == name);
            let by_number = || name.parse().ok().filter(|number| *number < names.len());
            by_name.or_else(by_number).ok_or_else(|| {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let remedy = suggest::remedy(name, "workloads", &known);
                Error::Choice(format!("there is no workload `{name}`: {remedy}"))
            })?
        }
    };
    Ok(number as u16)
}

/// Writes the tables of a session as CSV files into a directory, which is made if it is not there.
pub fn write_tables(outcome: &Outcome, directory: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(directory)?;
    for table in &outcome.tables {
        let path = directory.join(format!("{}.csv", table.name));
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        csv::write(&Sheet { run: None, table }, &mut out)?;
        std::io::Write::flush(&mut out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use floodway_model::{Instant, NodeId};
    use floodway_scenario::Overrides;
    use floodway_sim::Simulation;

    const HEAD: &str = "name = \"embedded\"\narrivals = \"200us\"\nlimit = \"5ms\"\n\
         topology.clos = { leaves = 2, spines = 2, hosts_per_leaf = 3 }\n";

    fn scenario(rest: &str) -> Scenario {
        Scenario::parse(&format!("{HEAD}{rest}"), "embedded.toml", &Overrides::default())
            .unwrap_or_else(|error| panic!("{}", error.plain()))
    }

    /// A session in the place of a list has the tables of the run with the list, beside a workload that comes later
    /// in the file and starts at the beginning.
    #[test]
    fn injected_flows_take_the_place_of_a_list() {
        let flows = [(0, 3, 200_000, 40), (1, 3, 90_000, 41), (4, 0, 5_000, 41), (5, 2, 1, 150)];
        let latency = Duration::from_us(3);
        let row = |(src, dst, bytes, at_us): (u32, u32, u64, u64)| {
            let start = at_us + 3;
            format!("{{ src = {src}, dst = {dst}, bytes = \"{bytes}B\", start = \"{start}us\" }}")
        };
        let list = flows.map(row).join(", ");
        let rest = format!(
            "[[workload]]\nlist.flow = [{list}]\nname = \"mine\"\ncongestion = \"dcqcn\"\ndscp = \"CS3\"\n\
             [[workload]]\nlist.flow = [{{ src = 2, dst = 3, bytes = \"2MB\" }}]\n"
        );
        let scenario = scenario(&rest);
        let run = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
        for (threads, workload) in [(1, "mine"), (2, "0"), (3, "mine")] {
            let workload = Some(workload.to_owned());
            let latency = Some(latency);
            let choice = Choice { workload, latency, threads, ..Choice::default() };
            let mut session = open(&scenario, &choice).unwrap();
            for (src, dst, bytes, at_us) in flows {
                session.advance(Instant(at_us * 1_000_000)).unwrap();
                session.inject(NodeId(src), NodeId(dst), bytes).unwrap();
            }
            while session.next(None).unwrap().is_some() {}
            // The other flow takes longer.
            session.advance(Instant(Duration::from_us(400).0)).unwrap();
            let outcome = session.close();
            assert_eq!(outcome.violations, Vec::<String>::new());
            let times = |outcome: &Outcome| {
                let table = outcome.table("flows");
                let columns = ["start_ns", "fct_ns"].map(|name| table.f64s(name).to_vec());
                (table.u64s("workload").to_vec(), columns)
            };
            // The flow of the other workload has number 0 in both.
            assert_eq!(times(&outcome), times(&run));
        }
    }

    #[test]
    fn what_cannot_be_chosen_is_refused() {
        let one = "[[workload]]\npermutation.bytes = \"1KB\"\n";
        let says =
            |rest: &str, choice: &Choice| open(&scenario(rest), choice).unwrap_err().to_string();
        let usual = Choice::default();
        assert_eq!(
            says(&format!("{one}[variants.a]\n[variants.b]\n"), &usual),
            "the scenario `embedded` has the variants a, b, and a session is one run: choose a variant"
        );
        assert_eq!(
            says(&format!("replications = 4\n{one}"), &usual),
            "the scenario `embedded` has 4 replications, and a session is one run: choose a replication from 0 to 3"
        );
        let fifth = Choice { replication: Some(4), ..Choice::default() };
        assert_eq!(
            says(&format!("replications = 4\n{one}"), &fifth),
            "there is no replication 4: the scenario `embedded` has 4, counted from 0"
        );
        let two = format!("share_hosts = true\n{one}name = \"first\"\n{one}");
        assert_eq!(
            says(&two, &usual),
            "there are the workloads first, 1, and injected flows take the place of one: choose a workload"
        );
        let named = Choice { workload: Some("frist".to_owned()), ..Choice::default() };
        assert_eq!(
            says(&two, &named),
            "there is no workload `frist`: did you mean `first`? The workloads are: first, 1"
        );
        let kernels = "[[workload]]\nlinux = { hosts = \"0-1\", start = \"1us\" }\n";
        assert_eq!(
            says(kernels, &usual),
            "a session cannot have hosts that are Linux kernels: remove [workload.linux] from the scenario"
        );
        assert_eq!(
            says(&format!("explained_flows = 5\n{one}"), &usual),
            "a session cannot explain delays, for which flows are chosen before a run: remove `explained_flows` from \
             the scenario"
        );
    }

    #[test]
    fn tables_are_written() {
        let directory =
            std::env::temp_dir().join(format!("floodway-session-{}", std::process::id()));
        let scenario = scenario("[[workload]]\npermutation.bytes = \"1KB\"\n");
        let mut session = open(&scenario, &Choice::default()).unwrap();
        session.inject(NodeId(0), NodeId(4), 77).unwrap();
        session.next(None).unwrap();
        write_tables(&session.close(), &directory).unwrap();
        let flows = std::fs::read_to_string(directory.join("flows.csv")).unwrap();
        std::fs::remove_dir_all(&directory).unwrap();
        let mut lines = flows.lines();
        assert!(
            lines.next().unwrap().starts_with("flow,workload,src,dst,bytes,start_ns,"),
            "{flows}"
        );
        assert!(lines.next().unwrap().starts_with("0,0,0,4,77,"), "{flows}");
        assert_eq!(lines.next(), None);
    }
}
