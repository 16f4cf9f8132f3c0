// What the gate's thread is doing just now, by name: set where a heavy step begins, so that a stall of
// the event loop can be told with the step that caused it (watch-stalls.ts). One clock reading a step, which its
// caller may use; the end of a step is not noted, as the stall detector starts again with every check.

import { performance } from 'node:perf_hooks'

const STEPS_NAMED = [
  'other',
  'read',
  'decide',
  'forward',
  'hold',
  'answer',
  'list',
  'merge',
  'reload',
  'command',
] as const
export type NamedStep = (typeof STEPS_NAMED)[number]

let step: NamedStep = 'other'
let sinceMs = 0
let longest: NamedStep = 'other'
let longestMs = 0

/** Returns the time, so that a step that is timed reads the clock once. */
export function enterStep(name: NamedStep, nowMs = performance.now()): number {
  noteStep(nowMs)
  step = name
  sinceMs = nowMs
  return nowMs
}

function noteStep(nowMs: number): void {
  const tookMs = nowMs - sinceMs
  if (tookMs <= longestMs) return
  longestMs = tookMs
  longest = step
}

/** The longest step since the last time this was asked. */
export function takeLongestStep(): { readonly step: NamedStep; readonly ms: number } {
  const nowMs = performance.now()
  noteStep(nowMs)
  const taken = { step: longest, ms: longestMs }
  step = 'other'
  sinceMs = nowMs
  longest = 'other'
  longestMs = 0
  return taken
}
