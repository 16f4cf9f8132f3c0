// Loaded before a program: its wall clock is an hour ahead.

const AHEAD_MS = 3_600_000
const now = Date.now
globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() + AHEAD_MS)
    else super(...given)
  }
  static now() {
    return now() + AHEAD_MS
  }
}
