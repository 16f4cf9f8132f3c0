// Loaded before a program: its wall clock is an hour ahead, or by as many milliseconds as the file
// that SLUICE_TEST_CLOCK names says at the moment.

import { readFileSync } from 'node:fs'

const HOUR_MS = 3_600_000
const file = process.env.SLUICE_TEST_CLOCK
const realNow = Date.now

function now() {
  return realNow() + (file === undefined ? HOUR_MS : Number(readFileSync(file, 'utf8')))
}

globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now())
    else super(...given)
  }
  static now() {
    return now()
  }
}
