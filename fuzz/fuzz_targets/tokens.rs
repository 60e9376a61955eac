#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| curtail_fuzz::tokens::tokens(data));
