//! The fields that workloads of random flow sizes have in common.

/// Declares parameters that begin with those of a flow-size distribution. They are fields of the
/// structure itself and not of one inside, because serde's `flatten` takes values out of sight of
/// the reader, which knows their places.
macro_rules! with_sizes {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            /// Flow sizes: the name of a built-in distribution, one size like "64KB", an exponential
            /// distribution by its mean, least and most like "exponential(8000B, 46B, 64KB)" (the mean is
            /// that without the bounds; what is outside of them is drawn again), or a CSV file of
            /// `size_bytes,cdf`, its path relative to the scenario file.
            pub sizes: String,
            /// How sizes are drawn from the table. Default that of the distribution's users; linear for
            /// a file.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub sampling: Option<$crate::workload::Sampling>,
            /// Larger flows are cut to this size; an offered load stays. Default no limit.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub max_size: Option<floodway_model::Bytes>,
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $name {
            /// The distribution, if it can be read.
            fn distribution(
                &self,
                path: &str,
                findings: &mut $crate::check::Problems<'_>,
            ) -> Option<$crate::workload::Distribution> {
                let (sizes, sampling) = (&self.sizes, self.sampling);
                $crate::check::sizes::check(path, "sizes", sizes, sampling, self.max_size, findings)
            }
        }
    };
}
pub(super) use with_sizes;

/// Where it is written how large the largest flow is.
pub(super) fn size_fields() -> Vec<String> {
    vec!["max_size".to_owned(), "sizes".to_owned()]
}
