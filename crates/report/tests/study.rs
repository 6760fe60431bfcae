//! The forms of a study: whole, self-contained, with the same numbers in each.

use std::collections::BTreeSet;

use crate::check::{HOSTILE, SHOWN, check, data, offline, printable, same, scripts};
use crate::specimen;
use floodway_report::study::{Comparison, Counted, Counts, Provenance, Study, Verdict, files};
use floodway_report::terminal::{Style, claims};
use floodway_report::{html, markdown};

fn page() -> String {
    html::study(&specimen::study())
}

/// Everything that is empty is.
fn nothing() -> Study {
    Study {
        study: "ci".to_string(),
        title: "Nothing".to_string(),
        question: "Is there anything?".to_string(),
        answer: Vec::new(),
        level: "quick".to_string(),
        settings: Vec::new(),
        claims: Vec::new(),
        checks: Vec::new(),
        caveats: Vec::new(),
        violations: Vec::new(),
        sections: Vec::new(),
        provenance: Provenance::default(),
        sample: Vec::new(),
    }
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let page = page();
    check(&page);
    offline(&page);
    assert!(page.len() < 500_000, "{} bytes", page.len());
    check(&html::study(&nothing()));
}

#[test]
fn every_chart_has_its_data() {
    let (page, study) = (page(), specimen::study());
    let names: BTreeSet<&str> = data(&page).into_iter().map(|(name, _)| name).collect();
    let charts = files(&study).into_iter().filter(|(name, _)| name.ends_with(".svg"));
    assert_eq!(names.len(), charts.count(), "{names:?}");
    assert!(page.contains("<body data-name=\"study-ci\">"));
    for (name, data) in data(&page) {
        assert!(data.lines().count() > 1, "{name}");
        let columns = |line: &str| {
            // Commas in quotes are none.
            let plain: String = line.split('"').step_by(2).collect();
            plain.matches(',').count()
        };
        let head = data.lines().next().unwrap();
        assert!(data.lines().all(|line| columns(line) == columns(head)), "{name}");
    }
}

#[test]
fn every_claim_has_its_row_and_links_lead_somewhere() {
    let (page, study) = (page(), specimen::study());
    let rows = page.matches("<th scope=\"row\">").count();
    let parts: usize = study.claims.iter().map(|claim| claim.parts.len()).sum();
    assert_eq!(rows, study.claims.len() + parts + study.checks.len());
    assert_eq!(page.matches("<tbody id=\"claim-").count(), 23, "parts stand together");
    assert_eq!(page.matches("<tbody id=\"check-").count(), 2);
    for link in page.split("href=\"#").skip(1) {
        let name = &link[..link.find('"').unwrap()];
        assert_eq!(page.matches(&format!(" id=\"{name}\"")).count(), 1, "{name}");
    }
    assert!(page.contains("href=\"#claim-A1\""), "from a section to its claims");
    assert!(page.contains("href=\"#two-queues\""), "from a claim to its sections");
    assert!(!page.contains("claim-unknown"), "a claim that is none has no link");
    assert!(page.contains("href=\"two-queues/report.html\""));
}

#[test]
fn a_page_has_the_verdicts_on_the_claims() {
    let page = page();
    assert!(page.contains("<p>23 claims. A claim is judged in every reading"));
    for counted in ["6 hold", "6 hold if", "6 do not hold", "5 cannot be judged"] {
        assert!(page.contains(&format!("<strong>{counted}</strong>")), "{counted}");
    }
    let row = "<td><strong>−61\u{a0}%</strong><span class=\"range\">[−66, −55]</span></td>\
               <td class=\"text judged yes\"><svg";
    assert!(page.contains(row), "number, interval and comparison of A1");
    assert!(page.contains("<td class=\"muted\">–</td><td class=\"text judged open\">"), "of A6");
    assert!(page.contains("<strong>never above XOFF</strong>"));
    let first = &page[page.find("id=\"claim-A1\"").unwrap()..page.find("id=\"claim-A2\"").unwrap()];
    assert!(first.contains("<blockquote>Lossless environment with PFC"));
    assert!(first.contains(
        "holds if<span class=\"range\">in 15 of 30 readings that can be judged (2 cannot)"
    ));
    assert!(first.contains("<p class=\"remark\">if ECN: at most 1\u{a0}% marked"));
    // Of the three parts of A1 the first says what all were expected to be.
    assert_eq!(first.matches("expected before the runs").count(), 1);
    assert_eq!(first.matches("IETF 101").count(), 1);
    // Checks come last, and count toward no verdict.
    assert!(page.find("id=\"checks\"").unwrap() > page.find("id=\"mixes\"").unwrap());
    assert!(page.contains("2 of 3 checks hold"));
}

#[test]
fn violations_are_in_the_way() {
    let violations = vec!["`two-queues`: class 3 lost 2 packets".to_string()];
    let study = Study { violations, ..specimen::study() };
    let page = html::study(&study);
    check(&page);
    let alarm = page.find("role=\"alert\"").unwrap();
    assert!(alarm < page.find("class=\"answer\"").unwrap());
    assert!(page.contains("<li><code>two-queues</code>: class 3 lost 2 packets</li>"));
    let text = claims(&study, Style::default());
    assert!(text.starts_with("VIOLATION: `two-queues`: class 3 lost 2 packets\n"));
    assert!(markdown::study(&study).contains("> [!CAUTION]\n"));
}

#[test]
fn control_characters_are_written_out() {
    let mut study = specimen::study();
    let hostile = || HOSTILE.to_string();
    let Study { title, question, answer, level, settings, .. } = &mut study;
    (*title, *question, *level) = (hostile(), hostile(), hostile());
    (*answer, *settings) = (vec![hostile(), format!("`{HOSTILE}`")], vec![hostile()]);
    study.caveats.push(hostile());
    study.violations.push(hostile());
    for claim in &mut study.claims {
        let (quotation, source) = (&mut claim.quotation, &mut claim.source);
        for text in [quotation, source, &mut claim.condition, &mut claim.result] {
            *text = hostile();
        }
    }
    let parts = study.claims.iter_mut().flat_map(|claim| &mut claim.parts);
    for part in parts.chain(&mut study.checks) {
        for text in [&mut part.part, &mut part.metric, &mut part.claimed, &mut part.source] {
            *text = hostile();
        }
        (part.expected, part.unit, part.remark) = (hostile(), hostile(), hostile());
    }
    for section in &mut study.sections {
        (section.question, section.answer) = (hostile(), hostile());
        section.text.push(hostile());
        section.commands.push(hostile());
        section.links.push((hostile(), hostile()));
    }
    let from = &mut study.provenance;
    for text in [&mut from.floodway, &mut from.started, &mut from.fingerprint] {
        *text = hostile();
    }
    from.command.push(hostile());
    printable(&html::study(&study));
    let text = markdown::study(&study);
    printable(&text);
    // A backslash in Markdown is written as two.
    assert!(text.starts_with(&format!("# {}", SHOWN.replace('\\', r"\\"))));
    files(&study).iter().for_each(|(_, content)| printable(content));
}

#[test]
fn what_people_write_is_text_and_not_markup() {
    let mut study = specimen::study();
    study.title = "</title><script>".to_string();
    study.claims[0].parts[0].claimed = "<b>\"5 & 6\"".to_string();
    study.claims[0].parts[0].remark = "a | b\n# c".to_string();
    study.sections[0].question = "<i>?".to_string();
    study.sections[0].name = "a\"b".to_string();
    let page = html::study(&study);
    check(&page);
    assert!(
        scripts(&page) == scripts(&self::page())
            && !page.contains("<i>?")
            && !page.contains("<b>\"")
    );
    let text = markdown::study(&study);
    assert!(text.starts_with("# &lt;/title&gt;&lt;script&gt;\n"));
    assert!(text.contains("<br>a \\| b # c | &lt;b&gt;\"5 &amp; 6\" |"));
}

#[test]
fn markdown_has_the_numbers_of_the_page() {
    let study = specimen::study();
    let text = markdown::study(&study);
    same(&text, "study.md");
    let plain: String =
        page().split('<').map(|tag| tag.split_once('>').map_or(tag, |t| t.1)).collect();
    let rows: Vec<&str> =
        text.lines().filter(|line| line.contains("**") && line.starts_with("| ")).collect();
    let parts: usize = study.claims.iter().map(|claim| claim.parts.len()).sum();
    assert_eq!(rows.len(), study.claims.len() + parts + study.checks.len());
    for row in rows.into_iter().filter(|row| !row.contains("<a id=")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let number = cells[cells.len() - 2].replace("**", "").replace(" [", "[");
        assert!(plain.contains(&number), "{number} of {row}");
    }
    for row in text.lines().filter(|line| line.starts_with('|')) {
        assert!(!row.contains("||") && row.ends_with(" |"), "{row}");
    }
}

#[test]
fn every_chart_is_a_file_and_every_reference_has_one() {
    let study = specimen::study();
    let files = files(&study);
    let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    assert_eq!(
        names,
        [
            "README.md",
            "two-queues-sizes.svg",
            "scale-servers.svg",
            "depths-share-2.svg",
            "depths-share-3.svg",
            "pauses-tiers.svg",
            "pauses-share-1.svg",
            "signalling-sizes.svg",
            "mixes-shares.svg",
            "mixes-queue-sizes.svg",
            "mixes-ratios.svg",
            "mixes-delays.svg",
            "mixes-laws.svg",
        ]
    );
    let text = &files[0].1;
    let shown: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("!["))
        .map(|line| line.rsplit(['(', ')']).nth(1).unwrap())
        .collect();
    assert_eq!(shown, names[1..]);
    for (name, svg) in &files[1..] {
        check(svg);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "), "{name}");
        assert!(!svg.contains("var("), "{name} needs properties");
        assert_eq!(svg.matches("http").count(), 1, "{name} asks for nothing");
    }
    let claimed = |file: usize| files[file].1.matches("<path class=\"claimed\"").count();
    assert_eq!([claimed(1), claimed(2)], [5, 0], "four claims and the legend, or none");
}

#[test]
fn points_have_their_intervals_and_markers() {
    let files = files(&specimen::study());
    let svg = &files.iter().find(|file| file.0 == "scale-servers.svg").unwrap().1;
    // Five points in three lines and in two; an interval is a stroke and two caps.
    assert_eq!(svg.matches("class=\"whisker\"").count(), 3 * 25);
    assert_eq!(svg.matches("class=\"marker\"").count(), 25 + 3, "the legend has three");
}

#[test]
fn grids_scroll_in_their_figures_and_many_links_stand_in_a_fold() {
    let page = page();
    let mixes = &page[page.find("<section id=\"mixes\"").unwrap()..];
    let mixes = &mixes[..mixes.find("</section>").unwrap()];
    // Two grids and two heat maps, drawn once each; what cannot be seen is said.
    assert_eq!(mixes.matches("<div class=\"sideways\" tabindex=\"0\"><svg ").count(), 4);
    assert_eq!(mixes.matches("<desc>6 rows, DCTCP flows: 0, 1, 2, 3, 4, 5. 7 columns,").count(), 4);
    // Every mix but that of no flows has a frame, and a line across at its fair share.
    let shares = &mixes[..mixes.find("How long is the queue").unwrap()];
    assert_eq!(shares.matches("class=\"level\"").count(), 6 * 7 - 1);
    assert_eq!(mixes.matches("class=\"law\"").count(), 2);
    let fold = "<details class=\"small\"><summary>In detail: 41 experiments</summary><p><a href=";
    assert!(mixes.contains(fold));
    assert!(page.contains("<p class=\"small\">In detail: <a href="), "a few stand open");
}

/// A setting without effect in many readings takes one line, whatever the number of settings.
#[test]
fn settings_without_effect_share_a_note() {
    let mut study = specimen::study();
    let note = |text: &str| text.to_string();
    study.caveats = vec![
        note("reading-03 and 7 more: `a.b` cannot act: with `c = \"d\"` nothing asks for it."),
        note("servers-512: the headroom is too small."),
        note("reading-01: `a.e` cannot act: no receiver sends CNPs."),
    ];
    let text = claims(&study, Style { color: false, width: 400 });
    assert!(text.contains(
        "note: servers-512: the headroom is too small.\n\
         note: Settings without effect in some experiments: `a.b` (reading-03 and 7 more; with \
         `c = \"d\"` nothing asks for it); `a.e` (reading-01; no receiver sends CNPs).\n"
    ));
    study.caveats.truncate(1);
    let text = claims(&study, Style { color: false, width: 400 });
    assert!(text.contains("note: reading-03 and 7 more: `a.b` cannot act: with"));
}

/// What stands after the verdict, for every kind of verdict and number of readings.
#[test]
fn the_readings_of_a_claim_are_a_sentence() {
    let share = |verdict: Verdict, [holds, does_not, cannot_be_judged]: [usize; 3], of| {
        let mut study = specimen::study();
        study.claims.truncate(1);
        let claim = &mut study.claims[0];
        claim.verdict = verdict;
        claim.readings.counts = Counts { holds, does_not, cannot_be_judged };
        claim.readings.of = of;
        let text = claims(&study, Style { color: false, width: 400 });
        let head = text.lines().find_map(|line| line.strip_prefix("A1 ")).unwrap();
        head.split_once(' ').unwrap().1.to_string()
    };
    use Counted::{Experiments, Readings};
    use Verdict::{CannotBeJudged, DoesNotHold, Holds, HoldsIf};
    for (of, text) in [
        (share(Holds, [32, 0, 0], Readings), "holds in all 32 readings"),
        (
            share(Holds, [20, 0, 12], Readings),
            "holds in all 20 readings that can be judged (12 cannot)",
        ),
        (share(Holds, [2, 0, 0], Experiments), "holds in both experiments"),
        (share(Holds, [4, 0, 0], Experiments), "holds in all 4 experiments"),
        (share(Holds, [1, 0, 0], Readings), "holds in the only reading that was run"),
        (share(HoldsIf, [3, 5, 0], Readings), "holds if, in 3 of 8 readings"),
        (
            share(HoldsIf, [3, 5, 2], Readings),
            "holds if, in 3 of 8 readings that can be judged (2 cannot)",
        ),
        (share(DoesNotHold, [0, 32, 0], Readings), "does not hold in any of 32 readings"),
        (share(DoesNotHold, [0, 2, 0], Readings), "does not hold in either of 2 readings"),
        (share(DoesNotHold, [0, 1, 0], Readings), "does not hold in the only reading that was run"),
        (share(CannotBeJudged, [0, 0, 1], Readings), "cannot be judged: one reading was run"),
        (share(CannotBeJudged, [0, 0, 9], Readings), "cannot be judged in any of 9 readings"),
        (
            share(CannotBeJudged, [6, 5, 21], Readings),
            "cannot be judged in 21 of 32 readings; holds in 6 of the other 11",
        ),
        (
            share(CannotBeJudged, [0, 2, 30], Readings),
            "cannot be judged in 30 of 32 readings; does not hold in the other 2",
        ),
        (
            share(CannotBeJudged, [1, 0, 1], Experiments),
            "cannot be judged in 1 of 2 experiments; holds in the other",
        ),
        (
            share(CannotBeJudged, [0, 1, 2], Experiments),
            "cannot be judged in 2 of 3 experiments; does not hold in the other",
        ),
    ] {
        assert_eq!(of, text);
    }
}

#[test]
fn the_terminal_has_a_line_or_more_for_each_claim() {
    for (width, name) in [(120, "study-wide.txt"), (100, "study.txt"), (60, "study-narrow.txt")] {
        let text = claims(&specimen::study(), Style { color: false, width });
        let long = text.lines().find(|line| line.chars().count() > width);
        assert_eq!(long, None, "in {width} columns");
        assert_eq!(text.matches("● holds").count(), 6);
        same(&text, name);
    }
    let text = claims(&nothing(), Style::default());
    assert_eq!(text, "\n0 runs: 0 packet-hops in 0 ns of computing; fingerprint \n");
}

#[test]
fn color_is_escape_sequences_and_nothing_else() {
    let study = specimen::study();
    let plain = claims(&study, Style::default());
    let mut colored = claims(&study, Style { color: true, ..Style::default() });
    assert!(!plain.contains('\x1b'));
    assert!(colored.contains("\x1b[31m× does not hold\x1b[0m"));
    assert!(colored.contains("\x1b[33m◐ holds if\x1b[0m"));
    for code in ["0", "1", "2", "31", "32", "33"] {
        colored = colored.replace(&format!("\x1b[{code}m"), "");
    }
    assert_eq!(colored, plain);
}

#[test]
fn verdicts_have_shapes_of_their_own() {
    let page = page();
    let study = specimen::study();
    let mut shapes = Vec::new();
    let parts = || study.claims.iter().flat_map(|claim| &claim.parts);
    for comparison in [
        Comparison::Reproduced,
        Comparison::SameDirection,
        Comparison::NotReproduced,
        Comparison::CannotJudge,
    ] {
        assert!(parts().any(|part| part.verdict == comparison));
        let name = format!("</svg>{}</td>", comparison.name());
        let end = page.find(&name).expect("a row has the comparison in words");
        let start = page[..end].rfind("<svg").unwrap();
        let shape = page[start..end].split_once('>').unwrap().1.to_string();
        assert!(!shapes.contains(&shape), "{shape}");
        shapes.push(shape);
    }
    for verdict in [Verdict::Holds, Verdict::HoldsIf, Verdict::DoesNotHold, Verdict::CannotBeJudged]
    {
        assert!(study.claims.iter().any(|claim| claim.verdict == verdict));
        assert!(page.contains(&format!("</svg>{}<", verdict.name())), "{verdict:?}");
    }
}
