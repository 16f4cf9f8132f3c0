// A wait as a short text for people. Pure.

/** `20 s`, `3 min`, `2 h`: rounded up, so that it is over by then. */
export function waitText(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`
}
