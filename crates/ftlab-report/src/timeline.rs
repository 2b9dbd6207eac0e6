//! What the LUNs did around the slowest request of each FTL, drawn.

use ftlab_sim::ExperimentResult;
use ftlab_sim::format::significant;
use ftlab_sim::result::{RunResult, SlowResult};
use std::fmt::Write;

/// A drawing, and what it shows.
pub(crate) struct Picture {
    pub(crate) caption: String,
    pub(crate) svg: String,
}

/// The width of a drawing and what it is high without its LUNs, in units of its own.
const WIDTH: f64 = 1000.0;
const HEAD: f64 = 30.0;
const FOOT: f64 = 18.0;

/// What is closer together than this is drawn as one.
const GAP: f64 = 0.4;

/// The picture of each FTL whose slowest requests were kept with what LUNs did meanwhile.
pub(crate) fn pictures(result: &ExperimentResult) -> Vec<Picture> {
    result.runs.iter().filter_map(picture).collect()
}

fn picture(run: &RunResult) -> Option<Picture> {
    let timing = run.timing.as_ref()?;
    let slowest = timing.requests.as_ref()?.slowest.as_ref()?.first()?;
    if slowest.slices.is_empty() {
        return None;
    }
    let response_ns = slowest.done_ns - slowest.arrival_ns;
    let caption = format!(
        "{}: the slowest request, {} {}, took {} ms",
        run.ftl,
        slowest.operation,
        slowest.number,
        ms(response_ns)
    );
    let svg = draw(slowest, timing.lun_busy_share.len(), &caption);
    Some(Picture { caption, svg })
}

fn ms(nanoseconds: u64) -> String {
    significant(nanoseconds as f64 / 1e6, 4)
}

fn draw(slowest: &SlowResult, luns: usize, caption: &str) -> String {
    let SlowResult { arrival_ns, done_ns, operation, .. } = slowest;
    let begin_ns = arrival_ns.saturating_sub((done_ns - arrival_ns) / 8);
    let span = (done_ns - begin_ns) as f64;
    let x = |ns: u64| (ns.clamp(begin_ns, *done_ns) - begin_ns) as f64 / span * WIDTH;
    let row = (320.0 / luns as f64).clamp(3.0, 14.0);
    let bottom = HEAD + row * luns as f64;
    let label: String =
        caption.chars().map(|letter| if "<>&\"".contains(letter) { ' ' } else { letter }).collect();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {:.1}\" role=\"img\" aria-label=\"{label}\">",
        bottom + FOOT
    );
    for (class, path) in paths(slowest, row, &x).iter().enumerate() {
        let _ = write!(svg, "<path class=\"work-{class}\" d=\"{path}\"/>");
    }
    let (from, to) = (x(*arrival_ns), x(*done_ns));
    let _ = write!(
        svg,
        "<rect class=\"request\" x=\"{from:.1}\" y=\"16\" width=\"{:.1}\" height=\"9\"/>\
         <path class=\"edge\" d=\"M{from:.1} 16V{bottom:.1}\"/>\
         <text x=\"{from:.1}\" y=\"12\">{operation} {} arrives</text>\
         <text x=\"{WIDTH}\" y=\"12\" text-anchor=\"end\">complete after {} ms</text>\
         <text x=\"0\" y=\"{:.1}\">{luns} LUNs, the first on top</text></svg>",
        to - from,
        slowest.number,
        ms(done_ns - arrival_ns),
        bottom + 14.0
    );
    svg
}

/// Kind of work -> the areas of what LUNs did of that kind.
fn paths(slowest: &SlowResult, row: f64, x: &impl Fn(u64) -> f64) -> Vec<String> {
    let mut paths = vec![String::new(); 5];
    // Slices are in order of LUNs and time: kind, LUN, begin, end of the present area.
    let mut area: Option<(usize, u32, f64, f64)> = None;
    let mut put = |(class, lun, from, to): (usize, u32, f64, f64)| {
        let (top, height) = (HEAD + row * f64::from(lun), 0.85 * row);
        let width = (to - from).max(0.3);
        let _ = write!(paths[class], "M{from:.1} {top:.1}h{width:.1}v{height:.1}h-{width:.1}z");
    };
    for slice in &slowest.slices {
        let (class, from, to) = (slice.work as usize, x(slice.begin_ns), x(slice.end_ns));
        match &mut area {
            Some((of, lun, _, end)) if *of == class && *lun == slice.lun && from <= *end + GAP => {
                *end = to;
            }
            _ => {
                area.replace((class, slice.lun, from, to)).into_iter().for_each(&mut put);
            }
        }
    }
    area.into_iter().for_each(&mut put);
    paths
}
