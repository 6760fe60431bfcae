use floodway_model::random::Stream;

use super::*;
use crate::switch::aqm::stand::Stand;
use floodway_model::Ecn;

/// The command of the Data Center to the Home deck.
const DECK: &str = "tc qdisc add dev eth2 root red limit 1600000 min 120000 max 360000 avpkt 1000 \
                    burst 220 ecn bandwidth 40Mbit";

fn of_command(command: &str) -> Result<Tc, String> {
    Spec { command: Some(command.to_owned()), ..Spec::default() }.tc()
}

#[test]
fn the_decks_numbers() {
    let tc = of_command(DECK).unwrap();
    // The defaults are those of the deck.
    assert_eq!(Spec::default().tc().as_ref(), Ok(&tc));
    assert_eq!((tc.limit, tc.min, tc.max), (1_600_000, 120_000, 360_000));
    assert_eq!((tc.ecn, tc.harddrop), (true, false));
    // 220 + 1 - 120 = 101 packets: with w = 1/64 the bound is 62.0, with 1/128 it is 105.2.
    assert_eq!(tc.wlog, 7);
    // 0.02 / 240000 * 2^24 = 1.398.
    assert_eq!(tc.plog, 24);
    // 0.02 * 2^32 = 85899345.92, and per byte of 240000: 357.9.
    assert_eq!((tc.max_p, tc.slope), (85_899_345, 357));
    // 1000 bytes at 5 MB/s take 200 us = 3125 ticks of 64 ns; -ln(1 - 1/128) = 0.00784318, so 31 bits
    // take 12.35 million ticks, which is less than 512 * 2^15.
    assert_eq!(tc.scell_log, 15);
    // One step of 32768 ticks: 0.0822 bits, thirteen: 1.07, 100: 8.22.
    assert_eq!([0, 1, 12, 13, 100, 254, 255].map(|step| tc.stab[step]), [0, 0, 0, 1, 8, 20, 31]);
}

#[test]
fn tc_fills_in_what_is_not_said() {
    let tc = of_command("red limit 400kb avpkt 1000").unwrap();
    // max = limit / 4, min = max / 3, burst = (2 min + max) / (3 avpkt) = 56, 10 Mbit/s.
    assert_eq!((tc.limit, tc.max, tc.min), (409_600, 102_400, 34_133));
    assert!(!tc.ecn);
    // 56 + 1 - 34.133 = 22.9: with w = 1/16 the bound is 15.6, with 1/32 it is 26.6.
    assert_eq!(tc.wlog, 5);
    assert_eq!(of_command("red limit 1m min 10k avpkt 1kb burst 20").unwrap().max, 3 * 10_240);
    let probability = of_command("red limit 400kb avpkt 1000 probability 0.1 harddrop").unwrap();
    assert_eq!((probability.max_p, probability.harddrop), (429_496_729, true));
}

#[test]
fn units_are_those_of_tc() {
    let limit = |size: &str| of_command(&format!("red limit {size} avpkt 1000")).unwrap().limit;
    assert_eq!(
        ["1000000", "1000000b", "1000kb", "1000K", "1mb", "1.5MB"].map(limit),
        [1_000_000, 1_000_000, 1_024_000, 1_024_000, 1_048_576, 1_572_864]
    );
    assert_eq!(limit("8mbit"), 1_048_576);
    // The rate is visible in the table of idle times.
    let table = |rate: &str| {
        let tc = of_command(&format!("red limit 1mb avpkt 1000 bandwidth {rate}")).unwrap();
        (tc.scell_log, tc.stab)
    };
    for same in ["40000000", "40000kbit", "40mbit", "40000000bit", "5mbps", "0.04Gbit"] {
        assert_eq!(table(same), table("40Mbit"), "{same}");
    }
    assert_ne!(table("40Mibit"), table("80Mbit"));
}

#[test]
fn what_is_wrong_is_told() {
    for (command, wrong) in [
        (
            "tc qdisc add dev eth2 root fq_codel",
            "the command does not name the queueing discipline `red`",
        ),
        ("red min 1000", "the command does not say `limit`"),
        ("red limit 1000", "the command does not say `avpkt`"),
        ("red limit", "`limit` is without a value"),
        ("red limit ten", "`ten` is no value for `limit`"),
        ("red limit 10KiB", "`10KiB` is no value for `limit`"),
        ("red limit 5gb", "`5gb` is no value for `limit`"),
        ("red limit 1mb avpkt 1000 bandwidth 40Mb", "`40Mb` is no value for `bandwidth`"),
        ("red limit 1mb avpkt 1000 adaptive", "`adaptive` is not simulated"),
        ("red limit 1mb avpkt 1000 gentle", "`gentle` is nothing that `tc` knows of RED"),
        (
            "red limit 1mb avpkt 1000 min 9000 max 9000",
            "`min` (9000 bytes) is not below `max` (9000 bytes)",
        ),
        (
            "red limit 1mb avpkt 1000 min 9000 max 18000 burst 5",
            "a `burst` of 5 packets is too small: `min` is 9 average packets",
        ),
        ("red limit 1mb avpkt 1000 probability 2", "`probability` is 2, not above 0 and at most 1"),
        (
            "red limit 4000mb avpkt 1000 max 2gb burst 800000",
            "`max` (2147483648 bytes) is too large for an average with the weight 1/131072",
        ),
    ] {
        assert_eq!(of_command(command).unwrap_err(), wrong, "{command}");
    }
}

#[test]
fn the_average_of_a_constant_queue() {
    let tc = of_command(DECK).unwrap();
    let mut average = Average { avg: 0, count: -1, goal: 0 };
    // Compared with real numbers: backlog (1 - (127/128)^n). Integers lose less than 1/128 byte per
    // arrival, and the sum of these losses never exceeds one byte.
    for n in 1..=2_000 {
        average.update(&tc, 200_000, None);
        let exact = 200_000.0 * (1.0 - (127.0f64 / 128.0).powi(n));
        let bytes = average.avg as f64 / 128.0;
        assert!((bytes - exact).abs() <= 1.0, "{bytes} is not {exact} after {n}");
    }
    // It stays where rounding down leaves nothing to add.
    assert_eq!(average.avg >> 7, 200_000);
    // By hand: 128 * 1000 + 500 - 1000.
    average.avg = 128_000;
    average.update(&tc, 500, None);
    assert_eq!(average.avg, 127_500);
}

#[test]
fn idle_time_lets_the_average_decay() {
    let tc = of_command(DECK).unwrap();
    let after = |us: u64| {
        let mut average = Average { avg: 1_000_000, count: -1, goal: 0 };
        average.update(&tc, 0, Some(Duration::from_us(us)));
        average.avg
    };
    // Linear at first, by 2^-15 per microsecond: 1000000 * 3277 / 32768 = 100006.1.
    assert_eq!([0, 3_277].map(after), [1_000_000, 1_000_000 - 100_006]);
    // But by half at most, until the table gives a bit: 13 steps of 32.768 ms.
    assert_eq!([16_384, 100_000, 425_983].map(after), [500_000; 3]);
    assert_eq!(after(425_984), 500_000);
    // 100 steps: 8 bits; 255 and more: all.
    assert_eq!([3_276_800, 8_355_840, 1 << 40].map(after), [1_000_000 >> 8, 0, 0]);
}

#[test]
fn idle_is_without_a_frame_on_the_wire() {
    let at = |us: u64| Instant(us * 1_000_000);
    assert_eq!(idle(0, at(10), at(15)), Some(Duration::from_us(5)));
    assert_eq!(idle(0, at(10), at(9)), None);
    assert_eq!(idle(64, at(10), at(15)), None);
}

/// The distances between marks at a constant average.
fn gaps(tc: &Tc, avg: u64, marks: usize) -> Vec<u64> {
    let mut average = Average { avg: avg << tc.wlog, count: -1, goal: 0 };
    let mut rng = Stream::named(9, "test");
    let (mut gaps, mut gap) = (Vec::new(), 0);
    // The first packet only draws the random number.
    assert_eq!(average.action(tc, || (rng.bits() >> 32) as u32), Action::None);
    while gaps.len() < marks {
        gap += 1;
        if average.action(tc, || (rng.bits() >> 32) as u32) == Action::Mark {
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps
}

#[test]
fn marks_are_evenly_spread() {
    let tc = of_command(DECK).unwrap();
    // Halfway: p = 0.01 before rounding; 2^32 / (357 * 120000) = 100.26 as the kernel rounds.
    let gaps = gaps(&tc, 240_000, 50_000);
    let most = *gaps.iter().max().unwrap();
    assert_eq!((*gaps.iter().min().unwrap(), most), (1, 101));
    // Uniform on 1 to 100.26: mean 50.63, standard error 28.9 / sqrt(50000) = 0.13. The bound is
    // five standard errors. A geometric distance would be 100 on average.
    let mean = gaps.iter().sum::<u64>() as f64 / 5e4;
    assert!((mean - 50.63).abs() < 0.65, "{mean}");
    // Each tenth of the range has its tenth: 4987 +- 67. Bounds are five standard deviations.
    for tenth in 0..10 {
        let range = tenth * 10 + 1..=tenth * 10 + 10;
        let hits = gaps.iter().filter(|&gap| range.contains(gap)).count();
        assert!((4_650..5_325).contains(&hits), "{hits} in {range:?}");
    }
}

#[test]
fn thresholds_are_those_of_the_average() {
    let tc = of_command(DECK).unwrap();
    let action = |avg: u64| {
        let mut average = Average { avg, count: 5, goal: 0 };
        (average.action(&tc, || 0), average.count)
    };
    assert_eq!(action((120_000 << 7) - 1), (Action::None, -1));
    // With the goal 0 every packet in between is marked, the first one too.
    assert_eq!(action(120_000 << 7), (Action::Mark, 0));
    assert_eq!(action((360_000 << 7) - 1), (Action::Mark, 0));
    assert_eq!(action(360_000 << 7), (Action::HardMark, -1));
}

/// The averaged backlog with queues of 3 and 5 packets of 1000 bytes, while 32 more are queued at
/// other ports.
#[test]
fn averages_are_of_the_queue_the_port_or_the_memory() {
    let tc = of_command(DECK).unwrap();
    for (measured_on, backlogs) in [
        (MeasuredOn::Queue, [3_000.0, 5_000.0]),
        (MeasuredOn::Port, [8_000.0; 2]),
        (MeasuredOn::Memory, [40_000.0; 2]),
    ] {
        let mut red = State::of(tc.clone(), measured_on, 2);
        let mut stand = Stand::new(2);
        stand.fill(0, Ecn::NotEct, 3);
        stand.fill(1, Ecn::NotEct, 5);
        stand.elsewhere = 32_000;
        // Arrivals at either queue; a backlog common to both has one average.
        let own = measured_on == MeasuredOn::Queue;
        for n in 1..=1_000 {
            for queue in [0, 1] {
                stand.arrives(&mut red, queue, Ecn::NotEct);
                let arrivals = if own { n } else { 2 * n + queue as i32 - 1 };
                let exact = backlogs[queue] * (1.0 - (127.0f64 / 128.0).powi(arrivals));
                let average = red.average(queue);
                assert!((average - exact).abs() <= 1.0, "{average} is not {exact} after {n}");
            }
        }
    }
}

#[test]
fn an_average_of_the_memory_decays_while_that_is_empty() {
    let tc = of_command(DECK).unwrap();
    let average = |emptied_us: u64, arrives_us: u64| {
        let mut red = State::of(tc.clone(), MeasuredOn::Memory, 1);
        red.averages[0].avg = 1_000_000;
        red.on_empty(Instant(emptied_us * 1_000_000));
        let mut stand = Stand::new(1);
        stand.wait(Duration::from_us(arrives_us));
        stand.arrives(&mut red, 0, Ecn::NotEct);
        red.averages[0].avg
    };
    // As above: 3277 us reduce it by a tenth, whenever they begin.
    assert_eq!(average(0, 3_277), 1_000_000 - 100_006);
    assert_eq!(average(50_000, 53_277), 1_000_000 - 100_006);
    assert_eq!(average(50_000, 50_000), 1_000_000);
    // No decay while anything is queued at any port: 1000000 + 64 - 7812.
    let mut red = State::of(tc.clone(), MeasuredOn::Memory, 1);
    red.averages[0].avg = 1_000_000;
    let mut stand = Stand::new(1);
    (stand.elsewhere, stand.now) = (64, Instant(1_000_000_000_000));
    stand.arrives(&mut red, 0, Ecn::NotEct);
    assert_eq!(red.averages[0].avg, 992_252);
}

#[test]
fn the_limit_is_one_of_what_is_measured() {
    let tc = of_command("red limit 400kb avpkt 1000").unwrap();
    for (measured_on, verdict) in [
        (MeasuredOn::Queue, Verdict::Pass),
        (MeasuredOn::Port, Verdict::Pass),
        (MeasuredOn::Memory, Verdict::Drop),
    ] {
        let mut stand = Stand::new(1);
        // 409600 bytes have no room for 1000 more than 408601.
        stand.elsewhere = 408_601;
        let mut red = State::of(tc.clone(), measured_on, 1);
        assert_eq!(stand.arrives(&mut red, 0, Ecn::NotEct), verdict, "{measured_on:?}");
    }
}
