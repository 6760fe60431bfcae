//! What the page and the run know of each other: the page asks for what is new and sends commands; the run takes commands
//! between two steps, and says what it has done.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use floodway_lab::live::{Action, Live, Sample};
use serde::{Deserialize, Serialize};

use super::server::{Request, Response};

/// Samples that are kept for pages that open later.
const KEPT: usize = 1_200;

/// Actions that pages are told.
const ACTIONS: usize = 200;

/// Commands that wait; further ones are refused.
const WAITING: usize = 64;

/// How long a page waits for what came of its command.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a page asks for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// So many flows of a kind.
    Flows {
        /// The kind.
        kind: String,
        /// Number of flows.
        count: u32,
    },
    /// The queue management of a variant.
    Management(String),
    /// Simulated seconds in a second; null for as many as possible.
    Speed(Option<f64>),
    /// To stop time, or to let it go on.
    Pause(bool),
    /// The port, by number, that is looked at.
    Port(usize),
    /// To end the run.
    End(()),
}

impl Command {
    /// The action that it is, if it changes what is simulated.
    pub fn action(&self) -> Option<Action> {
        match self {
            Self::Flows { kind, count } => {
                Some(Action::Flows { kind: kind.clone(), count: *count })
            }
            Self::Management(name) => Some(Action::Management(name.clone())),
            _ => None,
        }
    }
}

/// A command, and where its answer goes: an empty text, or why it is refused.
pub type Asked = (Command, SyncSender<Result<(), String>>);

/// What does not change.
#[derive(Clone, Debug, Serialize)]
pub struct Fixed {
    scenario: String,
    question: String,
    most_flows: u32,
    step_s: f64,
    end_s: f64,
    kinds: Vec<KindOfFlow>,
    managements: Vec<Management>,
    ports: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct KindOfFlow {
    name: String,
    congestion: String,
    linux: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Management {
    name: String,
    aqm: &'static str,
    refused: Option<String>,
}

impl Fixed {
    /// Of a run.
    pub fn of(live: &Live, (scenario, question): (&str, &str), step_s: f64) -> Self {
        let kind = |kind: &floodway_lab::live::Kind| KindOfFlow {
            name: kind.name.clone(),
            congestion: kind.congestion.clone(),
            linux: kind.is_linux,
        };
        let management = |of: &floodway_lab::live::Management| Management {
            name: of.name.clone(),
            aqm: of.aqm,
            refused: of.refused().map(str::to_owned),
        };
        Self {
            scenario: scenario.to_owned(),
            question: question.to_owned(),
            most_flows: floodway_lab::live::MOST_FLOWS,
            step_s,
            end_s: live.end().0 as f64 / 1e12,
            kinds: live.kinds().iter().map(kind).collect(),
            managements: live.managements().iter().map(management).collect(),
            ports: live.ports().map(str::to_owned).collect(),
        }
    }
}

/// What changes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Now {
    /// Simulated seconds.
    pub time_s: f64,
    /// Simulated seconds in a second that are asked for; null for as many as possible.
    pub speed: Option<f64>,
    /// Simulated seconds in the last second.
    pub pace: f64,
    /// Whether time stands still.
    pub paused: bool,
    /// Whether the run has ended.
    pub ended: bool,
    /// What has gone wrong, if it has ended because of that.
    pub trouble: String,
    /// The number of the port that is looked at.
    pub port: usize,
    /// The number of the present queue management.
    pub management: usize,
    /// The number of flows of each kind.
    pub flows: Vec<usize>,
}

/// An action, as the page shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Told {
    /// When it took effect.
    pub time_s: f64,
    /// The action.
    pub action: Action,
}

#[derive(Debug, Default)]
struct Board {
    now: Now,
    samples: VecDeque<Sample>,
    /// The number of the first sample that is kept.
    first: u64,
    actions: VecDeque<Told>,
}

/// The desk between the page and the run.
#[derive(Clone, Debug)]
pub struct Desk {
    fixed: Arc<Fixed>,
    board: Arc<Mutex<Board>>,
    commands: SyncSender<Asked>,
}

#[derive(Serialize)]
struct State<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed: Option<&'a Fixed>,
    now: &'a Now,
    /// The number of the sample after the last one.
    next: u64,
    samples: Vec<&'a Sample>,
    actions: Vec<&'a Told>,
}

impl Desk {
    /// A desk, and where commands come out.
    pub fn new(fixed: Fixed) -> (Self, Receiver<Asked>) {
        let (commands, receiver) = sync_channel(WAITING);
        let board = Arc::new(Mutex::new(Board::default()));
        (Self { fixed: Arc::new(fixed), board, commands }, receiver)
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says how things are now.
    pub fn set(&self, now: Now) {
        self.board().now = now;
    }

    /// Adds a sample.
    pub fn add(&self, sample: Sample) {
        let mut board = self.board();
        board.samples.push_back(sample);
        if board.samples.len() > KEPT {
            board.samples.pop_front();
            board.first += 1;
        }
    }

    /// Says what has been done.
    pub fn tell(&self, told: Told) {
        let mut board = self.board();
        board.actions.push_back(told);
        if board.actions.len() > ACTIONS {
            board.actions.pop_front();
        }
    }

    /// The answer to a request.
    pub fn answer(&self, request: &Request) -> Response {
        let file =
            |kind, text: &str| Response { status: 200, kind, body: text.as_bytes().to_vec() };
        match (request.is_post, request.path.as_str()) {
            (false, "/") => file("text/html; charset=utf-8", include_str!("page/index.html")),
            (false, "/live.js") => {
                file("text/javascript; charset=utf-8", include_str!("page/live.js"))
            }
            (false, "/live.css") => file("text/css; charset=utf-8", include_str!("page/live.css")),
            (false, "/uplot.js") => {
                file("text/javascript; charset=utf-8", floodway_report::html::LIBRARY)
            }
            (false, "/uplot.css") => {
                file("text/css; charset=utf-8", floodway_report::html::LIBRARY_STYLE)
            }
            (false, "/state") => self.state(&request.query),
            (true, "/do") => self.command(&request.body),
            (_, "/do") => Response::text(405, "commands are sent with POST"),
            _ => Response::text(404, "there is no such page; the page is /"),
        }
    }

    /// What is new since a sample: `since=12`, or everything with what does not change.
    fn state(&self, query: &str) -> Response {
        let since = match query.strip_prefix("since=").map(str::parse::<u64>) {
            None if query.is_empty() => None,
            Some(Ok(since)) => Some(since),
            _ => return Response::text(400, "expected no query, or since=NUMBER"),
        };
        let board = self.board();
        let skip = since.map_or(0, |since| since.saturating_sub(board.first));
        let state = State {
            fixed: since.is_none().then_some(&*self.fixed),
            now: &board.now,
            next: board.first + board.samples.len() as u64,
            samples: board
                .samples
                .iter()
                .skip(usize::try_from(skip).unwrap_or(usize::MAX))
                .collect(),
            actions: board.actions.iter().collect(),
        };
        match serde_json::to_vec(&state) {
            Ok(body) => Response { status: 200, kind: "application/json", body },
            Err(error) => Response::text(500, error.to_string()),
        }
    }

    /// Passes a command on, and waits for what comes of it.
    fn command(&self, body: &[u8]) -> Response {
        let command = match serde_json::from_slice::<Command>(body) {
            Ok(command) => command,
            Err(error) => {
                return Response::text(
                    400,
                    format!("{error}: expected a command such as {{\"pause\": true}}"),
                );
            }
        };
        let (sender, receiver) = sync_channel(1);
        match self.commands.try_send((command, sender)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return Response::text(503, "too many commands at once: wait for the last ones");
            }
            Err(TrySendError::Disconnected(_)) => return Response::text(503, "the run has ended"),
        }
        match receiver.recv_timeout(PATIENCE) {
            Ok(Ok(())) => Response { status: 200, kind: "application/json", body: b"{}".to_vec() },
            Ok(Err(reason)) => Response::text(400, reason),
            Err(_) => Response::text(503, "the run has ended, or a step of it takes too long"),
        }
    }
}
