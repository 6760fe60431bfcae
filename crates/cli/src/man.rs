//! `floodway man`: the pages of the manual, one for each command.

use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use floodway_machine::read;

use crate::failure::Failure;
use crate::options::{EXIT_STATUS, ManOptions, Options};
use crate::output;
use crate::save::{is_taken, make_folder, refuse_special, save};

/// Prints the page of the program, or writes all pages into a directory.
pub fn man(options: &ManOptions) -> Result<(), Failure> {
    let mut program = Options::command().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &options.out else {
        return output::print(&page(&program).map_err(Failure::Output)?.1);
    };
    make_folder(folder)?;
    let mut pages = Vec::new();
    all(&program, &mut pages).map_err(Failure::Output)?;
    let places: Vec<_> = pages.iter().map(|(name, text)| (folder.join(name), text)).collect();
    places.iter().try_for_each(|(path, _)| refuse_other(path))?;
    places.iter().try_for_each(|(path, text)| save(path, "a page of the manual", text))?;
    output::print(&format!("{} pages in {}\n", pages.len(), output::path(folder)))
}

/// Refuses a file that is there and no page of this manual.
fn refuse_other(path: &Path) -> Result<(), Failure> {
    refuse_special(path)?;
    // Pages are shorter.
    let is_page = || read::text(path, 1 << 20).is_ok_and(|text| text.contains(".TH floodway"));
    if is_taken(path) && !is_page() {
        return Err(Failure::Unknown(format!(
            "{} is there already and no page of this manual; move it elsewhere, or choose another \
             directory with --out",
            path.display()
        )));
    }
    Ok(())
}

/// The pages of a command and of those below it.
fn all(command: &Command, pages: &mut Vec<(String, String)>) -> io::Result<()> {
    pages.push(page(command)?);
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in below {
        all(command, pages)?;
    }
    Ok(())
}

/// The file name of a page, and the page. What stands below the help texts has a section of its own: what the
/// exit status says.
fn page(command: &Command) -> io::Result<(String, String)> {
    let version = concat!("floodway ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .title(command.get_display_name().unwrap_or(command.get_name()))
        .source(version)
        .manual("floodway");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut text)?;
    }
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    let text = String::from_utf8(text).expect("pages are text");
    Ok((man.get_filename(), text + &exit_status()))
}

/// The section about the exit status, from the lines of the help: a number and what it says.
fn exit_status() -> String {
    let mut text = ".SH \"EXIT STATUS\"\n".to_owned();
    for line in EXIT_STATUS.lines().skip(1) {
        let (number, meaning) = line.trim().split_once(' ').expect("a number and its meaning");
        text += &format!(".TP\n\\fB{number}\\fR\n{}\n", meaning.trim().replace('-', "\\-"));
    }
    text
}
