//! The order in which a stage of a pipeline takes micro-batches.

/// What a stage does for a micro-batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Its layers in order, on the activations of the stage before it.
    Forward(u32),
    /// Gradients in reverse order, from those of the stage after it.
    Backward(u32),
}

/// One forward, one backward (Narayanan et al. 2021, figure 4, from PipeDream): a stage begins with as many micro-batches
/// forward as there are stages after it, then alternates, and ends with the remaining ones backward. So it holds the
/// activations of at most as many micro-batches as there are stages.
pub(super) fn one_forward_one_backward(
    stage: u32,
    stages: u32,
    micro_batches: u32,
) -> impl Iterator<Item = Pass> {
    let first = (stages - 1 - stage).min(micro_batches);
    let steady = (first..micro_batches)
        .flat_map(move |forward| [Pass::Forward(forward), Pass::Backward(forward - first)]);
    let last = (micro_batches - first..micro_batches).map(Pass::Backward);
    (0..first).map(Pass::Forward).chain(steady).chain(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(stage: u32, stages: u32, micro_batches: u32) -> String {
        let name = |pass| match pass {
            Pass::Forward(of) => format!("F{of}"),
            Pass::Backward(of) => format!("B{of}"),
        };
        let all = one_forward_one_backward(stage, stages, micro_batches);
        all.map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn stages_begin_with_as_many_as_come_after_them() {
        // The figure with four stages and eight micro-batches, of which the first six are here.
        assert_eq!(text(0, 4, 6), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
        assert_eq!(text(2, 4, 6), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
        assert_eq!(text(3, 4, 6), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
        // Fewer than stages.
        assert_eq!(text(0, 4, 2), "F0 F1 B0 B1");
        assert_eq!(text(0, 1, 2), "F0 B0 F1 B1");
    }
}
