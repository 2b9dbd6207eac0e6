//! Media bytes by how long writes took.
//!
//! The counters of many drives do not tell what is written to the medium. But a drive that is kept busy writes as fast as it
//! can, and what it moves takes time from the host. Where nothing is moved, the host gets the whole rate B: that of sequential
//! writes. For a page that is moved, the drive reads as well, which takes R of the time of a write. So t seconds in which the
//! host wrote h bytes were t B = h + (1 + R) m, where m is what was moved.
//!
//! A pace that is the same in all intervals is a mean, as of a steady rate that was published. It is one interval, since it says
//! nothing of how much intervals differ.
//!
//! R differs from drive to drive. It was measured on two whose counters tell what is moved (docs/notes/real-drives.md): so
//! what is told by pace has an [error](super::shared) that all intervals share.

use super::series::{INTERVALS_MIN, Measured};

/// Time to read what is moved, as a share of the time to write it.
const READING: f64 = 0.4;

/// The standard deviation of what is written beside the host, as a share of it.
const ERROR: f64 = 0.1;

/// Paces are the same if they differ by less than this: rounding of seconds, of which a tenth of a drive write takes hundreds.
const SAME: f64 = 0.01;

/// The host may seem to be faster than sequential writes by this factor: seconds are rounded, and so are data sheets.
const FASTER_MOST: f64 = 1.2;

/// The series of samples of host bytes, and of those that the drive could have written in the time; an error if the host wrote
/// more than that.
pub(super) fn of_pace(rows: Vec<(f64, f64)>) -> Result<Measured, String> {
    let measured = Measured::of_rows(rows)?.with_at_least(1).map_err(|reason| {
        format!(
            "{reason}; media bytes are those that --sequential writes in the seconds, and a steady rate is a line of zeros \
             and one of a drive write and its seconds"
        )
    })?;
    let paces = measured.wafs().map(|(_, waf)| 1.0 / waf);
    let (slowest, fastest) =
        paces.fold((f64::MAX, 0.0_f64), |(least, most), own| (least.min(own), most.max(own)));
    if fastest > FASTER_MOST {
        return Err(format!(
            "the host wrote {fastest:.2} times as fast as --sequential says; give the rate at which this drive takes \
             sequential writes when it is filled, and leave out what its cache took"
        ));
    }
    let is_mean = fastest < (1.0 + SAME) * slowest;
    let measured =
        if is_mean { measured.averaged() } else { measured.with_at_least(INTERVALS_MIN)? };
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
        let rows: Vec<_> = rows.collect();
        let told = of_pace(rows.clone()).unwrap();
        let wafs: Vec<f64> = told.wafs().map(|(_, waf)| waf).collect();
        assert!((wafs[0] - 1.0).abs() < 1e-9, "{wafs:?}");
        assert!(wafs[1..].iter().all(|waf| (waf - 1.5).abs() < 1e-9), "{wafs:?}");
        let error = told.shared_error(0.0);
        assert!(error[0].abs() < 1e-9 && (error[1] - 0.5 * ERROR).abs() < 1e-9, "{error:?}");
        assert!(Measured::new(rows.clone()).unwrap().shared_error(0.0).is_empty());
        let faster = rows.iter().map(|(host, media)| (*host, 0.5 * media)).collect();
        let refused = of_pace(faster).unwrap_err();
        assert!(refused.contains("2.00 times as fast as --sequential"), "{refused}");
    }

    #[test]
    fn a_steady_pace_is_one_interval() {
        let steady = |rows: u32| (0..=rows).map(|at| (1e6 * f64::from(at), 2.4e6 * f64::from(at)));
        let mean = of_pace(steady(1).collect()).unwrap();
        let told: Vec<f64> = mean.wafs().map(|(_, waf)| waf).collect();
        assert!((told[0] - 2.0).abs() < 1e-9 && told.len() == 1, "{told:?}");
        assert!((mean.waf_last_fifth() - 2.0).abs() < 1e-9);
        let many = of_pace(steady(24).collect()).unwrap();
        assert_eq!((many.samples(), many.host_bytes()), (2, 24e6));
        let none = of_pace(vec![(0.0, 0.0)]).unwrap_err();
        assert!(none.contains("2 are needed"), "{none}");
    }
}
