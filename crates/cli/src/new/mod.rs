//! `floodway new`: a scenario to begin with, or an algorithm.

mod algorithm;
mod templates;

use std::path::{Path, PathBuf};

use floodway_scenario::{bad_name, suggest};

use crate::failure::Failure;
use crate::options::{NewOptions, NewWhat};
use crate::output;
use crate::save::{is_taken, make_folder, refuse_special, save};
use crate::schema::FILE_NAME;
pub use templates::{TEMPLATES, Template};

/// Writes a scenario from a template, or what an algorithm begins with.
pub fn new(options: &NewOptions) -> Result<(), Failure> {
    if let Some(NewWhat::Algorithm(options)) = &options.what {
        return algorithm::algorithm(options);
    }
    let name = options.name.as_deref().expect("the command line takes it or a command");
    let name = name.strip_suffix(".toml").unwrap_or(name);
    if let Some(cause) = bad_name(name) {
        return Err(Failure::Unknown(format!(
            "the name {cause}; name it with letters, digits, `-`, `_` and `.`, because its results \
             go to a directory of that name. Another place for the file is --out"
        )));
    }
    let wanted = options.template.as_deref().unwrap_or(name);
    // The command line takes only known names of templates.
    let template =
        TEMPLATES.iter().find(|template| template.name == wanted).unwrap_or(&TEMPLATES[0]);
    let path = options.out.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    write(&path, &text(template, name, &path), options.force)?;
    let shown = shown(&path);
    let hint = hint(options.template.as_deref(), name);
    output::print(&format!(
        "wrote {shown}: {}\n{hint}\n\
         floodway check {shown}   checks it and prints derived values: loads, headroom, round-trip time\n\
         floodway run {shown}     runs it, and says where the report is\n",
        template.summary
    ))
}

/// A line about the template that the name is probably a slip of. Without `--template`, a name that is no template's has
/// the first one.
fn hint(template: Option<&str>, name: &str) -> String {
    let names = || TEMPLATES.iter().map(|template| template.name);
    let close = suggest::closest(name, names());
    match close.filter(|_| template.is_none() && names().all(|other| other != name)) {
        Some(close) => format!("no template has the name `{name}`: did you mean `{close}`?\n"),
        None => String::new(),
    }
}

/// The template under another name. A schema that lies beside the file is named in its first line,
/// where editors look for it.
fn text(template: &Template, name: &str, path: &Path) -> String {
    let own = format!("name = \"{}\"", template.name);
    let text = template.text.replacen(&own, &format!("name = \"{name}\""), 1);
    if path.with_file_name(FILE_NAME).is_file() {
        format!("#:schema ./{FILE_NAME}\n\n{text}")
    } else {
        text
    }
}

/// Writes a file, with the directories that it is in, but not over another.
fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::Unknown(format!(
            "{} is a directory; name a file in it with --out, like {}",
            path.display(),
            path.join("mine.toml").display()
        )));
    }
    refuse_special(path)?;
    if is_taken(path) && !force {
        return Err(Failure::Unknown(format!(
            "{} is there already; choose another name, another file with --out, or replace it \
             with --force",
            path.display()
        )));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    save(path, "the scenario", text)
}

/// A path as a word of a command line.
fn shown(path: &Path) -> String {
    let shown = output::path(path);
    let plain = |c: char| c.is_alphanumeric() || "/\\.:-_+=@%,~".contains(c);
    if shown.chars().all(plain) { shown } else { format!("'{}'", shown.replace('\'', r"'\''")) }
}
