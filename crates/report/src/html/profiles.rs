//! The values of device profiles, with evidence and sources.

use maud::html;

use super::Page;
use super::section::Section;
use super::r#type::{raw, set};

impl Page<'_> {
    /// All values that some variant takes from a profile.
    pub(super) fn device_profiles(&self) -> Section {
        let values = &self.manifest.scenario.profile_values;
        let mut section = Section::new("device-profiles", "Device profiles").folded();
        if values.is_empty() {
            return section;
        }
        section.text(html! {
            p { "Settings of switches and NICs that come from device profiles, and how each is known." }
            div.scroll {
                table {
                    thead {
                        tr {
                            th.text { "profile" } th.text { "setting" } th.text { "value" } th.text { "evidence" }
                            th.text { "source" }
                        }
                    }
                    tbody {
                        @for of in values {
                            tr {
                                td.text { (raw(&of.profile)) }
                                td.text { code { (raw(&of.path)) } }
                                td.text { (raw(&of.value)) }
                                td.text { (set(&of.evidence)) }
                                td.text { (raw(&of.source)) }
                            }
                        }
                    }
                }
            }
        });
        section
    }
}
