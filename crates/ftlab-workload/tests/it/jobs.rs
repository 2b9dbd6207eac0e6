//! Generators that are jobs of fio, against these jobs.

use ftlab_fio::{JobFile, Taken, Version};
use ftlab_trace::{RequestBatch, Space};
use ftlab_workload::build;

/// Job -> its first requests for a drive of this size.
fn jobs(text: &str, version: Version, space: &Space, most: usize) -> RequestBatch {
    let taken = Taken { version: Some(version), ..Taken::default() };
    let parsed = JobFile::parse_for(text, "text", &taken).unwrap();
    let mut batch = RequestBatch::with_limit(most);
    parsed.requests(space).unwrap().fill(&mut batch).unwrap();
    batch
}

/// The job file whose requests the tests of `ftlab-fio` compare with logs.
const SEEDED: &str = include_str!("../../../ftlab-fio/tests/data/randwrite-seeded.fio");

#[test]
fn the_generator_of_random_writes_is_the_job_with_its_seed_in_every_version() {
    let space = Space { logical_pages: 1024, page_bytes: 4096, seed: 20_240_517 };
    for version in Version::ALL {
        let logged = jobs(SEEDED, version, &space, 1024);
        let mut source = build(&"fio-randwrite".parse().unwrap(), &space).unwrap();
        let mut batch = RequestBatch::with_limit(1024);
        assert!(source.next_batch(&mut batch).unwrap());
        assert_eq!(batch.lba, logged.lba);
        let first = batch.lba.clone();
        assert!(source.next_batch(&mut batch).unwrap());
        assert_ne!(batch.lba, first, "a new order in every pass");
    }
}

#[test]
fn the_version_is_that_of_the_parameter_or_of_the_comment_or_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fio");
    let job = "[a]\nrw=randwrite\nbs=4k\nsize=1m\n";
    let space = Space { logical_pages: 256, page_bytes: 4096, seed: 1 };
    let first = |text: &str, more: &str| {
        std::fs::write(&path, text).unwrap();
        let spec = format!("fio:file={}{more}", path.display()).parse().unwrap();
        let mut batch = RequestBatch::with_limit(1);
        build(&spec, &space).unwrap().next_batch(&mut batch).unwrap();
        batch.lba[0]
    };
    let [old, new] =
        [Version::V33, Version::V42].map(|version| jobs(job, version, &space, 1).lba[0]);
    assert_ne!(old, new);
    let stated = format!("; ftlab: version=3.33\n{job}");
    assert_eq!(first(job, ""), new);
    assert_eq!(first(job, ",version=3.33"), old);
    assert_eq!(first(&stated, ""), old);
    assert_eq!(first(&stated, ",version=auto"), old);
    assert_eq!(first(&stated, ",version=3.42"), new);
}
