import curtail from "./index.js";

export const { ArgumentError, Curtail, CurtailError, RecordError, check, count, filter, limit, repair, split, verify, window } = curtail;
