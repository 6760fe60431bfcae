//! Skeletons of algorithms: for each family a data file, whose parts [`Tree::apply`](super::tree::Tree::apply)
//! explains.

/// What a new member of a family begins with.
pub struct Skeleton {
    /// The family.
    pub family: &'static str,
    /// Its parts.
    pub text: &'static str,
}

macro_rules! skeletons {
    ($($family:literal),+) => {
        &[$(Skeleton {
            family: $family,
            text: include_str!(concat!("skeletons/", $family, ".txt")),
        },)+]
    };
}

/// All of them.
pub const SKELETONS: &[Skeleton] = skeletons![
    "host.congestion",
    "switch.aqm",
    "switch.classify",
    "switch.flow_control",
    "switch.path",
    "switch.queue.discipline",
    "switch.scheduler"
];

/// The parts that all families have.
pub const COMMON: &str = include_str!("skeletons/common.txt");

/// What to do next.
pub const NEXT: &str = include_str!("skeletons/next.txt");

/// A text with its placeholders, `{{name}}`, replaced by values.
pub fn filled<S: AsRef<str>>(text: &str, values: &[(&str, S)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{{{name}}}}}"), value.as_ref())
    })
}
