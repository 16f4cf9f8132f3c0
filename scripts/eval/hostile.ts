// `npm run eval -- hostile --data FILE [--limit MS] [--threads N]`: runs the programs of a JSON
// file (name -> code) as an agent's own code, both as the body of a program and as a script, and
// reports how each was contained, how long it took compared with its limit, its effect on the event
// loop, and whether another agent and a committed state were unaffected. Exit code 1 if one was not
// contained.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { Service } from '../../packages/agents/src/service/service.ts'
import { MORE_HOSTILE } from '../../test/agents/hostile/more-programs.ts'
import { HOSTILE } from '../../test/agents/hostile/programs.ts'
import { type Contained, runHostile } from '../../test/agents/hostile/run-hostile.ts'
import type { RunOptions } from '../dispatch.ts'

const P99_MS_OVER_IDLE_MAX = 5

export async function run(options: RunOptions): Promise<number> {
  const limitMs = Number(options.limit ?? 1_000)
  const threads = Number(options.threads ?? 2)
  const programs =
    typeof options.data === 'string'
      ? (JSON.parse(readFileSync(options.data, 'utf8')) as Record<string, string>)
      : { ...HOSTILE, ...MORE_HOSTILE }
  const directory = mkdtempSync(join(tmpdir(), 'sluice-hostile-'))
  const models = { environment: {}, providers: {}, scripts: directory, prices: {} }
  const service = await Service.start({ directory, models })
  try {
    const { id } = await service.create('me', {
      model: 'script:x',
      files: { 'a.txt': 'untouched' },
    })
    const before = await service.export('me', id, 'json', 'keep')
    const idle = await delayOver(() => sleep(2_000))
    const results: Contained[] = []
    const busy = await delayOver(async () => {
      results.push(...(await runHostile(programs, limitMs, threads)))
      const scripts = Object.fromEntries(
        Object.entries(programs).map(([name, code]) => [`${name} (as a script)`, code]),
      )
      const wrap = (code: string): string => `return (0, eval)(${JSON.stringify(code)})`
      results.push(...(await runHostile(scripts, limitMs, threads, wrap)))
    })
    const inside = await inAnAgent(service, programs)
    const after = await service.export('me', id, 'json', 'keep')
    const same = JSON.stringify(before.exported.files) === JSON.stringify(after.exported.files)
    const loose = results.filter(({ how, ms }) => how === 'unknown' || ms > 2 * limitMs + 100)
    for (const { name, how, ms, output } of results)
      console.log(
        `${how.padEnd(20)} ${ms.toFixed(0).padStart(6)} ms  ${name}: ${output.slice(0, 90)}`,
      )
    console.log(`${results.length} runs, ${loose.length} not within twice ${limitMs} ms`)
    console.log(
      `in an agent: ${inside.ended} of ${inside.count} answered, state stands: ${inside.stands}`,
    )
    console.log(`another agent is the same: ${same}`)
    console.log(`event loop p99: idle ${idle.toFixed(2)} ms, with them ${busy.toFixed(2)} ms`)
    const calm = busy - idle <= P99_MS_OVER_IDLE_MAX
    return loose.length === 0 && same && inside.stands && calm ? 0 : 1
  } finally {
    await service.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * As `run_code` of an agent: each has a result, and what it wrote before it failed is discarded.
 */
async function inAnAgent(service: Service, programs: Readonly<Record<string, string>>) {
  const { id } = await service.create('me', { model: 'script:x', files: { kept: 'yes' } })
  let ended = 0
  let stands = true
  const some = Object.values(programs).slice(0, 10)
  for (const code of some) {
    const bad = `files.write('kept', 'no'); ${code}; throw new Error('so that nothing is kept')`
    await service.callTool('me', id, 'run_code', { code: bad })
    ended += 1
    const { content } = await service.ask('me', id, { ask: 'read', path: 'kept' })
    stands &&= Buffer.from(content ?? []).toString() === 'yes'
  }
  return { count: some.length, ended, stands }
}

async function delayOver(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  delay.disable()
  return delay.percentile(99) / 1e6
}
