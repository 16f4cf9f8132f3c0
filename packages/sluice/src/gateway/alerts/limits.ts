// Limits of alerts and of what they watch, by name and unit.

/** How often it is looked at what alerts are about, and over how long denials are counted. */
export const ALERT_LOOK_MS = 10_000
export const ALERT_DENIALS_MS = 300_000
/** Fewer calls than this are no rate. */
export const ALERT_CALLS_MIN = 20
/** Names that one alert has. */
export const ALERT_NAMES_MAX = 10
/** Sent alerts that the console shows. */
export const ALERTS_KEPT = 50
/** Counters of limits that are remembered to say how full they are, and how many are shown. */
export const LIMITS_REMEMBERED_MAX = 10_000
export const LIMITS_SHOWN_MAX = 50
