//! Figures as a user asks for them: every format and size, and texts that can be read.
#![cfg(feature = "print")]

use crate::common::Place;
use resvg::usvg::{Group, Node, Options, Rect, Tree};
use std::path::Path;

/// Boxes are as high as the tallest letters, which few texts have.
const LEADING: f32 = 3.0;

const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// Every text of a drawing, with its box.
fn texts(svg: &str) -> (Rect, Vec<(String, Rect)>) {
    let mut options = Options { font_family: "DejaVu Sans".into(), ..Options::default() };
    options.fontdb_mut().load_font_data(FONT.to_vec());
    options.fontdb_mut().set_sans_serif_family("DejaVu Sans");
    let tree = Tree::from_str(svg, &options).unwrap();
    let canvas = Rect::from_xywh(0.0, 0.0, tree.size().width(), tree.size().height()).unwrap();
    let mut found = Vec::new();
    collect(tree.root(), &mut found);
    (canvas, found)
}

fn collect(group: &Group, found: &mut Vec<(String, Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => collect(group, found),
            Node::Text(text) => {
                let chunks =
                    text.chunks().iter().map(resvg::usvg::TextChunk::text).collect::<String>();
                found.push((chunks, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

/// Texts that lie over each other, or that are cut by the edge of the drawing.
fn unreadable(svg: &str) -> Vec<String> {
    let (canvas, texts) = texts(svg);
    let mut wrong = Vec::new();
    for (index, (text, own)) in texts.iter().enumerate() {
        let is_cut = own.left() < -0.5
            || own.top() < -0.5
            || own.right() > canvas.right() + 0.5
            || own.bottom() > canvas.bottom() + 0.5;
        if is_cut {
            wrong.push(format!("{text:?} is cut: {own:?}"));
        }
        for (other, its) in &texts[..index] {
            let width = own.right().min(its.right()) - own.left().max(its.left());
            let height = own.bottom().min(its.bottom()) - own.top().max(its.top());
            if width > 1.0 && height > LEADING {
                wrong.push(format!("{text:?} lies over {other:?}: {own:?} {its:?}"));
            }
        }
    }
    wrong
}

fn assert_readable(path: &Path) {
    let svg = std::fs::read_to_string(path).unwrap();
    let wrong = unreadable(&svg);
    assert!(wrong.is_empty(), "{}: {}", path.display(), wrong.join("\n"));
}

#[test]
fn texts_that_overlap_are_found() {
    let text = |x: i32| format!("<text x='{x}' y='20' font-family='sans-serif'>waf</text>");
    let svg = |inner: &str| {
        format!("<svg width='100' height='40' xmlns='http://www.w3.org/2000/svg'>{inner}</svg>")
    };
    assert!(unreadable(&svg(&(text(5) + &text(50)))).is_empty());
    assert_eq!(unreadable(&svg(&(text(5) + &text(15)))).len(), 1);
    assert_eq!(unreadable(&svg(&text(90))).len(), 1);
}

const FTLS: &str = "--ftl 1r-greedy --ftl 2r-greedy --ftl 2r-fifo --ftl 2r++ --ftl dac-cb \
                    --ftl sepbit --ftl midas --ftl hazard --ftl multilog/cost-benefit";

const EXPERIMENT: &str = r#"
title = "A test with a long title that says what was done"
workloads = ["zipf:theta={theta}", "hotcold"]
ftls = ["1r-greedy", "2r-fifo", { name = "2R with a long name", spec = "2r-fifo:blk-util=0.4" }]
seeds = [1, 2, 3]
[drive]
logical-pages = 2048
pages-per-block = 32
op = "25%"
[run]
fill = "random"
drive-writes = 2
[grid]
theta = [0.5, 0.9]
[[figure]]
name = "lines"
kind = "lines"
x = "theta"
y = "waf"
panels = "workload"
[[figure]]
name = "curves"
kind = "curves"
y = "running-waf"
panels = "theta"
[[figure]]
name = "bars"
kind = "bars"
x = "workload"
y = "waf"
panels = "theta"
"#;

#[test]
fn texts_of_figures_do_not_lie_over_each_other() {
    let place = Place::new();
    let run = |arguments: &str| {
        let output = place.ftlab(arguments);
        assert_eq!(output.code, 0, "{arguments}: {}", output.stderr);
    };
    place.write("mine.toml", EXPERIMENT);
    for (name, size) in [("usual", ""), ("column", "--width 330 --height 260")] {
        run(&format!(
            "run zipf:theta=0.9 --logical 16MiB --op 28% --drive-writes 3 {FTLS} --figure {name}-run.svg {size}"
        ));
        run(&format!(
            "advise hotcold --logical 16MiB --once --op 10%,20%,40% --target-waf 1.8 {FTLS} \
             --figure {name}-advise.svg {size}"
        ));
        run(&format!(
            "curve hotcold --logical 256MiB --pages-per-block 128 --once --sample 1/2 --op 10%,20%,40% {FTLS} \
             --figure {name}-curve.svg {size}"
        ));
        run(&format!(
            "inspect zipf:theta=0.9 hotcold --logical 16MiB --writes 20000 --figures {name} {size}"
        ));
        run(&format!("reproduce mine.toml --out {name}-pages {size}"));
        for figure in ["run", "advise", "curve"] {
            assert_readable(&place.path().join(format!("{name}-{figure}.svg")));
        }
        for figure in ["lines", "curves", "bars"] {
            assert_readable(&place.path().join(format!("{name}-pages/mine-{figure}.svg")));
        }
        for figure in std::fs::read_dir(place.path().join(name)).unwrap() {
            assert_readable(&figure.unwrap().path());
        }
    }
    run(&format!("compare hotcold uniform --logical 16MiB --op 28% {FTLS} --out board"));
    assert_readable(&place.path().join("board/scoreboard.svg"));
    let svg = std::fs::read_to_string(place.path().join("usual-pages/mine-bars.svg")).unwrap();
    for text in
        ["theta 0.5", "theta 0.9", "zipf:theta=0.5", "zipf:theta=0.9", "write amplification"]
    {
        assert!(svg.contains(text), "{text} is not in {svg}");
    }
    let svg = std::fs::read_to_string(place.path().join("usual-pages/mine-lines.svg")).unwrap();
    assert!(svg.contains("\nzipf\n") && !svg.contains('{'), "{svg}");
}

#[test]
fn a_figure_has_the_size_and_the_format_asked_for() {
    let place = Place::new();
    for kind in ["svg", "png", "pdf"] {
        let output = place.ftlab(&format!(
            "run uniform --logical 16MiB --ftl 1r-greedy --figure waf.{kind} --width 320 --height 200"
        ));
        assert_eq!(output.code, 0, "{}", output.stderr);
        let bytes = std::fs::read(place.path().join(format!("waf.{kind}"))).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        match kind {
            // A legend of one line is 28 high.
            "svg" => assert!(text.contains("width=\"320\" height=\"228\""), "{text}"),
            // 320 pixels of 1/96 inch are 240 points of 1/72 inch.
            "pdf" => assert!(text.contains("/MediaBox [0 0 240 171]"), "{text}"),
            _ => assert_eq!(&bytes[16..24], [0, 0, 2, 128, 0, 0, 1, 200], "twice as many pixels"),
        }
    }
    let refused =
        place.ftlab("run uniform --logical 16MiB --ftl 1r-greedy --figure w.svg --width 9");
    refused.fails(2, &["9 is not in 240..=8000"]);
    place
        .ftlab("run uniform --logical 16MiB --ftl 1r-greedy --figure waf.gif")
        .fails(2, &["end it in .svg, .png or .pdf"]);
}

#[test]
fn error_bars_span_the_seeds() {
    let place = Place::new();
    place.write("mine.toml", EXPERIMENT);
    let marks = |place: &Place, pages: &str| {
        let path = place.path().join(pages).join("mine-lines.svg");
        std::fs::read_to_string(path).unwrap().matches("<polyline").count()
    };
    assert_eq!(place.ftlab("reproduce mine.toml --out three").code, 0);
    place.write("mine.toml", EXPERIMENT.replace("[1, 2, 3]", "[1]"));
    assert_eq!(place.ftlab("reproduce mine.toml --out one").code, 0);
    // Two panels with three lines of two points each: a bar with two ends for every point that has several values.
    let (three, one) = (marks(&place, "three"), marks(&place, "one"));
    assert!(three > one && (three - one).is_multiple_of(3), "{three} and {one} lines");
}
