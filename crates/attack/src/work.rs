//! One attack after another in this process, with a line of JSON before and after each, so that
//! whoever started the process knows which one it was that did not come back.

use std::fs;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use floodway_model::random::Stream;
use serde::{Deserialize, Serialize};

use crate::compare::{self, Budget};
use crate::finding::{Finding, Kind, catch};
use crate::generate::{self, Attempt, parse};
use crate::mutate::mutate;
use crate::readers::{Target, corpus_folder, scratch, temporary};
use crate::schema::Schema;

/// What is attacked: the simulator by scenarios, or a reader by files.
#[derive(Clone, Copy, Debug)]
pub enum Attack {
    /// Random valid scenarios.
    Scenarios,
    /// Broken files.
    Files(&'static Target),
}

/// What the attacks by scenarios are called.
pub const SCENARIOS: &str = "scenarios";

impl Attack {
    /// All attacks.
    pub fn all() -> impl Iterator<Item = Self> {
        let files = crate::readers::TARGETS.iter().map(Self::Files);
        std::iter::once(Self::Scenarios).chain(files)
    }

    /// The attack of this name: that of a reader, or [`SCENARIOS`].
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|attack| attack.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scenarios => SCENARIOS,
            Self::Files(target) => target.name,
        }
    }
}

/// What came of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing was found.
    Clean {
        /// Packet-hops that were simulated.
        hops: u64,
        /// Runs that were cut short because they are large.
        cut: u64,
        /// Of these those that were slow for their size.
        slow: u64,
    },
    /// No valid scenario came out.
    GivenUp,
    /// The scenario is valid and too large.
    TooLarge,
    /// A fault.
    Found(Finding),
}

/// A line of a process that attacks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// This number begins.
    Begin(u64),
    /// This number is done.
    End(u64, Verdict),
}

/// Where the files lie that random scenarios name.
pub fn file_name() -> String {
    corpus_folder().join("scenario.toml").display().to_string()
}

/// Makes number `index` of an attack: the bytes of a file, or the text of a scenario.
pub struct Maker {
    attack: Attack,
    seed: u64,
    schema: Schema,
    corpus: Vec<Vec<u8>>,
}

impl Maker {
    /// A maker for an attack under a seed.
    pub fn new(attack: Attack, seed: u64) -> Self {
        let corpus = match attack {
            Attack::Scenarios => Vec::new(),
            Attack::Files(target) => target.corpus(),
        };
        Self { attack, seed, schema: Schema::default(), corpus }
    }

    /// The bytes of a number, or why there are none.
    pub fn bytes(&self, index: u64) -> Result<Vec<u8>, Verdict> {
        match self.attack {
            Attack::Files(target) => {
                let name = format!("{} {index}", target.name);
                Ok(mutate(&mut Stream::named(self.seed, &name), &self.corpus))
            }
            Attack::Scenarios => {
                let made =
                    catch(|| Ok(generate::scenario(&self.schema, self.seed, index, &file_name())));
                match made {
                    Ok(Attempt::Valid(text)) => Ok(text.into_bytes()),
                    Ok(Attempt::GivenUp) => Err(Verdict::GivenUp),
                    Ok(Attempt::TooLarge) => Err(Verdict::TooLarge),
                    // What made it panic makes it panic again.
                    Err(_) => Ok(generate::last_text().into_bytes()),
                }
            }
        }
    }
}

/// Attacks with these bytes. Files that a scenario names are beside `file_name`.
pub fn attack(attack: Attack, bytes: &[u8], file_name: &str, budget: Budget) -> Verdict {
    let scratch = scratch().join("results");
    let compared = catch(|| match attack {
        Attack::Files(target) => {
            (target.run)(bytes);
            Ok(compare::Compared::default())
        }
        Attack::Scenarios => {
            let text = String::from_utf8_lossy(bytes);
            match parse(&text, file_name) {
                Ok(scenario) => compare::scenario(&scenario, &scratch, budget),
                Err(error) => {
                    let text = format!("the scenario is not valid\n{}", error.plain());
                    Err(Finding { kind: Kind::Failure, place: NOT_VALID.to_owned(), text })
                }
            }
        }
    });
    let _ = fs::remove_dir_all(&scratch);
    match compared {
        Ok(compare::Compared { hops, cut, slow }) => Verdict::Clean { hops, cut, slow },
        Err(finding) => Verdict::Found(finding),
    }
}

/// The place of a finding that is none: the scenario is not valid.
pub const NOT_VALID: &str = "not valid";

/// Goes through an attack from `first` on, for so long, and says so line by line.
pub fn work(attack_: Attack, seed: u64, first: u64, time: Duration) -> io::Result<()> {
    let begun = Instant::now();
    let maker = Maker::new(attack_, seed);
    let mut out = io::stdout();
    let mut say = |line: &Line| {
        serde_json::to_writer(&mut out, line)?;
        writeln!(out)?;
        out.flush()
    };
    for index in first.. {
        if begun.elapsed() >= time {
            break;
        }
        say(&Line::Begin(index))?;
        let verdict = match maker.bytes(index) {
            Ok(bytes) => attack(attack_, &bytes, &file_name(), Budget::default()),
            Err(verdict) => verdict,
        };
        say(&Line::End(index, verdict))?;
    }
    clean();
    Ok(())
}

/// Removes the temporary files of this thread.
pub fn clean() {
    let own = scratch();
    let _ = fs::remove_dir_all(&own);
    // Unless another thread has some.
    let _ = fs::remove_dir(temporary(std::process::id()));
}
