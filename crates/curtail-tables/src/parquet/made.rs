//! Values that a cut made, in the types in which leaves store them.

use curtail_io::Fitted;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};

/// A value of a leaf that a cut made.
pub(super) trait Made: Clone {
    /// The value; `None` if it is of another type.
    fn made(fitted: &Fitted) -> Option<Self>;
}

impl Made for bool {
    fn made(fitted: &Fitted) -> Option<Self> {
        if let Fitted::Truth(truth) = fitted { Some(*truth) } else { None }
    }
}

impl Made for i32 {
    fn made(fitted: &Fitted) -> Option<Self> {
        let digits = digits(fitted)?;
        // An integer without a sign is stored as the one with a sign that has its bits.
        digits.parse().ok().or_else(|| digits.parse::<u32>().ok().map(u32::cast_signed))
    }
}

impl Made for i64 {
    fn made(fitted: &Fitted) -> Option<Self> {
        let digits = digits(fitted)?;
        digits.parse().ok().or_else(|| digits.parse::<u64>().ok().map(u64::cast_signed))
    }
}

impl Made for f32 {
    fn made(fitted: &Fitted) -> Option<Self> {
        digits(fitted)?.parse().ok()
    }
}

impl Made for f64 {
    fn made(fitted: &Fitted) -> Option<Self> {
        digits(fitted)?.parse().ok()
    }
}

impl Made for ByteArray {
    fn made(fitted: &Fitted) -> Option<Self> {
        if let Fitted::Text(text) = fitted { Some(text.as_str().into()) } else { None }
    }
}

// Of the shapes of the other types, only old values can be there.

impl Made for FixedLenByteArray {
    fn made(_: &Fitted) -> Option<Self> {
        None
    }
}

impl Made for Int96 {
    fn made(_: &Fitted) -> Option<Self> {
        None
    }
}

fn digits(fitted: &Fitted) -> Option<&str> {
    if let Fitted::Number(digits) = fitted { Some(digits) } else { None }
}
