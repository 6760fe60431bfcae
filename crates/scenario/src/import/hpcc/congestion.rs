//! Transport and congestion control: what hosts do.

use floodway_model::{Duration, Rate};

use super::translate::Translation;
use crate::text::Problem;

/// Ethernet's 14 bytes, IPv4 20, UDP 8, sequence number and priority group 6; no checksum.
const HEADERS: u64 = 48;
/// What an acknowledgement is padded to.
const ANSWER: u64 = 60;
/// The same without padding: 14, 20, and ports, flags, priority group and number in 12.
const SHORT_ANSWER: u64 = 46;
/// The time stamp of TIMELY.
const TIMESTAMP: u64 = 8;

/// `CC_MODE`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Dcqcn,
    Hpcc,
    Timely,
    Dctcp,
}

impl Mode {
    /// The bytes of a data packet beside its payload, and those of an acknowledgement, both without the
    /// 42 bytes that telemetry adds to each.
    pub fn lengths(self) -> (u64, u64) {
        match self {
            Self::Dcqcn | Self::Dctcp => (HEADERS, ANSWER),
            Self::Timely => (HEADERS + TIMESTAMP, ANSWER),
            // With telemetry there is nothing left to pad.
            Self::Hpcc => (HEADERS, SHORT_ANSWER),
        }
    }
}

impl Translation<'_> {
    /// Which congestion control.
    pub fn mode(&self) -> Result<Mode, Problem> {
        let number = self.config.whole("CC_MODE", 1)?;
        let wrong = |message: &str, help: &str| self.config.problem("CC_MODE", message, help);
        match number {
            1 => Ok(Mode::Dcqcn),
            3 => Ok(Mode::Hpcc),
            7 => Ok(Mode::Timely),
            8 => Ok(Mode::Dctcp),
            10 => Err(wrong(
                "`CC_MODE` 10 is HPCC with PINT, which floodway does not have",
                "PINT compresses the telemetry of HPCC at random; write 3 for HPCC with all of it",
            )),
            _ => Err(wrong(
                &format!("`CC_MODE` is {number}, which the simulator does not know"),
                "write 1 for DCQCN, 3 for HPCC, 7 for TIMELY or 8 for DCTCP",
            )),
        }
    }

    /// The tables of the hosts.
    pub fn hosts(&mut self) -> Result<(), Problem> {
        let mode = self.mode()?;
        self.transport(mode)?;
        match mode {
            Mode::Dcqcn => self.dcqcn()?,
            Mode::Hpcc => self.hpcc()?,
            Mode::Timely => self.timely()?,
            Mode::Dctcp => self.dctcp()?,
        }
        self.rate_bound()?;
        self.of_other_modes(mode);
        Ok(())
    }

    fn transport(&mut self, mode: Mode) -> Result<(), Problem> {
        let (overhead, answer) = mode.lengths();
        self.scenario.table("host.transport.rocev2");
        let payload = self.config.whole("PACKET_PAYLOAD_SIZE", 1_000)?;
        self.kept("PACKET_PAYLOAD_SIZE", "1000", "mtu", format!("{payload}B"));
        self.scenario.quoted("overhead", format!("{overhead}B"), "headers of its packets");
        self.scenario.quoted("answer", format!("{answer}B"), "its acknowledgements");
        self.scenario.quoted("shortest", "0B", "it pads no data");
        self.acknowledgements()?;
        self.scenario.table("host.transport.rocev2.recovery.go_back_n");
        self.scenario.quoted("retransmit_timeout", "1000s", "it has no such timer");
        self.scenario.quoted("nak_interval", "500us", "its NACK Generation Interval");
        if self.config.flag("L2_BACK_TO_ZERO", false)? {
            self.differs(
                "L2_BACK_TO_ZERO",
                "0",
                "senders go back to the packet that is missing, not to the beginning of its chunk (the \
                 code does the opposite of what its documentation says); in the simulator messages \
                 whose length is no multiple of L2_CHUNK_SIZE then never end",
            );
            self.nothing("L2_CHUNK_SIZE", "0", "there are no chunks to go back to");
        } else {
            self.note_kept("L2_BACK_TO_ZERO", "0", "host.transport.rocev2.recovery.go_back_n");
            self.nothing(
                "L2_CHUNK_SIZE",
                "0",
                "without effect: it matters with L2_BACK_TO_ZERO, and every packet is acknowledged",
            );
        }
        Ok(())
    }

    /// The receiver compares the bytes that it has with `L2_ACK_INTERVAL`, which it adds to nothing: it
    /// answers every packet from that byte on.
    fn acknowledgements(&mut self) -> Result<(), Problem> {
        let interval = self.config.required("L2_ACK_INTERVAL", "write 1")?;
        let bytes = interval.whole("`L2_ACK_INTERVAL`")?;
        let payload = self.config.whole("PACKET_PAYLOAD_SIZE", 1_000)?;
        if bytes == 0 {
            return Err(interval.problem(
                "`L2_ACK_INTERVAL` is 0: nothing would be acknowledged, and no flow end",
                "write 1: every packet is acknowledged",
            ));
        }
        self.scenario.bare("ack_every", 1, self.said("L2_ACK_INTERVAL", ""));
        if bytes <= payload {
            self.note_kept("L2_ACK_INTERVAL", "", "host.transport.rocev2.ack_every");
        } else {
            self.differs(
                "L2_ACK_INTERVAL",
                "",
                "every packet is acknowledged; the simulator counts bytes, whatever its documentation \
                 says, and acknowledges every packet but those before that byte",
            );
        }
        Ok(())
    }

    /// The length of a window, if there is one; how it follows the rate is for the caller.
    fn window(&mut self) -> Result<Option<Duration>, Problem> {
        let (round_trip, slowest) = self.network.longest_round_trip;
        if !self.config.flag("HAS_WIN", true)? {
            return Ok(None);
        }
        if !self.config.flag("GLOBAL_T", true)? {
            self.differs(
                "GLOBAL_T",
                "1",
                "all flows have the longest round-trip time, not each that of its own path",
            );
        } else if slowest < self.network.nic_rate || self.network.host_rates().len() > 1 {
            self.differs(
                "GLOBAL_T",
                "1",
                "the window is the longest round-trip time at the rate of each NIC; the simulator has \
                 the same bytes for all",
            );
        } else {
            self.note_kept("GLOBAL_T", "1", "the longest round-trip time for all flows");
        }
        Ok(Some(round_trip))
    }

    /// A window that algorithms may have or not, whose field has this name.
    fn optional_window(&mut self) -> Result<bool, Problem> {
        let Some(length) = self.window()? else {
            self.note_kept("HAS_WIN", "1", "no window");
            self.nothing("GLOBAL_T", "1", "without effect: there is no window");
            self.nothing("VAR_WIN", "0", "without effect: there is no window");
            return Ok(false);
        };
        self.kept("HAS_WIN", "1", "window", length);
        Ok(true)
    }

    fn dcqcn(&mut self) -> Result<(), Problem> {
        const TABLE: &str = "host.congestion.dcqcn";
        let clamp = self.config.flag("CLAMP_TARGET_RATE", false)?;
        let alpha = self.config.microseconds("ALPHA_RESUME_INTERVAL", Some(55))?;
        let cut = self.config.microseconds("RATE_DECREASE_INTERVAL", Some(4))?;
        let increase = self.config.microseconds("RP_TIMER", None)?;
        // `ewma_gain = 1 / 16` is a division of whole numbers.
        let help = "write the weight, for example 0.00390625";
        let gain = self.config.required("EWMA_GAIN", help)?.real("`EWMA_GAIN`")?;
        let recovery = self.config.whole("FAST_RECOVERY_TIMES", 5)?;
        let additive = self.config.rate("RATE_AI", None)?;
        let hyper = self.config.rate("RATE_HAI", None)?;
        let least = self.least_rate()?;
        self.scenario.table(TABLE);
        self.kept("CC_MODE", "1", "variant", "periodic");
        self.scenario.quoted("notification", "ack", "a bit in its acknowledgements, no CNPs");
        self.scenario.quoted("byte_counter", "0B", "it counts no bytes");
        self.kept("ALPHA_RESUME_INTERVAL", "55", "alpha_timer", alpha);
        self.kept("RATE_DECREASE_INTERVAL", "4", "cut_interval", cut);
        self.kept("RP_TIMER", "", "increase_timer", increase);
        self.kept_bare("EWMA_GAIN", "", "g", format!("{gain:?}"));
        self.kept_bare("FAST_RECOVERY_TIMES", "5", "fast_recovery", recovery);
        self.kept("RATE_AI", "", "additive_increase", additive);
        self.kept("RATE_HAI", "", "hyper_increase", hyper);
        self.kept("MIN_RATE", "100Mb/s", "min_rate", least);
        self.kept_bare("CLAMP_TARGET_RATE", "0", "clamp_target", clamp);
        if self.optional_window()? {
            let follows = self.config.flag("VAR_WIN", false)?;
            self.kept_bare("VAR_WIN", "0", "window_follows_rate", follows);
        }
        Ok(())
    }

    fn hpcc(&mut self) -> Result<(), Problem> {
        const TABLE: &str = "host.congestion.hpcc";
        let eta = self.config.real("U_TARGET", 0.95)?;
        let stages = self.config.whole("MI_THRESH", 5)?;
        let additive = self.config.rate("RATE_AI", None)?;
        let least = self.least_rate()?;
        let fast = self.config.flag("FAST_REACT", true)?;
        self.note_kept("CC_MODE", "1", TABLE);
        let Some(round_trip) = self.window()? else {
            let help = "write HAS_WIN 1: HPCC sets a window";
            let message = "HPCC has no window, by which the simulator divides";
            return Err(self.config.problem("HAS_WIN", message, help));
        };
        self.scenario.table(TABLE);
        self.kept("HAS_WIN", "1", "base_rtt", round_trip);
        self.kept_bare("U_TARGET", "0.95", "eta", format!("{eta:?}"));
        self.kept_bare("MI_THRESH", "5", "max_stage", stages);
        self.kept("RATE_AI", "", "additive_increase", additive);
        self.kept("MIN_RATE", "100Mb/s", "min_rate", least);
        self.kept_bare("FAST_REACT", "1", "fast_react", fast);
        self.following_window()?;
        if self.config.flag("MULTI_RATE", true)? {
            self.differs(
                "MULTI_RATE",
                "1",
                "a flow has one rate, as in the paper, not one for each hop",
            );
        } else {
            self.note_kept("MULTI_RATE", "1", "one rate for each flow");
        }
        if self.config.flag("SAMPLE_FEEDBACK", false)? {
            self.differs("SAMPLE_FEEDBACK", "0", "every acknowledgement counts");
        } else {
            self.note_kept("SAMPLE_FEEDBACK", "0", "every acknowledgement counts");
        }
        self.nothing("INT_MULTI", "1", "telemetry counts single bytes, not units of 80 and 128");
        Ok(())
    }

    fn timely(&mut self) -> Result<(), Problem> {
        const TABLE: &str = "host.congestion.timely";
        let additive = self.config.rate("RATE_AI", None)?;
        let hyper = self.config.rate("RATE_HAI", None)?;
        let least = self.least_rate()?;
        self.note_kept("CC_MODE", "1", TABLE);
        self.scenario.table(TABLE);
        self.kept("RATE_AI", "", "additive_increase", additive);
        self.kept("RATE_HAI", "", "hyper_increase", hyper);
        self.scenario.quoted("hyper_counts", "increases", "it counts those below T_low too");
        self.kept("MIN_RATE", "100Mb/s", "min_rate", least);
        if self.optional_window()? {
            self.following_window()?;
        }
        Ok(())
    }

    fn dctcp(&mut self) -> Result<(), Problem> {
        const TABLE: &str = "host.congestion.rdma_dctcp";
        let help = "write the weight, for example 0.0625";
        let gain = self.config.required("EWMA_GAIN", help)?.real("`EWMA_GAIN`")?;
        let additive = self.config.rate("DCTCP_RATE_AI", Some(Rate::from_mbps(1_000)))?;
        let least = self.least_rate()?;
        self.note_kept("CC_MODE", "1", TABLE);
        let window = self.window()?;
        self.scenario.table(TABLE);
        self.kept_bare("EWMA_GAIN", "", "g", format!("{gain:?}"));
        self.kept("DCTCP_RATE_AI", "1000Mb/s", "additive_increase", additive);
        self.kept("MIN_RATE", "100Mb/s", "min_rate", least);
        match window {
            Some(length) => {
                self.kept("HAS_WIN", "1", "base_rtt", length);
                self.following_window()?;
            }
            None => {
                self.differs("HAS_WIN", "1", "DCTCP has a window of one round-trip time");
                self.nothing("GLOBAL_T", "1", "without effect: there is no window");
                self.nothing("VAR_WIN", "0", "without effect: there is no window");
            }
        }
        Ok(())
    }

    /// That of algorithms whose window follows the rate in any case.
    fn following_window(&mut self) -> Result<(), Problem> {
        if self.config.flag("VAR_WIN", false)? {
            self.note_kept("VAR_WIN", "0", "the window follows the rate");
        } else {
            self.differs("VAR_WIN", "0", "the window follows the rate");
        }
        Ok(())
    }

    fn least_rate(&self) -> Result<Rate, Problem> {
        self.config.rate("MIN_RATE", Some(Rate::from_mbps(100)))
    }

    fn rate_bound(&mut self) -> Result<(), Problem> {
        if self.config.flag("RATE_BOUND", true)? {
            self.note_kept("RATE_BOUND", "1", "flows keep to their rates");
        } else {
            self.differs("RATE_BOUND", "1", "flows keep to their rates, not to their windows only");
        }
        Ok(())
    }

    /// Keys of the algorithms that were not chosen.
    fn of_other_modes(&mut self, mode: Mode) {
        let keys: [(&str, &[Mode]); 15] = [
            ("ALPHA_RESUME_INTERVAL", &[Mode::Dcqcn]),
            ("RATE_DECREASE_INTERVAL", &[Mode::Dcqcn]),
            ("CLAMP_TARGET_RATE", &[Mode::Dcqcn]),
            ("RP_TIMER", &[Mode::Dcqcn]),
            ("FAST_RECOVERY_TIMES", &[Mode::Dcqcn]),
            ("EWMA_GAIN", &[Mode::Dcqcn, Mode::Dctcp]),
            ("RATE_AI", &[Mode::Dcqcn, Mode::Hpcc, Mode::Timely]),
            ("RATE_HAI", &[Mode::Dcqcn, Mode::Timely]),
            ("DCTCP_RATE_AI", &[Mode::Dctcp]),
            ("U_TARGET", &[Mode::Hpcc]),
            ("MI_THRESH", &[Mode::Hpcc]),
            ("FAST_REACT", &[Mode::Hpcc]),
            ("INT_MULTI", &[Mode::Hpcc]),
            ("MULTI_RATE", &[Mode::Hpcc]),
            ("SAMPLE_FEEDBACK", &[Mode::Hpcc]),
        ];
        let others = keys.iter().filter(|(_, modes)| !modes.contains(&mode)).map(|(key, _)| *key);
        let unused: Vec<&str> = others.chain(["PINT_LOG_BASE", "PINT_PROB"]).collect();
        let written = |key: &&str| self.config.word(key).is_some();
        let unused: Vec<&str> = unused.into_iter().filter(written).collect();
        unused.iter().for_each(|key| self.nothing(key, "", "without effect in this CC_MODE"));
    }
}
