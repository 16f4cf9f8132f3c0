// Agents with schedules until it is told to die: arguments are the data directory, how many due times it makes if
// there are none yet, a number n and `before` or `after`. It kills itself at the nth write that a schedule leads to,
// before it is sent or after it is known to be there. Without n it goes on until nothing is due, and says of each
// schedule how many runs it has begun and how they ended.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Thread } from '../../packages/agents/src/sandbox/thread.ts'
import { Service } from '../../packages/agents/src/service/service.ts'
import {
  SCHEDULES_PER_AGENT_MAX,
  SCHEDULES_PER_OWNER_MAX,
} from '../../packages/agents/src/shared/limits.ts'

const [, , directory = '', times = '', position = '', when = 'after'] = process.argv
const WRITES: ReadonlySet<string> = new Set(['apply', 'advanceSchedule'])
/** Due times come so much apart, once they begin to come. */
const [APART_MS, FIRST_MS] = [20, 500]
let count = 0

const { ask } = Thread.prototype
Thread.prototype.ask = async function counted<Answer>(
  this: Thread,
  body: unknown,
): Promise<Answer> {
  const isWrite = WRITES.has((body as { name?: string }).name ?? '')
  if (isWrite) count += 1
  const isTheOne = isWrite && count === Number(position)
  if (isTheOne && when === 'before') process.kill(process.pid, 'SIGKILL')
  try {
    return (await ask.call(this, body)) as Answer
  } finally {
    if (isTheOne && when === 'after') process.kill(process.pid, 'SIGKILL')
  }
}

const scripts = join(directory, 'scripts')
const models = { environment: {}, providers: {}, scripts, prices: {} }
const service = await Service.start({ directory, models })
const { steps } = service
const list = () => steps.schedules('me', null)

async function makeSchedules(total: number): Promise<void> {
  const beginMs = Date.now() + FIRST_MS
  const agents: string[] = []
  while (agents.length * SCHEDULES_PER_AGENT_MAX < total)
    agents.push((await service.create('me', { model: 'script:ok' })).id)
  for (let n = 0; n < total; n += 1) {
    const atMs = beginMs + n * APART_MS
    const [name, plan] = [`n${n}`, { atMs, fresh: false }]
    const schedule = { name, plan, input: name, writer: { kind: 'person' } as const }
    // One after the other: that the queue of an agent is full is another answer.
    const agent = agents[n % agents.length] ?? ''
    await steps.putSchedule('me', agent, { ...schedule, nextMs: atMs })
  }
}

if ((await list()).length === 0) {
  await makeSchedules(Math.min(Number(times), SCHEDULES_PER_OWNER_MAX))
  await service.close()
} else if (position !== '') {
  // It ends by a kill, or when there is nothing left to be killed at.
  while ((await list()).some(({ nextMs }) => nextMs !== null)) await sleep(20)
  await service.close()
} else {
  const isOpen = async () =>
    (await list()).some(({ nextMs, run }) => nextMs !== null || run?.result === null)
  while (await isOpen()) await sleep(50)
  const ends: { name: string; prompts: number; end: string | undefined }[] = []
  const agents = new Map<string, Map<string, number>>()
  for (const { agent, name, run } of await list()) {
    const prompts = agents.get(agent) ?? (await countPrompts(agent))
    agents.set(agent, prompts)
    ends.push({ name, prompts: prompts.get(name) ?? 0, end: run?.result?.stop.reason })
  }
  process.stdout.write(JSON.stringify(ends))
  await service.close()
}

/** How often each prompt is in the journal of an agent. */
async function countPrompts(agent: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (let from = 1; ; ) {
    const page = await steps.history('me', agent, from, null)
    for (const { event } of page)
      if (event.kind === 'prompt') counts.set(event.input, (counts.get(event.input) ?? 0) + 1)
    const last = page.at(-1)
    if (last === undefined) return counts
    from = last.seq + 1
  }
}
