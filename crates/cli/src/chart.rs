//! `floodway chart`: the charts of a report as files of their own.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use floodway_lab::stored;
use floodway_report::chart::Paper;
use floodway_report::html::{Drawn, Overlay, lay_over, read_points};

use crate::failure::Failure;
use crate::output;
use crate::save::{make_folder, save};

/// Options of `floodway chart`.
#[derive(Args, Debug)]
pub struct ChartOptions {
    /// The results directory of `floodway run`, with tables as Parquet.
    pub results: PathBuf,
    /// The charts, by name; without any, those that there are are listed.
    pub names: Vec<String>,
    /// Of a chart with several parts the one with this heading, as in `--only "all flows"`.
    #[arg(long, value_name = "HEADING")]
    pub only: Option<String>,
    /// As a picture, as comma-separated values, or as a specification of Vega-Lite.
    #[arg(long, value_name = "FORM", value_enum, default_value = "svg")]
    pub format: ChartFormat,
    /// How wide the picture is in print, in millimeters: 88 is a column of two, 180 both.
    #[arg(long, value_name = "MM", default_value_t = 88.0, value_parser = width)]
    pub width: f64,
    /// The size of its text, in points.
    #[arg(long, value_name = "PT", default_value_t = 8.0, value_parser = points)]
    pub points: f64,
    /// Its font, as CSS names it: `--font "Times, serif"`.
    #[arg(long, value_name = "FONT", default_value = "Helvetica, Arial, sans-serif")]
    pub font: String,
    /// Lay the points of a file over a chart, as `floodway compare results --overlay` does.
    #[arg(long, value_name = "CHART=FILE", value_parser = overlay)]
    pub overlay: Vec<OverlayFile>,
    /// As on the page: on a card, with caption, in its size and colors.
    #[arg(long, conflicts_with_all = ["width", "points", "font"])]
    pub page: bool,
    /// Directory for the files, which are named after the charts and written anew. Default the current one.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// What a chart is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChartFormat {
    /// A picture.
    Svg,
    /// Its numbers.
    Csv,
    /// A specification of Vega-Lite 5 with its numbers, as JSON.
    Vega,
}

/// Writes charts of results, or lists them.
pub fn chart(options: &ChartOptions) -> Result<(), Failure> {
    let results = stored::open(&options.results)?;
    let mut all = results.figures().map_err(Failure::Results)?;
    for points in &options.overlay {
        let mut charts: Vec<&mut Drawn> = all.iter_mut().collect();
        lay_over(&mut charts, &points.read()?).map_err(Failure::Unknown)?;
    }
    if options.names.is_empty() {
        return list(&all);
    }
    let unknown = options.names.iter().find(|name| all.iter().all(|of| of.name() != **name));
    if let Some(name) = unknown {
        return Err(Failure::Unknown(format!(
            "{} has no chart `{}`; it has {}",
            results.path.display(),
            name,
            named(all.iter().map(Drawn::name))
        )));
    }
    let folder = options.out.as_deref().unwrap_or(Path::new("."));
    let wanted = all.into_iter().filter(|of| options.names.iter().any(|name| name == of.name()));
    let mut files = Vec::new();
    for figure in wanted {
        let (name, text) = one(figure, options)?;
        files.push((folder.join(name), text));
    }
    make_folder(folder)?;
    for (path, text) in &files {
        save(path, "the chart", text)?;
        output::note(&format!("{} is written", output::path(path)));
    }
    Ok(())
}

fn list(all: &[Drawn]) -> Result<(), Failure> {
    let widest = all.iter().map(|of| of.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for figure in all {
        text += &format!("{:widest$}  {}\n", figure.name(), figure.caption());
        let headings = figure.headings();
        if headings.len() > 1 {
            text += &format!("{:widest$}  parts: {}\n", "", headings.join(", "));
        }
    }
    output::print(&text)
}

/// A file's name and what it holds.
fn one(figure: Drawn, options: &ChartOptions) -> Result<(String, String), Failure> {
    let name = figure.name().to_owned();
    let (figure, stem) = match &options.only {
        None => (figure, name.clone()),
        Some(heading) => {
            if !figure.headings().contains(heading) {
                let there = match figure.headings() {
                    none if none.is_empty() => "it has one part, so leave out --only".to_owned(),
                    some => format!("it has {}", named(some.iter().map(String::as_str))),
                };
                return Err(Failure::Unknown(format!(
                    "the chart `{name}` has no part `{heading}`; {there}"
                )));
            }
            let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
            let heading_plain: String = heading.chars().map(plain).collect();
            let parts: Vec<&str> =
                heading_plain.split('-').filter(|part| !part.is_empty()).collect();
            (figure.only(heading), format!("{name}-{}", parts.join("-")))
        }
    };
    Ok(match options.format {
        ChartFormat::Csv => (format!("{stem}.csv"), figure.data().csv()),
        ChartFormat::Vega => {
            let spec = figure.vega().ok_or_else(|| {
                Failure::Unknown(format!(
                    "the chart `{name}` has no form in Vega-Lite; take --format svg or csv"
                ))
            })?;
            (format!("{stem}.vl.json"), format!("{spec:#}\n"))
        }
        ChartFormat::Svg if options.page => (format!("{stem}.svg"), figure.page().svg()),
        ChartFormat::Svg => {
            let ChartOptions { width: width_mm, points, .. } = *options;
            let paper = Paper { width_mm, points, font: options.font.clone() };
            (format!("{stem}.svg"), figure.paper(paper).svg())
        }
    })
}

/// Names in backquotes.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A chart, or a part of it, and a file with points to lay over it.
#[derive(Clone, Debug)]
pub struct OverlayFile {
    chart: String,
    part: Option<String>,
    file: PathBuf,
}

/// Reads `CHART=FILE` or `CHART/PART=FILE`.
pub fn overlay(text: &str) -> Result<OverlayFile, String> {
    let (chart, file) = text
        .split_once('=')
        .filter(|(chart, file)| !chart.is_empty() && !file.is_empty())
        .ok_or("write CHART=FILE or CHART/PART=FILE; `floodway chart RESULTS` lists charts")?;
    let (chart, part) = match chart.split_once('/') {
        Some((chart, part)) => (chart, Some(part.to_owned())),
        None => (chart, None),
    };
    Ok(OverlayFile { chart: chart.to_owned(), part, file: file.into() })
}

impl OverlayFile {
    /// Reads the file. Points are named after it.
    pub fn read(&self) -> Result<Overlay, Failure> {
        let Self { chart, part, file } = self;
        let shown = output::path(file);
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::Unknown(format!("{shown} cannot be read: {error}")))?;
        let points = read_points(&text)
            .map_err(|(line, message)| Failure::Unknown(format!("{shown}:{line}: {message}")))?;
        let label = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
        Ok(Overlay { chart: chart.clone(), part: part.clone(), label, points })
    }
}

/// A width in print, in millimeters: from an icon to a poster.
pub fn width(text: &str) -> Result<f64, String> {
    within(text, 20.0, 1000.0, "millimeters")
}

/// A size of text, in points: from a footnote to a title.
pub fn points(text: &str) -> Result<f64, String> {
    within(text, 4.0, 40.0, "points")
}

fn within(text: &str, low: f64, high: f64, unit: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (low..=high).contains(number));
    number.ok_or_else(|| format!("give a number of {unit} from {low} to {high}"))
}
