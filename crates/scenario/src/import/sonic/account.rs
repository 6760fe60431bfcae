//! Fields of which the same became, in one row.

use std::collections::BTreeMap;

use super::config::Entry;
use crate::import::account::{Fate, Row};

/// What became of all fields so far.
#[derive(Default)]
pub struct Account {
    /// By fate, table, field and meaning.
    rows: BTreeMap<(Fate, String, String, String), Group>,
    /// The order in which they were added.
    order: Vec<(Fate, String, String, String)>,
}

struct Group {
    key: String,
    value: String,
    is_one_value: bool,
    count: usize,
}

impl Account {
    /// Adds a field of a configuration.
    pub fn add(&mut self, entry: &Entry, field: &str, value: &str, said: (Fate, String)) {
        self.add_field((&entry.table, &entry.key, field), value, said);
    }

    /// Adds a field of a table and key.
    pub fn add_field(
        &mut self,
        (table, key, field): (&str, &str, &str),
        value: &str,
        (fate, meaning): (Fate, String),
    ) {
        // In these tables fields are ports or numbers.
        let is_item = table == "CABLE_LENGTH" || table.contains("_TO_");
        let name = if is_item { String::new() } else { field.to_owned() };
        let place = (fate, table.to_owned(), name, meaning);
        if let Some(group) = self.rows.get_mut(&place) {
            group.count += 1;
            group.is_one_value &= group.value == value;
            return;
        }
        self.order.push(place.clone());
        let words = [table, key, field].into_iter().filter(|word| !word.is_empty());
        let key = words.collect::<Vec<_>>().join(" ");
        let group = Group { key, value: value.to_owned(), is_one_value: true, count: 1 };
        self.rows.insert(place, group);
    }

    /// How many fields were added.
    pub fn fields(&self) -> usize {
        self.rows.values().map(|group| group.count).sum()
    }

    /// A row for each group.
    pub fn rows(self) -> Vec<Row> {
        let row = |place: &(Fate, String, String, String)| {
            let group = &self.rows[place];
            let (fate, _, _, meaning) = place.clone();
            let more = match group.count {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let value = if group.is_one_value {
                group.value.clone()
            } else {
                format!("{} …", group.value)
            };
            Row { fate, key: format!("{}{more}", group.key), value, meaning }
        };
        self.order.iter().map(row).collect()
    }
}
