//! Profiles that several queues or priority groups have: changed where they are if all are to have the same, and
//! otherwise copied for those that are to have something else.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::config::{Entry, plain};
use super::writer::Writer;
use crate::text::Problem;

/// A table of queues or groups, and its field that names a profile.
#[derive(Clone, Copy)]
pub struct Users {
    /// `BUFFER_PG`, `BUFFER_QUEUE` or `QUEUE`.
    pub table: &'static str,
    /// `profile` or `wred_profile`.
    pub field: &'static str,
}

/// What a queue or group of a port has, and what it is to have.
pub struct Want<'a, T> {
    /// The port.
    pub port: &'a str,
    /// The number of the queue or group.
    pub number: u8,
    /// Its profile.
    pub profile: &'a Entry,
    /// What that says.
    pub old: T,
    /// What it is to say.
    pub new: T,
}

/// A field of a profile, and its text; none if it is removed.
pub type Edit = (&'static str, Option<String>);

impl Writer<'_> {
    /// Writes what is wanted. `edits` are the fields in which two values differ.
    pub fn apportion<T: Clone + PartialEq>(
        &mut self,
        users: Users,
        wants: &[Want<'_, T>],
        edits: impl Fn(&T, &T) -> Vec<Edit>,
    ) -> Result<(), Problem> {
        let mut profiles: BTreeMap<&str, Vec<&Want<'_, T>>> = BTreeMap::new();
        for want in wants {
            profiles.entry(&want.profile.key).or_default().push(want);
        }
        for wants in profiles.into_values() {
            let first = wants[0];
            if wants.iter().all(|want| want.new == first.new) {
                for (field, value) in edits(&first.old, &first.new) {
                    match value {
                        Some(value) => self.set(first.profile, field, value),
                        None => self.remove(first.profile, field),
                    }
                }
                continue;
            }
            self.copies(users, &wants, &edits)?;
        }
        Ok(())
    }

    fn copies<T: Clone + PartialEq>(
        &mut self,
        users: Users,
        wants: &[&Want<'_, T>],
        edits: &impl Fn(&T, &T) -> Vec<Edit>,
    ) -> Result<(), Problem> {
        let profile = wants[0].profile;
        let switch = self.switch;
        let mut covered = 0;
        for entry in switch.config.table(users.table) {
            let (ports, numbers) = entry.ports()?;
            let here =
                |want: &&&Want<'_, T>| ports.contains(&want.port) && numbers.contains(&want.number);
            let here: Vec<_> = wants.iter().filter(here).collect();
            if entry.get(users.field).map(plain) != Some(&profile.key) {
                continue;
            }
            let Some(first) = here.first() else { continue };
            covered += here.len();
            if here.iter().any(|want| want.new != first.new) {
                return Err(entry.problem(
                    users.field,
                    format!(
                        "`{}|{}` has one profile, and its classes would have several",
                        users.table, entry.key
                    ),
                    "write an entry for each queue and port, and import again; classes of one priority group have one \
                     share",
                ));
            }
            if first.new == first.old {
                continue;
            }
            let name = format!("{}_floodway_{}", profile.key, first.number);
            let mut fields: Map<String, Value> = profile
                .fields
                .iter()
                .map(|(field, value)| (field.clone(), Value::String(value.clone())))
                .collect();
            for (field, value) in edits(&first.old, &first.new) {
                match value {
                    Some(value) => fields.insert(field.to_owned(), Value::String(value)),
                    None => fields.remove(field),
                };
            }
            self.copy(entry, users.field, (&profile.table, name), fields)?;
        }
        match covered < wants.len() {
            false => Ok(()),
            true => Err(profile.problem(
                "",
                format!(
                    "`{}|{}` would be different for its classes, and no entry of `{}` names it for each",
                    profile.table, profile.key, users.table
                ),
                "give the classes profiles of their own, and import again",
            )),
        }
    }

    /// Adds a profile, and names it in the entry of a queue or group.
    fn copy(
        &mut self,
        user: &Entry,
        field: &str,
        (table, name): (&str, String),
        fields: Map<String, Value>,
    ) -> Result<(), Problem> {
        // Ports of other rates may want another one for the same queue.
        let mut names = (1..).map(|number| match number {
            1 => name.clone(),
            _ => format!("{name}_{number}"),
        });
        let is_free = |name: &String| match self.added(table, name) {
            Some(other) => *other == fields,
            None => self.switch.config.entry(table, name).is_none(),
        };
        let Some(name) = names.find(is_free) else { return Ok(()) };
        self.add(table, &name, fields);
        self.set(user, field, name);
        Ok(())
    }
}
