//! The configuration: lines of a key and its values.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_machine::printable::short;
use floodway_model::{Duration, Rate};

use crate::files::{MARK, Unit, Word, lines};
use crate::text::{Place, Problem, Source, suggest};

/// How many values a key has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    Words(usize),
    /// A number n, and n pairs.
    Pairs,
}

use Values::{Pairs, Words};

/// All keys that the simulator's `third.cc` knows.
const KEYS: [(&str, Values); 50] = [
    ("ENABLE_QCN", Words(1)),
    ("USE_DYNAMIC_PFC_THRESHOLD", Words(1)),
    ("CLAMP_TARGET_RATE", Words(1)),
    ("PAUSE_TIME", Words(1)),
    ("DATA_RATE", Words(1)),
    ("LINK_DELAY", Words(1)),
    ("PACKET_PAYLOAD_SIZE", Words(1)),
    ("L2_CHUNK_SIZE", Words(1)),
    ("L2_ACK_INTERVAL", Words(1)),
    ("L2_BACK_TO_ZERO", Words(1)),
    ("TOPOLOGY_FILE", Words(1)),
    ("FLOW_FILE", Words(1)),
    ("TRACE_FILE", Words(1)),
    ("TRACE_OUTPUT_FILE", Words(1)),
    ("SIMULATOR_STOP_TIME", Words(1)),
    ("ALPHA_RESUME_INTERVAL", Words(1)),
    ("RP_TIMER", Words(1)),
    ("EWMA_GAIN", Words(1)),
    ("FAST_RECOVERY_TIMES", Words(1)),
    ("RATE_AI", Words(1)),
    ("RATE_HAI", Words(1)),
    ("ERROR_RATE_PER_LINK", Words(1)),
    ("CC_MODE", Words(1)),
    ("RATE_DECREASE_INTERVAL", Words(1)),
    ("MIN_RATE", Words(1)),
    ("FCT_OUTPUT_FILE", Words(1)),
    ("HAS_WIN", Words(1)),
    ("GLOBAL_T", Words(1)),
    ("MI_THRESH", Words(1)),
    ("VAR_WIN", Words(1)),
    ("FAST_REACT", Words(1)),
    ("U_TARGET", Words(1)),
    ("INT_MULTI", Words(1)),
    ("RATE_BOUND", Words(1)),
    ("ACK_HIGH_PRIO", Words(1)),
    ("DCTCP_RATE_AI", Words(1)),
    ("PFC_OUTPUT_FILE", Words(1)),
    ("LINK_DOWN", Words(3)),
    ("ENABLE_TRACE", Words(1)),
    ("KMAX_MAP", Pairs),
    ("KMIN_MAP", Pairs),
    ("PMAX_MAP", Pairs),
    ("BUFFER_SIZE", Words(1)),
    ("QLEN_MON_FILE", Words(1)),
    ("QLEN_MON_START", Words(1)),
    ("QLEN_MON_END", Words(1)),
    ("MULTI_RATE", Words(1)),
    ("SAMPLE_FEEDBACK", Words(1)),
    ("PINT_LOG_BASE", Words(1)),
    ("PINT_PROB", Words(1)),
];

/// What is written, by key.
pub struct Config<'a> {
    source: &'a Arc<Source>,
    settings: BTreeMap<&'static str, Vec<Word<'a>>>,
    /// Keys that are not known, and what stands behind values.
    pub warnings: Vec<Problem>,
    /// Lines with a key that is not known: key and the rest.
    pub unknown: Vec<(String, String)>,
}

impl<'a> Config<'a> {
    /// Reads a configuration.
    pub fn read(source: &'a Arc<Source>) -> Result<Self, Problem> {
        let (settings, warnings, unknown) = Default::default();
        let mut config = Self { source, settings, warnings, unknown };
        for line in lines(source) {
            let words: Vec<Word<'a>> = line.words().collect();
            let key = words[0];
            if key.text.starts_with(['#', '{', '/']) {
                continue;
            }
            let Some(&(name, values)) = KEYS.iter().find(|(name, _)| *name == key.text) else {
                let names: Vec<_> = KEYS.iter().map(|(name, _)| *name).collect();
                let close = suggest::closest(key.text, names);
                let help = match close {
                    _ if key.text.starts_with(MARK) => {
                        "the simulator ignores this line, because a byte \
                                                        order mark stands before the key: save the \
                                                        file without one"
                            .to_owned()
                    }
                    Some(close) => {
                        format!("did you mean `{close}`? The simulator ignores this line")
                    }
                    None => "the simulator ignores this line, and so does floodway".to_owned(),
                };
                config
                    .warnings
                    .push(key.warning(format!("there is no key `{}`", short(key.text)), help));
                let rest = words[1..].iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
                config.unknown.push((short(key.text).into_owned(), short(&rest).into_owned()));
                continue;
            };
            let count = match (values, words.get(1)) {
                (Words(count), _) => count,
                (Pairs, None) => 1,
                (Pairs, Some(count)) => {
                    let pairs = count.whole("the number of pairs")?;
                    usize::try_from(pairs).unwrap_or(usize::MAX).saturating_mul(2).saturating_add(1)
                }
            };
            if words.len() - 1 < count {
                let help = match values {
                    Words(1) => format!("write one behind it: {name} 1"),
                    Words(_) => {
                        format!("write the time in microseconds and two nodes: {name} 0 0 0")
                    }
                    Pairs => format!(
                        "write how many pairs there are, and each as rate and value: \
                                      {name} 2 100000000000 400 200000000000 800"
                    ),
                };
                let message = format!("`{name}` has {} of {count} values", words.len() - 1);
                return Err(line.all.problem(message, help));
            }
            if let Some(more) =
                words.get(1 + count).filter(|word| !word.text.starts_with(['{', '#']))
            {
                let help = "the simulator takes it for a key of its own, or ignores it: remove it";
                config
                    .warnings
                    .push(more.warning(format!("`{name}` has more values than it takes"), help));
            }
            let written = &words[1..=count];
            match config.settings.get_mut(name) {
                None => {
                    config.settings.insert(name, written.to_vec());
                }
                Some(before) => {
                    let help = match values {
                        Words(_) => {
                            *before = written.to_vec();
                            "this one counts, as for the simulator: remove the others"
                        }
                        Pairs => {
                            before.extend(&written[1..]);
                            "the pairs of all of them count, as for the simulator: write them in one"
                        }
                    };
                    let message = format!("`{name}` is there more than once");
                    config.warnings.push(key.warning(message, help));
                }
            }
        }
        if config.settings.is_empty() && !config.unknown.is_empty() {
            return Err(Problem::error(
                Place::whole(source),
                "this is no configuration: it has none of the simulator's keys",
                "name its configuration, which has lines like TOPOLOGY_FILE topology.txt. A topology or a \
                 flow file by itself is read by [topology.file] or [workload.file] of a scenario",
            ));
        }
        config.rates_twice();
        Ok(config)
    }

    /// Warns of rates that a map has more than once.
    fn rates_twice(&mut self) {
        let maps = KEYS.iter().filter(|(_, values)| *values == Pairs);
        for (name, _) in maps {
            let mut known = BTreeMap::new();
            for pair in self.settings.get(name).map_or(&[][..], |words| &words[1..]).chunks(2) {
                // What is no rate is refused where it is needed.
                let Ok(rate) = pair[0].whole("") else { continue };
                if let Some(first) = known.insert(rate, pair[1]) {
                    let message = format!(
                        "`{name}` has two values for {}: {} and {}",
                        Rate(rate),
                        short(first.text),
                        short(pair[1].text)
                    );
                    let help = format!(
                        "the last one, {}, counts, as for the simulator: remove the other pair",
                        short(pair[1].text)
                    );
                    self.warnings.push(pair[0].warning(message, help));
                }
            }
        }
    }

    /// All keys that are written.
    pub fn written(&self) -> impl Iterator<Item = &'static str> {
        self.settings.keys().copied()
    }

    /// What stands behind a key, its values with single blanks between them.
    pub fn text(&self, key: &str) -> Option<String> {
        let words = self.settings.get(key)?;
        let mut texts: Vec<_> = words.iter().map(|word| short(word.text)).collect();
        if KEYS.iter().any(|&(name, values)| name == key && values == Pairs) {
            // Of several lines together.
            texts[0] = Cow::Owned(((words.len() - 1) / 2).to_string());
        }
        Some(texts.join(" "))
    }

    /// The first value of a key.
    pub fn word(&self, key: &str) -> Option<Word<'a>> {
        self.settings.get(key).map(|words| words[0])
    }

    /// The values of a key.
    pub fn words(&self, key: &str) -> Option<&[Word<'a>]> {
        self.settings.get(key).map(Vec::as_slice)
    }

    /// Whether the simulator knows a key, which is then that.
    pub fn key(name: &str) -> Option<&'static str> {
        KEYS.iter().map(|(key, _)| *key).find(|key| *key == name)
    }

    /// Where the values of a key stand, or else the whole file.
    pub fn place(&self, key: Option<&str>) -> Place {
        let words = key.and_then(|key| self.settings.get(key)).map(Vec::as_slice);
        match words {
            Some([first, .., last]) if first.range().start < last.range().end => {
                Place::at(self.source, first.range().start..last.range().end)
            }
            Some([first, ..]) => Place::at(self.source, first.range()),
            _ => Place::whole(self.source),
        }
    }

    /// What is wrong with a key, or with the value that the simulator has without it.
    pub fn problem(&self, key: &str, message: impl Into<String>, help: &str) -> Problem {
        match self.word(key) {
            Some(word) => word.problem(message, help),
            None => Problem::error(Place::whole(self.source), message, help),
        }
    }

    /// The first value of a key that has to be there.
    pub fn required(&self, key: &str, help: &str) -> Result<Word<'a>, Problem> {
        self.word(key).ok_or_else(|| {
            let help = format!("{help}: the simulator has no value of its own");
            Problem::error(Place::whole(self.source), format!("`{key}` is missing"), help)
        })
    }

    /// A whole number, or what the simulator has.
    pub fn whole(&self, key: &str, default: u64) -> Result<u64, Problem> {
        self.word(key).map_or(Ok(default), |word| word.whole(&format!("`{key}`")))
    }

    /// Whether it is not 0, or what the simulator has.
    pub fn flag(&self, key: &str, default: bool) -> Result<bool, Problem> {
        Ok(self.whole(key, default.into())? != 0)
    }

    /// A real number, or what the simulator has.
    pub fn real(&self, key: &str, default: f64) -> Result<f64, Problem> {
        self.word(key).map_or(Ok(default), |word| word.real(&format!("`{key}`")))
    }

    /// A time in microseconds, of which the simulator takes the whole ones.
    pub fn microseconds(&self, key: &str, default: Option<u64>) -> Result<Duration, Problem> {
        let word = match (self.word(key), default) {
            (Some(word), _) => word,
            (None, Some(default)) => return Ok(Duration::from_us(default)),
            (None, None) => self.required(key, "write microseconds")?,
        };
        let number = word.real(&format!("`{key}`"))?;
        if !(0.0..1e12).contains(&number) {
            let message = format!("`{key}` is {}", short(word.text));
            return Err(word.problem(message, "write microseconds: 55"));
        }
        Ok(Duration::from_us(number as u64))
    }

    /// A rate, or what the simulator has.
    pub fn rate(&self, key: &str, default: Option<Rate>) -> Result<Rate, Problem> {
        match (self.word(key), default) {
            (Some(word), _) => rate(word, key),
            (None, Some(default)) => Ok(default),
            (None, None) => rate(self.required(key, "write a rate")?, key),
        }
    }

    /// The pairs of a map, by rate in bits per second; empty if it is not there.
    pub fn map(&self, key: &str) -> Result<BTreeMap<u64, Word<'a>>, Problem> {
        let Some(words) = self.settings.get(key) else { return Ok(BTreeMap::new()) };
        let pair =
            |pair: &[Word<'a>]| Ok((pair[0].whole(&format!("the rate in `{key}`"))?, pair[1]));
        words[1..].chunks(2).map(pair).collect()
    }
}

/// A rate as ns-3 writes it: 50Mb/s or 50Mbps.
fn rate(word: Word<'_>, key: &str) -> Result<Rate, Problem> {
    let text = word.text.replace("b/s", "bps");
    word.part(0, &text)
        .quantity()
        .map_err(|error| word.problem(format!("`{key}`: {error}"), "write a rate like 50Mb/s"))
}

/// A time in seconds.
pub fn seconds(word: Word<'_>, key: &str) -> Result<Duration, Problem> {
    word.time(&format!("`{key}`"), Unit::Seconds)
}
