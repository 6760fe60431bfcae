//! How each collective of a job is carried out.

use std::collections::BTreeMap;

use floodway_model::CollectiveKind;

use super::{Gathered, Spec};
use crate::files::chakra::{Job, Kind};
use crate::workload::collective::schedule::{Algorithm, Plan, Schedule};

/// What the collectives of a job send.
#[derive(Debug)]
pub(super) struct Planned {
    /// By collective, how it is carried out; `None` if it has a single rank, which sends nothing.
    pub(super) exchanges: Vec<Option<Exchange>>,
    /// Messages of all collectives and of all sends.
    pub(super) messages: u64,
    /// Bytes of the largest message.
    pub(super) largest: u64,
}

/// The messages of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// Those of a plan.
    Planned(Plan),
    /// Those of a broadcast, in the other direction.
    Reduce(Plan),
    /// From each of so many ranks so many bytes to the first.
    Gather(usize, u64),
    /// From the first of so many ranks its parts of so many bytes.
    Scatter(usize, u64),
    /// A barrier of so many ranks.
    Barrier(usize),
}

impl Exchange {
    fn new(spec: &Spec, kind: Kind, ranks: usize, bytes: u64) -> Self {
        let many = ranks as u64;
        let Some(like) = kind.like() else {
            return match kind {
                Kind::Gather => Self::Gather(ranks, bytes.max(1)),
                Kind::Scatter => Self::Scatter(ranks, bytes.max(many)),
                _ => Self::Barrier(ranks),
            };
        };
        let bytes = match (like, spec.all_gather_size) {
            (CollectiveKind::AllGather, Gathered::Input) => bytes.saturating_mul(many),
            _ => bytes,
        };
        let algorithm = spec.algorithm(like);
        let chunks = if algorithm.has_chunks() { spec.chunks } else { 1 };
        let whole =
            Plan { kind: like, algorithm, ranks, per_server: 1, bytes, channels: 1, chunks: 1 };
        let cut = Plan { channels: spec.channels, chunks, ..whole };
        let plan = match bytes < cut.parts() {
            false => cut,
            // A message has at least a byte, which fits into the frame of one without any.
            true => Plan { bytes: bytes.max(whole.parts()), ..whole },
        };
        if kind == Kind::Reduce { Self::Reduce(plan) } else { Self::Planned(plan) }
    }

    /// The number of its messages, and the bytes of the largest.
    fn size(&self) -> (u64, u64) {
        match *self {
            Self::Planned(plan) | Self::Reduce(plan) => (plan.messages(), plan.largest()),
            Self::Gather(ranks, bytes) => (ranks as u64 - 1, bytes),
            Self::Scatter(ranks, bytes) => (ranks as u64 - 1, bytes.div_ceil(ranks as u64)),
            Self::Barrier(ranks) => {
                (ranks as u64 * u64::from(usize::BITS - (ranks - 1).leading_zeros()), 1)
            }
        }
    }

    /// Its messages.
    pub(super) fn schedule(&self) -> Schedule {
        match *self {
            Self::Planned(plan) => plan.schedule(),
            Self::Reduce(plan) => plan.schedule().reversed(),
            Self::Gather(ranks, bytes) => Schedule::gather(ranks, bytes),
            Self::Scatter(ranks, bytes) => Schedule::scatter(ranks, bytes),
            Self::Barrier(ranks) => Schedule::barrier(ranks),
        }
    }
}

/// An exchange with the number of its messages and the bytes of the largest.
type Known = (Exchange, (u64, u64));

impl Planned {
    /// How the collectives of a job are carried out. The error has a field, a message and a remedy.
    pub(super) fn new(spec: &Spec, job: &Job) -> Result<Self, (&'static str, String, String)> {
        let sizes = job.messages.iter().map(|message| message.bytes.max(1));
        let mut planned = Self {
            exchanges: Vec::with_capacity(job.collectives.len()),
            messages: job.messages.len() as u64,
            largest: sizes.max().unwrap_or(0),
        };
        // A job has many collectives of the same size.
        let mut known: BTreeMap<(Kind, usize, u64), Known> = BTreeMap::new();
        for of in &job.collectives {
            let ranks = of.members.len();
            if ranks < 2 {
                planned.exchanges.push(None);
                continue;
            }
            let &mut (exchange, (messages, largest)) =
                known.entry((of.kind, ranks, of.bytes)).or_insert_with(|| {
                    let exchange = Exchange::new(spec, of.kind, ranks, of.bytes);
                    (exchange, exchange.size())
                });
            if let Exchange::Planned(Plan { kind, algorithm: Algorithm::HalvingDoubling, .. }) =
                exchange
                && !ranks.is_power_of_two()
            {
                let (rank, node) = of.members[0];
                let name = job.ranks[rank as usize][node as usize].text();
                let field =
                    spec.algorithms().into_iter().find(|of| of.1 == kind).map_or("", |of| of.0);
                return Err((
                    field,
                    format!(
                        "{name} of rank {rank} has a group of {ranks}, which cannot be halved down to one"
                    ),
                    format!("choose {field} = \"ring\""),
                ));
            }
            planned.exchanges.push(Some(exchange));
            planned.messages = planned.messages.saturating_add(messages);
            planned.largest = planned.largest.max(largest);
        }
        Ok(planned)
    }
}
