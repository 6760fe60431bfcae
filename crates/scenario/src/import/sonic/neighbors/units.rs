//! What became of the fields of minigraphs and LLDP tables.

use super::lldp::Seen;
use super::minigraph::Link;
use super::{Beside, Joined, Known, Local, Neighbor, Unit, is_same, local};
use crate::import::account::Fate;

/// What became of the fields of a link.
pub(super) fn of_link(
    link: &Link,
    ends: &[Joined; 2],
    known: &[Known<'_>],
    beside: &[Beside],
) -> Vec<Unit> {
    let read: Vec<&(usize, String)> = ends.iter().flatten().collect();
    let used: Vec<(&&(usize, String), &Neighbor)> =
        read.iter().filter_map(|end| Some((end, beside[end.0].neighbors.get(&end.1)?))).collect();
    let is_taken = |(end, neighbor): &(&&(usize, String), &Neighbor)| {
        let other = ends.iter().position(|of| of.as_ref() == Some(**end)).map_or(0, |at| 1 - at);
        let (device, port, _) = &link.ends[other];
        match &ends[other] {
            Some((at, port)) => {
                neighbor.name == known[*at].name && neighbor.port.as_ref() == Some(port)
            }
            None => is_same(&neighbor.name, device) || neighbor.port.as_ref() == Some(port),
        }
    };
    let left_out = || {
        let of = |end: &&(usize, String)| known[end.0].left_out.get(&end.1).copied();
        read.iter().find_map(of).unwrap_or("it carries no traffic")
    };
    let key = format!("{}:{}", link.ends[0].0, link.ends[0].1);
    let unit = |(field, value): &(String, String)| {
        let said = if read.is_empty() {
            (Fate::Nothing, "neither end is a switch of this import".to_owned())
        } else if used.is_empty() {
            (Fate::Nothing, format!("the port is left out: {}", left_out()))
        } else {
            match field.as_str() {
                "StartDevice" | "StartPort" | "EndDevice" | "EndPort"
                    if !used.iter().all(is_taken) =>
                {
                    (Fate::Differs, "LLDP sees another neighbor there".to_owned())
                }
                "StartDevice" | "StartPort" | "EndDevice" | "EndPort" => match read.len() {
                    2 => (Fate::Kept, "a link between two switches".to_owned()),
                    _ => (Fate::Kept, "a link to a host".to_owned()),
                },
                "ElementType" => (Fate::Kept, "data goes on this link".to_owned()),
                _ if value.is_empty() => (Fate::Nothing, "it is empty".to_owned()),
                "Bandwidth" if link.speed.is_some() => {
                    (Fate::Kept, "`rate` of the link".to_owned())
                }
                "CableLength"
                    if used.iter().any(|(end, _)| beside[end.0].cables.contains_key(&end.1)) =>
                {
                    (Fate::Kept, "`delay` of the link".to_owned())
                }
                "CableLength" => (Fate::Nothing, "`CABLE_LENGTH` has the cable".to_owned()),
                _ => (Fate::Nothing, "floodway does not read this field".to_owned()),
            }
        };
        Unit::new(("minigraph link", &key, field), value, said)
    };
    link.fields.iter().map(unit).collect()
}

/// What became of the fields of a neighbor that is seen.
pub(super) fn of_seen(seen: &Seen, of: &Known<'_>, beside: &Beside) -> Vec<Unit> {
    let key = format!("{} {}", of.name, seen.local);
    let neighbor = match local(seen, of) {
        Ok(Local::Port(port)) => Ok(beside.neighbors.get(&port)),
        Ok(Local::LeftOut(why)) => Err(format!("the port is left out: {why}")),
        Ok(Local::Management) | Err(_) => {
            Err("it is no port of `PORT`: no data goes there".to_owned())
        }
    };
    let said = |field: &str| match &neighbor {
        Err(why) => (Fate::Nothing, why.clone()),
        Ok(None) => (Fate::Nothing, "no neighbor is taken".to_owned()),
        Ok(Some(neighbor)) => {
            let named = seen.name.as_ref().is_some_and(|name| is_same(name, &neighbor.name));
            let taken = named || neighbor.name == seen.port;
            match field {
                "name" | "port id" | "port descr" if !taken && seen.name.is_some() => {
                    (Fate::Differs, "another neighbor at this port is taken".to_owned())
                }
                "name" => (Fate::Kept, "what the port leads to".to_owned()),
                "port id" | "port descr" => (Fate::Kept, "the port at the other end".to_owned()),
                _ => (Fate::Nothing, "floodway does not read this field".to_owned()),
            }
        }
    };
    let own = [
        ("name", seen.name.as_ref()),
        ("port id", Some(&seen.port)),
        ("port descr", seen.described.as_ref()),
    ];
    let own = own.into_iter().filter_map(|(field, value)| Some((field, value?.as_str())));
    let others = seen.others.iter().map(|(field, value)| (field.as_str(), value.as_str()));
    let unit = |(field, value): (&str, &str)| Unit::new(("LLDP", &key, field), value, said(field));
    own.chain(others).map(unit).collect()
}
