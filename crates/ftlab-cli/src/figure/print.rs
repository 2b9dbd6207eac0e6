//! From SVG to PNG and PDF, with a bundled font, so that the result is the same on every machine.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions, to_pdf};

/// DejaVu Sans with the characters of Latin, Greek and Cyrillic scripts; machines without a screen
/// often have no font at all.
const FONT: &[u8] = include_bytes!("../../assets/DejaVuSans-subset.ttf");

/// Pixels per unit of the drawing, enough for print.
const SCALE: f32 = 2.0;

/// Pixels of the drawing per inch of a page, as in CSS.
const PIXELS_PER_INCH: f32 = 96.0;

/// The drawing with its texts laid out.
fn tree(svg: &str) -> Result<Tree, String> {
    let mut options = Options { font_family: "DejaVu Sans".into(), ..Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Tree::from_str(svg, &options).map_err(|error| error.to_string())
}

/// The drawing as a PDF file of one page of its size, with the letters that it uses embedded.
pub(super) fn pdf(svg: &str) -> Result<Vec<u8>, String> {
    let options = ConversionOptions { embed_text: true, ..ConversionOptions::default() };
    let page = PageOptions { dpi: PIXELS_PER_INCH };
    to_pdf(&tree(svg)?, options, page).map_err(|error| error.to_string())
}

/// The drawing as a PNG file.
pub(super) fn png(svg: &str) -> Result<Vec<u8>, String> {
    let tree = tree(svg)?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut pixmap = Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| format!("no memory for {} x {} units", size.width(), size.height()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_pixels(text: &str) -> usize {
        let svg = format!(
            "<svg width='100' height='20' xmlns='http://www.w3.org/2000/svg'>\
             <text x='5' y='15' font-family='sans-serif'>{text}</text></svg>"
        );
        let png = png(&svg).unwrap();
        let pixels = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixels.width(), pixels.height()), (200, 40));
        pixels.pixels().iter().filter(|pixel| pixel.alpha() > 128).count()
    }

    #[test]
    fn a_pdf_has_a_page_of_its_size_and_embeds_its_font() {
        let svg = "<svg width='96' height='48' xmlns='http://www.w3.org/2000/svg'>\
                   <text x='5' y='15' font-family='sans-serif'>Write 10%</text></svg>";
        let bytes = pdf(svg).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("%PDF-1."));
        assert!(text.contains("/MediaBox [0 0 72 36]"), "{text}");
        assert!(text.contains("/FontFile2"), "{text}");
        assert!(pdf("<svg").is_err());
    }

    #[test]
    fn text_is_drawn_without_any_font_of_the_machine() {
        assert_eq!(dark_pixels(""), 0);
        let narrow = dark_pixels("i");
        assert!(narrow > 10 && dark_pixels("Write 10% µ") > 5 * narrow);
        assert!(png("<svg").is_err());
    }
}
