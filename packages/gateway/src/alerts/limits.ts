// Limits of alerts and of what they watch, by name and unit.

/** How often the conditions of alerts are checked, or more often if `alerts.every` is less. */
export const ALERT_LOOK_MS = 10_000
/** The most often they are checked. */
export const ALERT_LOOK_MS_MIN = 1_000
/** Period over which denials are counted for an alert. */
export const ALERT_DENIALS_MS = 300_000
/** Calls in that period below which the rate of denials raises no alert. */
export const ALERT_CALLS_MIN = 20
/**
 * How far in the future a stored alert may be for others of its kind to wait for `alerts.every`. One that is
 * further ahead was sent before the clock was set back.
 */
export const ALERT_AHEAD_MS_MAX = 60_000
/** Names that one alert lists. */
export const ALERT_NAMES_MAX = 10
/** Characters of a name in an alert; the rest is cut. */
export const ALERT_NAME_LENGTH_MAX = 128
/** Servers, tools or counters of one alert that are watched until they are over; further ones are not. */
export const ALERT_SUBJECTS_MAX = 1_000
/** Length of their names together; of longer ones fewer are watched. Gates read all open alerts in every look. */
export const ALERT_SUBJECTS_LENGTH_MAX = 32_768
/**
 * How long a gate may have been lost for an alert to be raised by a gate that did not know of it. What was
 * lost before that is no news.
 */
export const GATE_LOST_NEWS_MS = 86_400_000
/**
 * Counters of rate and spend limits that are tracked to show how full they are; the least recently
 * used is dropped.
 */
export const LIMITS_REMEMBERED_MAX = 10_000
/** Counters of rate and spend limits that the console shows. */
export const LIMITS_SHOWN_MAX = 50
/** Counters of rate and spend limits that are looked at for an alert at a time. */
export const LIMITS_LOOKED_MAX = 1_000
/** Length of the words of an answer that an alert about it shows in the console. */
export const ALERT_WORDS_LENGTH = 200
