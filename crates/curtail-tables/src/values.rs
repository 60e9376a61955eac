//! Values for which JSON has no type, as texts: times in ISO 8601, durations and decimals as Python writes them.

use std::fmt::{Display, Write as _};

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::temporal_conversions::{
    date32_to_datetime, date64_to_datetime, time32ms_to_time, time32s_to_time, time64ns_to_time, time64us_to_time,
    timestamp_ms_to_datetime, timestamp_ns_to_datetime, timestamp_s_to_datetime, timestamp_us_to_datetime,
};
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_schema::{DataType, TimeUnit};

/// The value of `row` as a text; `None` if it is of another type, or no date or time.
pub(crate) fn text_of(array: &dyn Array, row: usize) -> Option<String> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Some(match array.data_type() {
        DataType::Decimal32(..) => array.as_primitive::<Decimal32Type>().value_as_string(row),
        DataType::Decimal64(..) => array.as_primitive::<Decimal64Type>().value_as_string(row),
        DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Decimal256(..) => array.as_primitive::<Decimal256Type>().value_as_string(row),
        DataType::Date32 => date32_to_datetime(value::<Date32Type>(array, row))?.date().to_string(),
        DataType::Date64 => date64_to_datetime(value::<Date64Type>(array, row))?.date().to_string(),
        DataType::Time32(Second) => time32s_to_time(value::<Time32SecondType>(array, row))?.to_string(),
        DataType::Time32(_) => micros(time32ms_to_time(value::<Time32MillisecondType>(array, row))?),
        DataType::Time64(Microsecond) => micros(time64us_to_time(value::<Time64MicrosecondType>(array, row))?),
        DataType::Time64(_) => micros(time64ns_to_time(value::<Time64NanosecondType>(array, row))?),
        DataType::Timestamp(unit, zone) => {
            let at = match unit {
                Second => value::<TimestampSecondType>(array, row),
                Millisecond => value::<TimestampMillisecondType>(array, row),
                Microsecond => value::<TimestampMicrosecondType>(array, row),
                Nanosecond => value::<TimestampNanosecondType>(array, row),
            };
            timestamp(*unit, at, zone.is_some())?
        }
        DataType::Duration(Second) => duration(i128::from(value::<DurationSecondType>(array, row)) * 1_000_000),
        DataType::Duration(Millisecond) => duration(i128::from(value::<DurationMillisecondType>(array, row)) * 1000),
        DataType::Duration(Microsecond) => duration(i128::from(value::<DurationMicrosecondType>(array, row))),
        DataType::Duration(Nanosecond) => {
            duration(i128::from(value::<DurationNanosecondType>(array, row)).div_euclid(1000))
        }
        _ => return None,
    })
}

/// A time that was counted since 1970, in UTC or without a zone; `None` if it is no date.
pub(crate) fn timestamp(unit: TimeUnit, at: i64, is_utc: bool) -> Option<String> {
    let time = match unit {
        TimeUnit::Second => timestamp_s_to_datetime(at),
        TimeUnit::Millisecond => timestamp_ms_to_datetime(at),
        TimeUnit::Microsecond => timestamp_us_to_datetime(at),
        TimeUnit::Nanosecond => timestamp_ns_to_datetime(at),
    }?;
    Some(format!("{}T{}{}", time.date(), micros(time.time()), if is_utc { "+00:00" } else { "" }))
}

fn value<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

/// A time with no fraction of a second, or with at least six digits of one.
fn micros(time: impl Display) -> String {
    let mut text = time.to_string();
    if let Some(point) = text.find('.') {
        let digits = text.len() - point - 1;
        text.extend(std::iter::repeat_n('0', 6_usize.saturating_sub(digits)));
    }
    text
}

/// A duration: `1 day, 0:01:30.500000`.
fn duration(micros: i128) -> String {
    let day = 86_400_000_000;
    let days = micros.div_euclid(day);
    let rest = micros.rem_euclid(day);
    let mut text = match days {
        0 => String::new(),
        1 | -1 => format!("{days} day, "),
        _ => format!("{days} days, "),
    };
    let seconds = rest / 1_000_000;
    // A string can be written.
    let _ = write!(text, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest % 1_000_000 > 0 {
        let _ = write!(text, ".{:06}", rest % 1_000_000);
    }
    text
}

#[cfg(test)]
mod tests {
    use arrow_array::{
        Date32Array, Decimal128Array, DurationMillisecondArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    };

    use super::*;

    fn text(array: &dyn Array) -> String {
        text_of(array, 0).unwrap()
    }

    #[test]
    fn values_are_written_as_python_writes_them() {
        assert_eq!(text(&TimestampMicrosecondArray::from(vec![1_772_442_006_000_000])), "2026-03-02T09:00:06");
        assert_eq!(
            text(&TimestampMicrosecondArray::from(vec![1_772_442_006_500_000]).with_timezone("UTC")),
            "2026-03-02T09:00:06.500000+00:00"
        );
        assert_eq!(text(&Date32Array::from(vec![20_514])), "2026-03-02");
        assert_eq!(text(&Time64MicrosecondArray::from(vec![32_406_000_000])), "09:00:06");
        assert_eq!(text(&DurationMillisecondArray::from(vec![90_000])), "0:01:30");
        assert_eq!(text(&DurationMillisecondArray::from(vec![-500])), "-1 day, 23:59:59.500000");
        let price = Decimal128Array::from(vec![1250]).with_precision_and_scale(10, 2).unwrap();
        assert_eq!(text(&price), "12.50");
    }
}
