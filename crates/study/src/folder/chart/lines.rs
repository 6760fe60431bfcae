//! What lines of charts show: numbers at places of an axis, what SQL asks, and points of somebody else.

use std::ops::Range;

use floodway_report::html::read_points;
use floodway_scenario::claims::{Measure, Together};
use toml::Spanned;

use super::super::Loading;
use super::super::document::{Chart, Look};
use super::{BINS, What};
use crate::compile::lists::Pick;
use crate::compile::measure::{Compiled, position};
use crate::sql::Shape;

impl Loading<'_> {
    /// Where a setting of a list lies on an axis.
    pub(super) fn place(&mut self, pick: &Pick, range: Range<usize>) -> Option<f64> {
        let setting = pick.places().next().map(|(list, at)| &self.document.settings[list][at]);
        let at = setting.and_then(|of| of.at.or_else(|| position(of.name.get_ref())));
        if at.is_none() {
            let message = format!("`{}` has no place on an axis", pick.name());
            self.compiler.wrong(range, message, "give the setting a number: at = 1e6");
        }
        at
    }

    /// A measure at every value of a setting that varies.
    pub(super) fn curve(&mut self, measure: &Spanned<Measure>) -> Option<Vec<(f64, Compiled)>> {
        let of = measure.get_ref();
        let case = of.of.as_ref().or(of.to.as_ref());
        let label = case.and_then(|case| case.get_ref().rsplit_once('/')).map(|(label, _)| label);
        let document = self.document;
        let varied = document
            .experiment
            .0
            .iter()
            .find(|(known, of)| Some(known.as_str()) == label && of.vary.is_some());
        let Some((known, _)) = varied else {
            let range = case.map_or(measure.span(), Spanned::span);
            let message = "a curve is of an experiment in which a setting varies";
            self.compiler.wrong(
                range,
                message,
                "give the experiment `vary`, or choose the kind \"numbers\"",
            );
            return None;
        };
        let experiment = self.experiments.get(known.as_str())?;
        let cells: Vec<(f64, &'static str)> =
            experiment.cells.iter().map(|cell| (cell.at, cell.name)).collect();
        let (_, first) = *cells.first()?;
        let compiled = self.compiler.measure_of(measure, Some((known, first)))?;
        Some(
            cells
                .into_iter()
                .map(|(at, name)| (at, compiled.clone().instead(first, name)))
                .collect(),
        )
    }

    /// A point for each of many cases.
    pub(super) fn cloud(&mut self, look: Look, measure: &Spanned<Measure>) -> Option<What> {
        let exponent = Spanned::new(measure.span(), Together::Exponent);
        let both = Measure { together: Some(exponent), ..measure.get_ref().clone() };
        let measure = self.compiler.measure(&Spanned::new(measure.span(), both))?;
        Some(What::Cloud(measure, look == Look::Curve))
    }

    pub(super) fn points_of(
        &mut self,
        chart: &Chart,
        look: Look,
        measure: &Spanned<Measure>,
    ) -> Option<What> {
        let measure = &self.compiler.with_quantity(measure)?;
        let of = measure.get_ref();
        if let (Look::Tail, Some(_), None, Some(case)) = (look, &of.flows, &of.sql, &of.of) {
            let group = self.compiler.group(of.flows.as_ref()?)?;
            return Some(What::Times(group, self.compiler.case(case)?));
        }
        let (Some(sql), Some(case)) = (&of.sql, &of.of) else {
            let message = "points are asked for in SQL, `of` a case";
            self.compiler.wrong(
                measure.span(),
                message,
                "write sql = \"SELECT x, y FROM …\" and of = \"experiment/variant\"",
            );
            return None;
        };
        let shape = if look == Look::Points { Shape::Points } else { Shape::Distribution };
        let (query, case) = (self.compiler.query(sql, shape)?, self.compiler.case(case)?);
        self.compiler.asks(query, vec![case.experiment]);
        let limits = chart.x.as_ref().and_then(|axis| axis.limits);
        match (look, limits) {
            (Look::Tail, _) => Some(What::Tail(query, case)),
            (Look::Shares, Some([0.0, up_to])) if up_to > 0.0 => {
                Some(What::Shares(query, case, chart.bins.unwrap_or(BINS).max(1), up_to))
            }
            (Look::Shares, _) => {
                let message = format!("the horizontal axis of `{}` has no end", chart.name);
                let help = "write limits = [0.0, …]: bins have the same width up to there";
                self.compiler.wrong(chart.kind.span(), message, help);
                None
            }
            _ => Some(What::Asked(query, case)),
        }
    }

    /// Points of a file with two columns.
    pub(super) fn points(&mut self, file: &Spanned<String>) -> Option<Vec<(f64, f64)>> {
        let path = self.files.path(file.get_ref());
        let text = match self.files.text(file.get_ref()) {
            Ok(text) => text,
            Err(error) => {
                let message = format!("{} cannot be read: {error}", path.display());
                self.compiler.wrong(file.span(), message, "points are in a file beside study.toml");
                return None;
            }
        };
        match read_points(&text) {
            Ok(points) => Some(points),
            Err((line, message)) => {
                let message = format!("{}:{line}: {message}", path.display());
                let help = "after a line with the names of two columns, each line has two numbers and a comma between them";
                self.compiler.wrong(file.span(), message, help);
                None
            }
        }
    }
}
