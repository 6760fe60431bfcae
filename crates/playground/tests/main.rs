//! What the page gets: of every scenario that it begins with, of every end of its controls, and of input
//! that cannot run.

use floodway_playground::answer;
use floodway_playground::presets::{Beside, Kind, PRESETS, Preset};
use serde_json::{Value, json};

fn reply(request: &Value) -> Value {
    serde_json::from_str(&answer(&request.to_string(), &|_| {})).unwrap()
}

fn beside(preset: &Preset) -> Beside {
    serde_json::from_str(preset.controls).unwrap_or_else(|error| panic!("{}: {error}", preset.name))
}

/// A request for both sides of a preset, the second with one more setting.
fn request(what: &str, preset: &Preset, sides: &[String; 2], shared: &str) -> Value {
    let set: Vec<&str> = Some(shared).filter(|set| !set.is_empty()).into_iter().collect();
    let side = |variant: &String| json!({ "variant": variant, "set": set });
    json!({ "do": what, "text": preset.text, "sides": sides.each_ref().map(side) })
}

fn errors(reply: &Value) -> Vec<&str> {
    let problems = reply["problems"].as_array().unwrap().iter();
    let errors = problems.filter(|problem| problem["severity"] == "error");
    errors.map(|problem| problem["plain"].as_str().unwrap()).collect()
}

#[test]
fn all_presets_are_compared_on_the_same_traffic() {
    for preset in &PRESETS {
        let sides = beside(preset).sides;
        let reply = reply(&request("check", preset, &sides, ""));
        assert_eq!(errors(&reply), [""; 0], "{}", preset.name);
        assert_eq!(reply["refused"], Value::Null, "{}", preset.name);
        assert_eq!(reply["scenario"]["same_traffic"], true, "{}", preset.name);
        assert_eq!(reply["scenario"]["name"], preset.name);
        let variants = reply["scenario"]["sides"].as_array().unwrap().iter();
        assert!(
            variants.map(|side| side["variant"].as_str().unwrap()).eq(&sides),
            "{}",
            preset.name
        );
    }
}

/// Whatever a control is moved to by itself, the scenario stays valid, in every variant that has the setting.
#[test]
fn both_ends_of_every_control_are_valid() {
    let mut wrong = Vec::new();
    for preset in &PRESETS {
        let beside = beside(preset);
        let first = reply(&request("check", preset, &beside.sides, ""));
        let variants = first["scenario"]["variants"].as_array().unwrap();
        for variant in variants.iter().map(|name| name.as_str().unwrap().to_owned()) {
            let sides = [variant.clone(), variant.clone()];
            let settings = reply(&request("check", preset, &sides, ""));
            let settings = &settings["scenario"]["sides"][0]["settings"];
            for control in &beside.controls {
                let there = at(settings, &control.path);
                let ends: Vec<String> = match &control.kind {
                    Kind::Range { min, max, step, unit } if there => {
                        assert!(min < max && *step > 0.0, "{}", control.path);
                        [min, max].map(|end| format!("{end}{unit}")).to_vec()
                    }
                    Kind::Range { .. } => continue,
                    Kind::Mechanism(on) => vec!["false".to_owned(), on.clone()],
                    Kind::Member(names) => names.clone(),
                };
                for end in ends {
                    let set = format!("{}={end}", control.path);
                    let reply = reply(&request("check", preset, &sides, &set));
                    let found = errors(&reply).join("\n");
                    if !found.is_empty() {
                        wrong.push(format!("{} {variant}: {set}\n{found}", preset.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether there is a value at a path, in which elements of a list have numbers or names.
fn at(settings: &Value, path: &str) -> bool {
    let step = |value: &Value, key: &str| match value {
        Value::Array(elements) => {
            let named = |element: &&Value| element["name"] == key;
            elements.iter().find(named).cloned().unwrap_or(Value::Null)
        }
        value => value[key].clone(),
    };
    !path.split('.').fold(settings.clone(), |value, key| step(&value, key)).is_null()
}

#[test]
fn results_have_a_page_and_fingerprints_that_do_not_depend_on_the_playback() {
    let (preset, sides) = (&PRESETS[2], &beside(&PRESETS[2]).sides);
    let full = reply(&request("run", preset, sides, ""));
    let runs = full["results"]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let page = full["results"]["page"].as_str().unwrap();
    assert!(page.contains("id=\"playback\"") && page.contains("Content-Security-Policy"));
    assert!(!page.contains("id=\"provenance\""));
    let fewer = reply(&request("run", preset, sides, "record=20"));
    for side in 0..2 {
        let fingerprint = |reply: &Value| reply["results"]["runs"][side]["fingerprint"].clone();
        assert_eq!(fingerprint(&full), fingerprint(&fewer));
    }
}

#[test]
fn the_same_variant_can_be_on_both_sides() {
    let preset = &PRESETS[0];
    let sides = json!([
        { "variant": "pfc", "set": [] },
        { "variant": "pfc", "set": ["switch.flow_control.pfc.xoff=100KB"] },
    ]);
    let reply = reply(&json!({ "do": "run", "text": preset.text, "sides": sides }));
    let answer = reply["results"]["answer"][0].as_str().unwrap();
    assert!(answer.starts_with("pfc-B vs. pfc-A: mean completion time"), "{answer}");
}

#[test]
fn an_error_has_its_place_and_is_reported_once_for_both_sides() {
    let text = PRESETS[0].text.replace("kmax = ", "kmx = ");
    let reply = reply(&json!({ "do": "run", "text": text, "sides": [{}, {}] }));
    assert_eq!(errors(&reply).len(), 1, "{reply}");
    let problem = &reply["problems"][0];
    let line = text.lines().position(|line| line.starts_with("kmx")).unwrap() + 1;
    assert_eq!(
        (problem["line"].as_u64(), problem["column"].as_u64()),
        (Some(line as u64), Some(1))
    );
    assert!(problem["plain"].as_str().unwrap().contains("kmax"), "{problem}");
    assert_eq!(reply["results"], Value::Null);
}

#[test]
fn an_error_of_a_control_names_its_setting() {
    let set = ["switch.flow_control.pfc.xoff=none"];
    let sides = json!([{ "set": set }]);
    let reply = reply(&json!({ "do": "run", "text": PRESETS[0].text, "sides": sides }));
    assert_eq!(reply["problems"][0]["severity"], "error");
    assert_eq!(reply["problems"][0]["file"], "--set");
}

#[test]
fn more_runs_than_a_page_makes_are_refused() {
    let sides = json!([{ "set": ["replications=60"] }, { "set": ["replications=60"] }]);
    let reply = reply(&json!({ "do": "run", "text": PRESETS[2].text, "sides": sides }));
    let refused = reply["refused"].as_str().unwrap();
    assert!(refused.starts_with("these are 120 runs, and a page makes at most 100"), "{refused}");
    assert_eq!(reply["results"], Value::Null);
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let refused = |text: &str| -> Value { serde_json::from_str(&answer(text, &|_| {})).unwrap() };
    for text in ["", "{", r#"{"do": "fly"}"#, r#"{"do": "run", "text": "", "sides": []}"#] {
        assert!(refused(text)["refused"].is_string(), "{text}");
    }
}

#[test]
fn completions_come_from_the_schema() {
    let reply = reply(&json!({ "do": "schema" }));
    assert!(reply["schema"].to_string().contains("\"variants\""));
}

/// A queue of 60 KB is too small for the XOFF of another variant, which is not on this side.
#[test]
fn a_setting_need_not_go_with_variants_that_are_not_compared() {
    let preset = PRESETS.iter().find(|preset| preset.name == "trimming").unwrap();
    let text = preset.text.replace("0.2 * switch.queue.size", "200KB");
    let side = |variant: &str| json!({ "variant": variant, "set": ["switch.queue.size=60KB"] });
    let request = |variant| json!({ "do": "check", "text": text, "sides": [side(variant)] });
    let trim = reply(&request("trim"));
    assert_eq!(errors(&trim), [""; 0]);
    assert_eq!(trim["scenario"]["variants"].as_array().unwrap().len(), 4);
    assert_eq!(trim["scenario"]["sides"][0]["variant"], "trim");
    assert!(trim["scenario"]["sides"][0]["set"].to_string().contains("variants.pfc=false"));
    let pfc = reply(&request("pfc"));
    assert!(errors(&pfc)[0].contains("above the queue's size"), "{pfc}");
}
