//! The published flow-size distributions that come with the program. Their origins, the
//! disagreements between copies and the reasons for each rule are in `workloads/README.md`.

use super::distribution::{Distribution, Sampling};

/// A distribution with a name.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The name that scenario files use.
    pub name: &'static str,
    /// The rule by which it is read unless the scenario says otherwise: that of its users.
    pub rule: Sampling,
    /// What it is, in one line.
    pub summary: &'static str,
    csv: &'static str,
}

macro_rules! builtins {
    ($($name:literal $file:literal $rule:ident $summary:literal,)+) => {
        /// All of them.
        pub const BUILTINS: &[Builtin] = &[$(Builtin {
            name: $name,
            rule: Sampling::$rule,
            summary: $summary,
            csv: include_str!(concat!("../../workloads/", $file, ".csv")),
        },)+];
    };
}

builtins! {
    "data_mining" "data_mining" Linear
        "Data mining cluster (VL2, SIGCOMM 2009), the table of pFabric and PIAS",
    "web_search" "web_search" Linear
        "Web search cluster (DCTCP, SIGCOMM 2010)",
    "google_all_rpc" "google_all_rpc" Step
        "All RPCs of a Google data center (Homa W3, SIGCOMM 2018)",
    "google_search_rpc" "google_search_rpc" Step
        "Search RPCs of a Google data center (Homa W2, SIGCOMM 2018)",
    "facebook_key_value" "facebook_key_value" Step
        "Memcached values at Facebook (Homa W1; SIGMETRICS 2012)",
    "facebook_hadoop" "facebook_hadoop" Linear
        "Hadoop cluster at Facebook (SIGCOMM 2015), HPCC's coarse table",
    "ali_storage" "ali_storage" Linear
        "Distributed storage at Alibaba (2019), HPCC's table",
    "data_mining_bytes" "variants/data_mining_bytes" Linear
        "Data mining in bytes: a heavier tail, mean 12.66 MB",
    "data_mining_opera" "variants/data_mining_opera" Linear
        "Data mining as redrawn for Opera: denser rows",
    "facebook_hadoop_homa_w4" "variants/facebook_hadoop_homa_w4" Step
        "Hadoop cluster at Facebook, 461 rows (Homa W4)",
    "google_all_rpc_hpcc" "variants/google_all_rpc_hpcc" Linear
        "All RPCs of a Google data center as HPCC reads them",
    "web_search_homa_w5" "variants/web_search_homa_w5" Step
        "Web search cluster from pFabric's table per packet (Homa W5)",
    "web_search_pkt1460" "variants/web_search_pkt1460" Linear
        "Web search cluster in packets of 1460 bytes (PIAS)",
}

/// The built-in distribution of this name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name)
}

impl Builtin {
    /// The distribution, read by `rule` or by its own.
    pub fn distribution(&self, rule: Option<Sampling>) -> Distribution {
        Distribution::from_csv(self.csv, rule.unwrap_or(self.rule))
            .expect("a built-in table is a distribution; a test reads each")
    }
}

#[cfg(test)]
mod tests {
    use floodway_model::random::Stream;

    use super::*;

    /// Name, means by both rules, and percentages below 100 kB by both, as `workloads/README.md`
    /// has them.
    const PUBLISHED: &[(&str, f64, f64, f64, f64)] = &[
        ("data_mining", 7_470_236.0, 13_821_966.0, 82.37, 80.00),
        ("web_search", 1_711_250.0, 2_434_900.0, 54.17, 53.00),
        ("google_all_rpc", 2_890.27, 2_927.35, 99.59, 99.59),
        ("google_search_rpc", 423.40, 440.79, 99.97, 99.97),
        ("facebook_key_value", 184.61, 187.51, 100.0, 100.0),
        ("facebook_hadoop", 120_420.75, 183_897.0, 88.50, 87.00),
        ("ali_storage", 40_869.80, 67_050.0, 95.35, 93.53),
    ];

    #[test]
    fn means_and_fractions_are_the_published_ones() {
        for &(name, linear, step, below_linear, below_step) in PUBLISHED {
            let builtin = find(name).unwrap();
            for (rule, mean, below) in
                [(Sampling::Linear, linear, below_linear), (Sampling::Step, step, below_step)]
            {
                let sizes = builtin.distribution(Some(rule));
                let ours = sizes.mean();
                // Published to the last digit: whole bytes above 100 KB, else hundredths.
                let digit = if mean.fract() == 0.0 { 0.5 } else { 0.005 };
                assert!((ours - mean).abs() <= digit + 1e-9, "{name} {rule:?}: {ours} {mean}");
                let percent = sizes.fraction_below(100_000.0) * 100.0;
                assert!((percent - below).abs() < 0.0051, "{name} {rule:?}: {percent} {below}");
            }
        }
    }

    #[test]
    fn variants_have_their_published_means() {
        let mean = |name: &str| find(name).unwrap().distribution(None).mean();
        assert!((mean("data_mining_bytes") - 12.66e6).abs() < 5e3);
        assert!((mean("data_mining_opera") - 5.04e6).abs() < 5e3);
        assert!((mean("google_all_rpc_hpcc") - 2_891.62).abs() < 5e-3);
        assert!((mean("facebook_hadoop_homa_w4") - 127_796.6).abs() < 0.05);
        assert!((mean("web_search_homa_w5") - 1744.70 * 1460.0).abs() < 0.005 * 1460.0);
        assert!((mean("web_search_pkt1460") - 1_665_831.0).abs() < 0.5);
    }

    #[test]
    fn samples_agree_with_the_mean_within_their_error() {
        for builtin in BUILTINS {
            // Cut as in the main scenario, which also bounds the variance.
            let sizes = builtin.distribution(None).capped(30_000_000);
            let mut rng = Stream::named(11, builtin.name);
            let n = 100_000;
            let samples: Vec<f64> = (0..n).map(|_| sizes.sample(rng.unit()) as f64).collect();
            let mean = samples.iter().sum::<f64>() / f64::from(n);
            let variance =
                samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n - 1);
            // Four standard errors: one in 16,000 if all is well, and the seed is fixed.
            let error = 4.0 * (variance / f64::from(n)).sqrt();
            assert!((mean - sizes.mean()).abs() < error, "{}: {mean}", builtin.name);
        }
    }
}
