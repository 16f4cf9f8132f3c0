// `npm run soak -- session-memory [--sessions N] [--principals N] [--kilobytes N]`: a million sessions of a
// thousand principals that each read an answer, in simulated time, twenty an hour for a principal, with what they
// remember kept on disk. Prints memory and disk after every twentieth; neither grows past its bound.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeSessions } from '../../packages/access/src/identity/sessions/agent-sessions.test-support.ts'
import type { AgentSessions } from '../../packages/access/src/identity/sessions/agent-sessions.ts'
import { openGateStore } from '../../packages/gateway/src/data/gate-store.ts'
import { StoredMemory } from '../../packages/gateway/src/data/stored-memory.ts'
import { StoredSessions } from '../../packages/gateway/src/data/stored-sessions.ts'
import type { RunOptions } from '../../scripts/dispatch.ts'

const SESSIONS_AN_HOUR = 20
const HOUR_MS = 3_600_000
const STEPS = 20
const GROWTH_MAX = 1.15

export async function run(options: RunOptions): Promise<number> {
  const count = Number(options.sessions ?? 1_000_000)
  const kilobytes = Number(options.kilobytes ?? 1)
  const principals = Number(options.principals ?? 1_000)
  const directory = mkdtempSync(join(tmpdir(), 'sluice-soak-'))
  const log = (_level: string, text: string) => console.log(text)
  const store = openGateStore(directory)
  const answers = new StoredMemory({ directory, key: Buffer.alloc(32, 1), log })
  const sessions = makeSessions({
    memory: new StoredSessions(store, log, () => 0),
    answers,
  })
  const resident: number[] = []
  const began = performance.now()
  try {
    for (let number = 0; number < count; number++) {
      runSession(sessions, { number, kilobytes, principals })
      if (number % 500 === 0) await nextTurn()
      if ((number + 1) % Math.ceil(count / STEPS) !== 0) continue
      sessions.flush()
      const megabytes = Math.round(process.memoryUsage.rss() / 1_048_576)
      resident.push(megabytes)
      const disk = `${diskMegabytes(directory)} MB on disk`
      console.log(`${number + 1} sessions: ${megabytes} MB resident, ${disk}`)
    }
  } finally {
    answers.close()
    store.close()
    rmSync(directory, { recursive: true })
  }
  const half = resident.slice(0, STEPS / 2)
  const hasGrown = Math.max(...resident) > Math.max(...half) * GROWTH_MAX
  const seconds = ((performance.now() - began) / 1_000).toFixed(0)
  console.log(`${seconds} s: ${hasGrown ? 'it grows' : 'no growth after the first half'}`)
  return hasGrown ? 1 : 0
}

interface SoakSession {
  readonly number: number
  readonly kilobytes: number
  readonly principals: number
}

function runSession(sessions: AgentSessions, { number, kilobytes, principals }: SoakSession): void {
  const principal = `p${number % principals}`
  const nowMs = Math.floor((number * HOUR_MS) / (principals * SESSIONS_AN_HOUR))
  const limit = { max: SESSIONS_AN_HOUR, windowMs: HOUR_MS }
  const lease = sessions.open(principal, `token ${number}`, limit, nowMs)
  const memory = lease.provenance()
  lease.noteUse(nowMs)
  memory.remember({ texts: [textOf(number, kilobytes)] })
  lease.remembered()
  lease.release(nowMs)
}

/** Six characters a word; every session has others. */
function textOf(number: number, kilobytes: number): string {
  const words = Array.from({ length: kilobytes * 166 }, (_, at) =>
    ((number * 7_919 + at * 104_729) % 60_466_176).toString(36).padStart(5, 'a'),
  )
  return words.join(' ')
}

function diskMegabytes(directory: string): number {
  const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size)
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1_048_576)
}
