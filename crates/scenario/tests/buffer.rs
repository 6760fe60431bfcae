//! Shared memory in scenarios: the switches of the Source Flow Control deck, and the numbers that
//! follow from them.

use floodway_model::Bytes;
use floodway_scenario::derived::Headroom;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::switch::buffer::{self, shared};

/// The four switches of the deck in its order, as overlays on each other; 20 ports of 100 Gb/s. The
/// deck says of the headroom of the last only that memory is 16 MB: (16 MB - 9 MB) / 20.
const DECK: &str = r#"
name = "deck"
arrivals = "1ms"
limit = "5ms"
[topology.star]
hosts = 20
delay = "500ns"
[switch.aqm.ramp]
kmin = "50KB"
kmax = "51KB"
[switch.buffer.shared.egress]
pool = "16MB"
guaranteed = "50KB"
alpha = 1.0
[[workload]]
[workload.many_to_many]
sizes = "64KB"
clusters = 1
cluster_size = 20
load = 0.3

[variants.benefits-sfc]

[variants.benefits-pfc]
[variants.benefits-pfc.switch]
queue.size = "800KB"
buffer.per_queue = {}
[variants.benefits-pfc.switch.flow_control.pfc]
measured_on = "ingress"
response = "0ns"
xoff = "650KB"
xon = "640KB"

[variants.fairness-sfc]
switch.buffer.shared.egress.alpha = 2.0

[variants.fairness-pfc]
switch.buffer.shared.headroom = "350KB"
switch.buffer.shared.egress.alpha = 2.0
switch.flow_control.pfc.measured_on = "ingress_pool"
switch.flow_control.pfc.response = "0ns"
[variants.fairness-pfc.switch.buffer.shared.ingress]
pool = "9MB"
guaranteed = "50KB"
alpha = 0.5
"#;

fn pool(pool: u64, alpha: f64) -> Option<shared::Pool> {
    Some(shared::Pool { pool: Bytes(pool), guaranteed: Bytes(50_000), alpha: Some(alpha) })
}

#[test]
fn the_switches_of_the_deck_can_be_written() {
    let scenario = Scenario::parse(DECK, "deck.toml", &Overrides::default()).unwrap();
    assert_eq!(scenario.warnings().len(), 0, "{:?}", scenario.warnings());
    let buffers: Vec<_> =
        scenario.variants().iter().map(|variant| &variant.settings.switch.buffer).collect();
    let shared = |ingress, egress, headroom| {
        buffer::Spec::Shared(shared::Spec {
            ingress,
            egress,
            headroom: Bytes(headroom),
            ..Default::default()
        })
    };
    assert_eq!(
        buffers,
        [
            &shared(None, pool(16_000_000, 1.0), 0),
            &buffer::Spec::PerQueue(Default::default()),
            &shared(None, pool(16_000_000, 2.0), 0),
            &shared(pool(9_000_000, 0.5), pool(16_000_000, 2.0), 350_000),
        ]
    );
}

#[test]
fn headroom_by_hand() {
    let scenario = Scenario::parse(DECK, "deck.toml", &Overrides::default()).unwrap();
    let headroom = |variant: usize| scenario.derived().variants[variant].headroom;
    assert_eq!((headroom(0), headroom(2)), (None, None));
    // 88.48 + 6.72 + 500 + 88.48 + 500 ns are 14796 bytes: 13 times 1106, and 418, in which a frame
    // of 398 fits; and one that crosses.
    let one_link = Bytes(14 * 1086 + 398);
    let all_ports = Bytes(19 * (14 * 1086 + 398));
    let available = Some(Bytes(150_000));
    assert_eq!(headroom(1), Some(Headroom { available, one_link, all_ports }));
    let available = Some(Bytes(350_000));
    assert_eq!(headroom(3), Some(Headroom { available, one_link, all_ports }));

    // Static thresholds in shared memory: what one can hold alone, above XOFF.
    let with = |measured_on: &str, egress: &str| {
        let set = [
            format!("variants.fairness-pfc.switch.flow_control.pfc.measured_on={measured_on}"),
            format!("variants.fairness-pfc.switch.buffer.shared.egress={egress}"),
        ];
        let overrides = Overrides { quick: false, set: set.to_vec() };
        let scenario = Scenario::parse(DECK, "deck.toml", &overrides).unwrap();
        scenario.derived().variants[3].headroom.unwrap().available
    };
    // The guarantee, a third of 9 MB, and 350 KB of headroom, less 750 KB.
    assert_eq!(with("ingress", "true"), Some(Bytes(50_000 + 3_000_000 + 350_000 - 750_000)));
    // The guarantee and two thirds of 16 MB.
    assert_eq!(with("egress_queue", "true"), Some(Bytes(50_000 + 10_666_666 - 750_000)));
    assert_eq!(with("egress_queue", "false"), None);
}

/// The pool of a switch of its own: the guarantee, a third of 6 MB, and 350 KB, less 750 KB.
#[test]
fn headroom_is_that_of_the_smallest_pool() {
    let deck = DECK.replace("measured_on = \"ingress_pool\"", "measured_on = \"ingress\"")
        + "[[variants.fairness-pfc.switch.buffer.shared.by_switch]]\n\
           switches = [\"switch\"]\ningress_pool = \"6MB\"\n";
    let scenario = Scenario::parse(&deck, "deck.toml", &Overrides::default()).unwrap();
    let headroom = scenario.derived().variants[3].headroom.unwrap();
    assert_eq!(headroom.available, Some(Bytes(50_000 + 2_000_000 + 350_000 - 750_000)));
}

/// The ports of spines are the most, all of 100 Gb/s and 200 ns, with one lossless class. Each may use 10 KB and
/// needs 8,242 bytes.
#[test]
fn a_pool_of_headroom_by_hand() {
    let text = std::fs::read_to_string("tests/warned/buffer_headroom_pool_oversubscribed.toml");
    let text = text.unwrap();
    let scenario = Scenario::parse(&text, "pool.toml", &Overrides::default()).unwrap();
    let derived = scenario.derived();
    let ports = scenario.variants()[0].graph().nodes.iter().map(|node| node.ports.len()).max();
    let ports = ports.unwrap() as u64;
    let pool = derived.variants[0].headroom_pool.expect("there is one");
    assert_eq!((pool.pool, pool.of_all), (Bytes(20_000), Bytes(ports * 10_000)));
    assert_eq!(pool.at_once, Bytes(ports * 8_242));
    assert!((pool.oversubscription - ports as f64 / 2.0).abs() < 1e-12);
    let shown = derived.to_string();
    let line = shown.lines().find(|line| line.starts_with("pool oversubscribed")).unwrap();
    assert!(line.ends_with(&format!("1:{}.00", ports / 2)), "{line}");
}
