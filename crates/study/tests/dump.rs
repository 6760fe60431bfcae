use floodway_study::{CATALOGUE, Rule};
#[test]
fn dump() {
    for study in CATALOGUE.iter() {
        let rows: Vec<_> = study.all_rows().map(|r| serde_json::json!({
            "id": r.id, "part": r.part, "metric": r.metric, "claimed": r.claimed, "source": r.source,
            "expected": r.expected, "check": r.is_check(), "rule": match r.rule {
                Rule::Effect(a,b) => format!("{{ effect = [{a:?}, {b:?}] }}"),
                Rule::Less(a) => format!("{{ less = {a} }}"), Rule::More(a) => format!("{{ more = {a} }}"),
                Rule::None(a) => format!("{{ none = {a} }}"), Rule::NotAbove(a) => format!("{{ not_above = {a} }}"),
                Rule::AtMost(a) => format!("{{ at_most = {a} }}"), Rule::Between(a,b) => format!("{{ between = [{a}, {b}] }}"),
                Rule::Within(a,b) => format!("{{ within = [{a}, {b}] }}"), Rule::Exactly(a) => format!("{{ exactly = {a} }}"),
                Rule::Never => "\"never\"".into(), Rule::Described => "\"described\"".into() } })).collect();
        let claims: Vec<_> = study.claims.iter().map(|c| serde_json::json!({"id": c.id, "quotation": c.quotation, "differ": c.parts_differ_in, "told": c.result.is_some()})).collect();
        let plan: Vec<_> = [floodway_study::Level::Quick, floodway_study::Level::Standard, floodway_study::Level::Full].iter().map(|l| (study.plan)(*l).iter().map(|e| serde_json::json!({"name": e.name, "file": e.file, "variants": e.variants, "set": e.set, "single": e.single})).collect::<Vec<_>>()).collect();
        std::fs::write(
            format!("/tmp/dump-{}.json", study.entry.name),
            serde_json::to_string_pretty(
                &serde_json::json!({"rows": rows, "claims": claims, "plan": plan}),
            )
            .unwrap(),
        )
        .unwrap();
    }
}
#[test]
fn sections() {
    use floodway_study::{Evidence, Level, folder};
    let dctcp = folder::load(std::path::Path::new("../../studies/dctcp")).unwrap();
    for (study, level) in CATALOGUE
        .iter()
        .map(|s| (*s, if s.entry.name == "interplay" { Level::Standard } else { Level::Full }))
        .chain([(dctcp, Level::Standard)])
    {
        let mut e = Evidence::new(study, level, &[]);
        for x in (study.plan)(level) {
            e.begin(x.name, &x.scenario(&study.library, &[]).unwrap());
        }
        let s: Vec<_> = (study.sections)(&e)
            .iter()
            .map(|s| serde_json::json!({"q": s.question, "commands": s.commands, "links": s.links}))
            .collect();
        std::fs::write(
            format!("/tmp/sections-{}.json", study.entry.name),
            serde_json::to_string_pretty(&s).unwrap(),
        )
        .unwrap();
    }
}
