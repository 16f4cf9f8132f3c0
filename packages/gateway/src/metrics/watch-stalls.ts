// Stalls of the event loop: while it is blocked nobody is answered. A timer looks how late it is;
// what is late by more than a tenth of a second is counted and logged with the step that took longest
// and with the CPU it took. A stall without CPU is the disk's or the machine's: of these one in a while is logged.

import { performance } from 'node:perf_hooks'
import { takeLongestStep } from '../shared/current-step.ts'
import type { Log } from '../shared/log.ts'
import {
  MACHINE_STALL_LOGGED_EVERY_MS,
  STALL_LOOK_EVERY_MS,
  STALL_MS_MIN,
  STALLS_LOGGED_PER_SECOND,
} from './limits.ts'
import type { Meter } from './meter.ts'

const OWN_STALL = 'the event loop was blocked: no request was answered meanwhile'
const MACHINE_STALL = 'the event loop was blocked: the disk or other programs kept the machine busy'

/** Returns what ends it. */
export function watchStalls(meter: Pick<Meter, 'stall'>, log: Log): () => void {
  let lastMs = performance.now()
  let lastCpu = cpuMs()
  let loggedSinceMs = 0
  let logged = 0
  let machineLoggedMs = Number.NEGATIVE_INFINITY
  const look = (): void => {
    const nowMs = performance.now()
    const cpu = cpuMs()
    const lateMs = nowMs - lastMs - STALL_LOOK_EVERY_MS
    const { step } = takeLongestStep()
    if (lateMs >= STALL_MS_MIN) {
      meter.stall(step, lateMs)
      if (nowMs - loggedSinceMs > 1_000) {
        loggedSinceMs = nowMs
        logged = 0
      }
      const usedMs = cpu - lastCpu
      const isOwn = usedMs > lateMs / 2
      const isDue = isOwn
        ? ++logged <= STALLS_LOGGED_PER_SECOND
        : nowMs - machineLoggedMs > MACHINE_STALL_LOGGED_EVERY_MS
      if (isDue && !isOwn) machineLoggedMs = nowMs
      if (isDue)
        log(isOwn ? 'warn' : 'info', isOwn ? OWN_STALL : MACHINE_STALL, {
          step,
          ms: Math.round(lateMs),
          cpuMs: Math.round(usedMs),
        })
    }
    lastMs = nowMs
    lastCpu = cpu
  }
  takeLongestStep()
  const timer = setInterval(look, STALL_LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

/** Of this thread. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
