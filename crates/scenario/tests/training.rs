//! Training jobs by the shape of a model: its numbers against published ones, and iterations on an idle network against
//! closed forms, to the picosecond.

use floodway_scenario::derived::DerivedVariant;
use floodway_scenario::{Overrides, Scenario};
use floodway_sim::{Outcome, Simulation, Stop};

use crate::patterns::{ps, run, wire};

/// A message on the idle star, frame by frame: the first one over both links, and the others behind it.
fn message(bytes: u64) -> u64 {
    let (full, rest) = (bytes / 1_500, bytes % 1_500);
    let all = full * wire(1_500) + if rest > 0 { wire(rest) } else { 0 };
    all + wire(bytes.min(1_500)) + 400_000
}

const US: u64 = 1_000_000;

/// A model of h = s = 100, whose layers have 28e6 operations forward, and so many hosts.
fn training(hosts: u32, parameters: &[&str]) -> Outcome {
    let text = "[workload.training]\nlayers = 2\nhidden = 100\nsequence = 100\nmicro_batches = 3\nefficiency = 1.0\n\
                peak_tflops = 28.0\n";
    let set: Vec<String> =
        parameters.iter().map(|of| format!("workload.0.training.{of}")).collect();
    run(hosts, text, &set.iter().map(|of| &**of).collect::<Vec<_>>())
}

/// How long the job takes, and each of its ranks computes.
fn times(outcome: &Outcome) -> (u64, Vec<u64>) {
    assert_eq!(outcome.stop, Stop::FlowsDone);
    let finish = ps(outcome, "operations", "finish_ns");
    assert_eq!(finish.len(), 1);
    assert_eq!(ps(outcome, "ranks", "finish_ns").into_iter().max(), Some(finish[0]));
    (finish[0], ps(outcome, "ranks", "compute_ns"))
}

/// Bytes of all activations of a micro-batch.
const ACTIVATIONS: u64 = 100 * 100 * 2;

/// Parameters of a layer, 12 h^2 + 13 h.
const LAYER: u64 = 121_300;

#[test]
fn replicas_compute_and_add_up_their_gradients() {
    // Three micro-batches of two layers of 1 us forward and 2 us backward. Then 4 replicas have a ring of 6 steps.
    let computes = 3 * 2 * 3 * US;
    let reduce = |bytes: u64| 6 * message(bytes / 4);
    let outcome = training(4, &[]);
    assert_eq!(times(&outcome), (computes + reduce(2 * LAYER * 2), vec![computes; 4]));
    assert_eq!(ps(&outcome, "ranks", "exposed_ns"), [reduce(2 * LAYER * 2); 4]);
    // The only collective: bus bandwidth is 2 (N - 1) / N of its bits by its time.
    let collectives = outcome.table("collectives");
    assert_eq!(
        (collectives.texts("kind"), collectives.u64s("ranks")),
        (&["all_reduce".to_owned()][..], &[4][..])
    );
    let bus = 1.5 * (2 * LAYER * 2 * 8) as f64 / reduce(2 * LAYER * 2) as f64 * 1e12;
    assert!((collectives.f64s("bus_bandwidth_bps")[0] / bus - 1.0).abs() < 1e-9);
    // A gradient of 4 bytes, and every layer forward again before it is backward.
    let outcome = training(4, &["bytes_per_gradient=4", "recompute=true"]);
    let again = 3 * 2 * 4 * US;
    assert_eq!(times(&outcome), (again + reduce(2 * LAYER * 4), vec![again; 4]));
    // Iterations follow each other.
    let (time, _) = times(&training(4, &["iterations=3"]));
    assert_eq!(time, 3 * (computes + reduce(2 * LAYER * 2)));
    // Sharded: a reduce-scatter of gradients, and an all-gather of parameters.
    let (time, _) = times(&training(4, &["optimizer=sharded", "bytes_per_gradient=4"]));
    let half = |bytes: u64| 3 * message(bytes / 4);
    assert_eq!(time, computes + half(2 * LAYER * 4) + half(2 * LAYER * 2));
}

#[test]
fn buckets_overlap_with_computation() {
    let reduce = 6 * message(LAYER * 2 / 4);
    // The gradients of the last layer are added up while the other one is backward, which is shorter.
    let computes = 18 * US;
    assert!(reduce > 2 * US);
    let (time, _) = times(&training(4, &["buckets=2"]));
    assert_eq!(time, computes - 2 * US + 2 * reduce);
    // Which is longer, if the GPU is a hundredth as fast: the first sum is hidden.
    let (time, _) = times(&training(4, &["buckets=2", "peak_tflops=0.28"]));
    assert_eq!(time, 100 * computes + reduce);
    // Five layers in two buckets: three are in the first, for two and a half come out of five by two.
    let outcome = training(4, &["buckets=2", "layers=5"]);
    let nodes = outcome.table("trace_nodes");
    let names: Vec<_> =
        nodes.texts("name").iter().filter(|name| name.contains("backward 2")).collect();
    assert_eq!(names[..2], ["backward 2 layers 2-4", "backward 2 layers 0-1"]);
    let of: Vec<_> =
        (0..nodes.rows()).filter(|&row| nodes.texts("name")[row].contains("gradients")).collect();
    assert_eq!(of.len(), 4 * 2);
    let sent = outcome.table("ranks").u64s("sent_bytes");
    assert_eq!(sent, [5 * LAYER * 2 * 2 * 3 / 4; 4]);
}

#[test]
fn ranks_that_divide_layers_have_collectives_in_each() {
    // Of the two ranks each has half of the operations, at half of the speed. An all-reduce follows both halves of a
    // layer, forward and backward: 8 for a layer and micro-batch with its two directions, 12 with recomputation.
    let reduce = 2 * message(ACTIVATIONS / 2);
    let of = |parameters: &[&str]| {
        let two = ["tensor_parallel=2", "peak_tflops=14.0"];
        times(&training(2, &[&two[..], parameters].concat()))
    };
    let computes = 18 * US;
    let layers = 3 * 2;
    assert_eq!(of(&[]), (computes + layers * 4 * reduce, vec![computes; 2]));
    let again = 24 * US;
    assert_eq!(of(&["recompute=true"]), (again + layers * 6 * reduce, vec![again; 2]));
    // A reduce-scatter and an all-gather are as long together as an all-reduce.
    assert_eq!(
        of(&["sequence_parallel=true"]),
        (computes + layers * 4 * reduce, vec![computes; 2])
    );
}

/// With m micro-batches in p stages of f forward and b backward, and messages of c that are shorter than both: the
/// iteration takes (m + p - 1) (f + b), of which p - 1 are the bubble, and what is not hidden of messages. On the
/// longest path there are 2 (p - 1) of them for the first micro-batch, as many after each p further ones, since no more
/// are under way, and 2 for each but one of the rest.
#[test]
fn a_pipeline_has_its_bubble() {
    let message = message(ACTIVATIONS);
    for stages in [2, 4] {
        for batches in [1, 2, 3, 4, 5, 8, 11] {
            let parameters = [
                "peak_tflops=0.28",
                &format!("layers={stages}"),
                &format!("pipeline_parallel={stages}"),
                &format!("micro_batches={batches}"),
            ];
            let (time, computed) = times(&training(stages as u32, &parameters));
            let slot = 300 * US;
            assert_eq!(computed, vec![batches * slot; stages as usize]);
            let (rounds, rest) = ((batches - 1) / stages, (batches - 1) % stages);
            let messages = 2 * ((stages - 1) * (1 + rounds) + rest.saturating_sub(1));
            assert_eq!(time, (batches + stages - 1) * slot + messages * message);
            // The bubble, as a part of the computation: (p - 1) / m.
            let bubble = (time - messages * message) as f64 / computed[0] as f64 - 1.0;
            assert!((bubble - (stages - 1) as f64 / batches as f64).abs() < 1e-12);
        }
    }
}

#[test]
fn tokens_go_to_experts_and_back() {
    // Two replicas share 4 experts. Attention has 12e6 operations, a perceptron 16e6 and the router 80e3.
    let outcome = training(2, &["experts=4", "expert_parallel=2"]);
    let forward = (12_000_000 + 16_000_000 + 80_000) * 1_000_000 / 28_000_000;
    // The times of attention and of a perceptron are rounded.
    let layers = 3 * 2;
    let exchange = message(ACTIVATIONS / 2);
    // Attention 4 h^2 + 8 h, and the router 4 h, are in both replicas.
    let dense = 2 * (40_800 + 400) * 2;
    let expected = layers * (3 * forward + 4 * exchange) + 2 * message(dense / 2);
    let (time, _) = times(&outcome);
    assert!(time.abs_diff(expected) < 40, "{time} {expected}");
    // Each token to two experts: twice the bytes.
    let twice = training(2, &["experts=4", "expert_parallel=2", "experts_per_token=2"]);
    let sum = |outcome: &Outcome| -> u64 { outcome.table("flows").u64s("bytes").iter().sum() };
    assert_eq!(sum(&twice) - sum(&outcome), layers * 4 * ACTIVATIONS);
    // With 4 replicas, pairs have the same experts: their gradients too are added up, those of 2 experts each.
    let four = training(4, &["experts=4", "expert_parallel=2"]);
    let expert = 2 * (80_000 + 500);
    let reduced = 2 * 3 * dense + 2 * (2 * 2 * expert * 2);
    assert_eq!(sum(&four), 2 * layers * 4 * ACTIVATIONS + reduced);
    // Without dividing them, all replicas have all.
    let whole = training(2, &["experts=4"]);
    assert_eq!(sum(&whole), 2 * (dense + 2 * 4 * 80_500 * 2));
}

fn parse(text: &str) -> Result<Scenario, String> {
    let overrides = Overrides { quick: false, set: Vec::new() };
    Scenario::parse(text, "s.toml", &overrides).map_err(|error| error.plain())
}

/// A scenario with servers of four GPUs, with NVLink.
fn servers(count: u32, parameters: &str) -> Result<Scenario, String> {
    parse(&format!(
        "name = \"job\"\narrivals = \"1ms\"\nlimit = \"1s\"\n[topology.rails]\nservers = {count}\ngpus = 4\n\
         [topology.rails.nvlink]\n[switch.queue]\nsize = \"100MB\"\n[host]\ntransport = \"ethernet\"\n\
         [[workload]]\n[workload.training]\npeak_tflops = 100.0\n{parameters}\n"
    ))
}

const SMALL: &str = "layers = 4\nhidden = 64\nsequence = 32\nmicro_batches = 4\n";

#[test]
fn groups_are_where_their_order_puts_them() {
    let all = "tensor_parallel = 2\npipeline_parallel = 2\ndata_parallel = 4\nvocabulary = 100\n";
    for (order, replicas) in [("tensor_data_pipeline", 2), ("tensor_pipeline_data", 4)] {
        let scenario = servers(4, &format!("{SMALL}{all}order = \"{order}\"")).unwrap();
        let outcome = Simulation::new(scenario.build(&scenario.variants()[0], 0)).run();
        assert_eq!((outcome.stop, outcome.violations.len()), (Stop::FlowsDone, 0));
        let flows = outcome.table("flows");
        let pairs = flows.u64s("src").iter().zip(flows.u64s("dst")).zip(flows.u64s("bytes"));
        // Host h has the ports 2 h, its NIC, and 2 h + 1, its NVLink.
        let hosts: Vec<(u64, u64, u64)> =
            pairs.map(|((src, dst), bytes)| (src / 2, dst / 2, *bytes)).collect();
        let bytes = |is: &dyn Fn(u64, u64) -> bool| -> u64 {
            hosts.iter().filter(|(src, dst, _)| is(*src, *dst)).map(|of| of.2).sum()
        };
        let activations = 32 * 64 * 2;
        // All-reduces of pairs: two for each of four layers, forward and backward, four micro-batches, in 4 replicas.
        let tensor = bytes(&|src, dst| src / 2 == dst / 2);
        assert_eq!(tensor, 2 * 4 * 4 * 4 * 4 * activations);
        // Messages between the two stages in both directions, of 4 micro-batches in 8 pairs, and embeddings of
        // 100 / 2 x 64 parameters that they add up.
        let stage = |host: u64| if replicas == 2 { host / 8 } else { host / 2 % 2 };
        let stages = bytes(&|src, dst| stage(src) != stage(dst));
        assert_eq!(stages, 8 * (2 * 4 * activations + 2 * (100 / 2 * 64) * 2));
        // The rest is among replicas: in 3 of 4 parts of all gradients, twice, for each of 4 ranks of 4 groups.
        let (layer, embedding) = ((12 * 64 * 64 + 7 * 64) / 2 + 6 * 64, 100 / 2 * 64);
        let gradients = 2 * (2 * layer + embedding + 32 * 64) + 2 * (2 * layer + embedding);
        assert_eq!(bytes(&|_, _| true) - tensor - stages, 2 * 3 * gradients * 2);
    }
}

fn numbers(scenario: &Scenario) -> DerivedVariant {
    scenario.derived().variants[0].clone()
}

#[test]
fn parameters_are_those_of_published_models() {
    // Narayanan et al. (2021), table 1: billions of parameters of a model with these layers and hidden size, and of
    // equation 2 all digits.
    for (layers, hidden, billions) in [
        (24u64, 2304u64, 1.7),
        (30, 3072, 3.6),
        (96, 12_288, 174.6),
        (105, 20_480, 529.6),
        (128, 25_600, 1008.0),
    ] {
        let scenario = servers(
            2,
            &format!(
                "layers = {layers}\nhidden = {hidden}\nsequence = 2048\nvocabulary = 51200\nmicro_batches = 1\n\
                 recompute = true\ntensor_parallel = 2"
            ),
        );
        let of = &numbers(&scenario.unwrap()).training[0];
        let exact =
            12 * layers * hidden * hidden + 13 * layers * hidden + (51_200 + 2_048) * hidden;
        assert_eq!(of.parameters, exact as f64);
        let digits = if billions < 10.0 { 0.05 } else { 0.1 };
        assert!((of.parameters / 1e9 - billions).abs() <= digits, "{billions}");
        // Equation 3 with a batch of 4 sequences.
        let (l, h, s) = (layers as f64, hidden as f64, 2_048.0);
        let operations =
            96.0 * 4.0 * s * l * h * h * (1.0 + s / (6.0 * h) + 51_200.0 / (16.0 * l * h));
        assert_eq!((of.ranks, of.sequences), (8, 4));
        assert!((of.operations / operations - 1.0).abs() < 1e-12);
    }
}

#[test]
fn check_shows_what_follows_from_the_shape() {
    let scenario = servers(
        4,
        "layers = 96\nhidden = 12288\nsequence = 2048\nvocabulary = 51200\nmicro_batches = 8\ntensor_parallel = 4\n\
         pipeline_parallel = 2\nsequence_parallel = true\noptimizer = \"sharded\"\nexperts = 1",
    )
    .unwrap();
    let derived = scenario.derived();
    let shown = derived.to_string();
    // 24 s h^2 + 4 s^2 h are 7.628e12 operations of a layer forward, and 2 s h V are 2.577e12 of the output. 16 sequences
    // have three times those of 96 layers and of the output, 35.27e15; the last stage has a quarter of 48 layers and
    // of the output in a rank at 50e12 per second, 1.8436 s forward, and 9 times three times that is 49.78 s.
    // 48 layers of (12 h^2 + 7 h) / 4 + 6 h, and embeddings of V h / 4 + s h, in a rank of the first stage.
    let h = 12_288u64;
    let held = 48 * ((12 * h * h + 7 * h) / 4 + 6 * h) + 51_200 * h / 4 + 2_048 * h;
    assert_eq!(derived.variants[0].training[0].parameters_of_rank, held as f64);
    let lines: Vec<&str> =
        shown.lines().skip_while(|line| !line.starts_with("workload 0")).collect();
    assert_eq!(
        lines,
        [
            "workload 0: tensor 4 x data 2 x pipeline 2 = 16 ranks, 16 sequences an iteration",
            "  parameters: 174.6e9, 21.9e9 in a rank; operations of an iteration: 35.3e15",
            "  micro-batch in a stage: 1.84 s forward, 3.69 s backward; iteration without network: 49.8 s, bubble 12.5 %",
            "  tensor collective 50.3 MB, message between stages 12.6 MB, gradients 43.9 GB, all-gather of parameters \
             43.9 GB",
        ]
    );
}

/// Two stages with two parts each, of which a layer takes F = 100 us forward and 2 F backward. A micro-batch crosses the
/// network six times: three times forward and three times backward. With messages of c the last gradients are there after
/// 15 F + 6 c with two micro-batches, and 27 F + 6 c with four (worked out pass by pass): the bubble is (p - 1) / (v m).
#[test]
fn interleaved_stages_divide_the_bubble() {
    let message = message(ACTIVATIONS);
    for (batches, passes) in [(2, 15), (4, 27)] {
        let parameters = [
            "peak_tflops=0.28",
            "layers=4",
            "pipeline_parallel=2",
            "virtual_stages=2",
            &format!("micro_batches={batches}"),
        ];
        let (time, computed) = times(&training(2, &parameters));
        assert_eq!(computed, [batches * 600 * US; 2]);
        assert_eq!(time, passes * 100 * US + 6 * message);
        let bubble = (time - 6 * message) as f64 / computed[0] as f64 - 1.0;
        assert!((bubble - 1.0 / (2 * batches) as f64).abs() < 1e-12);
    }
}

/// As with alternating passes, (m + p - 1) (f + b); and the messages of the first micro-batch forward and of the last
/// one backward.
#[test]
fn gpipe_has_the_bubble_of_a_pipeline() {
    for batches in [1, 2, 5] {
        let parameters = [
            "peak_tflops=0.28",
            "pipeline_parallel=2",
            "schedule=gpipe",
            &format!("micro_batches={batches}"),
        ];
        let (time, _) = times(&training(2, &parameters));
        assert_eq!(time, (batches + 1) * 300 * US + 2 * message(ACTIVATIONS));
    }
}

#[test]
fn interleaved_stages_need_micro_batches_and_layers_that_fit() {
    let of = |with: &str| wrong(servers(2, &format!("hidden = 64\nsequence = 32\n{with}")));
    assert_eq!(
        of("pipeline_parallel = 4\nvirtual_stages = 2\nlayers = 8\nmicro_batches = 6"),
        [
            "`micro_batches` of 6 cannot be interleaved over 4 stages: as many as there are stages pass a part together",
            "write a multiple of 4, like 8, or remove `virtual_stages`",
        ]
    );
    assert_eq!(
        of("pipeline_parallel = 4\nvirtual_stages = 3\nlayers = 8\nmicro_batches = 8"),
        [
            "2 layers of a stage cannot be divided into 3 parts of the same size",
            "write a divisor of 2"
        ]
    );
    assert_eq!(
        of("virtual_stages = 2\nlayers = 8\nmicro_batches = 8"),
        [
            "one stage alone has 2 parts, which follow each other without a bubble",
            "remove `virtual_stages`, or write `pipeline_parallel` of at least 2",
        ]
    );
    assert_eq!(
        of(
            "pipeline_parallel = 2\nvirtual_stages = 2\nlayers = 8\nmicro_batches = 8\nschedule = \"gpipe\""
        ),
        [
            "`gpipe` has no interleaved stages",
            "remove `virtual_stages`, or write schedule = \"one_forward_one_backward\"",
        ]
    );
}

/// What is wrong, and the remedy.
fn wrong(text: Result<Scenario, String>) -> [String; 2] {
    let text = text.expect_err("it is wrong");
    let line = |begins: &str| {
        let found = text.lines().find_map(|line| line.trim().strip_prefix(begins));
        found.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    [line("error: "), line("= help: ")]
}

#[test]
fn degrees_have_to_fit_to_the_hosts() {
    let of = |with: &str| wrong(servers(3, &format!("{SMALL}{with}")));
    assert_eq!(
        of("tensor_parallel = 8"),
        [
            "12 hosts cannot be divided into replicas of tensor 8 x pipeline 1 = 8 ranks",
            "change the size of the network, or name the hosts in `ranks`, or write how many replicas there are: \
             `data_parallel`",
        ]
    );
    assert_eq!(
        of("tensor_parallel = 2\ndata_parallel = 4\npipeline_parallel = 2"),
        [
            "tensor 2 x data 4 x pipeline 2 are 16 ranks, and there are 12 hosts",
            "change the size of the network, or name the hosts in `ranks`",
        ]
    );
    assert_eq!(
        of("data_parallel = 4\nranks = \"0-4\""),
        [
            "tensor 1 x data 4 x pipeline 1 are 4 ranks, and there are 5 hosts",
            "change the number of hosts in `ranks`",
        ]
    );
    assert_eq!(
        of("ranks = \"3\""),
        ["one rank alone has nobody to send to", "make a degree of parallelism larger than 1",]
    );
    assert_eq!(
        of("experts = 8\nexpert_parallel = 8"),
        [
            "12 replicas cannot be divided into groups of 8 that share experts",
            "write a divisor of 12",
        ]
    );
    assert_eq!(
        of("iterations = 60000\ntensor_parallel = 2"),
        [
            "the job has about 279360000 computations and collectives",
            "at most 5000000 are possible: fewer iterations or micro-batches show the same",
        ]
    );
}

#[test]
fn tensor_parallelism_over_servers_is_warned_of() {
    let warnings = |with: &str, about: &str| {
        let scenario = servers(2, &format!("{SMALL}{with}")).unwrap();
        let all = scenario.warnings().iter().map(|warning| warning.message.clone());
        all.filter(|message| message.contains(about)).collect::<Vec<_>>()
    };
    let divide = "that divide layers";
    assert_eq!(warnings("tensor_parallel = 4", divide), Vec::<String>::new());
    let crosses = |ranks| {
        format!("a group of {ranks} ranks that divide layers is in several servers of 4 GPUs")
    };
    assert_eq!(warnings("tensor_parallel = 8", divide), [crosses(8)]);
    assert_eq!(warnings("tensor_parallel = 2\nranks = \"3, 4, 1, 2\"", divide), [crosses(2)]);
    // 4 layers have 3 (24 s h^2 + 4 s^2 h) operations, of which a rank does a quarter: 10.2e6 at 100e6 per second, for
    // each of 4 micro-batches.
    assert_eq!(
        warnings("tensor_parallel = 4\nefficiency = 1e-6", "computes for"),
        Vec::<String>::new()
    );
    assert_eq!(
        warnings("tensor_parallel = 4\nefficiency = 1e-7", "computes for"),
        ["a rank computes for 4.09 s, and the run ends 1 s after the start of the job"]
    );
}
