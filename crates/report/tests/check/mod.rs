//! What tests of pages and texts have in common.
#![allow(dead_code)] // every test uses some of it

/// Every element is closed in order, and no number in it is none.
pub fn check(page: &str) {
    let mut open = Vec::new();
    let body = &page[page.find("</style>").unwrap() + 8..];
    for part in body.split('<').skip(1) {
        let tag = &part[..part.find('>').expect("a tag ends")];
        let name = tag.split([' ', '/', '\n']).find(|name| !name.is_empty()).unwrap();
        if let Some(name) = tag.strip_prefix('/') {
            // The head and the whole, or a picture, were opened before the style sheet.
            let before = ["head", "html"].contains(&name) || name == "svg" && open.is_empty();
            if !before {
                assert_eq!(open.pop(), Some(name), "in {part}");
            }
        } else if !tag.ends_with('/') && name != "br" {
            open.push(name);
        }
        for attribute in tag.split('"').skip(1).step_by(2) {
            assert!(!attribute.contains("NaN") && !attribute.contains("inf"), "{tag}");
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

/// Compares with a file beside this one; `UPDATE=1` writes it instead.
pub fn same(text: &str, name: &str) {
    let path = format!("{}/tests/expected/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(path).unwrap(), "differs from {name}");
}
