use super::*;

fn queue(drop_prob: f64, ms: (u64, u64)) -> Queue {
    Queue {
        drop_prob,
        accu_prob: 0.0,
        burst_allowance: Duration::ZERO,
        qdelay_old: Duration::from_ms(ms.0),
        qdelay: Duration::from_ms(ms.1),
    }
}

fn updated(drop_prob: f64, ms: (u64, u64)) -> f64 {
    let mut queue = queue(drop_prob, ms);
    queue.update(&Spec::default());
    queue.drop_prob
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
}

#[test]
fn the_controller_by_hand() {
    // 35 ms after 25 ms: 0.125 * 20 ms + 1.25 * 10 ms = 0.0025 + 0.0125 = 0.015, in full above 10 %.
    near(updated(0.15, (25, 35)), 0.165);
    // A constant delay: the integral part alone.
    near(updated(0.15, (35, 35)), 0.1525);
    // At the target nothing changes, and below it the probability falls.
    near(updated(0.15, (15, 15)), 0.15);
    near(updated(0.15, (10, 10)), 0.15 - 0.125 * 0.005);
}

#[test]
fn small_probabilities_are_changed_in_small_steps() {
    for (before, divisor) in [
        (0.0, 2048.0),
        (2e-6, 512.0),
        (2e-5, 128.0),
        (2e-4, 32.0),
        (2e-3, 8.0),
        (2e-2, 2.0),
        (2e-1, 1.0),
        // The limits themselves belong to the range above them.
        (1e-6, 512.0),
        (1e-1, 1.0),
    ] {
        near(updated(before, (25, 35)), before + 0.015 / divisor);
    }
}

#[test]
fn a_constant_delay_adds_up() {
    // 40 ms above the target add 0.005, divided according to the probability: 0.005/2048 is above
    // 1e-6, then one step of 0.005/512 is above 1e-5, three of 0.005/128 are above 1e-4, six of
    // 0.005/32 above 1e-3, fifteen of 0.005/8 above 1e-2, and 36 of 0.005/2 at 0.1.
    let mut queue = queue(0.0, (55, 55));
    let mut expected = 0.0;
    for (steps, divisor) in [(1, 2048.0), (1, 512.0), (3, 128.0), (6, 32.0), (15, 8.0)] {
        for _ in 0..steps {
            queue.update(&Spec::default());
            expected += 0.005 / divisor;
        }
        near(queue.drop_prob, expected);
    }
    let next = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1].iter().position(|&edge| expected < edge);
    assert_eq!(next, Some(5), "{expected}");
}

#[test]
fn steps_are_capped_and_calm_lets_it_decay() {
    // 115 ms after 15 ms: 0.0125 + 0.125 would be far more than 2 %.
    near(updated(0.1, (15, 115)), 0.12);
    near(updated(0.99, (15, 115)), 1.0);
    // Below half the target, now and before: the probability also loses 2 % of itself.
    near(updated(0.5, (7, 7)), (0.5 - 0.125 * 0.008) * 0.98);
    near(updated(0.5, (8, 7)), 0.5 - 0.125 * 0.008 - 1.25 * 0.001);
    near(updated(1e-7, (0, 0)), 0.0);
}

#[test]
fn a_burst_is_let_pass() {
    let spec = Spec::default();
    let mut pie = State::new(&spec, 1);
    let queue = |pie: &State| (pie.queues[0].burst_allowance, pie.queues[0].drop_prob);
    // No packets until 1 s: only time passes.
    pie.catch_up(Instant(1_000_000_000_000));
    assert_eq!(queue(&pie), (Duration::from_ms(150), 0.0));
    // From then on 300 ms of delay: the allowance ends with the tenth update, at 1.14 s.
    pie.queues[0].qdelay = Duration::from_ms(300);
    pie.catch_up(Instant(1_139_999_999_999));
    assert_eq!(queue(&pie).0, Duration::from_ms(15));
    let mut rng = Stream::named(1, "test");
    pie.queues[0].drop_prob = 1.0;
    assert!(!pie.queues[0].drop_early(&spec, false, &mut rng));
    pie.catch_up(Instant(1_140_000_000_000));
    assert_eq!(queue(&pie).0, Duration::ZERO);
    assert!(pie.queues[0].drop_early(&spec, false, &mut rng));
    // The allowance is restored after a period without congestion.
    pie.queues[0].qdelay = Duration::ZERO;
    pie.catch_up(Instant(100_000_000_000_000));
    assert_eq!(queue(&pie), (Duration::from_ms(150), 0.0));
}

#[test]
fn catching_up_late_is_the_same_as_in_time() {
    let spec = Spec::default();
    let (mut often, mut late) = (State::new(&spec, 2), State::new(&spec, 2));
    let mut ms = 0;
    for (span, delay) in [(40, 80), (7, 200), (300, 45), (15, 0), (1_000, 0), (3, 90), (90, 90)] {
        for pie in [&mut often, &mut late] {
            pie.queues[1].qdelay = Duration::from_ms(delay);
        }
        for _ in 0..span {
            ms += 1;
            often.catch_up(Instant(ms * 1_000_000_000));
        }
        late.catch_up(Instant(ms * 1_000_000_000));
        assert_eq!(often.updates, late.updates);
        assert_eq!(often.queues[1].drop_prob, late.queues[1].drop_prob);
        assert_eq!(often.queues[1].burst_allowance, late.queues[1].burst_allowance);
    }
}

#[test]
fn drops_do_not_come_in_clusters() {
    let (spec, mut rng) = (Spec::default(), Stream::named(5, "test"));
    let mut queue = queue(0.05, (20, 20));
    let mut gaps = Vec::new();
    let mut gap = 0;
    while gaps.len() < 10_000 {
        gap += 1;
        if queue.drop_early(&spec, false, &mut rng) {
            gaps.push(gap);
            gap = 0;
        }
    }
    // 17 * 0.05 = 0.85 (as sums of binary fractions slightly less or more): the 17th or 18th packet
    // is the first that can be dropped, and the 170th or 171st must be.
    let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
    assert!((17..=18).contains(least) && *most <= 171, "{least} to {most}");
    // From there on geometric with mean 20; standard error 19.5 / 100. Bounds are five standard
    // errors.
    let mean = gaps.iter().map(|&gap| f64::from(gap)).sum::<f64>() / 1e4;
    assert!((mean - (f64::from(*least) + 19.0)).abs() < 1.0, "{mean}");
}

#[test]
fn short_queues_and_short_delays_are_spared() {
    let (spec, mut rng) = (Spec::default(), Stream::named(5, "test"));
    let mut certain = queue(1.0, (20, 20));
    assert!(!certain.drop_early(&spec, true, &mut rng));
    assert!(certain.drop_early(&spec, false, &mut rng));
    let spared = |drop_prob, rng: &mut Stream| {
        let mut queue = queue(drop_prob, (7, 7));
        !(0..1_000).any(|_| queue.drop_early(&spec, false, rng))
    };
    assert!(spared(0.19, &mut rng));
    assert!(!spared(0.21, &mut rng));
}
