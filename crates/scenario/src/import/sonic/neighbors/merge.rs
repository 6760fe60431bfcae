//! What a port leads to, of all that is said of it.

use super::{Claim, Known, Neighbor, Neighbors, Origin, shown};
use crate::text::Problem;

/// A port of which there are claims.
pub(super) struct Of<'a> {
    /// Its switch.
    pub known: &'a Known<'a>,
    /// Its name.
    pub port: &'a str,
    /// Whether there is an LLDP table of its switch.
    pub listens: bool,
}

impl Of<'_> {
    /// What it leads to.
    pub fn merge(&self, claims: &[Claim], found: &mut Neighbors) -> Result<Neighbor, Problem> {
        let of = |origin: Origin| claims.iter().filter(move |claim| claim.origin == origin);
        let mut stated = of(Origin::DeviceNeighbor).chain(of(Origin::Minigraph).take(1));
        let (one, two) = (stated.next(), stated.next());
        if let Some(first) = of(Origin::Minigraph).next()
            && let Some(other) = of(Origin::Minigraph).find(|other| !other.agrees(first))
        {
            return Err(self.contradiction(first, other, "keep one of the two links"));
        }
        let seen = self.seen(claims, &mut found.warnings)?;
        if let (Some(one), Some(two), None) = (one, two, seen)
            && !one.agrees(two)
        {
            let help = "make both agree, or give what LLDP sees there: `lldpctl -f json`";
            return Err(self.contradiction(two, one, help));
        }
        for stated in one.iter().chain(&two) {
            let Some(seen) = seen.filter(|seen| !seen.agrees(stated)) else { continue };
            let warning = Problem::warning(
                seen.place.clone(),
                format!(
                    "LLDP sees {} at {} of {}, and {} ({}) has {} there",
                    seen.text(),
                    self.port,
                    self.known.name,
                    stated.origin.text(),
                    shown(&stated.place),
                    stated.text()
                ),
                "the scenario has what LLDP sees: correct the cable, or what is declared",
            );
            let ends = stated.switch.map(|_| [self.known.name, stated.name.as_str()]);
            found.overrule(ends, warning);
        }
        // What is declared has the name that the operator uses.
        let agreed = |claim: &&Claim| seen.is_none_or(|seen| seen.agrees(claim));
        let stated = one.filter(agreed).or_else(|| two.filter(agreed));
        let Some(taken) = stated.or(seen) else {
            // There is at least one claim, of one of the three origins.
            return Err(self.known.config.problem("no neighbor", "give one"));
        };
        let of_switch = taken.switch.and(two.filter(agreed).or(seen));
        let port = taken.port.clone().or_else(|| of_switch?.port.clone());
        let overruled = of(Origin::DeviceNeighbor).any(|claim| !claim.agrees(taken));
        let Claim { name, origin, place, .. } = taken.clone();
        let seen = seen.map(|seen| seen.place.clone());
        Ok(Neighbor { name, port, origin, place, overruled, seen })
    }

    /// What LLDP sees there.
    fn seen<'c>(
        &self,
        claims: &'c [Claim],
        warnings: &mut Vec<Problem>,
    ) -> Result<Option<&'c Claim>, Problem> {
        let of_lldp = || claims.iter().filter(|claim| claim.origin == Origin::Lldp);
        let own = || of_lldp().filter(|claim| claim.is_own);
        let read = own().any(|claim| claim.switch.is_some());
        // A server may send several names from one port: its own and that of its NIC. A switch is the neighbor itself.
        let own = || own().filter(|claim| claim.switch.is_some() == read);
        let of_others = of_lldp().filter(|claim| !claim.is_own);
        let all: Vec<&Claim> = own().chain(of_others).collect();
        let Some(first) = all.first().copied() else { return Ok(None) };
        let known = all.iter().any(|claim| claim.switch.is_some());
        if let Some(other) = all.iter().find(|other| known && !other.agrees(first)) {
            let help = "write both LLDP tables again at the same time";
            return Err(self.contradiction(first, other, help));
        }
        if own().next().is_none() && self.listens {
            warnings.push(Problem::warning(
                first.place.clone(),
                format!(
                    "LLDP of {} sees {} of {}, and LLDP of {} sees nobody there",
                    first.text(),
                    self.port,
                    self.known.name,
                    self.known.name
                ),
                "the scenario has the link; write both tables again at the same time",
            ));
        }
        Ok(all.iter().find(|claim| !claim.is_nameless).or(Some(&first)).copied())
    }

    fn contradiction(&self, one: &Claim, two: &Claim, help: &str) -> Problem {
        let message = format!(
            "{} has {} at {} of {}, and {} ({}) has {}",
            one.origin.text(),
            one.text(),
            self.port,
            self.known.name,
            two.origin.text(),
            shown(&two.place),
            two.text()
        );
        Problem::error(one.place.clone(), message, help)
    }
}

/// Leaves out what is declared of a port if LLDP sees another neighbor at the other end of its cable.
pub(super) fn leave_out(known: &[Known<'_>], found: &mut Neighbors) {
    let mut wrong = Vec::new();
    for (at, own) in found.beside.iter().enumerate() {
        for (port, neighbor) in own.neighbors.iter().filter(|(_, neighbor)| neighbor.seen.is_none())
        {
            let Some(other) = known.iter().position(|of| of.name == neighbor.name) else {
                continue;
            };
            let Some(end) = &neighbor.port else { continue };
            let there = found.beside[other].neighbors.get(end).filter(|there| there.seen.is_some());
            let is_back = |there: &Neighbor| {
                there.name == known[at].name && there.port.as_ref().is_none_or(|back| back == port)
            };
            let Some(there) = there.filter(|there| !is_back(there)) else { continue };
            let seen = there.port.as_ref().map_or(String::new(), |port| format!("{port} of "));
            let warning = Problem::warning(
                neighbor.place.clone(),
                format!(
                    "{} has {end} of {} at {port} of {}, and LLDP sees {seen}{} at {end} of {} ({})",
                    neighbor.origin.text(),
                    neighbor.name,
                    known[at].name,
                    there.name,
                    neighbor.name,
                    shown(there.seen.as_ref().unwrap_or(&there.place))
                ),
                "the scenario has a host at this port: correct the cable, or what is declared",
            );
            wrong.push((at, port.clone(), warning));
        }
    }
    for (at, port, warning) in wrong {
        let neighbor = found.beside[at].neighbors.remove(&port);
        let ends = neighbor.as_ref().map(|of| [known[at].name, of.name.as_str()]);
        found.overrule(ends, warning);
    }
}
