//! The two functions behind the closed forms, accurate also where the usual form cancels.

use lambert_w::lambert_w0;

/// Below this distance from 1 the series below are exact to twelve digits, and the plain forms are not.
const NEAR: f64 = 0.01;

/// -W(-u e^-u) on the principal branch, for u >= 1: the other solution of v e^-v = u e^-u, at most 1.
///
/// Near u = 1, where Lambert's W has its branch point and rounding of the argument decides its value,
/// by Karamata's series in u - 1.
pub(crate) fn partner(u: f64) -> f64 {
    debug_assert!(u >= 1.0);
    let e = u - 1.0;
    if e < NEAR {
        let series = [1.0, -2.0 / 3.0, 4.0 / 9.0, -44.0 / 135.0, 104.0 / 405.0, -40.0 / 189.0];
        return 1.0 - e * polynomial(&series, e);
    }
    -lambert_w0(-u * (-u).exp())
}

/// The t >= 0 with t - ln(1 + t) = k, for k >= 0; in other words -1 - W(-e^(-1-k)) on the lower branch,
/// without the exponential, which underflows for k > 700.
pub(crate) fn excess(k: f64) -> f64 {
    debug_assert!(k >= 0.0);
    let root = (2.0 * k).sqrt();
    if root < NEAR {
        let series = [1.0, 1.0 / 3.0, 1.0 / 36.0, -1.0 / 270.0, 1.0 / 4320.0];
        return root * polynomial(&series, root);
    }
    // The function is convex and the start is above the root: Newton's steps only descend.
    let mut t = root + k;
    for _ in 0..50 {
        let step = (t - t.ln_1p() - k) * (1.0 + t) / t;
        t -= step;
        if step <= 1e-15 * t {
            break;
        }
    }
    t
}

/// (1 + t) ln(1 + t) / t - 1, for t >= 0.
pub(crate) fn spare_of_excess(t: f64) -> f64 {
    if t < NEAR {
        let series = [0.5, -1.0 / 6.0, 1.0 / 12.0, -1.0 / 20.0, 1.0 / 30.0, -1.0 / 42.0];
        return t * polynomial(&series, t);
    }
    (1.0 + t) * t.ln_1p() / t - 1.0
}

/// Coefficients in ascending order.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lambert_w::lambert_wm1;

    #[track_caller]
    fn same(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
    }

    #[test]
    fn partners_solve_their_equation() {
        for u in [1.011, 1.1, 1.5, 2.0, 5.0, 20.0] {
            let v = partner(u);
            assert!(v < 1.0);
            same(v.ln() - v, u.ln() - u, 1e-12);
        }
    }

    #[test]
    fn series_meet_the_plain_forms_where_they_take_over() {
        let below = NEAR * (1.0 - 1e-9);
        let above = NEAR * (1.0 + 1e-9);
        same(1.0 - partner(1.0 + below), 1.0 - partner(1.0 + above), 3e-9);
        same(excess(below * below / 2.0), excess(above * above / 2.0), 5e-9);
        same(spare_of_excess(below), spare_of_excess(above), 3e-9);
        assert!(partner(1.0) <= 1.0 && excess(0.0) <= 0.0 && spare_of_excess(0.0) <= 0.0);
    }

    #[test]
    fn the_lower_branch_agrees_with_the_library() {
        for k in [0.01, 0.1, 1.0, 10.0, 600.0] {
            same(excess(k), -1.0 - lambert_wm1(-(-1.0 - k).exp()), 1e-9);
        }
        let t = excess(1e6);
        same(t - t.ln_1p(), 1e6, 1e-12);
    }
}
