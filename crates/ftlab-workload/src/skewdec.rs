//! `skewdec`: the skew falls from 99/1 to 70/30; [`skewinc`](super::skewinc) the other way round.
//!
//! The hot area grows from the first 1% of the drive to the first 30%; it does not move.

use super::generator::{End, GeneratorInfo, Make};
use super::skewinc::{SkewChangeParameters, areas_between, build_between};
use ftlab_spec::Parameters;

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "skewdec",
    summary: "skew:x=99 to skew:x=70, in steps",
    source: "Lee and Kim, SYSTOR 2013, SKEWDEC",
    parameters: SkewChangeParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters {
        resolve: SkewChangeParameters::resolve,
        build: |spec, space| build_between(spec, space, 99.0, 70.0),
        areas: |spec, space| areas_between(spec, space, 99.0, 70.0),
    },
};
