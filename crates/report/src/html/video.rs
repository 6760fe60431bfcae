//! The section about adaptive video.

use super::Page;
use super::section::Section;
use crate::video;

impl Page<'_> {
    /// What videos play, and how well.
    pub(super) fn videos(&self) -> Option<Section> {
        self.groups(
            ("adaptive-video", "Adaptive video"),
            video::groups(self.summary),
            "Of segments requested in the measured interval, all flows of a workload together. Playback starts or goes on \
             when the buffer has as much as the scenario demands.",
        )
    }
}
