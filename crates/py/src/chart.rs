//! Charts, for Python.

use floodway_report::chart::Paper;
use floodway_report::html::Drawn;
use pyo3::prelude::*;

/// A chart with its numbers.
#[pyclass(frozen, module = "floodway._floodway")]
pub struct Picture(pub Drawn);

#[pymethods]
impl Picture {
    /// A short name, fit for files.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// What it shows.
    #[getter]
    fn caption(&self) -> String {
        self.0.caption()
    }

    /// The headings of its parts; empty of one without parts.
    #[getter]
    fn parts(&self) -> Vec<String> {
        self.0.headings()
    }

    /// The picture as on a page, with its style.
    #[getter]
    fn svg(&self) -> String {
        self.0.page().svg()
    }

    /// Its numbers as comma-separated values.
    #[getter]
    fn csv(&self) -> String {
        self.0.data().csv()
    }

    /// A specification of Vega-Lite as JSON, where there is such a form.
    #[getter]
    fn vega(&self) -> Option<String> {
        self.0.vega().map(|spec| spec.to_string())
    }

    /// The picture as it is set in a paper: so many millimeters wide, with text of so many points in a font
    /// that CSS knows.
    fn paper(&self, width_mm: f64, points: f64, font: String) -> String {
        self.0.paper(Paper { width_mm, points, font }).svg()
    }

    /// The part with this heading.
    fn only(&self, heading: &str) -> Self {
        Self(self.0.clone().only(heading))
    }
}
