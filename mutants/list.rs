//! Part of the mutated copy of the sources only (`mutants/run.py`).

#[test]
fn parameters() {
    for path in floodway_sim::mutant::all() {
        println!("parameter {path}");
    }
}
