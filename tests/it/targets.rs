//! How are devices named, and how much shared memory do they have?

use cudalint::banks::{ComputeCapability, Target};

fn target(text: &str) -> Target {
    Target::new(text.parse().unwrap())
}

#[test]
fn capabilities_parse_in_every_spelling() {
    for (text, major, minor) in [
        ("sm_90", 9, 0),
        ("sm_90a", 9, 0),
        ("SM_90", 9, 0),
        ("9.0", 9, 0),
        ("90", 9, 0),
        ("compute_86", 8, 6),
        ("cc7.0", 7, 0),
        ("cc 7.0", 7, 0),
        ("sm_100f", 10, 0),
        ("sm_120", 12, 0),
        ("12.1", 12, 1),
        ("sm_13", 1, 3),
        ("sm_135", 13, 5),
    ] {
        assert_eq!(text.parse(), Ok(ComputeCapability { major, minor }), "{text}");
    }
    for known in ComputeCapability::known() {
        assert_eq!(known.to_string().parse(), Ok(known));
    }
}

#[test]
fn what_is_no_capability_names_the_nearest() {
    for (text, nearest) in [
        ("sm_91", "sm_90"),
        ("sm_85", "sm_86"),
        ("7.3", "sm_72"),
        ("sm90x", "sm_90"),
        ("sm-86", "sm_86"),
        ("sm_9O", "sm_90"),
        ("compute-75", "sm_75"),
        ("sm_999", "sm_90"),
        ("sm_207", "sm_20"),
    ] {
        let error = text.parse::<ComputeCapability>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{text}` is not a compute capability; did you mean `{nearest}`?")
        );
    }
    for text in ["", "sm_", ".", "a", "é", "sm_é", "sm_999999999999", "-9.0", "+9.0"] {
        assert!(text.parse::<ComputeCapability>().is_err(), "{text}");
    }
}

#[test]
fn an_unknown_future_device_behaves_as_the_newest() {
    let (future, newest) = (target("sm_150"), target("12.1"));
    assert_eq!(future.family(), newest.family());
    assert_eq!(future.dynamic_shared_limit(), newest.dynamic_shared_limit());
}

#[test]
fn shared_memory_limits() {
    let kib = |text: &str| {
        let target = target(text);
        (target.static_shared_limit() / 1024, target.dynamic_shared_limit() / 1024)
    };
    for (text, expected) in [
        ("1.3", (16, 16)),
        ("3.5", (48, 48)),
        ("6.1", (48, 48)),
        ("7.0", (48, 96)),
        ("7.2", (48, 96)),
        ("7.5", (48, 64)),
        ("8.0", (48, 163)),
        ("8.6", (48, 99)),
        ("8.7", (48, 163)),
        ("8.9", (48, 99)),
        ("9.0", (48, 227)),
        ("10.0", (48, 227)),
        ("12.0", (48, 99)),
    ] {
        assert_eq!(kib(text), expected, "{text}");
    }
}
