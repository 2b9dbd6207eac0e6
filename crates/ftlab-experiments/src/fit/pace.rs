//! Media bytes by how long writes took.
//!
//! The counters of many drives do not tell what is written to the medium. But a drive that is kept busy writes as fast as it
//! can, and what it moves takes time from the host. Where nothing is moved, the host gets the whole rate B: that of sequential
//! writes. For a page that is moved, the drive reads as well, which takes R of the time of a write. So t seconds in which the
//! host wrote h bytes were t B = h + (1 + R) m, where m is what was moved.
//!
//! R differs from drive to drive. It was measured on two whose counters tell what is moved (docs/notes/real-drives.md): so
//! what is told by pace has an [error](super::shared) that all intervals share.

use super::series::Measured;

/// Time to read what is moved, as a share of the time to write it.
const READING: f64 = 0.4;

/// The standard deviation of what is written beside the host, as a share of it.
const ERROR: f64 = 0.1;

/// The host may seem to be faster than sequential writes by this factor: seconds are rounded, and so are data sheets.
const FASTER_MOST: f64 = 1.2;

/// The series, whose media bytes were read as those that the drive could have written in the time; an error if the host wrote
/// more than that.
pub(super) fn of_pace(measured: Measured) -> Result<Measured, String> {
    let fastest = measured.wafs().map(|(_, waf)| 1.0 / waf).fold(0.0, f64::max);
    if fastest > FASTER_MOST {
        return Err(format!(
            "the host wrote {fastest:.2} times as fast as --sequential says; give the rate at which this drive takes \
             sequential writes when it is filled, and leave out what its cache took"
        ));
    }
    Ok(measured.with_beside(1.0 / (1.0 + READING), ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_moved_takes_its_time_and_that_of_reading_it() {
        // A million bytes a second; from the second interval on, half of what the host writes is moved.
        let paced = |moved: f64| 1.0 + (1.0 + READING) * moved;
        let rows = (0..=12).scan(0.0, |media, at| {
            *media += if at == 0 { 0.0 } else { 1e6 * paced(if at == 1 { 0.0 } else { 0.5 }) };
            Some((1e6 * f64::from(at), *media))
        });
        let measured = Measured::new(rows.collect()).unwrap();
        let told = of_pace(measured.clone()).unwrap();
        let wafs: Vec<f64> = told.wafs().map(|(_, waf)| waf).collect();
        assert!((wafs[0] - 1.0).abs() < 1e-9, "{wafs:?}");
        assert!(wafs[1..].iter().all(|waf| (waf - 1.5).abs() < 1e-9), "{wafs:?}");
        let error = told.shared_error(0.0);
        assert!(error[0].abs() < 1e-9 && (error[1] - 0.5 * ERROR).abs() < 1e-9, "{error:?}");
        assert!(measured.shared_error(0.0).is_empty());
        let slow = of_pace(measured.with_beside(-1.0, 0.0)).unwrap_err();
        assert!(slow.contains("times as fast as --sequential"), "{slow}");
    }
}
