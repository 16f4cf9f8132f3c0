// Sluice and claude-flow over MCP stdio, alternating with a few calls each, so that both meet the
// same noise: todos and is_stopped at the peer's first calls and after many, because its cost per
// call grows with the number of calls; create, export and fork between them. Each has an initially
// empty home.

import { openTools, type Tools } from './over-mcp.ts'
import { summed, type Timing } from './timing.ts'

/** Turns of each side, and calls per turn: repeated calls find the caches warm. */
const TURNS = 5
const CALLS = 5
const WARM = 2_000
/** Calls the peer has had when it is measured a second time. */
const LATER = 700

interface Side {
  readonly name: string
  readonly tools: Tools
  readonly one: { readonly agentId: string }
  readonly model: string
}

export async function besideClaudeFlow(
  serve: readonly string[],
  peer: readonly string[],
  home: string,
): Promise<{ rows: Timing[]; remarks: string[] }> {
  const sides = [
    await open('sluice', serve, 'script:none'),
    await open('claude-flow', peer, 'local', home),
  ] as const
  const rows: Timing[] = []
  const remarks: string[] = []
  const measure = async (tool: string, argsFor: (side: Side) => object, when: string) => {
    const times = sides.map((): number[] => [])
    for (let turn = 0; turn < TURNS; turn += 1)
      for (const [index, side] of sides.entries())
        for (let at = 0; at < CALLS; at += 1) {
          const began = performance.now()
          await side.tools.call(tool, argsFor(side))
          times[index]?.push((performance.now() - began) * 1_000)
        }
    const measured = sides.map(({ name }, index) =>
      summed(`beside each other, ${when}, ${name}: ${tool.slice(11)}`, times[index] ?? []),
    )
    rows.push(...measured)
    const [own, other] = measured.map(({ p50Us }) => p50Us)
    const ratio = (other as number) / (own as number)
    remarks.push(`${tool} ${when}: claude-flow takes ${ratio.toFixed(0)} times as long (p50)`)
  }
  const one = ({ one: agent }: Side) => agent
  try {
    // Ours costs the same at any call, once its code is warm; the other's first calls are the
    // cheapest, so it gets no others before them.
    const [own, other] = sides
    for (let at = 0; at < WARM; at += 1) {
      await own.tools.call('wasm_agent_todos', own.one)
      await own.tools.call('wasm_agent_is_stopped', own.one)
    }
    await measure('wasm_agent_todos', one, 'at its first calls')
    await measure('wasm_agent_is_stopped', one, 'at its first calls')
    await measure('wasm_agent_create', ({ model }) => ({ model }), 'at its first calls')
    await measure('wasm_agent_export', one, 'at its first calls')
    while (other.tools.calls < LATER) {
      await other.tools.call('wasm_agent_is_stopped', other.one)
      await own.tools.call('wasm_agent_is_stopped', own.one)
    }
    await measure('wasm_agent_todos', one, `after ${LATER} calls`)
    await measure('wasm_agent_is_stopped', one, `after ${LATER} calls`)
    if (!other.tools.has('wasm_agent_fork')) remarks.push('claude-flow has no fork')
  } finally {
    for (const { tools } of sides) await tools.close()
  }
  return { rows, remarks }
}

async function open(
  name: string,
  command: readonly string[],
  model: string,
  home?: string,
): Promise<Side> {
  const tools = await openTools(command, home)
  const made = await tools.call('wasm_agent_create', { model })
  const agentId = made?.agent?.id ?? made?.agentId ?? made?.id
  if (typeof agentId !== 'string') throw new Error(`${name} made no agent: ${JSON.stringify(made)}`)
  return { name, tools, one: { agentId }, model }
}
