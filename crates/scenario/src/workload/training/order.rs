//! The order in which a stage of a pipeline takes micro-batches.

/// What a stage does for a micro-batch. With interleaving it has several parts of the model, numbered in the order in which
/// activations pass them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// The layers of a part in order, on the activations of the stage before it.
    Forward {
        /// The micro-batch.
        batch: u32,
        /// The part.
        part: u32,
    },
    /// Gradients in reverse order, from those of the stage after it.
    Backward {
        /// The micro-batch.
        batch: u32,
        /// The part.
        part: u32,
    },
}

impl Pass {
    /// The part of the stage.
    pub(super) fn part(self) -> u32 {
        let (Self::Forward { part, .. } | Self::Backward { part, .. }) = self;
        part
    }
}

/// A pipeline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pipeline {
    /// Stages.
    pub(super) stages: u32,
    /// Parts of the model in each stage.
    pub(super) parts: u32,
    /// Micro-batches; with several parts a multiple of the stages.
    pub(super) micro_batches: u32,
}

impl Pipeline {
    /// All micro-batches forward, then all backward (GPipe, Huang et al. 2019; Narayanan et al. 2021, figure 3).
    pub(super) fn all_forward_all_backward(self) -> Vec<Pass> {
        self.alternate(self.micro_batches)
    }

    /// One forward, one backward (Narayanan et al. 2021, figure 4): a stage begins with some passes forward, then
    /// alternates, and ends with the remaining ones backward. With one part there are as many first as there are stages
    /// after it (from PipeDream), so that it holds the activations of at most as many micro-batches as there are stages.
    /// With several it takes as many micro-batches as there are stages through one part, then through the next, and
    /// begins with those of all parts but the last and two for each stage after it (`schedules.py` of Megatron-LM).
    pub(super) fn one_forward_one_backward(self, stage: u32) -> Vec<Pass> {
        let after = self.stages - 1 - stage;
        let first = match self.parts {
            1 => after,
            // All batches at once would go through all parts before the first gradients are there.
            _ if self.micro_batches == self.stages => self.passes(),
            parts => 2 * after + (parts - 1) * self.stages,
        };
        self.alternate(first.min(self.passes()))
    }

    /// Passes in each direction.
    fn passes(self) -> u32 {
        self.micro_batches * self.parts
    }

    /// So many passes forward, then one of both, then the others backward.
    fn alternate(self, first: u32) -> Vec<Pass> {
        let steady = (first..self.passes())
            .flat_map(|number| [self.forward(number), self.backward(number - first)]);
        let last = (self.passes() - first..self.passes()).map(|number| self.backward(number));
        (0..first).map(|number| self.forward(number)).chain(steady).chain(last).collect()
    }

    /// The micro-batch and the part of a pass, both counted in order.
    fn place(self, number: u32) -> (u32, u32) {
        if self.parts == 1 {
            return (number, 0);
        }
        // As many micro-batches as there are stages, through all parts.
        let group = self.stages * self.parts;
        let (rounds, rest) = (number / group, number % group);
        (rounds * self.stages + rest % self.stages, rest / self.stages)
    }

    fn forward(self, number: u32) -> Pass {
        let (batch, part) = self.place(number);
        Pass::Forward { batch, part }
    }

    fn backward(self, number: u32) -> Pass {
        let (batch, part) = self.place(number);
        Pass::Backward { batch, part: self.parts - 1 - part }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(stages: u32, parts: u32, micro_batches: u32) -> Pipeline {
        Pipeline { stages, parts, micro_batches }
    }

    /// A number, and from the second part on the part as a letter.
    fn name(pass: Pass) -> String {
        let part = |part: u32| ["", "b", "c", "d"][part as usize];
        match pass {
            Pass::Forward { batch, part: of } => format!("F{batch}{}", part(of)),
            Pass::Backward { batch, part: of } => format!("B{batch}{}", part(of)),
        }
    }

    fn text(passes: Vec<Pass>) -> String {
        passes.into_iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn stages_begin_with_as_many_as_come_after_them() {
        // The figure with four stages and eight micro-batches, of which the first six are here.
        let of = |stage, stages, batches| {
            text(pipeline(stages, 1, batches).one_forward_one_backward(stage))
        };
        assert_eq!(of(0, 4, 6), "F0 F1 F2 F3 B0 F4 B1 F5 B2 B3 B4 B5");
        assert_eq!(of(2, 4, 6), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
        assert_eq!(of(3, 4, 6), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
        // Fewer than stages.
        assert_eq!(of(0, 4, 2), "F0 F1 B0 B1");
        assert_eq!(of(0, 1, 2), "F0 B0 F1 B1");
    }

    #[test]
    fn gpipe_goes_backward_after_all_that_goes_forward() {
        assert_eq!(text(pipeline(4, 1, 3).all_forward_all_backward()), "F0 F1 F2 B0 B1 B2");
    }

    /// The lower half of the figure: four stages with two parts each, eight micro-batches.
    #[test]
    fn parts_are_interleaved() {
        let of = |stage| text(pipeline(4, 2, 8).one_forward_one_backward(stage));
        assert_eq!(
            of(3),
            "F0 F1 F2 F3 F0b B0b F1b B1b F2b B2b F3b B3b F4 B0 F5 B1 F6 B2 F7 B3 F4b B4b F5b B5b F6b B6b F7b B7b B4 B5 B6 B7"
        );
        assert!(
            of(0).starts_with(
                "F0 F1 F2 F3 F0b F1b F2b F3b F4 F5 F6 B0b F7 B1b F4b B2b F5b B3b F6b B0"
            )
        );
    }

    /// When everything is done if messages take no time and a part takes 2 forward and 3 backward. Each pass begins when
    /// the one before it in its stage has ended, and what it needs is there.
    fn makespan(pipeline: Pipeline, orders: &[Vec<Pass>]) -> u64 {
        let Pipeline { stages, parts, .. } = pipeline;
        let mut done: std::collections::BTreeMap<(String, u32), u64> = Default::default();
        let (mut next, mut free) = (vec![0; stages as usize], vec![0; stages as usize]);
        let all: usize = orders.iter().map(Vec::len).sum();
        while done.len() < all {
            let before = done.len();
            for stage in 0..stages {
                let place = stage as usize;
                let Some(&pass) = orders[place].get(next[place]) else { continue };
                let (first, last) = (0, parts * stages - 1);
                let (needs, time) = match pass {
                    Pass::Forward { batch, part } => {
                        let at = part * stages + stage;
                        let from = at.checked_sub(1).map(|from| {
                            (name(Pass::Forward { batch, part: from / stages }), from % stages)
                        });
                        assert!(from.is_some() || at == first);
                        (from, 2)
                    }
                    Pass::Backward { batch, part } => {
                        let at = part * stages + stage;
                        let from = if at == last {
                            (name(Pass::Forward { batch, part }), stage)
                        } else {
                            (
                                name(Pass::Backward { batch, part: (at + 1) / stages }),
                                (at + 1) % stages,
                            )
                        };
                        (Some(from), 3)
                    }
                };
                let begins = match needs {
                    None => free[place],
                    Some(needs) => match done.get(&needs) {
                        Some(&at) => at.max(free[place]),
                        None => continue,
                    },
                };
                free[place] = begins + time;
                next[place] += 1;
                done.insert((name(pass), stage), free[place]);
            }
            assert!(done.len() > before, "the orders wait for each other");
        }
        free.into_iter().max().unwrap_or(0)
    }

    /// With v parts in each of p stages, whose passes take f and b for all parts together, m micro-batches take
    /// (m + (p - 1) / v) (f + b): a bubble of (p - 1) / (v m) (Narayanan et al. 2021, section 2.2.2).
    #[test]
    fn the_bubble_is_divided_by_the_parts() {
        for (stages, parts, batches) in [
            (2, 1, 4),
            (4, 1, 8),
            (2, 2, 2),
            (2, 2, 4),
            (4, 2, 8),
            (4, 3, 4),
            (4, 4, 16),
            (8, 2, 24),
            (3, 4, 9),
        ] {
            let pipeline = pipeline(stages, parts, batches);
            let orders: Vec<_> =
                (0..stages).map(|stage| pipeline.one_forward_one_backward(stage)).collect();
            let expected = u64::from(batches * parts + stages - 1) * 5;
            assert_eq!(makespan(pipeline, &orders), expected, "{stages} {parts} {batches}");
            if parts == 1 {
                let orders = vec![pipeline.all_forward_all_backward(); stages as usize];
                assert_eq!(makespan(pipeline, &orders), expected, "{stages} {batches}");
            }
        }
    }
}
