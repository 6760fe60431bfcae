//! Families: sets of algorithms that answer the same question. One algorithm is one file, one
//! `mod` line, and one row in its family's [`family!`](crate::family!) call; from the rows come
//! the names that scenario files use, the catalogue that `floodway list` prints, and the list
//! that the conformance tests go through.

/// One algorithm, as the catalogue shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where in a scenario file it is chosen: `switch.scheduler`.
    pub family: &'static str,
    /// Its name there, the literature's: `drr`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
}

/// Declares the `Spec` of a family of which a scenario chooses exactly one member, and its
/// catalogue.
///
/// In a scenario file the member's name is part of the table header, `[switch.scheduler.drr]`,
/// so that a mistake inside is reported with its own line and column.
///
/// With `as Trait` after the path, `member()` gives the parameters as that trait, so that what the
/// members have in common is asked of each in its own file.
#[macro_export]
macro_rules! family {
    (
        $(#[$doc:meta])*
        $path:literal as $trait:path:
        $($variant:ident = $name:literal ($spec:ty): $summary:literal,)+
    ) => {
        $crate::family! {
            $(#[$doc])*
            $path: $($variant = $name ($spec): $summary,)+
        }

        impl Spec {
            /// Its parameters.
            pub(crate) fn member(&self) -> &dyn $trait {
                match self {
                    $(Self::$variant(spec) => spec,)+
                }
            }
        }
    };
    (
        $(#[$doc:meta])*
        $path:literal: $($variant:ident = $name:literal ($spec:ty): $summary:literal,)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum Spec {
            $(
                #[doc = $summary]
                #[serde(rename = $name)]
                $variant($spec),
            )+
        }

        impl Spec {
            /// The name that scenario files use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }
        }

        /// The members of the family.
        pub const CATALOGUE: &[$crate::family::Entry] = &[
            $($crate::family::Entry { family: $path, name: $name, summary: $summary },)+
        ];
    };
}
