//! From a file to one complete document per variant.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use floodway_machine::read;

use crate::claims::{self, Claims};
use crate::scenario::Overrides;
use crate::sweep;
use crate::text::{
    Entry, Error, Item, Place, Problem, Setting, Source, Value, decode, merge, nearby, normalize,
    parse, suggest,
};

/// Keys that belong to the whole scenario, so that no variant may change them.
pub const SHARED: [&str; 10] = [
    "name",
    "question",
    "seed",
    "replications",
    "variants",
    "quick",
    "sweep",
    "extends",
    "claim",
    "flows",
];

/// The longest name that may become a directory.
const LONGEST_NAME: usize = 64;

/// The most bytes of a scenario or configuration: a hundred thousand flows written out take 4 MB.
const LARGEST_TEXT: u64 = 64_000_000;

/// The text of a scenario file.
pub fn scenario_file(path: &Path) -> Result<String, Problem> {
    text_file(path, "scenario", ".toml")
}

/// The text of a file of this kind, the names of which end like this.
pub fn text_file(path: &Path, kind: &str, ending: &str) -> Result<String, Problem> {
    let shown = path.display().to_string();
    let problem = |message: String, help: String| {
        let source = Arc::new(Source::new(&shown, String::new()));
        Problem::error(Place::whole(&source), message, help)
    };
    if path.is_dir() {
        let fits = |file: &Path| file.is_file() && file.to_string_lossy().ends_with(ending);
        let help = match nearby::names(path, fits).first() {
            Some(first) => {
                format!("name a file in it, for example `{}`", path.join(first).display())
            }
            None => format!("name a {kind} file, which ends in {ending}"),
        };
        return Err(problem(format!("this is a directory, not a {kind} file"), help));
    }
    let bytes = read::bytes(path, LARGEST_TEXT).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            problem("there is no such file".to_owned(), other_file(path, ending))
        }
        ErrorKind::PermissionDenied => problem(
            "the file may not be read".to_owned(),
            "ask its owner for permission to read it".to_owned(),
        ),
        ErrorKind::InvalidInput => problem(
            format!("the file cannot be read: {error}"),
            format!("write the {kind} to a file, and name that"),
        ),
        ErrorKind::FileTooLarge => problem(
            format!("the file cannot be read: {error}"),
            "keep long lists of flows in a file of their own: `[workload.file]`".to_owned(),
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
            format!("save it as UTF-8, or check whether it is a {kind} at all"),
        )
    })
}

/// The remedy for a missing file: one of a similar name.
fn other_file(path: &Path, ending: &str) -> String {
    let directory = nearby::parent(path);
    match nearby::file(path, |name| name.ends_with(ending)) {
        Some(found) => format!("did you mean `{}`?", found.display()),
        None if !directory.is_dir() => {
            format!("the directory `{}` does not exist either", directory.display())
        }
        None => "check the path".to_owned(),
    }
}

/// How the text of a file is found, by its path.
pub type Reader<'a> = &'a dyn Fn(&Path) -> Result<String, Problem>;

/// A scenario as it is written: its own file on all files that it extends.
pub struct Written {
    /// The files, the scenario's own first.
    pub sources: Vec<Arc<Source>>,
    base: Item,
    quick: Option<Entry>,
    sweep: Option<Entry>,
    /// What the scenario's own file says of claims.
    claims: Vec<Entry>,
    variants: Vec<Named>,
    warnings: Vec<Problem>,
}

impl Written {
    /// Reads a document and those that it extends.
    pub fn read(source: &Arc<Source>, reader: Reader) -> Result<Self, Problem> {
        if source.inner().trim().is_empty() {
            let help = "write at least `name`, `arrivals`, `limit`, a topology and a workload";
            return Err(Problem::error(Place::whole(source), "the file is empty", help));
        }
        let mut base = parse(source)?;
        let extends = base.take("extends");
        let mut quick = base.take("quick");
        let mut warnings = Vec::new();
        if let Some(quick) = &mut quick {
            normalize(&mut quick.item, &mut warnings);
        }
        let sweep = base.take("sweep");
        let claims = claims::KEYS.iter().filter_map(|key| base.take(key)).collect();
        let mut variants = named(base.take("variants"), &mut warnings)?;
        normalize(&mut base, &mut warnings);
        let Some(extends) = extends else {
            drop_removed(&mut variants)?;
            let sources = vec![Arc::clone(source)];
            return Ok(Self { sources, base, quick, sweep, claims, variants, warnings });
        };
        if base.written("name").is_none() {
            let message = "a scenario that extends another needs a `name` of its own";
            let help = "write one above it: results of both would go to the same directory";
            return Err(Problem::error(extends.key_place, message, help));
        }
        let mut below = Self::below(source, &extends, reader)?;
        merge(&mut below.base, &base)?;
        for variant in variants {
            let known = below.variants.iter().any(|other| other.name == variant.name);
            if known || variant.is_removed() {
                lay_over(&mut below.variants, vec![variant])?;
            } else {
                below.variants.push(variant);
            }
        }
        match (&mut below.quick, quick) {
            (Some(under), Some(over)) => {
                expect_table(&over.item, "quick", &over.key_place)?;
                merge(&mut under.item, &over.item)?;
            }
            (under, over) => *under = under.take().or(over),
        }
        // A grid is replaced as a whole: its dimensions have no names.
        below.sweep = sweep.or(below.sweep);
        // What is claimed of another experiment is not claimed of this one.
        below.claims = claims;
        below.sources.insert(0, Arc::clone(source));
        below.warnings.append(&mut warnings);
        Ok(below)
    }

    /// The document that `extends` names.
    fn below(source: &Arc<Source>, extends: &Entry, reader: Reader) -> Result<Self, Problem> {
        let place = &extends.item.place;
        let Value::Text(name) = &extends.item.value else {
            let message = format!("`extends` is {}, not a file", extends.item.noun());
            let help = "name a scenario file beside this one: extends = \"lossless.toml\"";
            return Err(Problem::error(place.clone(), message, help));
        };
        let path = Path::new(source.name()).with_file_name(name);
        let shown = path.display().to_string();
        if shown == source.name() {
            let help = "name another file, or leave `extends` out";
            return Err(Problem::error(place.clone(), "the file extends itself", help));
        }
        let text = reader(&path).map_err(|problem| {
            let message = format!("`{shown}` cannot be extended: {}", problem.message);
            Problem::error(place.clone(), message, problem.help)
        })?;
        let below = Self::read_plain(&Arc::new(Source::new(&shown, text)))?;
        match below {
            Ok(below) => Ok(below),
            Err(deeper) => {
                let message = format!("`{shown}` itself extends `{deeper}`");
                let help = "extend that file, and write here what the one between them changes";
                Err(Problem::error(place.clone(), message, help))
            }
        }
    }

    /// Reads a document that extends no other; otherwise names the one that it extends.
    fn read_plain(source: &Arc<Source>) -> Result<Result<Self, String>, Problem> {
        match parse(source)?.take("extends") {
            Some(extends) => Ok(Err(extends.item.place.word().trim_matches('"').to_owned())),
            None => Self::read(source, &|_| unreachable!("it extends nothing")).map(Ok),
        }
    }

    /// What `[sweep]` says.
    pub fn sweep(&self) -> Result<Option<sweep::Spec>, Error> {
        let Some(Entry { item, key_place, .. }) = &self.sweep else { return Ok(None) };
        expect_table(item, "sweep", key_place)?;
        decode(item).map(Some).map_err(Error::new)
    }

    /// What the file claims; none if it claims nothing.
    pub fn claims(&self) -> Result<Option<Claims>, Error> {
        Claims::read(&self.sources[0], &self.claims)
    }

    /// Whether there is a `[quick]`.
    pub fn has_quick(&self) -> bool {
        self.quick.is_some()
    }
}

/// Refuses variants that a file removes although it extends none that could have them.
fn drop_removed(variants: &mut [Named]) -> Result<(), Problem> {
    match variants.iter().find(|variant| variant.is_removed()) {
        None => Ok(()),
        Some(variant) => {
            let message = format!("there is no variant `{}` to remove", variant.name);
            let help = "only variants of the file that this one `extends` can be removed";
            Err(Problem::error(variant.place.clone(), message, help))
        }
    }
}

/// The documents of all variants. They are made one by one: all at once would take much memory.
pub struct Documents {
    base: Item,
    variants: Vec<Named>,
    settings: Vec<Setting>,
    /// Warnings of old names.
    pub warnings: Vec<Problem>,
}

impl Documents {
    /// Applies everything from outside. Overlays apply in the order: `[quick]`, the variant, every
    /// `--set`.
    pub fn new(written: &Written, overrides: &Overrides) -> Result<Self, Problem> {
        let mut base = written.base.clone();
        let mut variants = written.variants.clone();
        let mut warnings = written.warnings.clone();

        if overrides.quick {
            let Some(Entry { item: mut quick, key_place, .. }) = written.quick.clone() else {
                let message = "the scenario has no `[quick]`";
                let help = "add one that makes it smaller, or run it without --quick";
                return Err(Problem::error(Place::whole(&written.sources[0]), message, help));
            };
            expect_table(&quick, "quick", &key_place)?;
            refuse_keys(
                &quick,
                &["name", "quick", "sweep", "extends", "claim", "flows"],
                "`[quick]`",
            )?;
            lay_over(&mut variants, named(quick.take("variants"), &mut warnings)?)?;
            normalize(&mut quick, &mut warnings);
            merge(&mut base, &quick)?;
        }

        let mut settings = Vec::new();
        for argument in &overrides.set {
            let mut setting = Setting::parse(argument)?;
            warnings.append(&mut setting.warnings);
            match setting.path.as_slice() {
                [first, _, ..] if first == "variants" => {
                    lay_over(
                        &mut variants,
                        named(setting.overlay.take("variants"), &mut warnings)?,
                    )?;
                }
                [first, ..] if claims::KEYS.contains(&first.as_str()) => {
                    let message = format!("`{}` cannot be set", setting.path.join("."));
                    let help =
                        "claims and their rules are written before the runs: change the file";
                    return Err(Problem::error(setting.place, message, help));
                }
                [first, ..] if ["variants", "quick", "sweep"].contains(&first.as_str()) => {
                    let message = format!("`{}` cannot be set", setting.path.join("."));
                    let help =
                        "set the value itself, or one variant's: variants.ci.switch.latency=1us";
                    return Err(Problem::error(setting.place, message, help));
                }
                _ => settings.push(setting),
            }
        }
        Ok(Self { base, variants, settings, warnings })
    }

    /// How many variants there are: at least one.
    pub fn count(&self) -> usize {
        self.variants.len().max(1)
    }

    /// The name of a variant and its complete document, in order of appearance; a single one without
    /// a name if there are no variants.
    pub fn get(&self, at: usize) -> Result<(Option<&str>, Item), Problem> {
        let mut document = self.base.clone();
        let variant = self.variants.get(at);
        if let Some(variant) = variant {
            merge(&mut document, &variant.overlay)?;
        }
        for setting in &self.settings {
            merge(&mut document, &setting.overlay)?;
        }
        Ok((variant.map(|variant| &*variant.name), document))
    }
}

/// A variant's overlay; `false` removes the variant of the file that is extended.
#[derive(Clone)]
struct Named {
    name: String,
    place: Place,
    overlay: Item,
}

impl Named {
    fn is_removed(&self) -> bool {
        matches!(self.overlay.value, Value::Truth(false))
    }
}

/// The overlays in a `[variants]` table.
fn named(variants: Option<Entry>, warnings: &mut Vec<Problem>) -> Result<Vec<Named>, Problem> {
    let Some(Entry { item, key_place, .. }) = variants else { return Ok(Vec::new()) };
    expect_table(&item, "variants", &key_place)?;
    let Value::Table(table) = item.value else { return Ok(Vec::new()) };
    let mut all: Vec<Named> = Vec::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for Entry { key: name, key_place: place, item: mut overlay } in table.entries {
        if let Some(cause) = bad_name(&name) {
            let help = "name it with letters, digits, `-`, `_` and `.`: it becomes a directory";
            return Err(Problem::error(place, format!("the variant's name {cause}"), help));
        }
        if let Some(other) = known.insert(name.to_ascii_lowercase(), name.clone()) {
            let message = format!("the variants `{other}` and `{name}` differ only in case");
            let help = "rename one: some file systems would give both the same directory";
            return Err(Problem::error(place, message, help));
        }
        if !matches!(overlay.value, Value::Truth(false)) {
            expect_table(&overlay, &format!("variants.{name}"), &place)?;
        }
        refuse_keys(&overlay, &SHARED, "a variant")?;
        normalize(&mut overlay, warnings);
        all.push(Named { name, place, overlay });
    }
    Ok(all)
}

/// Lays overlays on the variants of the same names, or removes those.
fn lay_over(variants: &mut Vec<Named>, over: Vec<Named>) -> Result<(), Problem> {
    for over in over {
        let names: Vec<_> = variants.iter().map(|variant| variant.name.clone()).collect();
        let Some(at) = names.iter().position(|name| *name == over.name) else {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            let help = suggest::remedy(&over.name, "variants", &names);
            let message = if over.is_removed() {
                format!("there is no variant `{}` to remove", over.name)
            } else {
                format!("the scenario has no variant `{}`", over.name)
            };
            return Err(Problem::error(over.place, message, help));
        };
        if over.is_removed() {
            variants.remove(at);
        } else {
            merge(&mut variants[at].overlay, &over.overlay)?;
        }
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
