//! From devices and instances to the nodes and edges of the graph, as the service of the package `infragraph` makes them: a
//! node is called `instance.INDEX.component.INDEX`, edges have no direction, and of two between the same nodes the last one
//! counts.

use std::collections::BTreeMap;

use super::document::{Choice, Device, Edge, Endpoint, Infrastructure, Inner, Link, Scheme};
use crate::check::MOST_NODES;

/// What is wrong, and the remedy.
pub(super) type Wrong = (String, String);

/// A component of an instance.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: Choice,
    /// Which of all instances it is in.
    pub(super) instance: usize,
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Expanded<'a> {
    pub(super) nodes: Vec<Node>,
    /// Two nodes and their link, in order of the file.
    pub(super) edges: Vec<(usize, usize, &'a Link)>,
    numbers: BTreeMap<String, usize>,
    /// The place of an edge by its nodes, the lower one first.
    places: BTreeMap<(usize, usize), usize>,
    /// Ends that edges have named.
    named: usize,
}

/// So that a short file cannot fill the memory.
const MOST_EDGES: usize = 4 * MOST_NODES as usize;

/// Makes the graph.
pub(super) fn expand(from: &Infrastructure) -> Result<Expanded<'_>, Wrong> {
    let devices = by_name(&from.devices, "device", |device| &device.name)?;
    let instances = by_name(&from.instances, "instance", |instance| &instance.name)?;
    let links = by_name(&from.links, "link", |link| &link.name)?;
    for device in &from.devices {
        by_name(&device.components, "component", |component| &component.name)?;
    }
    let (mut sum, mut known) = (0u64, BTreeMap::new());
    for instance in &from.instances {
        let device = found(&devices, &instance.device, "device", &instance.name)?;
        let of_device = size(device, &devices, &mut known, 0)?.nodes;
        sum = sum.saturating_add(of_device.saturating_mul(instance.count.into()));
    }
    if sum > MOST_NODES {
        return Err((
            format!("the infrastructure has {sum} components"),
            format!("at most {MOST_NODES} are possible"),
        ));
    }
    let mut graph = Expanded::default();
    let mut number = 0;
    for instance in &from.instances {
        let device = devices[instance.device.as_str()];
        for index in 0..instance.count {
            let prefix = format!("{}.{index}", instance.name);
            graph.device(&prefix, device, &devices, number)?;
            number += 1;
        }
    }
    for edge in &from.edges {
        let end = |of: &Endpoint| -> Result<Vec<String>, Wrong> {
            let (name, slice) = sliced(&of.instance)?;
            let text = format!("{}.{}", of.instance, of.component);
            let instance = found(&instances, name, "instance", &text)?;
            let device = devices[instance.device.as_str()];
            let inner = components(device, &of.component, &devices)?;
            let all = indices(slice, instance.count, &text)?;
            let of_one = |index| inner.iter().map(move |inner| format!("{name}.{index}.{inner}"));
            Ok(all.into_iter().flat_map(of_one).collect())
        };
        let link = found(&links, &edge.link, "link", "an edge of the infrastructure")?;
        graph.join([end(&edge.ep1)?, end(&edge.ep2)?], edge.scheme, link)?;
    }
    Ok(graph)
}

/// What a list has, by name.
fn by_name<'a, T>(
    all: &'a [T],
    what: &str,
    name: for<'b> fn(&'b T) -> &'b str,
) -> Result<BTreeMap<&'a str, &'a T>, Wrong> {
    let mut found = BTreeMap::new();
    for one in all {
        if found.insert(name(one), one).is_some() {
            return Err((
                format!("there are two {what}s `{}`", name(one)),
                "give each a name of its own".to_owned(),
            ));
        }
    }
    Ok(found)
}

fn found<'a, T>(
    all: &BTreeMap<&str, &'a T>,
    name: &str,
    what: &str,
    at: &str,
) -> Result<&'a T, Wrong> {
    all.get(name).copied().ok_or_else(|| {
        let names: Vec<&str> = all.keys().copied().collect();
        (
            format!("there is no {what} `{name}`, which `{at}` names"),
            match names.is_empty() {
                true => format!("the file has no {what}s"),
                false => format!("the {what}s are: {}", names.join(", ")),
            },
        )
    })
}

type Devices<'a> = BTreeMap<&'a str, &'a Device>;

/// The device that a component is.
fn inside<'a>(component: &str, devices: &Devices<'a>) -> Result<&'a Device, Wrong> {
    found(devices, component, "device", component)
}

/// How often devices may be inside others. Servers and racks need a few; every level takes a part of the stack.
const MOST_LEVELS: u32 = 64;

/// What is known of a device with those inside.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Its nodes. One that is empty takes time as well.
    nodes: u64,
    /// The levels of devices in it.
    levels: u32,
}

/// The size of a device, which is `level` levels inside others. Sizes that are known are in `known`, and `None` is one that
/// is being found.
fn size<'a>(
    device: &'a Device,
    devices: &Devices<'a>,
    known: &mut BTreeMap<&'a str, Option<Size>>,
    level: u32,
) -> Result<Size, Wrong> {
    let too_deep = || {
        Err((
            format!("device `{}` is more than {MOST_LEVELS} levels inside others", device.name),
            "leave out devices that have one device as their only component".to_owned(),
        ))
    };
    match known.get(device.name.as_str()) {
        Some(Some(size)) if level + size.levels > MOST_LEVELS => return too_deep(),
        Some(Some(size)) => return Ok(*size),
        Some(None) => {
            return Err((
                format!("device `{}` is inside itself", device.name),
                "a component with choice `device` is a device of the same name".to_owned(),
            ));
        }
        None if level > MOST_LEVELS => return too_deep(),
        None => {}
    }
    known.insert(&device.name, None);
    let (mut nodes, mut levels) = (0u64, 0);
    for component in &device.components {
        let one = match component.choice {
            Choice::Device => {
                let size = size(inside(&component.name, devices)?, devices, known, level + 1)?;
                levels = levels.max(size.levels + 1);
                size.nodes
            }
            _ => 1,
        };
        nodes = nodes.saturating_add(one.saturating_mul(component.count.into()));
    }
    let size = Size { nodes: nodes.max(1), levels };
    known.insert(&device.name, Some(size));
    Ok(size)
}

impl<'a> Expanded<'a> {
    /// The nodes and edges of a device in an instance, and of those in it.
    fn device(
        &mut self,
        prefix: &str,
        device: &'a Device,
        devices: &Devices<'a>,
        instance: usize,
    ) -> Result<(), Wrong> {
        for component in &device.components {
            for index in 0..component.count {
                let name = format!("{prefix}.{}.{index}", component.name);
                if component.choice == Choice::Device {
                    self.device(&name, inside(&component.name, devices)?, devices, instance)?;
                    continue;
                }
                self.numbers.insert(name.clone(), self.nodes.len());
                self.nodes.push(Node { name, kind: component.choice, instance });
            }
        }
        let links = by_name(&device.links, "link", |link| &link.name)?;
        for Edge { ep1, ep2, scheme, link } in &device.edges {
            let end = |of: &Inner| -> Result<Vec<String>, Wrong> {
                let path = match &of.device {
                    Some(device) => format!("{device}.{}", of.component),
                    None => of.component.clone(),
                };
                let all = components(device, &path, devices)?;
                Ok(all.into_iter().map(|inner| format!("{prefix}.{inner}")).collect())
            };
            let at = format!("an edge of device {}", device.name);
            let link = found(&links, link, "link", &at)?;
            self.join([end(ep1)?, end(ep2)?], *scheme, link)?;
        }
        Ok(())
    }

    fn join(
        &mut self,
        ends: [Vec<String>; 2],
        scheme: Scheme,
        link: &'a Link,
    ) -> Result<(), Wrong> {
        let [one, other] = ends;
        let edges = match scheme {
            Scheme::One2one => one.len().min(other.len()),
            Scheme::Many2many => one.len().saturating_mul(other.len()),
            Scheme::Ring => {
                return Err((
                    "an edge has the scheme `ring`".to_owned(),
                    "the service of InfraGraph does not expand it: write one2one or many2many"
                        .to_owned(),
                ));
            }
        };
        self.named = self.named.saturating_add(one.len() + other.len()).saturating_add(edges);
        if self.named > MOST_EDGES {
            return Err((
                format!("the edges of the infrastructure have more than {MOST_EDGES} ends"),
                "describe a smaller one".to_owned(),
            ));
        }
        match scheme {
            Scheme::One2one => {
                one.iter().zip(&other).try_for_each(|(from, to)| self.edge(from, to, link))
            }
            _ => one
                .iter()
                .try_for_each(|from| other.iter().try_for_each(|to| self.edge(from, to, link))),
        }
    }

    fn edge(&mut self, from: &str, to: &str, link: &'a Link) -> Result<(), Wrong> {
        let number = |name: &str| {
            self.numbers.get(name).copied().ok_or_else(|| {
                (
                    format!("an edge ends at `{name}`, which is a device"),
                    "write which component of it: `device[0].port[0]`".to_owned(),
                )
            })
        };
        let (a, b) = (number(from)?, number(to)?);
        if a == b {
            return Ok(());
        }
        let place = *self.places.entry((a.min(b), a.max(b))).or_insert(self.edges.len());
        match self.edges.get_mut(place) {
            Some(edge) => *edge = (a, b, link),
            None => self.edges.push((a, b, link)),
        }
        Ok(())
    }
}

/// A name and what is in its brackets, if there are any.
fn sliced(text: &str) -> Result<(&str, Option<&str>), Wrong> {
    let Some((name, rest)) = text.split_once('[') else { return Ok((text, None)) };
    match rest.strip_suffix(']') {
        Some(slice) => Ok((name, Some(slice))),
        None => Err((
            format!("`{text}` has no end of its brackets"),
            "write a slice like [0:4]".to_owned(),
        )),
    }
}

/// The numbers that a slice of Python selects of so many; all without one.
fn indices(slice: Option<&str>, count: u32, at: &str) -> Result<Vec<u32>, Wrong> {
    let many = i64::from(count);
    let wrong = |slice: &str| {
        (
            format!("`[{slice}]` in `{at}` is no number and no slice"),
            "write it as in Python: [2], [0:4], [::2]".to_owned(),
        )
    };
    let slice = slice.unwrap_or("");
    let number = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse::<i64>().map(Some).map_err(|_| wrong(slice)),
    };
    let parts: Vec<Option<i64>> = slice.split(':').map(number).collect::<Result<_, _>>()?;
    let (start, stop, step) = match *parts.as_slice() {
        [None] => (None, None, 1),
        [Some(index)] => {
            let place = if index < 0 { index.saturating_add(many) } else { index };
            return match u32::try_from(place) {
                Ok(place) if place < count => Ok(vec![place]),
                _ => Err((
                    format!("there is no [{index}] in `{at}`: it is one of {count}"),
                    format!("they have the numbers 0 to {}", many - 1),
                )),
            };
        }
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step.unwrap_or(1)),
        _ => return Err(wrong(slice)),
    };
    if step == 0 {
        return Err(wrong(slice));
    }
    // As `slice.indices` of Python: bounds are cut to those of the list, which end before it if it goes backward.
    let (low, high) = if step > 0 { (0, many) } else { (-1, many - 1) };
    let bound = |of: Option<i64>, otherwise: i64| match of {
        None => otherwise,
        Some(of) if of < 0 => of.saturating_add(many).max(low),
        Some(of) => of.min(high),
    };
    let (first, last) = if step > 0 { (low, high) } else { (high, low) };
    let (mut at, end) = (bound(start, first), bound(stop, last));
    let mut all = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        all.extend(u32::try_from(at));
        at = at.saturating_add(step);
    }
    Ok(all)
}

/// The components that a path in a device names, like `cx5[0:2].port[0]`, without the name of the instance.
fn components(device: &Device, path: &str, devices: &Devices<'_>) -> Result<Vec<String>, Wrong> {
    let mut all: Vec<String> = vec![String::new()];
    let mut within = Some(device);
    for element in path.split('.') {
        let (name, slice) = sliced(element)?;
        let Some(device) = within else {
            return Err((
                format!("`{path}` goes on after a component that is no device"),
                "only components with choice `device` have components".to_owned(),
            ));
        };
        let components: BTreeMap<&str, _> =
            device.components.iter().map(|of| (of.name.as_str(), of)).collect();
        let component =
            found(&components, name, "component", &format!("{} of {path}", device.name))?;
        let indices = indices(slice, component.count, path)?;
        if all.len().saturating_mul(indices.len()) > MOST_EDGES {
            return Err((
                format!("`{path}` names more than {MOST_EDGES} components"),
                "describe a smaller device".to_owned(),
            ));
        }
        all = all
            .iter()
            .flat_map(|before| {
                let dot = if before.is_empty() { "" } else { "." };
                indices.iter().map(move |index| format!("{before}{dot}{name}.{index}"))
            })
            .collect();
        within = match component.choice {
            Choice::Device => Some(inside(name, devices)?),
            _ => None,
        };
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_those_of_python() {
        // list(range(5))[slice], as Python prints it.
        for (slice, of_five) in [
            ("", vec![0, 1, 2, 3, 4]),
            (":", vec![0, 1, 2, 3, 4]),
            ("3", vec![3]),
            ("-1", vec![4]),
            ("1:", vec![1, 2, 3, 4]),
            (":-1", vec![0, 1, 2, 3]),
            ("::2", vec![0, 2, 4]),
            ("1:5:2", vec![1, 3]),
            ("3:99", vec![3, 4]),
            ("::-1", vec![4, 3, 2, 1, 0]),
            ("-9:2", vec![0, 1]),
            ("4:1:-2", vec![4, 2]),
            ("4:1", vec![]),
        ] {
            assert_eq!(indices(Some(slice), 5, "x").unwrap(), of_five, "[{slice}]");
        }
        for wrong in ["5", "-6", "a", "1:2:3:4", "::0"] {
            assert!(indices(Some(wrong), 5, "x").is_err(), "[{wrong}]");
        }
        assert_eq!(indices(None, 2, "x").unwrap(), [0, 1]);
    }
}
