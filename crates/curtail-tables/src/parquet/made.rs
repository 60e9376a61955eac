//! Values that a cut made, in the types in which leaves store them.

use std::str::FromStr;

use curtail_io::Fitted;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};

/// A value of a leaf that a cut made.
pub(super) trait Made: Clone {
    /// The value; `None` if it is of another type.
    fn made(fitted: &Fitted) -> Option<Self>;
}

macro_rules! made {
    ($kind:ty, $fitted:ident => $value:expr) => {
        impl Made for $kind {
            fn made($fitted: &Fitted) -> Option<Self> {
                $value
            }
        }
    };
}

made!(bool, fitted => if let Fitted::Truth(truth) = fitted { Some(*truth) } else { None });
// An integer without a sign is stored as the one with a sign that has its bits.
made!(i32, fitted => number(fitted).or_else(|| number::<u32>(fitted).map(u32::cast_signed)));
made!(i64, fitted => number(fitted).or_else(|| number::<u64>(fitted).map(u64::cast_signed)));
made!(f32, fitted => number(fitted));
made!(f64, fitted => number(fitted));
made!(ByteArray, fitted => if let Fitted::Text(text) = fitted { Some(text.as_str().into()) } else { None });
// Of the shapes of the other types, only old values can be there.
made!(FixedLenByteArray, _fitted => None);
made!(Int96, _fitted => None);

fn number<T: FromStr>(fitted: &Fitted) -> Option<T> {
    if let Fitted::Number(digits) = fitted { digits.parse().ok() } else { None }
}
