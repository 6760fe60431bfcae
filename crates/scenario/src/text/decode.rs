//! The tree to typed values, through serde. A deserializer of our own, because serde tells it
//! which fields and members there are: so an unknown one is reported with its place and a
//! suggestion, and one mistake does not hide the next.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use serde_spanned::de::{SpannedDeserializer, is_spanned};

use super::fault::{Fault, Kind};
use super::item::{Entry, Item, Value};
use super::problem::Problem;
use super::source::Place;

/// Decodes a document; all that does not fit, if anything.
pub fn decode<T: DeserializeOwned>(document: &Item) -> Result<T, Vec<Problem>> {
    let mut fault = match T::deserialize(Decoder { item: document }) {
        Ok(value) => return Ok(value),
        Err(fault) => fault,
    };
    // Copied only now: it may be large.
    let mut document = document.clone();
    let mut problems = Vec::new();
    let mut removed: Vec<Vec<String>> = Vec::new();
    // What does not fit is reported and taken out, and the rest is tried again.
    loop {
        let mut path: Vec<String> = fault.path.iter().rev().cloned().collect();
        // What is absent because we took it out is no mistake of the author's: its table goes too.
        let ours = match fault.kind {
            Kind::Missing(field) => removed.iter().any(|gone| is_child(gone, &path, Some(field))),
            Kind::NotOne { ref found, .. } if found.is_empty() => {
                removed.iter().any(|gone| is_child(gone, &path, None))
            }
            _ => false,
        };
        if !ours {
            problems.push(fault.problem(&path, &document));
        }
        // A list goes as a whole, lest its other elements change their numbers.
        if path.last().is_some_and(|key| key.parse::<usize>().is_ok()) {
            path.pop();
        }
        if path.is_empty() || !document.remove(&path) {
            return Err(problems);
        }
        removed.push(path);
        fault = match T::deserialize(Decoder { item: &document }) {
            Ok(_) => return Err(problems),
            Err(fault) => fault,
        };
    }
}

/// Whether `path` is that of a key in the table `parent`: of this one, or of any.
fn is_child(path: &[String], parent: &[String], key: Option<&str>) -> bool {
    path.split_last()
        .is_some_and(|(last, rest)| rest == parent && key.is_none_or(|key| key == last))
}

/// Deserializes one item.
struct Decoder<'a> {
    item: &'a Item,
}

impl Decoder<'_> {
    fn wrong<T>(&self, expected: impl Into<String>) -> Result<T, Fault> {
        let kind = Kind::WrongType { found: self.item.noun(), expected: expected.into() };
        Err(Fault::new(kind).at(&self.item.place))
    }
}

macro_rules! whole_numbers {
    ($($method:ident $visit:ident $type:ty,)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            match self.item.value {
                Value::Whole(number) if <$type>::try_from(number).is_ok() => {
                    visitor.$visit(number as $type)
                }
                _ => self.wrong(format!("a whole number from {} to {}", <$type>::MIN, <$type>::MAX)),
            }
        }
    )+};
}

impl<'de> Deserializer<'de> for Decoder<'_> {
    type Error = Fault;

    whole_numbers! {
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.item.value {
            Value::Real(number) => visitor.visit_f64(number),
            Value::Whole(number) => visitor.visit_f64(number as f64),
            _ => self.wrong("a number"),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.item.value {
            Value::Truth(truth) => visitor.visit_bool(truth),
            _ => self.wrong("true or false"),
        }
    }

    // Quantities ask for text; their visitors say what they expect.
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.item.value {
            Value::Text(text) => visitor.visit_str(text),
            _ => self.wrong("text in quotes"),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.item.value {
            Value::Truth(false) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.item.value {
            Value::List(items) => visitor.visit_seq(Elements { items, next: 0 }),
            _ => self.wrong("a list in brackets"),
        }
    }

    // A list of a fixed length. Its visitor would not ask for what is there beyond it.
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.item.value {
            Value::List(items) if items.len() != length => {
                let kind = Kind::WrongLength { found: items.len(), expected: length };
                Err(Fault::new(kind).at(&self.item.place))
            }
            Value::List(_) => self.deserialize_seq(visitor),
            _ => self.wrong(format!("a list of {length} values")),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.item.table() {
            Some(table) => visitor
                .visit_map(Entries { entries: &table.entries, next: 0 })
                .map_err(|fault| fault.at(&self.item.place)),
            None => self.wrong("a table"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if is_spanned(name) {
            let range = self.item.place.range.clone().unwrap_or_default();
            return visitor.visit_map(SpannedDeserializer::new(self, range));
        }
        let Some(table) = self.item.table() else {
            return self.wrong("a table");
        };
        if let Some(entry) = table.entries.iter().find(|entry| !fields.contains(&&*entry.key)) {
            let kind = Kind::UnknownField { name: entry.key.clone(), fields };
            return Err(Fault::new(kind).at(&entry.key_place).under(&entry.key));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let unknown = |name: &str, place: &Place| {
            let kind = Kind::UnknownMember { name: name.to_owned(), members };
            Err(Fault::new(kind).at(place))
        };
        match &self.item.value {
            Value::Text(name) if !members.contains(&name.as_str()) => {
                unknown(name, &self.item.place)
            }
            Value::Text(name) => {
                visitor.visit_enum(Member { name, content: None, place: &self.item.place })
            }
            Value::Table(table) => match table.entries.as_slice() {
                [entry] if !members.contains(&entry.key.as_str()) => {
                    unknown(&entry.key, &entry.key_place)
                }
                [entry] => visitor
                    .visit_enum(Member {
                        name: &entry.key,
                        content: Some(&entry.item),
                        place: &entry.item.place,
                    })
                    .map_err(|fault| fault.at(&entry.item.place)),
                entries => {
                    let found = entries.iter().map(|entry| entry.key.clone()).collect();
                    let place = entries.last().map_or(&self.item.place, |entry| &entry.key_place);
                    Err(Fault::new(Kind::NotOne { members: members.join(", "), found }).at(place))
                }
            },
            _ => self.wrong(format!("one of {}", members.join(", "))),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let place = &self.item.place;
        let result = match &self.item.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Whole(number) => match i64::try_from(*number) {
                Ok(number) => visitor.visit_i64(number),
                Err(_) => visitor.visit_f64(*number as f64),
            },
            Value::Real(number) => visitor.visit_f64(*number),
            Value::Truth(truth) => visitor.visit_bool(*truth),
            Value::Date(date) => visitor.visit_str(date),
            Value::List(items) => visitor.visit_seq(Elements { items, next: 0 }),
            Value::Table(table) => visitor.visit_map(Entries { entries: &table.entries, next: 0 }),
        };
        result.map_err(|fault| fault.at(place))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i128 u128 char bytes byte_buf unit unit_struct tuple_struct identifier
    }
}

impl<'de> IntoDeserializer<'de, Fault> for Decoder<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The elements of a list.
struct Elements<'a> {
    items: &'a [Item],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for Elements<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        let value = seed.deserialize(Decoder { item });
        value.map(Some).map_err(|fault| fault.at(&item.place).under(&index.to_string()))
    }
}

/// The entries of a table.
struct Entries<'a> {
    entries: &'a [Entry],
    next: usize,
}

impl<'de> de::MapAccess<'de> for Entries<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some(entry) = self.entries.get(self.next) else { return Ok(None) };
        let key: StrDeserializer<'_, Fault> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault| fault.at(&entry.key_place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let entry = &self.entries[self.next];
        self.next += 1;
        let value = seed.deserialize(Decoder { item: &entry.item });
        value.map_err(|fault| fault.at(&entry.item.place).under(&entry.key))
    }
}

/// The chosen member of a family or of a list of words.
struct Member<'a> {
    name: &'a str,
    content: Option<&'a Item>,
    place: &'a Place,
}

impl<'a, 'de> de::EnumAccess<'de> for Member<'a> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        Ok((seed.deserialize(name).map_err(|fault| fault.at(self.place))?, self))
    }
}

impl<'de> de::VariantAccess<'de> for Member<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            None => Ok(()),
            Some(content) => {
                let found = content.noun();
                let expected = format!("the text {:?}", self.name);
                Err(Fault::new(Kind::WrongType { found, expected }).at(self.place))
            }
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        let empty = Item::empty(self.place.clone());
        let item = self.content.unwrap_or(&empty);
        seed.deserialize(Decoder { item }).map_err(|fault| fault.at(&item.place).under(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Fault> {
        match self.content {
            Some(item) => Decoder { item }.deserialize_seq(visitor),
            None => Err(Fault::new(Kind::Missing("0")).at(self.place)),
        }
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let empty = Item::empty(self.place.clone());
        let item = self.content.unwrap_or(&empty);
        Decoder { item }
            .deserialize_struct("", fields, visitor)
            .map_err(|fault| fault.under(self.name))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde::Deserialize;

    use super::super::item::parse;
    use super::super::source::Source;
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        count: u8,
        #[serde(default)]
        share: f64,
        #[serde(default)]
        list: Vec<u16>,
    }

    fn sample(text: &str) -> Result<Sample, Vec<String>> {
        let source = Arc::new(Source::new("t", text.to_owned()));
        decode(&parse(&source).unwrap())
            .map_err(|problems| problems.iter().map(|p| p.message.clone()).collect())
    }

    #[test]
    fn values_fit() {
        let expected = Sample { count: 255, share: 1.0, list: vec![1, 2] };
        assert_eq!(sample("count = 255\nshare = 1\nlist = [1, 2]"), Ok(expected));
    }

    #[test]
    fn every_mistake_is_reported_once() {
        let problems = sample("count = 256\nshare = \"x\"\nlist = [1, -2]\nmore = 1").unwrap_err();
        assert_eq!(
            problems,
            [
                "a scenario has no field `more`",
                "`count` is the number 256, not a whole number from 0 to 255",
                "`share` is the text \"x\", not a number",
                "`list.1` is the number -2, not a whole number from 0 to 65535",
            ]
        );
    }
}
