// kill -9 at every position of the journal of a scripted run with two calls that write and a program
// that makes three, before the write is sent and after it is known to be there: once through, and once
// paused and resumed, and stopped by a limit that is raised, and once moved to a second data directory.
// A life a position.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RunOptions } from '../../scripts/dispatch.ts'
import { effects, live, prepare, repeated } from '../agents/kill.ts'

export async function run(_options: RunOptions): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'sluice-kill-'))
  const [directory, log] = [join(scratch, 'data'), join(scratch, 'log')]
  try {
    prepare(directory)
    let lives = 0
    for (const story of ['run', 'pause', 'move'] as const)
      for (let position = 1; ; position += 1) {
        let killed = 0
        for (const when of ['before', 'after'] as const) {
          const { signal, output } = await live(directory, log, { position, when, story })
          lives += 1
          if (signal === 'SIGKILL') killed += 1
          else console.log(`${story} ${position} ${when}: ${output.split('\n').at(-2)}`)
        }
        if (killed === 0) break
      }
    const { output } = await live(directory, log)
    const ends = JSON.parse(output) as { id: string; end: string | null }[]
    const open = ends.filter(({ end }) => end !== 'answered')
    const twice = repeated(log)
    console.log(`${lives} lives, ${ends.length} runs, ${effects(log).length} effects`)
    console.log(`not ended well: ${JSON.stringify(open)}; happened twice: ${JSON.stringify(twice)}`)
    return open.length + twice.length > 0 ? 1 : 0
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
