//! Links and devices of a `minigraph.xml`, the description of a network from which SONiC makes the configuration of a
//! switch. The form is that which `minigraph.py` of sonic-net/sonic-buildimage reads (`src/sonic-config-engine`): links
//! are `PngDec/DeviceInterfaceLinks/DeviceLinkBase`, and devices `PngDec/Devices/Device`.

use std::sync::Arc;

use floodway_model::Rate;
use roxmltree::{Document, Node, ParsingOptions};

use super::Unit;
use crate::headroom::Cable;
use crate::import::account::Fate;
use crate::text::{Place, Problem, Source};

/// The element of such a file.
const ROOT: &str = "DeviceMiniGraph";

/// The most elements and texts of a file: a switch with 1,000 ports has 100,000.
const MOST_NODES: u32 = 20_000_000;

/// How a document type declaration begins.
const DTD: &str = "<!DOCTYPE";

/// What to do about a file that is no minigraph.
const FORM: &str =
    "give the minigraph.xml of a switch: a <DeviceMiniGraph> with <PngDec><DeviceInterfaceLinks>";

/// Kinds of links on which data goes, as SONiC's own reader takes them.
const OF_DATA: [&str; 2] = ["DeviceInterfaceLink", "UnderlayInterfaceLink"];

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Device and port of each end, as they are written, and where the port is.
    pub ends: [(String, String, Place); 2],
    /// Its speed, and where that is.
    pub speed: Option<(Rate, Place)>,
    /// The length of its cable.
    pub cable: Option<Cable>,
    /// What its fields are: name and value.
    pub fields: Vec<(String, String)>,
}

/// A file.
#[derive(Clone, Debug, Default)]
pub struct Minigraph {
    /// Its links on which data goes.
    pub links: Vec<Link>,
    /// Devices: name and kind, such as `LeafRouter` and `Server`.
    pub devices: Vec<(String, String)>,
    /// All that is in it beside the links on which data goes.
    pub units: Vec<Unit>,
}

impl Minigraph {
    /// Reads a file.
    pub fn read(source: &Arc<Source>) -> Result<Self, Problem> {
        let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        let document = Document::parse_with_options(source.inner(), options).map_err(|error| {
            if matches!(error, roxmltree::Error::DtdDetected) {
                let at = source.inner().find(DTD).unwrap_or(0);
                let message = format!("the file has a document type declaration ({DTD}>), which is not read");
                let help = "remove it: a minigraph has none, and its entities can take any amount of memory";
                return Problem::error(Place::at(source, at..at + DTD.len()), message, help);
            }
            let message = error.to_string();
            // The place is shown by itself.
            let message = message.rsplit_once(" at ").map_or(message.as_str(), |(text, _)| text);
            let place = Place::line(source, (error.pos().row as usize).max(1));
            let help = "export the file again: it may have been cut, or is no XML";
            Problem::error(place, format!("this is not valid XML: {message}"), help)
        })?;
        let file = File { source };
        let root = document.root_element();
        if root.tag_name().name() != ROOT {
            let message = format!("the file has <{}>, not <{ROOT}>", root.tag_name().name());
            return Err(Problem::error(file.place(root), message, FORM));
        }
        let mut graph = Self::default();
        for part in elements(root) {
            match part.tag_name().name() {
                "PngDec" => file.network(part, &mut graph)?,
                name => graph.units.push(Unit::new(
                    ("minigraph", "", name),
                    leaf(part),
                    (Fate::Nothing, "floodway reads the links and devices of a minigraph only"),
                )),
            }
        }
        Ok(graph)
    }
}

/// A file that is being read.
struct File<'a> {
    source: &'a Arc<Source>,
}

impl File<'_> {
    /// Where the begin of an element is.
    fn place(&self, node: Node<'_, '_>) -> Place {
        let range = node.range();
        let text = self.source.inner().get(range.clone()).unwrap_or_default();
        let end = text.find('>').map_or(range.end, |end| range.start + end + 1);
        Place::at(self.source, range.start..end)
    }

    /// Links and devices.
    fn network(&self, png: Node<'_, '_>, graph: &mut Minigraph) -> Result<(), Problem> {
        for part in elements(png) {
            match part.tag_name().name() {
                "DeviceInterfaceLinks" => {
                    elements(part).try_for_each(|link| self.link(link, graph))?;
                }
                "Devices" => elements(part).for_each(|device| self.device(device, graph)),
                name => graph.units.push(Unit::new(
                    ("minigraph PngDec", "", name),
                    leaf(part),
                    (Fate::Nothing, "floodway reads the links and devices of a minigraph only"),
                )),
            }
        }
        Ok(())
    }

    fn link(&self, link: Node<'_, '_>, graph: &mut Minigraph) -> Result<(), Problem> {
        let fields: Vec<(String, String)> = elements(link)
            .map(|field| (field.tag_name().name().to_owned(), leaf(field).to_owned()))
            .collect();
        let kind = child(link, "ElementType").map(leaf).filter(|kind| !kind.is_empty());
        let kind = kind.or_else(|| attribute(link, "type")).unwrap_or(OF_DATA[0]);
        if !OF_DATA.contains(&kind) {
            let meaning = "no data goes on such a link: management, console, or no cable";
            for (name, value) in &fields {
                let table = format!("minigraph {kind}");
                graph.units.push(Unit::new((&table, "", name), value, (Fate::Nothing, meaning)));
            }
            return Ok(());
        }
        let end = |side: &str| {
            let text = |field: &str| {
                let found = child(link, field).filter(|field| !leaf(*field).is_empty());
                found.ok_or_else(|| {
                    let message = format!("a link has no <{field}>");
                    let help = "write both ends: StartDevice, StartPort, EndDevice and EndPort";
                    Problem::error(self.place(link), message, help)
                })
            };
            let (device, port) = (text(&format!("{side}Device"))?, text(&format!("{side}Port"))?);
            Ok::<_, Problem>((leaf(device).to_owned(), leaf(port).to_owned(), self.place(port)))
        };
        let ends = [end("Start")?, end("End")?];
        let speed = child(link, "Bandwidth").filter(|speed| !matches!(leaf(*speed), "" | "0"));
        let speed = speed.map(|speed| {
            let text = leaf(speed);
            let rate = text.parse().ok().filter(|rate| (1..=10_000_000).contains(rate));
            let rate = rate.map(Rate::from_mbps).ok_or_else(|| {
                let message = format!("the speed of a link is {text:?}");
                let help = "write it in Mb/s, like <Bandwidth>100000</Bandwidth> for 100Gb/s";
                Problem::error(self.place(speed), message, help)
            })?;
            Ok::<_, Problem>((rate, self.place(speed)))
        });
        let cable = child(link, "CableLength").filter(|cable| !leaf(*cable).is_empty());
        let cable = cable.map(|cable| {
            leaf(cable).parse::<Cable>().map_err(|why| {
                let message = format!("the cable of a link is {:?}: {why}", leaf(cable));
                Problem::error(self.place(cable), message, "write it like 40m")
            })
        });
        let (speed, cable) = (speed.transpose()?, cable.transpose()?);
        graph.links.push(Link { ends, speed, cable, fields });
        Ok(())
    }

    fn device(&self, device: Node<'_, '_>, graph: &mut Minigraph) {
        let text = |field| child(device, field).map(leaf).filter(|text| !text.is_empty());
        let name = text("Hostname").unwrap_or_default();
        let kind = text("ElementType").or_else(|| attribute(device, "type")).unwrap_or_default();
        if !name.is_empty() {
            graph.devices.push((name.to_owned(), kind.to_owned()));
        }
        for field in elements(device) {
            let said = match field.tag_name().name() {
                "Hostname" | "ElementType" => {
                    (Fate::Kept, "which neighbors are switches, for what is missing here")
                }
                _ => (Fate::Nothing, "floodway does not read this field"),
            };
            let field_name = field.tag_name().name();
            graph.units.push(Unit::new(("minigraph Device", name, field_name), leaf(field), said));
        }
    }
}

fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(|child| child.is_element())
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    elements(node).find(|child| child.tag_name().name() == name)
}

/// The text of an element without others in it.
fn leaf<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attributes().find(|attribute| attribute.name() == name).map(|found| found.value())
}
