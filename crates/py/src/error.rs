//! What is wrong, as exceptions of the package. Their classes are written in Python, so that they
//! read and type like the rest of it.

use floodway_lab::stored;
use floodway_machine::printable::{line, text as escaped};
use floodway_report::directory;
use floodway_scenario::{Error, Problem};
use miette::Severity;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

const MODULE: &str = "floodway._errors";

/// A `ScenarioError`: the text of the program, and the problems one by one.
pub fn scenario(py: Python<'_>, error: &Error) -> PyErr {
    let raised = || -> PyResult<PyErr> {
        let problems: Vec<_> =
            error.problems().iter().map(|found| problem(py, found)).collect::<PyResult<_>>()?;
        let class = py.import(MODULE)?.getattr("ScenarioError")?;
        Ok(PyErr::from_value(class.call1((in_python(error.plain().trim_end()), problems))?))
    };
    raised().unwrap_or_else(|failed| failed)
}

/// What options of the program are called in Python; messages name them as places and as remedies.
const ARGUMENTS: [(&str, &str); 21] = [
    ("`--threads ", "`threads="),
    ("`--replications`", "`replications`"),
    ("`--variant`", "`variants`"),
    ("--> --variant:", "--> variant:"),
    ("--> --vary:", "--> vary:"),
    ("--> --until:", "--> until:"),
    ("--> --reference:", "--> reference:"),
    ("--vary switch.queue.size=500KB,1MB", "`vary={\"switch.queue.size\": [\"500KB\", \"1MB\"]}`"),
    (
        "--vary workload.0.many_to_many.load=0.2..0.8/4",
        "`vary={\"workload.0.many_to_many.load\": \"0.2..0.8/4\"}`",
    ),
    ("--reference switch.queue.size=1MB", "`reference={\"switch.queue.size\": \"1MB\"}`"),
    ("--until fct_p99_ns=0.05", "`until=\"fct_p99_ns=0.05\"`"),
    ("without --quick", "without `quick`"),
    ("with --scenario", "with `scenario=`"),
    ("with --flow", "with `flow=`"),
    ("`--out DIR`", "`out=`"),
    ("`--cache DIR`", "`cache=`"),
    ("`--no-cache`", "`cache=None`"),
    ("`--resume`", "`existing=\"resume\"`"),
    ("`--force`", "`existing=\"replace\"`"),
    ("add `--set explained_flows=0`", "set `explained_flows=0`"),
    ("run it without `--mpi`", "run it in one process"),
];

/// A message with the arguments of Python in place of the options.
pub fn in_python(text: &str) -> String {
    ARGUMENTS
        .iter()
        .fold(text.to_owned(), |text, (option, argument)| text.replace(option, argument))
}

/// A `ResultsError`.
pub fn results(py: Python<'_>, error: &directory::Error) -> PyErr {
    results_text(py, error.to_string())
}

/// A `ResultsError` that says this.
pub fn results_text(py: Python<'_>, text: String) -> PyErr {
    let text = in_python(&escaped(&text));
    let raised = || -> PyResult<PyErr> {
        let class = py.import(MODULE)?.getattr("ResultsError")?;
        Ok(PyErr::from_value(class.call1((text,))?))
    };
    raised().unwrap_or_else(|failed| failed)
}

/// Why a stored run is not repeated: a `ScenarioError` or a `ResultsError`.
pub fn stored(py: Python<'_>, failure: &stored::Failure) -> PyErr {
    use stored::Failure as Why;
    match failure {
        Why::Unknown(text) | Why::Differs(text) => results_text(py, text.clone()),
        Why::Scenario(error) => scenario(py, error),
        Why::Results(error) => results(py, error),
        Why::Violations(violations) => {
            let text = format!("the repeated run is not sound: {}", violations.join("; "));
            results_text(py, text)
        }
        Why::Interrupted => results_text(py, "the repeated run was interrupted".to_owned()),
    }
}

/// A text in which control characters are written out, as the program prints it.
#[pyfunction]
pub fn printable(text: &str) -> String {
    escaped(text).into_owned()
}

/// A `ValueError` that says this.
pub fn value(text: &str) -> PyErr {
    PyValueError::new_err(escaped(text).into_owned())
}

/// A `Problem`.
pub fn problem<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyAny>> {
    let position = problem.place.position();
    let fields = PyDict::new(py);
    // Printable, because they are printed as they are.
    fields.set_item("message", line(&problem.message))?;
    fields.set_item("help", in_python(&line(&problem.help)))?;
    fields.set_item(
        "severity",
        match problem.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Advice => "advice",
        },
    )?;
    let file = problem.place.source.name();
    let option = file.strip_prefix("--").filter(|name| *name != "set");
    fields.set_item("file", line(option.unwrap_or(file)))?;
    fields.set_item("line", position.as_ref().map(|at| at.line))?;
    fields.set_item("column", position.as_ref().map(|at| at.column))?;
    fields.set_item("variants", &problem.variants)?;
    fields.set_item("text", in_python(problem.plain().trim_end()))?;
    py.import(MODULE)?.getattr("Problem")?.call((), Some(&fields))
}
