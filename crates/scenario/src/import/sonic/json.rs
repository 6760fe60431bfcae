//! JSON in which no key is lost: objects keep the order of their keys, and one that is there twice is
//! reported.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A text, number, truth value or null, as text.
    Word(String),
    /// A list.
    List(Vec<Node>),
    /// An object.
    Object(Vec<(String, Node)>),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Word(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Word(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Word(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Word(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Word(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Word("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(node) = from.next_element()? {
            list.push(node);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Node, A::Error> {
        let mut object: Vec<(String, Node)> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        while let Some((key, node)) = from.next_entry::<String, Node>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
            object.push((key, node));
        }
        Ok(Node::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_are_there_once() {
        let read =
            |text: &str| serde_json::from_str::<Node>(text).map_err(|error| error.to_string());
        let word = |text: &str| Node::Word(text.to_owned());
        let object = Node::Object(vec![
            ("b".to_owned(), word("1")),
            ("a".to_owned(), Node::List(vec![word("true"), word("null"), word("x")])),
        ]);
        assert_eq!(read(r#"{"b": 1, "a": [true, null, "x"]}"#), Ok(object));
        let twice = read("{\"a\": 1,\n\"a\": 2}").unwrap_err();
        assert!(twice.starts_with("the key \"a\" is there twice at line 2"), "{twice}");
    }
}
