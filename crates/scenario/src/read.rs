//! From a file to one complete document per variant.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::scenario::Overrides;
use crate::text::{
    Entry, Item, Place, Problem, Setting, Source, Value, merge, normalise, parse, suggest,
};

/// Keys that belong to the whole scenario, so that no variant may change them.
const SHARED: [&str; 6] = ["name", "question", "seed", "replications", "variants", "quick"];

/// The longest name that may become a directory.
const LONGEST_NAME: usize = 64;

/// The text of a scenario file.
pub fn scenario_file(path: &Path) -> Result<String, Problem> {
    let shown = path.display().to_string();
    let problem = |message: String, help: String| {
        let source = Arc::new(Source::new(&shown, String::new()));
        Problem::error(Place::whole(&source), message, help)
    };
    if path.is_dir() {
        let help = match toml_files(path).first() {
            Some(first) => {
                format!("name a file in it, for example `{}`", path.join(first).display())
            }
            None => "name a scenario file, which ends in .toml".to_owned(),
        };
        return Err(problem("this is a directory, not a scenario file".to_owned(), help));
    }
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => problem("there is no such file".to_owned(), other_file(path)),
        ErrorKind::PermissionDenied => problem(
            "the file may not be read".to_owned(),
            "ask its owner for permission to read it".to_owned(),
        ),
        _ => problem(format!("the file cannot be read: {error}"), "try another copy".to_owned()),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        // What can be shown of the text shows the place.
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let source = Arc::new(Source::new(&shown, text));
        Problem::error(
            Place::at(&source, valid..valid + 3),
            "the file is not text in UTF-8",
            "save it as UTF-8, or check whether it is a scenario at all",
        )
    })
}

/// The names of the scenario files in a directory, in alphabetical order.
fn toml_files(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    names
}

/// The remedy for a missing file: one beside it with a similar name.
fn other_file(path: &Path) -> String {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let wanted = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names = toml_files(directory);
    let closest = wanted.and_then(|wanted| {
        suggest::closest(&wanted, names.iter().map(String::as_str)).map(str::to_owned)
    });
    match closest {
        Some(name) => format!("did you mean `{}`?", path.with_file_name(name).display()),
        None if !directory.is_dir() => {
            format!("the directory `{}` does not exist either", directory.display())
        }
        None => "check the path".to_owned(),
    }
}

/// Whether a document that can be read has a `[quick]`.
pub fn has_quick(source: &Arc<Source>) -> bool {
    parse(source).is_ok_and(|document| document.written("quick").is_some())
}

/// One complete document for each variant, in order of appearance; a single one without a name
/// if there are no variants. Overlays apply in the order: `[quick]`, the variant, every `--set`.
pub fn variants(
    source: &Arc<Source>,
    overrides: &Overrides,
) -> Result<Vec<(Option<String>, Item)>, Problem> {
    if source.inner().trim().is_empty() {
        let help = "write at least `name`, `arrivals`, `limit`, a topology and a workload";
        return Err(Problem::error(Place::whole(source), "the file is empty", help));
    }
    let mut base = parse(source)?;
    let quick = base.take("quick");
    let mut variants = named(base.take("variants"))?;
    normalise(&mut base);

    if overrides.quick {
        let Some(Entry { item: mut quick, key_place, .. }) = quick else {
            let message = "the scenario has no `[quick]`";
            let help = "add one that makes it smaller, or run it without --quick";
            return Err(Problem::error(Place::whole(source), message, help));
        };
        expect_table(&quick, "quick", &key_place)?;
        refuse_keys(&quick, &["name", "quick"], "`[quick]`")?;
        lay_over(&mut variants, named(quick.take("variants"))?)?;
        normalise(&mut quick);
        merge(&mut base, &quick)?;
    }

    let mut settings = Vec::new();
    for argument in &overrides.set {
        let mut setting = Setting::parse(argument)?;
        match setting.path.as_slice() {
            [first, _, _, ..] if first == "variants" => {
                lay_over(&mut variants, named(setting.overlay.take("variants"))?)?;
            }
            [first, ..] if first == "variants" || first == "quick" => {
                let message = format!("`{}` cannot be set", setting.path.join("."));
                let help = "set the value itself, or one variant's: variants.ci.switch.latency=1us";
                return Err(Problem::error(setting.place, message, help));
            }
            _ => settings.push(setting),
        }
    }

    let complete = |variant: Option<&Named>| {
        let mut document = base.clone();
        if let Some(variant) = variant {
            merge(&mut document, &variant.overlay)?;
        }
        for setting in &settings {
            merge(&mut document, &setting.overlay)?;
        }
        Ok((variant.map(|variant| variant.name.clone()), document))
    };
    if variants.is_empty() {
        return Ok(vec![complete(None)?]);
    }
    variants.iter().map(|variant| complete(Some(variant))).collect()
}

/// A variant's overlay.
struct Named {
    name: String,
    place: Place,
    overlay: Item,
}

/// The overlays in a `[variants]` table.
fn named(variants: Option<Entry>) -> Result<Vec<Named>, Problem> {
    let Some(Entry { item, key_place, .. }) = variants else { return Ok(Vec::new()) };
    expect_table(&item, "variants", &key_place)?;
    let Value::Table(table) = item.value else { return Ok(Vec::new()) };
    let mut all: Vec<Named> = Vec::new();
    for Entry { key: name, key_place: place, item: mut overlay } in table.entries {
        if let Some(cause) = bad_name(&name) {
            let help = "name it with letters, digits, `-`, `_` and `.`: it becomes a directory";
            return Err(Problem::error(place, format!("the variant's name {cause}"), help));
        }
        if let Some(other) = all.iter().find(|other| other.name.eq_ignore_ascii_case(&name)) {
            let message = format!("the variants `{}` and `{name}` differ only in case", other.name);
            let help = "rename one: some file systems would give both the same directory";
            return Err(Problem::error(place, message, help));
        }
        expect_table(&overlay, &format!("variants.{name}"), &place)?;
        refuse_keys(&overlay, &SHARED, "a variant")?;
        normalise(&mut overlay);
        all.push(Named { name, place, overlay });
    }
    Ok(all)
}

/// Lays overlays on the variants of the same names.
fn lay_over(variants: &mut [Named], over: Vec<Named>) -> Result<(), Problem> {
    for Named { name, place, overlay } in over {
        let names: Vec<_> = variants.iter().map(|variant| variant.name.clone()).collect();
        let Some(variant) = variants.iter_mut().find(|variant| variant.name == name) else {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let message = format!("the scenario has no variant `{name}`");
            return Err(Problem::error(place, message, suggest::remedy(&name, "variants", &names)));
        };
        merge(&mut variant.overlay, &overlay)?;
    }
    Ok(())
}

fn expect_table(item: &Item, name: &str, place: &Place) -> Result<(), Problem> {
    if item.table().is_some() {
        return Ok(());
    }
    let message = format!("`{name}` is {}, not a table", item.noun());
    Err(Problem::error(place.clone(), message, format!("write it as [{name}]")))
}

/// Refuses keys that an overlay may not change.
fn refuse_keys(overlay: &Item, keys: &[&str], who: &str) -> Result<(), Problem> {
    let entries = overlay.table().map_or(&[][..], |table| &table.entries);
    match entries.iter().find(|entry| keys.contains(&entry.key.as_str())) {
        None => Ok(()),
        Some(entry) => {
            let message = format!("{who} cannot change `{}`", entry.key);
            let help = "it belongs to the whole scenario: write it at the top of the file";
            Err(Problem::error(entry.key_place.clone(), message, help))
        }
    }
}

/// What is wrong with a name that becomes a directory, if anything.
pub fn bad_name(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() {
        Some("is empty".to_owned())
    } else if name.starts_with(['.', '-']) {
        Some(format!("begins with `{}`", &name[..1]))
    } else if name.len() > LONGEST_NAME {
        Some(format!("is longer than {LONGEST_NAME} characters"))
    } else {
        name.chars().find(|&c| !fits(c)).map(|c| format!("contains {c:?}"))
    }
}
