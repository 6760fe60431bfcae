//! Scales and axes: from values to places, and the values that are worth a label.

/// What a value is along an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit or scale: `completion time, logarithmic`.
    pub label: String,
    /// Whether it is logarithmic; values at and below zero lie at its lower end.
    pub log: bool,
    /// The unit of its values, as [`crate::words::quantity`] knows them, or `%` or `share`.
    pub unit: &'static str,
    /// The least and the greatest value; none: as the data has it.
    pub limits: Option<(f64, f64)>,
    /// What it measures, where the label is empty or says more about how it is drawn; may be empty.
    pub name: String,
    /// The values to label, as many of them as there is room for; empty: round ones.
    pub labels: Vec<f64>,
}

impl Axis {
    /// From zero on evenly.
    pub fn linear(label: &str, unit: &'static str) -> Self {
        Self { label: label.to_string(), log: false, unit, ..Self::default() }
    }

    /// By powers of ten.
    pub fn log(label: &str, unit: &'static str) -> Self {
        Self { label: label.to_string(), log: true, unit, ..Self::default() }
    }

    /// The same between these limits.
    pub fn within(self, low: f64, high: f64) -> Self {
        Self { limits: Some((low, high)), ..self }
    }

    /// The same with a name for its data.
    pub fn called(self, name: &str) -> Self {
        Self { name: name.to_string(), ..self }
    }

    /// The same with labels at these values: the sizes that were simulated, say.
    pub fn labeled(self, labels: impl IntoIterator<Item = f64>) -> Self {
        Self { labels: labels.into_iter().collect(), ..self }
    }

    /// A value as the axis shows it.
    pub fn show(&self, value: f64) -> String {
        match self.unit {
            "%" | "share" if value == 0.0 => "0 %".to_string(),
            _ if value == 0.0 => "0".to_string(),
            "%" => format!("{}{} %", if value > 0.0 { "+" } else { "−" }, plain(value.abs())),
            "share" if value < 9.9e-6 => power(value),
            "share" => format!("{} %", plain(value * 100.0)),
            unit => crate::words::short(value, unit),
        }
    }

    /// The scale that holds these values between two places, with room for `ticks` labels or so.
    pub fn scale(
        &self,
        values: impl Iterator<Item = f64>,
        from: f64,
        to: f64,
        ticks: usize,
    ) -> Scale {
        let values = values.filter(|value| value.is_finite() && (!self.log || *value > 0.0));
        let (low, high) = self.limits.unwrap_or_else(|| {
            let (low, high) = values
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            match (low <= high, self.log) {
                (false, _) => (if self.log { 0.1 } else { 0.0 }, 1.0),
                (true, true) => (low, high),
                (true, false) => (low.min(0.0), high.max(0.0)),
            }
        });
        let fixed = self.limits.is_some();
        let mut scale = if self.log {
            Scale::log(low, high, from, to, ticks, fixed)
        } else {
            Scale::linear(low, high, from, to, ticks, fixed)
        };
        if !self.labels.is_empty() {
            let apart = (to - from).abs() / (ticks.max(1) as f64) * 0.8;
            scale.ticks = scale.apart(&self.labels, apart);
        }
        scale
    }
}

/// A number without trailing zeros.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// A small share as a power of ten where it is one: `10⁻⁴`.
fn power(value: f64) -> String {
    let exponent = libm::round(libm::log10(value));
    if (value / libm::pow(10.0, exponent) - 1.0).abs() > 1e-6 {
        return format!("{value:.0e}");
    }
    let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().collect::<Vec<_>>();
    let raised: String = format!("{:.0}", -exponent)
        .bytes()
        .map(|digit| digits[usize::from(digit - b'0')])
        .collect();
    format!("10⁻{raised}")
}

/// From values to places.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// The values that deserve a label.
    pub ticks: Vec<f64>,
}

impl Scale {
    fn linear(low: f64, high: f64, from: f64, to: f64, ticks: usize, fixed: bool) -> Self {
        // Never nothing between its ends: one sample alone may be at time zero.
        let span = if high > low { high - low } else { 1.0 };
        let high = low + span;
        let step = step(span / ticks.max(1) as f64);
        let (first, last) = if fixed {
            (libm::ceil(low / step - 1e-9), libm::floor(high / step + 1e-9))
        } else {
            (libm::floor(low / step + 1e-9), libm::ceil(high / step - 1e-9))
        };
        let ticks = (0..=(last - first) as usize).map(|at| (first + at as f64) * step).collect();
        let (low, high) = if fixed { (low, high) } else { (first * step, last * step) };
        Self { log: false, low, high, from, to, ticks }
    }

    fn log(low: f64, high: f64, from: f64, to: f64, ticks: usize, fixed: bool) -> Self {
        let slack = 1.0 + 1e-9;
        let high = if fixed && high <= low { low * 10.0 } else { high };
        let (first, last) = (libm::floor(libm::log10(low) + 1e-9), libm::ceil(libm::log10(high)));
        let decades =
            (first as i32..=last as i32 + 1).map(|power| libm::pow(10.0, f64::from(power)));
        let fine: Vec<f64> =
            decades.clone().flat_map(|decade| [1.0, 2.0, 5.0].map(|step| step * decade)).collect();
        let (low, high) = if fixed {
            (low, high)
        } else {
            // The nearest of 1, 2, 5, 10, … on either side, and never nothing between them.
            let below = fine.iter().rposition(|tick| *tick <= low * slack).unwrap_or(0);
            let above = fine.iter().position(|tick| *tick * slack >= high).unwrap_or(below);
            (fine[below], fine[above.max(below + 1)])
        };
        let inside = |tick: &f64| *tick * slack >= low && *tick <= high * slack;
        let coarse: Vec<f64> = decades.filter(inside).collect();
        let labels =
            if coarse.len() > 2 { coarse } else { fine.into_iter().filter(inside).collect() };
        let every = labels.len().div_ceil(ticks.max(2) + 1).max(1);
        let ticks = labels.into_iter().step_by(every).collect();
        Self { log: true, low, high, from, to, ticks }
    }

    /// Those of these values that lie on the scale and at least this far from the one before.
    fn apart(&self, values: &[f64], least: f64) -> Vec<f64> {
        let mut kept: Vec<f64> = Vec::new();
        for value in values.iter().copied().filter(|value| self.holds(*value)) {
            if kept.last().is_none_or(|last| (self.at(value) - self.at(*last)).abs() >= least) {
                kept.push(value);
            }
        }
        kept
    }

    /// The labels along it, centered at their values: those that do not reach into the one before, by the width of each.
    pub fn apart_by(&self, width: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut free = f64::NEG_INFINITY;
        let fits = |tick: &f64| {
            let (at, half) = (self.at(*tick), width(*tick) / 2.0);
            let fits = at - half >= free;
            if fits {
                free = at + half;
            }
            fits
        };
        self.ticks.iter().copied().filter(fits).collect()
    }

    /// The place of a value; one beyond the scale lies at its end.
    pub fn at(&self, value: f64) -> f64 {
        self.beyond(value.clamp(self.low, self.high))
    }

    /// The place of a value, also of one beyond the scale.
    pub fn beyond(&self, value: f64) -> f64 {
        self.from + self.part(value) * (self.to - self.from)
    }

    /// How far along the scale a value lies, from 0 to 1; one beyond the scale lies at its end.
    pub fn share(&self, value: f64) -> f64 {
        self.part(value.clamp(self.low, self.high))
    }

    fn part(&self, value: f64) -> f64 {
        if self.log {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Whether a value lies on the scale.
    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The lower end's value.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper end's value.
    pub fn high(&self) -> f64 {
        self.high
    }
}

/// The least of 1, 2, 5, 10, … times a power of ten that is not below this.
fn step(least: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(axis: &Axis, values: &[f64], ticks: usize) -> Vec<String> {
        let scale = axis.scale(values.iter().copied(), 0.0, 100.0, ticks);
        scale.ticks.iter().map(|tick| axis.show(*tick)).collect()
    }

    #[test]
    fn linear_axes_hold_zero_and_end_at_round_numbers() {
        let axis = Axis::linear("change", "%");
        assert_eq!(ticks(&axis, &[-69.9, -3.0], 5), ["−80 %", "−60 %", "−40 %", "−20 %", "0 %"]);
        assert_eq!(ticks(&axis, &[-1.5, 2.2], 5), ["−2 %", "−1 %", "0 %", "+1 %", "+2 %", "+3 %"]);
        assert_eq!(ticks(&Axis::linear("", ""), &[], 2), ["0", "0.5", "1"]);
        assert_eq!(ticks(&Axis::linear("", "ns"), &[12e6], 3), ["0", "5 ms", "10 ms", "15 ms"]);
    }

    #[test]
    fn logarithmic_axes_label_powers_of_ten_or_1_2_5() {
        let axis = Axis::log("time", "ns");
        assert_eq!(ticks(&axis, &[8_000.0, 3e6], 5), ["10 µs", "100 µs", "1 ms"]);
        assert_eq!(ticks(&axis, &[22_000.0, 72_000.0], 5), ["20 µs", "50 µs", "100 µs"]);
        assert_eq!(
            ticks(&Axis::log("", "share").within(1e-4, 1.0), &[], 5),
            ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"]
        );
    }

    #[test]
    fn given_labels_stand_where_there_is_room() {
        let axis = Axis::linear("servers", "").labeled([128.0, 288.0, 320.0, 1_152.0, 2_000.0]);
        // 0 to 1500 on 100 pixels, 20 of them for a label: 288 is 10.7 from 128, 320 is 12.8.
        assert_eq!(ticks(&axis, &[128.0, 1_152.0], 4), ["128", "1,152"]);
        assert_eq!(ticks(&axis, &[128.0, 1_152.0], 8), ["128", "288", "1,152"]);
    }

    #[test]
    fn labels_do_not_reach_into_each_other() {
        // Three decimal steps of a decade on 100 pixels: 30.1, 39.8 and 30.1 apart, and labels are 35 wide.
        let axis = Axis::log("time", "ns").within(10e6, 100e6);
        let scale = axis.scale(std::iter::empty(), 0.0, 100.0, 4);
        let shown = |width: f64| -> Vec<String> {
            scale.apart_by(|_| width).into_iter().map(|tick| axis.show(tick)).collect()
        };
        assert_eq!(shown(30.0), ["10 ms", "20 ms", "50 ms", "100 ms"]);
        assert_eq!(shown(35.0), ["10 ms", "50 ms"]);
    }

    #[test]
    fn tiny_shares_are_powers_of_ten() {
        let axis = Axis::log("", "share");
        let shown = [1e-7, 1e-6, 1e-5, 1e-4, 0.5].map(|share| axis.show(share));
        assert_eq!(shown, ["10⁻⁷", "10⁻⁶", "0.001 %", "0.01 %", "50 %"]);
    }

    #[test]
    fn an_axis_that_ends_where_it_begins_has_places() {
        // The only sample of a short run is at time zero.
        for (axis, ends) in [
            (Axis::linear("time", "ns").within(0.0, 0.0), (0.0, 1.0)),
            (Axis::log("backlog", "bytes").within(64.0, 64.0), (64.0, 640.0)),
        ] {
            let scale = axis.scale([].into_iter(), 0.0, 100.0, 3);
            assert_eq!((scale.low(), scale.high()), ends);
            assert_eq!((scale.at(ends.0), scale.at(ends.1)), (0.0, 100.0));
        }
    }

    #[test]
    fn places_follow_the_scale_and_stop_at_its_ends() {
        let log = Axis::log("", "").within(1.0, 100.0).scale(std::iter::empty(), 0.0, 200.0, 5);
        assert_eq!(
            [0.0, 1.0, 10.0, 100.0, 1e9].map(|value| log.at(value).round()),
            [0.0, 0.0, 100.0, 200.0, 200.0]
        );
        let down = Axis::linear("", "").within(0.0, 1.0).scale(std::iter::empty(), 90.0, 10.0, 5);
        assert_eq!([0.0, 0.5, 1.0].map(|value| down.at(value)), [90.0, 50.0, 10.0]);
    }
}
