//! Links the module as the systems want it.

fn main() {
    napi_build::setup();
}
