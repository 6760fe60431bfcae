//! The sections of the report.
use crate::evidence::Evidence;
use floodway_report::study::Section;

/// What the study answers.
pub fn answer(_: &Evidence) -> Vec<String> {
    Vec::new()
}
/// The sections.
pub fn sections(_: &Evidence) -> Vec<Section> {
    Vec::new()
}
