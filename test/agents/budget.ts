// A family's budget as a property, with the model server's own count as the judge: whatever is done at
// once with forks, prompts, imports, cancellations and resumes, the server is not asked for more than
// the limits allow. At most one call goes beyond a limit on tokens or cost: the one that meets it.

import fc from 'fast-check'
import type { Service } from '../../packages/agents/src/service/service.ts'
import type { ModelServer } from './model-server.ts'

const PRICE = { inputMicros: 1_000, outputMicros: 3_000 }
const OWNER = 'me'

type Action =
  | { readonly kind: 'fork'; readonly of: number; readonly count: number }
  | { readonly kind: 'prompt'; readonly of: number; readonly times: number }
  | { readonly kind: 'import'; readonly of: number }
  | { readonly kind: 'cancel'; readonly of: number }
  | { readonly kind: 'resume'; readonly of: number }
  | { readonly kind: 'together' }

const of = fc.nat(30)
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('fork' as const), of, count: fc.integer({ min: 1, max: 15 }) }),
  fc.record({ kind: fc.constant('prompt' as const), of, times: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('import' as const), of }),
  fc.record({ kind: fc.constant('cancel' as const), of }),
  fc.record({ kind: fc.constant('resume' as const), of }),
  fc.record({ kind: fc.constant('together' as const) }),
)

const limits = fc.record({
  maxTurns: fc.integer({ min: 1, max: 40 }),
  maxTokens: fc.option(fc.integer({ min: 100, max: 20_000 })),
  maxCost: fc.option(fc.integer({ min: 1, max: 30 })),
})

/** Turns that end at once, and turns that go on, some of them slow. */
const TURNS = Array.from({ length: 30 }, (_, at) => ({
  counts: true,
  delayMs: (at * 7) % 23,
  ...(at % 3 === 2
    ? { text: 'so much for now' }
    : { toolCalls: [{ name: 'write_file', input: { path: 'a', content: `${at}` } }] }),
}))

export function pricesFor(name: string) {
  return { [name]: PRICE }
}

export function budgetProperty(
  model: ModelServer,
  start: (name: string) => Promise<Service>,
): fc.IAsyncProperty<unknown> {
  return fc.asyncProperty(
    limits,
    fc.array(action, { minLength: 3, maxLength: 12 }),
    async (given, actions) => {
      const name = model.plays(TURNS)
      const service = await start(name)
      try {
        await act(service, name, given, actions)
      } finally {
        await service.close()
      }
      judge(model.spent(name), given)
    },
  )
}

async function act(
  service: Service,
  name: string,
  given: { maxTurns: number; maxTokens: number | null; maxCost: number | null },
  actions: readonly Action[],
): Promise<void> {
  const { id } = await service.create(OWNER, { model: name, limits: given })
  const agents = [id]
  const running: Promise<unknown>[] = []
  const runs: { agent: string; runId: string }[] = []
  const prompt = async (agent: string): Promise<void> => {
    const answer = await service.prompt(OWNER, agent, { input: 'go', waitMs: 0 })
    if (answer.state !== 'running') return
    runs.push({ agent, runId: answer.runId })
    await service.wait(OWNER, agent, answer.runId, 60_000)
  }
  // All at once where nothing says otherwise; what is refused is refused.
  const begin = (work: () => Promise<unknown>) => running.push(work().catch(() => undefined))
  for (const each of [...actions, { kind: 'together' } as const]) {
    const agent = agents['of' in each ? each.of % agents.length : 0] as string
    if (each.kind === 'fork')
      agents.push(...(await service.fork(OWNER, agent, { count: each.count })).map((row) => row.id))
    else if (each.kind === 'import') {
      const { exported } = await service.export(OWNER, agent, 'json', 'keep')
      agents.push((await service.import(OWNER, exported)).agent.id)
    } else if (each.kind === 'prompt')
      for (const one of agents.slice(0, 40))
        for (let left = each.times; left > 0; left -= 1) begin(() => prompt(one))
    else if (each.kind === 'cancel') {
      const run = runs[each.of % Math.max(1, runs.length)]
      if (run !== undefined) begin(() => service.cancel(null, run.agent, run.runId))
    } else if (each.kind === 'resume') begin(() => service.resume(OWNER, agent, {}))
    else await Promise.all(running.splice(0))
  }
}

function judge(
  spent: readonly { input: number; output: number }[],
  given: { maxTurns: number; maxTokens: number | null; maxCost: number | null },
): void {
  const tokens = spent.map(({ input, output }) => input + output)
  const costs = spent.map(
    ({ input, output }) => (input * PRICE.inputMicros + output * PRICE.outputMicros) / 1_000_000,
  )
  const check = (used: readonly number[], limit: number | null, what: string): void => {
    const sum = used.reduce((total, each) => total + each, 0)
    if (limit !== null && sum >= limit + Math.max(0, ...used))
      throw new Error(`${what}: ${sum} of ${limit} in ${used.length} calls`)
  }
  if (spent.length > given.maxTurns)
    throw new Error(`turns: ${spent.length} of ${given.maxTurns} were asked for`)
  check(tokens, given.maxTokens, 'tokens')
  check(costs, given.maxCost, 'cost')
}
