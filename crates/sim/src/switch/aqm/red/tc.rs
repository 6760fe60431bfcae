//! The computations of `tc` from its options, and the syntax in which it reads them.

use floodway_model::Bytes;

use super::Spec;

/// The parameters as `tc` passes them to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tc {
    /// Maximum backlog, bytes.
    pub limit: u32,
    /// Average up to which nothing is marked, bytes.
    pub min: u32,
    /// Average from which everything is marked, bytes.
    pub max: u32,
    /// The weight of the average is 2^-`wlog`.
    pub wlog: u32,
    /// The older encoding of the probability, kept for display: `(max - min) / 2^plog`.
    pub plog: u32,
    /// The probability just below `max`, in units of 2^-32.
    pub max_p: u32,
    /// The increase of this probability per byte of average above `min`, as the kernel rounds it.
    pub slope: u32,
    /// One step of `stab` is 2^`scell_log` microseconds of idle time.
    pub scell_log: u32,
    /// By how many bits the average is shifted right after idle time.
    ///
    /// `tc` computes it in ticks of 64 ns and the kernel looks it up in microseconds, so that the
    /// average decays 15.6 times more slowly than Floyd and Jacobson specify. This is the behavior
    /// of Linux.
    pub stab: [u8; 256],
    /// Whether ECN-capable packets are marked.
    pub ecn: bool,
    /// Whether ECN-capable packets are dropped when the average is above `max`.
    pub harddrop: bool,
}

/// The options given; 0 means not given.
#[derive(Default)]
struct Said {
    limit: u32,
    min: u32,
    max: u32,
    avpkt: u32,
    burst: u32,
    /// Bytes per second.
    rate: u32,
    probability: f64,
    ecn: bool,
    harddrop: bool,
}

/// The kernel's ticks per microsecond, as `tc` reads them from `/proc/net/psched`: 1000 ns over 64
/// ns.
const TICKS_PER_US: f64 = 1_000.0 / 64.0;

/// Microseconds per second.
const US: f64 = 1e6;

/// Rate that `tc` assumes without `bandwidth`: 10 Mbit/s, in bytes per second.
const DEFAULT_RATE: u32 = 1_250_000;

impl Tc {
    pub(super) fn of_fields(spec: &Spec) -> Result<Self, String> {
        let bytes = |field: &str, value: Bytes| {
            u32::try_from(value.0).map_err(|_| format!("`{field}` ({value}) is above 4 GB"))
        };
        let rate = u32::try_from(spec.bandwidth.0 / 8)
            .map_err(|_| format!("`bandwidth` ({}) is above 34 Gb/s", spec.bandwidth))?;
        for (field, value) in [("min", spec.min), ("max", spec.max)] {
            if value.0 == 0 {
                return Err(format!("`{field}` is 0"));
            }
        }
        if spec.burst == 0 || rate == 0 {
            let field = if rate == 0 { "bandwidth" } else { "burst" };
            return Err(format!("`{field}` is 0"));
        }
        Self::derive(Said {
            limit: bytes("limit", spec.limit)?,
            min: bytes("min", spec.min)?,
            max: bytes("max", spec.max)?,
            avpkt: bytes("avpkt", spec.avpkt)?,
            burst: spec.burst,
            rate,
            probability: spec.probability,
            ecn: spec.ecn,
            harddrop: spec.harddrop,
        })
    }

    pub(super) fn of_command(command: &str) -> Result<Self, String> {
        let mut words = command.split_whitespace();
        if !words.any(|word| word == "red") {
            return Err("the command does not name the queueing discipline `red`".to_owned());
        }
        let mut said = Said { probability: 0.02, ..Said::default() };
        while let Some(word) = words.next() {
            match word {
                "ecn" => said.ecn = true,
                "harddrop" => said.harddrop = true,
                "limit" | "min" | "max" | "avpkt" | "burst" | "bandwidth" | "probability" => {
                    let value =
                        words.next().ok_or_else(|| format!("`{word}` is without a value"))?;
                    said.set(word, value)
                        .ok_or_else(|| format!("`{value}` is no value for `{word}`"))?;
                }
                "adaptive" | "adaptative" | "nodrop" | "qevent" => {
                    return Err(format!("`{word}` is not simulated"));
                }
                _ => return Err(format!("`{word}` is nothing that `tc` knows of RED")),
            }
        }
        for (field, value) in [("limit", said.limit), ("avpkt", said.avpkt)] {
            if value == 0 {
                return Err(format!("the command does not say `{field}`"));
            }
        }
        said.complete();
        Self::derive(said)
    }

    fn derive(said: Said) -> Result<Self, String> {
        let Said { limit, min, max, avpkt, burst, rate, probability, ecn, harddrop } = said;
        if avpkt == 0 {
            return Err("`avpkt` is 0".to_owned());
        }
        if min >= max {
            return Err(format!("`min` ({min} bytes) is not below `max` ({max} bytes)"));
        }
        if !(probability > 0.0 && probability <= 1.0) {
            return Err(format!("`probability` is {probability}, not above 0 and at most 1"));
        }
        let wlog = weight(min, burst, avpkt)?;
        // `red_check_params`: the shifted threshold must fit.
        if u64::from(max) << wlog >= 1 << 31 {
            return Err(format!(
                "`max` ({max} bytes) is too large for an average with the weight 1/{}",
                1u64 << wlog
            ));
        }
        let plog = old_probability(max - min, probability)
            .ok_or_else(|| format!("`probability` ({probability}) is too small"))?;
        let (scell_log, stab) = damping(wlog, avpkt, rate).ok_or_else(|| {
            format!("an average packet ({avpkt} bytes) takes too long at {rate} bytes per second")
        })?;
        // A probability of 1 becomes the largest number; C leaves that conversion undefined.
        let max_p = (probability * 2f64.powi(32)) as u32;
        let slope = (max_p / (max - min)).max(1);
        Ok(Self { limit, min, max, wlog, plog, max_p, slope, scell_log, stab, ecn, harddrop })
    }
}

impl Said {
    fn set(&mut self, word: &str, value: &str) -> Option<()> {
        match word {
            "limit" => self.limit = size(value)?,
            "min" => self.min = size(value)?,
            "max" => self.max = size(value)?,
            "avpkt" => self.avpkt = size(value)?,
            "burst" => self.burst = value.parse().ok()?,
            "bandwidth" => self.rate = rate(value)?,
            _ => self.probability = value.parse().ok()?,
        }
        Some(())
    }

    /// The defaults of `tc`, by Floyd's recommendations.
    fn complete(&mut self) {
        if self.max == 0 {
            self.max = if self.min > 0 { self.min.saturating_mul(3) } else { self.limit / 4 };
        }
        if self.min == 0 {
            self.min = self.max / 3;
        }
        if self.burst == 0 {
            let bytes = 2 * u64::from(self.min) + u64::from(self.max);
            self.burst = (bytes / (3 * u64::from(self.avpkt))) as u32;
        }
        if self.rate == 0 {
            self.rate = DEFAULT_RATE;
        }
    }
}

/// The smallest `wlog` with `burst + 1 - min/avpkt <= (1 - (1-w)^burst) / w`: a burst that begins
/// with an average of zero does not raise it above `min`.
fn weight(min: u32, burst: u32, avpkt: u32) -> Result<u32, String> {
    let above = f64::from(burst) + 1.0 - f64::from(min) / f64::from(avpkt);
    if above < 1.0 {
        return Err(format!(
            "a `burst` of {burst} packets is too small: `min` is {} average packets",
            min / avpkt
        ));
    }
    let allows = |wlog: &u32| {
        let w = 0.5f64.powi(*wlog as i32);
        above <= (1.0 - libm::pow(1.0 - w, f64::from(burst))) / w
    };
    (1..32).find(allows).ok_or_else(|| format!("a `burst` of {burst} packets is too large"))
}

/// The smallest `plog` with `probability / (max - min) * 2^plog > 1`.
fn old_probability(span: u32, probability: f64) -> Option<u32> {
    (0..32).find(|&plog| probability / f64::from(span) * 2f64.powi(plog as i32) > 1.0)
}

/// `scell_log` and `stab`: after i steps of idle time, an average with weight w has lost `-i
/// ln(1-w) / (time of a packet)` bits, as if average packets had been sent. (Natural logarithm, not
/// base 2: `tc` computes it so.)
fn damping(wlog: u32, avpkt: u32, rate: u32) -> Option<(u32, [u8; 256])> {
    let ticks = (US * f64::from(avpkt) / f64::from(rate) * TICKS_PER_US).ceil();
    if ticks > f64::from(u32::MAX) {
        return None;
    }
    let per_tick = -libm::log(1.0 - 0.5f64.powi(wlog as i32)) / ticks;
    let longest = 31.0 / per_tick;
    let scell_log = (0..32).find(|&log| longest / 2f64.powi(log as i32) < 512.0)?;
    let mut stab = [0; 256];
    for (step, bits) in stab.iter_mut().enumerate() {
        *bits = (((step as u64) << scell_log) as f64 * per_tick).min(31.0) as u8;
    }
    stab[255] = 31;
    Some((scell_log, stab))
}

/// A number and its unit.
fn split(text: &str) -> Option<(f64, String)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, text[end..].to_ascii_lowercase()))
}

/// A size in the syntax of `tc`: k, m and g are powers of 1024.
fn size(text: &str) -> Option<u32> {
    let (value, unit) = split(text)?;
    let scale = match unit.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        "g" | "gb" => 1024.0 * 1024.0 * 1024.0,
        "kbit" => 1024.0 / 8.0,
        "mbit" => 1024.0 * 1024.0 / 8.0,
        "gbit" => 1024.0 * 1024.0 * 1024.0 / 8.0,
        _ => return None,
    };
    whole(value * scale)
}

/// A rate in the syntax of `tc`, in bytes per second: k, m and g are powers of 1000, ki, mi and gi
/// powers of 1024; a plain number is in bits per second, `bps` means bytes per second.
fn rate(text: &str) -> Option<u32> {
    let (value, unit) = split(text)?;
    let (prefix, bits) = match unit.strip_suffix("bps") {
        Some(prefix) => (prefix, 8.0),
        None => (unit.strip_suffix("bit").unwrap_or(&unit), 1.0),
    };
    let scale = match prefix {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        "ki" => 1024.0,
        "mi" => 1024.0 * 1024.0,
        "gi" => 1024.0 * 1024.0 * 1024.0,
        "ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    // Without `bit` or `bps` no prefix is allowed.
    let known = unit.is_empty() || unit.ends_with("bit") || unit.ends_with("bps");
    known.then(|| whole(value * scale * bits / 8.0))?
}

fn whole(value: f64) -> Option<u32> {
    (value <= f64::from(u32::MAX)).then_some(value as u32)
}
