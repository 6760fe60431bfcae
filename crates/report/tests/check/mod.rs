//! What tests of pages and texts have in common.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use miniz_oxide::inflate::decompress_to_vec_zlib;

/// The scripts of a page, as their elements hold them.
pub fn scripts(page: &str) -> Vec<&str> {
    let elements = page.split("<script>").skip(1);
    elements.map(|script| script.split("</script>").next().unwrap()).collect()
}

/// It asks for nothing, and runs no scripts but those that its policy knows.
pub fn offline(page: &str) {
    // The library says where it is from, in its license's comment.
    let own = page.replacen("/*! https://github.com/leeoniya/uPlot (v1.6.32) */", "", 1);
    for request in
        ["http:", "https:", "src=", "url(", "@import", "<link", "<img", "import(", "fetch("]
    {
        assert!(!own.contains(request), "{request}");
    }
    let policy = page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    );
    assert_eq!(policy.matches("'sha256-").count(), scripts(page).len());
    assert_eq!(page.matches("<script").count(), scripts(page).len());
}

/// What a file could say to a terminal or to a reader's eye that is not what stands there: the title of
/// a window, a cleared screen (C0 and C1), the reverse direction of reading.
pub const HOSTILE: &str = "a\x1b]0;T\x07\u{9b}2J\u{202e}\u{2066}\x7f\rb";

/// How that is shown.
pub const SHOWN: &str = r"a\u{1b}]0;T\u{7}\u{9b}2J\u{202e}\u{2066}\u{7f}\u{d}b";

/// There are no control characters but line feeds and tabs, and no bidirectional controls.
#[track_caller]
pub fn printable(text: &str) {
    let is_control = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let found = text.find(is_control).map(|at| text[at..].chars().take(60).collect::<String>());
    assert_eq!(found, None);
}

/// The numbers of every figure that the page holds, by its name.
pub fn data(page: &str) -> Vec<(&str, String)> {
    let figures = page.split("<figure data-name=\"").skip(1);
    let of = |figure: &str| {
        let packed = figure.split("<template>").nth(1).unwrap().split('<').next().unwrap();
        let packed = BASE64_STANDARD.decode(packed).unwrap();
        String::from_utf8(decompress_to_vec_zlib(&packed).unwrap()).unwrap()
    };
    figures.map(|figure| (figure.split('"').next().unwrap(), of(figure))).collect()
}

/// Every element is closed in order, and no number in it is none.
pub fn check(page: &str) {
    let mut open = Vec::new();
    let body = &page[page.find("</style>").unwrap() + 8..];
    let body = &scripts(body).iter().fold(body.to_string(), |body, of| body.replace(of, ""));
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
