//! A measured series, and how far a simulated one is off.

use super::refreshed;
use serde::Serialize;

/// Intervals that a series has at least.
pub(super) const INTERVALS_MIN: usize = 8;

/// Write amplification is above 1 if it is more than rounding of numbers.
const NOISE: f64 = 1e-9;

/// Share of the host bytes at the end that is looked at alone.
const LAST_SHARE: f64 = 0.2;

/// Bytes that a host wrote to a drive and that the drive wrote to its medium, both since the first sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Not from 0 on, if the first samples were left out.
    host: Vec<f64>,
    media: Vec<f64>,
    /// Samples in which the host had written something, before those were left out that told nothing new.
    read: usize,
    /// What is written beside the host may be off by this share of it, in all intervals alike.
    error: f64,
}

/// How far a simulated series is off, in shares of the measured WAF - 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// Root of the mean square over the intervals.
    pub rms: f64,
    /// Mean over the intervals, simulated less measured.
    pub mean: f64,
    /// Of the last fifth of the host bytes, simulated less measured.
    pub last_fifth: f64,
}

impl Measured {
    /// The series of these samples of host and media bytes, if they are enough of counters.
    pub(super) fn new(rows: Vec<(f64, f64)>) -> Result<Self, String> {
        Self::of_rows(rows)?.with_at_least(INTERVALS_MIN)
    }

    /// The series of these samples, however few.
    pub(super) fn of_rows(rows: Vec<(f64, f64)>) -> Result<Self, String> {
        let (first_host, first_media) = rows.first().copied().unwrap_or_default();
        let (mut host, mut media): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (row, (own_host, own_media)) in (1..).zip(rows) {
            let (new_host, new_media) = (own_host - first_host, own_media - first_media);
            let before = host.last().copied().zip(media.last().copied());
            if let Some((old_host, old_media)) = before {
                if new_host < old_host || new_media < old_media {
                    return Err(format!(
                        "sample {row} counts less than the one before it: {own_host} host and {own_media} media \
                         bytes; the counters were reset, so give the part before or after it, or they are of several drives"
                    ));
                }
                if new_host <= old_host {
                    continue;
                }
            }
            host.push(new_host);
            media.push(new_media);
        }
        let read = host.len();
        let kept = refreshed::kept(&host, &media);
        let of = |values: &[f64]| kept.iter().map(|at| values[*at]).collect();
        Ok(Self { host: of(&host), media: of(&media), read, error: 0.0 })
    }

    /// It, or an error if it has fewer intervals than that.
    pub(super) fn with_at_least(self, intervals: usize) -> Result<Self, String> {
        if self.samples() > intervals {
            return Ok(self);
        }
        Err(format!(
            "it has {} samples in which the host wrote something and the counters of the medium were refreshed, and {} are \
             needed; sample for longer, or more often",
            self.samples(),
            intervals + 1
        ))
    }

    /// An error unless something was collected: then a series tells something of the drive by itself.
    pub(crate) fn says_something(&self) -> Result<(), String> {
        if self.waf() > 1.0 {
            return Ok(());
        }
        Err(format!(
            "its media bytes are {} times its host bytes, so nothing was collected and nothing can be told; write \
             more than the drive holds",
            self.waf()
        ))
    }

    /// The series of samples in whatever unit a file has, with the bytes of one.
    pub fn of_units(host: &[f64], media: &[f64], unit_bytes: f64) -> Result<Self, String> {
        if host.len() != media.len() {
            return Err(format!(
                "{} values of the host and {} of the medium; there must be as many",
                host.len(),
                media.len()
            ));
        }
        let rows =
            host.iter().zip(media).map(|(host, media)| (host * unit_bytes, media * unit_bytes));
        let series = Self::new(rows.collect())?;
        series.says_something()?;
        Ok(series)
    }

    /// The series with this share of what is written beside the host, which may be off by an `error` that intervals share.
    pub(super) fn with_beside(self, share: f64, error: f64) -> Self {
        let both = self.host.iter().zip(&self.media);
        let media = both.map(|(host, media)| host + share * (media - host)).collect();
        Self { media, error, ..self }
    }

    /// What an error that intervals share makes of each that begins after `skip` bytes of the host; nothing if there is none.
    pub(super) fn shared_error(&self, skip: f64) -> Vec<f64> {
        if self.error == 0.0 {
            return Vec::new();
        }
        let after = self.wafs().skip(self.interval_after(skip));
        after.map(|(_, waf)| self.error * (waf - 1.0)).collect()
    }

    /// The samples until the host had written `bytes`, or those that a series has at least.
    pub(super) fn until(&self, bytes: f64) -> Self {
        let until = self.host.partition_point(|host| *host <= bytes);
        let until = until.max(INTERVALS_MIN + 1).min(self.host.len());
        self.first(until)
    }

    /// Its first samples, of this number.
    pub(super) fn first(&self, samples: usize) -> Self {
        let (host, media) = (self.host[..samples].to_vec(), self.media[..samples].to_vec());
        Self { host, media, ..self.clone() }
    }

    /// All of it as one interval, which tells what is written on average.
    pub(super) fn averaged(self) -> Self {
        let ends = |values: &[f64]| vec![values[0], values[values.len() - 1]];
        Self { host: ends(&self.host), media: ends(&self.media), ..self }
    }

    /// The series with intervals of at least so many bytes of the host, or as many as leave enough of them; the last may have
    /// more.
    pub(super) fn merged(&self, bytes: f64) -> Self {
        let last = self.host.len() - 1;
        let most = (self.host[last] - self.host[0]) / (INTERVALS_MIN + 1) as f64;
        let bytes = bytes.min(most) * (1.0 - NOISE);
        let mut kept = vec![0];
        for at in 1..last {
            let since = self.host[at] - self.host[kept[kept.len() - 1]];
            if since >= bytes && self.host[last] - self.host[at] >= bytes {
                kept.push(at);
            }
        }
        kept.push(last);
        if kept.len() <= INTERVALS_MIN {
            return self.clone();
        }
        let of = |values: &[f64]| kept.iter().map(|at| values[*at]).collect();
        Self { host: of(&self.host), media: of(&self.media), ..self.clone() }
    }

    /// The series with other bytes of the host, one number for each sample.
    pub(super) fn with_host(&self, host: Vec<f64>) -> Result<Self, String> {
        let series = Self { host, ..self.clone() };
        if series.waf() > 1.0 + NOISE || self.waf() <= 1.0 + NOISE {
            return Ok(series);
        }
        Err(format!(
            "the host writes pages in part, and media bytes are {} times those of the pages that it wrote, so nothing \
             was collected and nothing can be told",
            series.waf()
        ))
    }

    /// Bytes of the host at each sample.
    pub(super) fn host(&self) -> &[f64] {
        &self.host
    }

    /// Bytes of the host where the intervals begin that come after the first `skip` bytes of `by`, a series with the
    /// same samples.
    pub(super) fn skipped_by(&self, by: &Self, skip: f64) -> f64 {
        self.host[by.interval_after(skip)]
    }

    /// Host bytes at the middle of each interval, and the media bytes per host byte of a drive that is so far off in
    /// `pages`, the same series with the bytes of the pages that the host wrote.
    pub(super) fn with_off(&self, pages: &Self, off: &[f64]) -> Vec<(f64, f64)> {
        let intervals = self.host.windows(2).zip(pages.host.windows(2));
        let written = intervals.map(|(own, pages)| (pages[1] - pages[0]) / (own[1] - own[0]));
        let both = self.wafs().zip(written).zip(off);
        both.map(|(((at, waf), written), off)| (at, waf + off * written)).collect()
    }

    /// What is written beside the host may be off by this share of it.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// Whether it is one interval.
    pub(super) fn is_mean(&self) -> bool {
        self.host.len() == 2
    }

    /// Samples that tell something new.
    pub fn samples(&self) -> usize {
        self.host.len()
    }

    /// How often the counters were read while the host wrote.
    pub fn samples_read(&self) -> usize {
        self.read
    }

    /// What the drive had written to its medium beside what the host had sent, when that was `bytes`, or before that the
    /// series ended; and how much the host had sent then.
    pub(super) fn beside(&self, bytes: f64) -> (f64, f64) {
        let at = self.host.partition_point(|host| *host <= bytes).max(1) - 1;
        let host = self.host[at] - self.host[0];
        (self.media[at] - self.media[0] - host, host)
    }

    /// Host bytes after which this share was written of all that the drive writes to its medium beside what the host sends
    /// after the first `skip` bytes.
    pub(super) fn beside_by(&self, skip: f64, share: f64) -> f64 {
        let from = self.interval_after(skip);
        let beside =
            |at: usize| self.media[at] - self.media[from] - (self.host[at] - self.host[from]);
        let last = self.host.len() - 1;
        let most = share * beside(last);
        let by = (from..last).find(|at| *at > from && beside(*at) >= most);
        self.host[by.unwrap_or(last)]
    }

    /// Bytes that the host wrote.
    pub fn host_bytes(&self) -> f64 {
        self.host.last().copied().unwrap_or_default()
    }

    /// Host bytes of the shortest interval.
    pub(super) fn shortest(&self) -> f64 {
        self.host.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min)
    }

    /// Media bytes per byte of the host, of the whole series.
    pub fn waf(&self) -> f64 {
        self.waf_of(0, &|at| self.media[at])
    }

    /// Of the last fifth of the host bytes.
    pub fn waf_last_fifth(&self) -> f64 {
        let from = self.last_fifth();
        let last = self.host.len() - 1;
        (self.media[last] - self.media[from]) / (self.host[last] - self.host[from])
    }

    /// The largest of an interval.
    pub(super) fn waf_max(&self) -> f64 {
        self.wafs().map(|(_, waf)| waf).fold(1.0, f64::max)
    }

    /// Host bytes at the middle of each interval, and its media bytes per byte of the host.
    pub fn wafs(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        wafs(&self.host, &self.media)
    }

    /// Media bytes per host byte of a drive that had written `media(h)` bytes after h bytes of the host.
    pub fn wafs_of(&self, media: &dyn Fn(f64) -> f64) -> Vec<(f64, f64)> {
        let media: Vec<_> = self.host.iter().map(|host| media(*host)).collect();
        wafs(&self.host, &media).collect()
    }

    /// The sample with which the last fifth begins.
    fn last_fifth(&self) -> usize {
        let from = self.host[0] + (1.0 - LAST_SHARE) * (self.host_bytes() - self.host[0]);
        self.host.partition_point(|host| *host < from).min(self.host.len() - 2)
    }

    /// The first of the intervals that begin after `bytes` of the host.
    fn interval_after(&self, bytes: f64) -> usize {
        self.host.partition_point(|host| *host < bytes).min(self.host.len() - 2)
    }

    /// How far each interval that begins after `skip` host bytes is off, simulated less measured, of a drive that had
    /// written `media(h)` bytes after h bytes of the host.
    pub(super) fn residuals(&self, skip: f64, media: &dyn Fn(f64) -> f64) -> Vec<f64> {
        let own = self.wafs().map(|(_, waf)| waf);
        let both = self.wafs_of(media).into_iter().zip(own).skip(self.interval_after(skip));
        both.map(|((_, simulated), measured)| simulated - measured).collect()
    }

    /// Media bytes per host byte of the intervals that begin after `skip` host bytes.
    pub(super) fn waf_after(&self, skip: f64) -> f64 {
        self.waf_of(self.interval_after(skip), &|at| self.media[at])
    }

    /// Of the samples from this one on, with `media(n)` bytes written by the n-th.
    fn waf_of(&self, from: usize, media: &dyn Fn(usize) -> f64) -> f64 {
        let last = self.host.len() - 1;
        (media(last) - media(from)) / (self.host[last] - self.host[from])
    }

    /// Media bytes per host byte of a drive that had written `media(h)` bytes after h bytes of the host: after the
    /// first `skip` of them, and over the last fifth.
    pub(super) fn wafs_by(&self, skip: f64, media: &dyn Fn(f64) -> f64) -> (f64, f64) {
        let of = |at: usize| media(self.host[at]);
        (self.waf_of(self.interval_after(skip), &of), self.waf_of(self.last_fifth(), &of))
    }

    /// How far a drive is off that had written `media(h)` bytes after h bytes of the host; intervals that begin
    /// within the first `skip` bytes do not count. Distances are shares of the measured WAF - 1, or of `least` if that
    /// is less.
    pub fn distance(&self, skip: f64, least: f64, media: &dyn Fn(f64) -> f64) -> Distance {
        let residuals = self.residuals(skip, media);
        let squares: f64 = residuals.iter().map(|off| off * off).sum();
        let beside = (self.waf_after(skip) - 1.0).max(least);
        let simulated = self.wafs_by(skip, media).1;
        let measured = self.waf_last_fifth();
        let count = residuals.len() as f64;
        Distance {
            rms: (squares / count).sqrt() / beside,
            mean: residuals.iter().sum::<f64>() / count / beside,
            last_fifth: (simulated - measured) / (measured - 1.0).max(least),
        }
    }
}

fn wafs<'a>(host: &'a [f64], media: &'a [f64]) -> impl Iterator<Item = (f64, f64)> + 'a {
    host.windows(2).zip(media.windows(2)).map(|(host, media)| {
        (f64::midpoint(host[0], host[1]), (media[1] - media[0]) / (host[1] - host[0]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Measured {
        Measured::new((0..=10).map(|n| (f64::from(n) * 10.0, f64::from(n) * 20.0)).collect())
            .unwrap()
    }

    #[test]
    fn short_intervals_are_merged_and_the_last_is_no_shorter() {
        let rows = (0..=49).map(|n| (f64::from(n) * 10.0, f64::from(n * n)));
        let series = Measured::new(rows.collect()).unwrap();
        let merged = series.merged(40.0);
        let expected: Vec<f64> = (0..12).map(|n| f64::from(n) * 40.0).chain([490.0]).collect();
        assert_eq!(merged.host(), expected);
        assert!((merged.waf() - series.waf()).abs() < 1e-12);
        assert_eq!(series.merged(10.0), series, "none is shorter");
        let few = series.merged(100.0);
        assert_eq!(few.samples(), INTERVALS_MIN + 1, "too few would be left");
    }

    #[test]
    fn distances_are_in_shares_of_what_is_written_beside_the_host() {
        let series = series();
        assert!(
            (series.waf() - 2.0).abs() < 1e-12 && (series.waf_last_fifth() - 2.0).abs() < 1e-12
        );
        let Distance { rms, mean, last_fifth } = series.distance(0.0, 0.0, &|host| 2.2 * host);
        assert!([rms, mean, last_fifth].iter().all(|off| (off - 0.2).abs() < 1e-9));
        let late = |host: f64| if host < 50.0 { host } else { 50.0 + 2.0 * (host - 50.0) };
        assert!(series.distance(50.0, 0.0, &late).rms < 1e-9);
        assert!((series.distance(0.0, 0.0, &late).rms - 0.5_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn pages_take_the_place_of_the_bytes_of_the_host() {
        let sent = series();
        // Twice as much in the first half, and then 1.25 times.
        let pages = (0..=10).map(|n| f64::from(if n <= 5 { 20 * n } else { 100 + 12 * (n - 5) }));
        let pages = sent.with_host(pages.collect()).unwrap();
        assert!((pages.waf() - 200.0 / 160.0).abs() < 1e-12);
        assert!((pages.skipped_by(&sent, 35.0) - 80.0).abs() < 1e-12, "the fourth interval");
        // A drive that writes a tenth more for each page is off by as much for each byte of the host, or twice that.
        let drawn = sent.with_off(&pages, &[0.1; 10]);
        assert_eq!(drawn.len(), 10);
        assert!((drawn[0].1 - 2.2).abs() < 1e-12 && (drawn[9].1 - 2.12).abs() < 1e-12, "{drawn:?}");
        let error = sent.with_host((0..=10).map(|n| 20.0 * f64::from(n)).collect()).unwrap_err();
        assert!(error.contains("media bytes are 1 times those of the pages"), "{error}");
    }

    #[test]
    fn a_beginning_has_the_samples_until_then_and_enough_to_compare() {
        let series = series();
        let all = series.until(f64::INFINITY);
        assert_eq!(all, series);
        let begun = series.until(89.9);
        assert_eq!((begun.samples(), begun.host_bytes()), (9, 80.0));
        assert_eq!(series.until(90.0).samples(), 10, "the sample at that place is part of it");
        assert_eq!(series.until(0.0).samples(), INTERVALS_MIN + 1);
    }

    #[test]
    fn a_beginning_holds_a_share_of_what_is_written_beside_the_host() {
        // Nothing for eight intervals, and then ever more.
        let beside = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 3.0, 6.0, 10.0];
        let rows = (0..).map(|n| f64::from(n) * 10.0).zip(beside);
        let series = Measured::new(rows.map(|(host, own)| (host, host + own)).collect()).unwrap();
        // The second begins at the sample after 95 bytes, where 3 of the 10 are written.
        for (skip, share, expected) in [(0.0, 0.25, 100.0), (95.0, 0.4, 110.0), (0.0, 1.0, 120.0)] {
            let by = series.beside_by(skip, share);
            assert!((by - expected).abs() < 1e-9, "{skip} {share}: {by}");
        }
    }

    #[test]
    fn counters_that_go_back_and_series_that_say_nothing_are_refused() {
        let of = |rows: &[(f64, f64)]| Measured::new(rows.to_vec()).unwrap_err();
        assert!(of(&[(5.0, 5.0), (6.0, 6.0), (1.0, 7.0)]).contains("sample 3 counts less"));
        assert!(of(&[(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)]).contains("it has 2 samples"));
        let flat: Vec<_> = (0..20).map(f64::from).collect();
        let error = Measured::of_units(&flat, &flat, 1.0).unwrap_err();
        assert!(error.contains("nothing was collected"), "{error}");
    }
}
