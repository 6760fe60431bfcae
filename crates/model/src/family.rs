//! Families: sets of interchangeable algorithms for the same task. One algorithm is one file, one
//! `mod` line, and one row in its family's [`family!`](crate::family!) call. The rows define the
//! names in scenario files, the catalogue that `floodway list` prints, and the list that the
//! conformance tests cover.

/// Catalogue entry of one algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where a scenario file selects it: `switch.scheduler`.
    pub family: &'static str,
    /// Its name in scenario files, as in the literature: `drr`.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
}

/// Declares the `Spec` of a family of which a scenario selects exactly one member, and its catalogue.
///
/// In a scenario file the member's name is part of the table header, `[switch.scheduler.drr]`, so an
/// error inside is reported with its own line and column. The parameters of every member implement
/// [`Check`](crate::check::Check), and so does `Spec`: each member validates its parameters in its own
/// file.
///
/// The members share a trait, which each implements in its own file. There are three forms, written
/// after the path:
///
/// - `as Trait`: the parameters implement it, and `member()` returns them as `&dyn Trait`.
/// - `as Trait { … }`: the parameters implement it, and `Spec` has the listed methods, which call
///   the member's directly, without a table of pointers. For methods that are called per packet.
/// - `with Trait { … }`: a member has a `State` of its own beside its `Spec`, which implements it.
///   The macro generates an enum `State` of all of them, created by `new`, which gets the parameters
///   and the listed arguments. The functions under `parameters` are functions of the trait that get
///   the parameters, and become methods of `Spec`; those under `state` and `mut state` are methods
///   that get `&self` and `&mut self`. A large state is `boxed`, so that it does not enlarge the enum.
///
/// After `as Trait { … }`, `states { … }` declares states of a member beside its parameters, such as
/// the sending and the receiving side of a transport. `Side with Trait { … }`, with contents as above,
/// generates an enum `Side` of the types `Side` in the modules of the members. They implement the
/// trait, whose `new` gets the parameters of the member and the listed arguments.
///
/// A method is `#[inline]`, unless an attribute such as `#[inline(always)]` precedes it.
///
/// In the last two forms, rows name the module of the member, which contains `Spec` and `State`.
///
/// `Spec::all()` returns every member with its default parameters, so that a test of the family covers
/// all of them. There is none if the form is `as Trait`, or if `without defaults` is written after the
/// path: then members have parameters that a scenario must give.
#[macro_export]
macro_rules! family {
    (
        $(#[$doc:meta])*
        $path:literal with $trait:ident {
            new($($given:ident: $what:ty),*);
            parameters $of_parameters:tt
            state $of_state:tt
            mut state $of_mut_state:tt
        }
        $($variant:ident = $name:literal in $module:ident $(, $boxed:ident)?: $summary:literal,)+
    ) => {
        $crate::family! {
            $(#[$doc])*
            $path: $($variant = $name ($module::Spec): $summary,)+
        }

        impl Spec {
            $crate::family! {
                @methods (&self) self (static $trait) ($($variant $module)+) $of_parameters
            }
        }

        /// State of a member.
        #[derive(Debug)]
        pub enum State {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($crate::family!(@type $module $($boxed)?)),
            )+
        }

        impl State {
            #[doc = concat!("See [`", stringify!($trait), "::new`].")]
            pub fn new(spec: &Spec $(, $given: $what)*) -> Self {
                $crate::family!(@new spec $trait ($($variant $module)+) ($($given),*))
            }

            $crate::family! { @methods (&self) self (of $trait) ($($variant $module)+) $of_state }
            $crate::family! {
                @methods (&mut self) self (of $trait) ($($variant $module)+) $of_mut_state
            }
        }
    };
    (
        $(#[$doc:meta])*
        $path:literal as $trait:ident $methods:tt
        states $states:tt
        $($variant:ident = $name:literal in $module:ident $(, $boxed:ident)?: $summary:literal,)+
    ) => {
        $crate::family! {
            $(#[$doc])*
            $path as $trait $methods
            $($variant = $name in $module: $summary,)+
        }

        $crate::family! { @states ($($variant $module)+) ($($variant $module ($($boxed)?))+) $states }
    };
    (
        $(#[$doc:meta])*
        $path:literal as $trait:ident $methods:tt
        $($variant:ident = $name:literal in $module:ident: $summary:literal,)+
    ) => {
        $crate::family! {
            $(#[$doc])*
            $path: $($variant = $name ($module::Spec): $summary,)+
        }

        impl Spec {
            $crate::family! { @methods (&self) self (of $trait) ($($variant $module)+) $methods }
        }
    };
    (
        $(#[$doc:meta])*
        $path:literal as $trait:path:
        $($variant:ident = $name:literal ($spec:ty): $summary:literal,)+
    ) => {
        $crate::family! {
            $(#[$doc])*
            $path without defaults: $($variant = $name ($spec): $summary,)+
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
        $crate::family! {
            $(#[$doc])*
            $path without defaults: $($variant = $name ($spec): $summary,)+
        }

        #[cfg(test)]
        impl Spec {
            /// Every member with its default parameters, in the order of the catalogue.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant(<$spec as Default>::default()),)+]
            }
        }
    };
    (
        $(#[$doc:meta])*
        $path:literal without defaults:
        $($variant:ident = $name:literal ($spec:ty): $summary:literal,)+
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
            /// Name in scenario files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

        }

        impl $crate::check::Check for Spec {
            fn check(&self, findings: &mut $crate::check::Findings<'_>) {
                match self {
                    $(Self::$variant(spec) => {
                        $crate::check::Check::check(spec, &mut findings.within($name));
                    })+
                }
            }
        }

        /// The members of the family.
        pub const CATALOGUE: &[$crate::family::Entry] = &[
            $($crate::family::Entry { family: $path, name: $name, summary: $summary },)+
        ];
    };

    // The following rules are internal to those above. A rule cannot repeat arguments within
    // members, so arguments are passed on to these as one group.
    (
        @states $members:tt $types:tt
        {
            $(
                $(#[$doc:meta])*
                $side:ident with $trait:ident {
                    new $given:tt;
                    state $of_state:tt
                    mut state $of_mut_state:tt
                }
            )+
        }
    ) => {
        $(
            $crate::family! { @enum $types $(#[$doc])* $side }

            impl $side {
                $crate::family! { @constructor $members $side $trait $given }
                $crate::family! { @methods (&self) self (side $trait $side) $members $of_state }
                $crate::family! {
                    @methods (&mut self) self (side $trait $side) $members $of_mut_state
                }
            }
        )+
    };
    (
        @enum ($($variant:ident $module:ident ($($boxed:ident)?))+) $(#[$doc:meta])* $side:ident
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $side {
            $(
                #[doc = concat!("See [`", stringify!($module), "`].")]
                $variant($crate::family!(@side $module $side $($boxed)?)),
            )+
        }
    };
    (
        @constructor ($($variant:ident $module:ident)+) $side:ident $trait:ident
        ($($given:ident: $what:ty),*)
    ) => {
        #[doc = concat!("See [`", stringify!($trait), "::new`].")]
        pub fn new(spec: &Spec $(, $given: $what)*) -> Self {
            $crate::family!(@construct spec $side $trait ($($variant $module)+) ($($given),*))
        }
    };
    (
        @construct $spec:ident $side:ident $trait:ident ($($variant:ident $module:ident)+) $pass:tt
    ) => {
        match $spec {
            $(Spec::$variant(spec) => {
                Self::$variant(
                    $crate::family!(@call (side $trait $side) $module new spec $pass).into()
                )
            })+
        }
    };
    (@side $module:ident $side:ident) => { $module::$side };
    (@side $module:ident $side:ident boxed) => { Box<$module::$side> };
    (@type $module:ident) => { $module::State };
    (@type $module:ident boxed) => { Box<$module::State> };
    (@new $spec:ident $trait:ident ($($variant:ident $module:ident)+) $pass:tt) => {
        match $spec {
            $(Spec::$variant(spec) => {
                Self::$variant($crate::family!(@call (static $trait) $module new spec $pass).into())
            })+
        }
    };
    (
        @methods $receiver:tt $self:ident $call:tt $members:tt
        { $($(#[$inline:meta])? $name:ident $takes:tt $(-> $gives:ty)?;)* }
    ) => {
        $($crate::family! {
            @method $receiver $self $call $members ($(#[$inline])?) $name $takes ($($gives)?)
        })*
    };
    (@method $receiver:tt $self:ident $call:tt $members:tt () $($rest:tt)*) => {
        $crate::family! { @method $receiver $self $call $members (#[inline]) $($rest)* }
    };
    (
        @method ($($receiver:tt)+) $self:ident $call:tt $members:tt (#[$inline:meta])
        $name:ident ($($argument:ident: $type:ty),*) ($($gives:ty)?)
    ) => {
        $crate::family! {
            @doc $call
            #[$inline]
            pub fn $name($($receiver)+ $(, $argument: $type)*) $(-> $gives)? {
                $crate::family!(@match $self $call $members $name ($($argument),*))
            }
        }
    };
    (@doc ($kind:tt $trait:ident $($side:ident)?) $(#[$attribute:meta])* pub fn $name:ident $($rest:tt)*) => {
        #[doc = concat!("See [`", stringify!($trait), "::", stringify!($name), "`].")]
        $(#[$attribute])*
        pub fn $name $($rest)*
    };
    (@match $self:ident $call:tt ($($variant:ident $module:ident)+) $name:ident $pass:tt) => {
        match $self {
            $(Self::$variant(member) => $crate::family!(@call $call $module $name member $pass),)+
        }
    };
    (@call (static $trait:ident) $module:ident $name:ident $member:ident ($($argument:ident),*)) => {
        <$module::State as $trait>::$name($member $(, $argument)*)
    };
    (
        @call (side $trait:ident $side:ident) $module:ident $name:ident $member:ident
        ($($argument:ident),*)
    ) => {
        <$module::$side as $trait>::$name($member $(, $argument)*)
    };
    (@call (of $trait:ident) $module:ident $name:ident $member:ident ($($argument:ident),*)) => {
        $member.$name($($argument),*)
    };
}
