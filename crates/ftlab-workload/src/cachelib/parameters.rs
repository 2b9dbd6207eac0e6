//! The parameters of `cachelib`.

use super::big_hash::OBJECT_BYTES_MAX;
use crate::file_name::FileName;
use ftlab_spec::ByteSize;

ftlab_spec::choices! {
    /// Which region of large objects is evicted next.
    pub enum Eviction {
        /// The one written first.
        Fifo = "fifo",
        /// The one of which no object has been read for longest.
        Lru = "lru",
    }
}

ftlab_spec::choices! {
    /// The format of a trace of a cache.
    pub enum TraceFormat {
        /// What its first line or its name shows.
        Auto = "auto",
        /// Meta's key-value caches of 2022 and 2024: CSV with a header.
        Meta = "meta",
        /// Twitter's caches of 2020: CSV without a header.
        Twitter = "twitter",
        /// libCacheSim's binary records, all of which are gets.
        OracleGeneral = "oracle-general",
    }
}

ftlab_spec::parameters! {
    /// The cache and who asks it.
    pub struct CacheLibParameters {
        /// Share of the drive that the cache uses; the rest is never written.
        size: f64 = 1.0, "size" in 0.01..=1.0, from "CacheLib, FDP: all of the drive";
        /// Share of the cache that BigHash has, for small objects.
        soc: f64 = 0.04, "soc" in 0.0..=0.95, from "CacheLib, FDP: SOC size of 4%";
        /// The largest small object in bytes, with its key.
        small_max: u32 = 640, "small-max" in 1..=OBJECT_BYTES_MAX, from "Meta, key-value cache of 2022";
        /// Bytes of a region of BlockCache, which has the rest: 64KiB to 1GiB.
        region: ByteSize = ByteSize(16 << 20), "region", from "CacheLib";
        /// Which region is evicted next.
        eviction: Eviction = Eviction::Fifo, "eviction", from "CacheLib's own default is lru";
        /// Objects with this many hits since they were written are written again when their region is evicted;
        /// 0 for none.
        reinsert_hits: u32 = 0, "reinsert-hits" in 0..=255, from "CacheLib: off";
        /// Share of the other objects that are written again when their region is evicted.
        reinsert: f64 = 0.0, "reinsert" in 0.0..=0.9, from "CacheLib: off";
        /// Regions that are kept without objects.
        clean: u32 = 1, "clean" in 1..=1000, from "CacheLib";
        /// Whether regions are trimmed when they are evicted.
        trim: bool = false, "trim", from "CacheLib";
        /// Share of the objects leaving memory that are put on flash.
        admit: f64 = 1.0, "admit" in 0.0001..=1.0, from "CacheLib: no admission policy";
        /// Memory, as a share of the cache on flash.
        dram: f64 = 0.045, "dram" in 0.00001..=1.0, from "Meta: 42 GB beside 930 GB of flash";
        /// A trace of a cache, instead of the requests that the parameters from data to large-bytes make.
        file: FileName = FileName::default(), "file", from "none: requests are generated";
        /// Its format.
        format: TraceFormat = TraceFormat::Auto, "format", from "our choice";
        /// Whether it is repeated without end.
        repeat: bool = true, "repeat", from "CacheBench replays in a loop";
        /// Copies of every object of it, each asked for as often.
        copies: u32 = 1, "copies" in 1..=100_000, from "CacheBench, ampFactor";
        /// Objects that exist at a time, as a multiple of the cache on flash.
        data: f64 = 2.0, "data" in 0.01..=1000.0, from "our choice";
        /// The exponent of their popularity; 0 is uniform.
        theta: f64 = 0.9, "theta" in 0.0..=10.0, from "our choice";
        /// Objects that are replaced by new ones, for each request.
        churn: f64 = 0.05, "churn" in 0.0..=1.0, from "Meta, 2022: 82 objects in 1,644 requests";
        /// Share of requests that set an object, wherever it is.
        sets: f64 = 0.2, "sets" in 0.0..=1.0, from "Meta, 2022: one in five";
        /// Share of requests that delete one.
        deletes: f64 = 0.0, "deletes" in 0.0..=1.0, from "our choice";
        /// Share of the objects that are small.
        small: f64 = 0.8, "small" in 0.0..=1.0, from "our choice";
        /// Bytes of a small object on average, with its key.
        small_bytes: u32 = 250, "small-bytes" in 2..=OBJECT_BYTES_MAX, from "our choice";
        /// Bytes of a large object on average, with its key.
        large_bytes: u32 = 3600, "large-bytes" in 2..=16_777_216, from "Meta, 2022: 927 bytes of all objects";
        /// Share of the cache for metadata, which is written when the cache restarts.
        metadata: f64 = 0.005, "metadata" in 0.0..=0.1, from "our choice";
        /// How often the cache restarts, in times that its size has been written; 0 for never.
        restart: f64 = 0.0, "restart" in 0.0..=1_000_000.0, from "our choice";
        /// Whether writes name streams: 0 metadata, 1 small objects, 2 large objects.
        streams: bool = true, "streams", from "CacheLib, deviceEnableFDP";
    }
}
