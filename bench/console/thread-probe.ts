// Loaded into a gate before it starts: how long its own thread is away from the event loop. SIGUSR2 writes
// the figures since the last one to the file that BENCH_PROBE_FILE names. Started by gate-thread.ts.

import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

export interface ThreadFigures {
  /** By the clock: on a busy machine also the time in which others ran. */
  readonly longestMs: number
  readonly p99Ms: number
  /** The most CPU time of the thread between two turns of a timer. */
  readonly longestCpuMs: number
}

const RESOLUTION_MS = 1

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  let longestCpuUs = 0
  let last = process.threadCpuUsage()
  setInterval(() => {
    const now = process.threadCpuUsage()
    longestCpuUs = Math.max(longestCpuUs, now.user - last.user + now.system - last.system)
    last = now
  }, RESOLUTION_MS).unref()
  process.on('SIGUSR2', () => {
    const figures: ThreadFigures = {
      longestMs: delay.max / 1e6,
      p99Ms: delay.percentile(99) / 1e6,
      longestCpuMs: longestCpuUs / 1e3,
    }
    delay.reset()
    longestCpuUs = 0
    writeFileSync(process.env.BENCH_PROBE_FILE as string, JSON.stringify(figures))
  })
}
