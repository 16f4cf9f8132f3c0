// The watcher: a small process beside the gate that holds the list of the servers' process groups.
// Its stdin is a pipe from the gate, one order a line. When the pipe closes, be it by kill -9 of the
// gate, it ends every group that is still on the list, and then itself. Started by watcher.ts.

import { PARENT_LOOK_EVERY_MS } from './limits.ts'
import { endGroup, readStat } from './process-group.ts'

/** `+ 123 456789`: watch the group of 123, which started then. `- 123`: it is gone. */
export type Order = `+ ${number} ${string}\n` | `- ${number}\n`

async function watch(): Promise<void> {
  const groups = new Map<number, string>()
  // It must outlive a Ctrl-C or a SIGTERM that was meant for the gate.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  let rest = ''
  process.stdin.setEncoding('latin1')
  process.stdin.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const [order, pid, started = ''] = line.split(' ')
      if (order === '+') groups.set(Number(pid), started)
      else groups.delete(Number(pid))
    }
  })
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.on(event, () => resolve())
    // Should the end of the pipe be missed: an orphan has another parent.
    const parent = process.ppid
    setInterval(() => {
      if (process.ppid !== parent) resolve()
    }, PARENT_LOOK_EVERY_MS)
  })
  await Promise.all([...groups].map(([pid, started]) => endUnlessReused(pid, started)))
  // Not process.exit: its orderly way out waits for threads, and has been seen to wait for ever.
  process.kill(process.pid, 'SIGKILL')
}

async function endUnlessReused(pid: number, started: string): Promise<void> {
  const stat = readStat(pid)
  // Another process has that pid now, so the group it named is empty.
  if (stat !== undefined && started !== '' && stat.started !== started) return
  await endGroup(pid)
}

if (import.meta.main) await watch()
