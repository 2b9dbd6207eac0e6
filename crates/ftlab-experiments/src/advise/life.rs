//! Flash over the years: what a drive costs, in money and carbon, while it is written and replaced.
//!
//! More over-provisioning is more flash to buy, and less to replace. Over `years` a drive that is worn out after
//! `worn` years is bought `max(1, years / worn)` times, on average over many drives.

use ftlab_spec::ByteSize;
use serde::Serialize;

/// Terabytes are 10^12 bytes.
pub(super) const TERABYTE: f64 = 1e12;

/// Bytes in a gigabyte, as flash is sold.
const GIGABYTE: f64 = 1e9;

/// What a drive is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Service {
    /// Bytes that the host writes a day.
    pub daily: ByteSize,
    /// Years of service.
    pub years: f64,
    /// Price of a gigabyte (10^9 bytes) of flash, in any currency; not counted if `None`.
    pub price_per_gb: Option<f64>,
    /// Kilograms of CO2 equivalent that a gigabyte of flash costs to make.
    pub carbon_per_gb: f64,
}

impl Service {
    /// Kilograms of CO2 equivalent to make a gigabyte of flash (Tannu and Nair, The Dirty Secret of SSDs, 2023).
    pub const CARBON_PER_GB: f64 = 0.16;

    /// What a drive of `physical_bytes` costs over the years that takes `tbw` terabytes from its host before it is
    /// worn out.
    pub fn life(&self, tbw: f64, physical_bytes: u64) -> Life {
        let worn_years = tbw * TERABYTE / (self.daily.0 as f64 * 365.0);
        let drives = (self.years / worn_years).max(1.0);
        let gigabytes = drives * physical_bytes as f64 / GIGABYTE;
        Life {
            worn_years,
            drives,
            price: self.price_per_gb.map(|price| price * gigabytes),
            carbon_kg: self.carbon_per_gb * gigabytes,
        }
    }
}

/// A drive over the years.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Life {
    /// Years until its blocks have gone through their program/erase cycles.
    pub worn_years: f64,
    /// Drives that are used up over the years of service, at least 1.
    pub drives: f64,
    /// What their flash costs, in the currency of the price, if one was given.
    pub price: Option<f64>,
    /// What making it costs, in kilograms of CO2 equivalent.
    pub carbon_kg: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_bought_once_at_least_and_again_when_it_is_worn() {
        let service = Service {
            daily: ByteSize(1_000_000_000_000),
            years: 5.0,
            price_per_gb: Some(0.1),
            carbon_per_gb: Service::CARBON_PER_GB,
        };
        let lasting = service.life(365.0 * 10.0, 1_000_000_000_000);
        assert!((lasting.worn_years - 10.0).abs() < 1e-9);
        assert_eq!((lasting.drives, lasting.price), (1.0, Some(100.0)));
        assert!((lasting.carbon_kg - 160.0).abs() < 1e-9);
        let worn = service.life(365.0 * 2.0, 1_000_000_000_000);
        assert!((worn.drives - 2.5).abs() < 1e-9);
        assert!((worn.carbon_kg - 400.0).abs() < 1e-9);
    }
}
