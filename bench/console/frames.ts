// What a page does in a real browser under load: drawn frames, long tasks, and the CPU time of the
// page's main thread by kind, which a busy machine does not change. Called by pages.ts.

import type { CDPSession, Page } from 'playwright-core'
import { computeSpread } from '../gateway/measure.ts'

export interface Seen {
  readonly frames: number
  /** Between two frames, in ms; 16.7 is every one. */
  readonly frameP50: number
  readonly frameP95: number
  readonly frameMax: number
  /** Tasks of more than 50 ms, and the longest. */
  readonly longTasks: number
  readonly longest: number
  /** Of the main thread, in ms per frame: script alone, and all of it. */
  readonly scriptMs: number
  readonly busyMs: number
  /** Of the main thread, all of it, per second. */
  readonly busyMsASecond: number
}

const BEGIN = `(() => {
  const seen = { frames: [], tasks: [], last: performance.now(), ends: false }
  window.seenFrames = seen
  seen.observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.tasks.push(entry.duration)
  })
  seen.observer.observe({ type: 'longtask' })
  const frame = (now) => {
    seen.frames.push(now - seen.last)
    seen.last = now
    if (!seen.ends) requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})()`

const END = `(() => {
  const { frames, tasks, observer } = window.seenFrames
  window.seenFrames.ends = true
  for (const entry of observer.takeRecords()) tasks.push(entry.duration)
  observer.disconnect()
  return { frames: frames.slice(2), tasks }
})()`

export async function look(page: Page, happens: () => Promise<unknown>): Promise<Seen> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.evaluate(BEGIN)
  const before = await metricsOf(session)
  const began = performance.now()
  await happens()
  const seconds = (performance.now() - began) / 1_000
  const after = await metricsOf(session)
  const { frames, tasks } = (await page.evaluate(END)) as { frames: number[]; tasks: number[] }
  await session.detach()
  const spent = (name: string) => ((after.get(name) ?? 0) - (before.get(name) ?? 0)) * 1_000
  const count = Math.max(1, frames.length)
  return {
    frames: frames.length,
    frameP50: computeSpread(frames).p50,
    frameP95: frames.toSorted((a, b) => a - b)[Math.floor(0.95 * frames.length)] ?? Number.NaN,
    frameMax: Math.max(...frames),
    longTasks: tasks.length,
    longest: Math.max(0, ...tasks),
    scriptMs: spent('ScriptDuration') / count,
    busyMs: spent('TaskDuration') / count,
    busyMsASecond: spent('TaskDuration') / seconds,
  }
}

/** In MB, of what is still reachable. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = (await session.send('Runtime.getHeapUsage')) as { usedSize: number }
  await session.detach()
  return usedSize / 1_048_576
}

async function metricsOf(session: CDPSession): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics')
  return new Map(metrics.map(({ name, value }) => [name, value]))
}

/** Scrolls by this many pixels in each of this many frames, back and forth. */
export function scroll(selector: string, pixels: number, frames: number): string {
  return `new Promise((resolve) => {
    const place = document.querySelector(${JSON.stringify(selector)})
    let left = ${frames}
    let step = ${pixels}
    const frame = () => {
      if (place.scrollTop + place.clientHeight >= place.scrollHeight - 1) step = -${pixels}
      if (place.scrollTop <= 0) step = ${pixels}
      place.scrollTop += step
      if (--left > 0) requestAnimationFrame(frame)
      else resolve()
    }
    requestAnimationFrame(frame)
  })`
}

export function describeFrames(what: string, seen: Seen): string {
  const ms = (value: number) => value.toFixed(1)
  return `${what.padEnd(34)} frames p50 ${ms(seen.frameP50)} p95 ${ms(seen.frameP95)} max ${ms(seen.frameMax)} ms; CPU a frame ${ms(seen.busyMs)} ms, script ${ms(seen.scriptMs)}; ${seen.longTasks} long tasks, the longest ${seen.longest.toFixed(0)} ms`
}
