//! The engine of the playground: takes a [`Request`] of the page and gives a [`Reply`], both as JSON.
//!
//! It is compiled to WebAssembly, where it runs in a worker of the browser, with a memory of its own for
//! each request. Results are those of `floodway run`, and so is the page that shows them; nothing is
//! computed in JavaScript. Natively it is the same program, which the tests use.
//!
//! - [`request`]: what the page asks for
//! - [`reply`]: what it gets
//! - [`run`]: two settings of a scenario on the same traffic
//! - [`presets`]: the scenarios that the page begins with, and their controls

pub mod presets;
pub mod reply;
pub mod request;
pub mod run;

use floodway_scenario::file_schema;

pub use reply::Reply;
pub use request::Request;

/// The reply to a request, both as JSON. `watch` receives the progress of runs.
pub fn answer(request: &str, watch: &(dyn Fn(run::Progress) + Sync)) -> String {
    let reply = match serde_json::from_str(request) {
        Ok(request) => reply_to(&request, watch),
        Err(error) => Reply::refused(format!("the page asks for something unknown: {error}")),
    };
    serde_json::to_string(&reply).expect("a reply is JSON")
}

fn reply_to(request: &Request, watch: &(dyn Fn(run::Progress) + Sync)) -> Reply {
    match request {
        Request::Schema => Reply { schema: Some(file_schema()), ..Reply::default() },
        Request::Check(experiment) => run::check(experiment),
        Request::Run(experiment) => run::run(experiment, watch),
    }
}
