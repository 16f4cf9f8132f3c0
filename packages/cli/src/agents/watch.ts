// `sluice agents show` and `logs`: what an agent is, what happened to it, and what happens now. `prompt --follow` prints the same lines while a run goes on.

import { setTimeout as sleep } from 'node:timers/promises'
import { printable } from '../terminal/output.ts'
import type { AgentsApi } from './agents-api.ts'
import { type AgentToolView, defineAgentsCommand } from './open-agents.ts'
import { readWhole } from './read-options.ts'

interface HistoryPage {
  readonly events: readonly HistoryEvent[]
  readonly nextCursor: number | null
  readonly startsAt: number
  readonly lastSeq: number
}

type HistoryEvent = Readonly<Record<string, unknown>> & {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly turn: number
}

interface StateView {
  readonly agent: AgentToolView & { readonly createdAt: string; readonly isStopped: boolean }
  readonly usage: { readonly totalTokens: number; readonly cost?: number }
  readonly state: {
    readonly config: {
      readonly limits: Readonly<Record<string, unknown>>
      readonly tools: readonly { readonly server: string; readonly tool: string }[]
      readonly instructions: string
    }
  }
}

const POLL_MS = 300
/** Of one value in a line. */
const SHOWN_LENGTH = 400
/** Beyond the last message: the page is empty, the rest of the answer is wanted. */
const NO_MESSAGES = Number.MAX_SAFE_INTEGER

const LOGS_EXAMPLES = `
Examples:
  sluice agents logs agent_…            all events so far
  sluice agents logs agent_… --from 40  from event 40 on
  sluice agents logs agent_… -f         and those that come, until Ctrl-C

Following needs a gate that runs the agents; otherwise nothing happens while the command looks.`

export const addAgentsShow = defineAgentsCommand({
  name: 'show',
  description: 'an agent: state, model, limits, tools, tokens and cost',
  args: { '<agent>': '' },
  run: async (agents, { agent: agentId }, output) => {
    const view = await stateOf(agents, agentId)
    const { agent, usage, state } = view
    const { limits, tools, instructions } = state.config
    output.value({ agent, usage, limits, tools, instructions })
    output.line(`${agent.id}  ${agent.state}  ${printable(agent.model)}  ${agent.createdAt}`)
    output.line(`${agent.turnCount} turns, ${agent.fileCount} files, ${spent(usage)}`)
    const set = Object.entries(limits).filter(([, value]) => value !== null)
    output.line(`limits  ${set.map(([name, value]) => `${name} ${value}`).join(', ')}`)
    const names = tools.map(({ server, tool }) => printable(`${server}/${tool}`))
    output.line(`tools   ${names.join(', ') || 'its own'}`)
    if (instructions !== '') output.line(`told    ${shorten(instructions)}`)
  },
})

export const addAgentsLogs = defineAgentsCommand({
  name: 'logs',
  description: 'the events of an agent as lines, and those that come',
  args: { '<agent>': '' },
  options: {
    '--from <event>': 'from this event on',
    '-f, --follow': 'keep going until Ctrl-C',
  },
  json: 'a line of JSON for each',
  examples: LOGS_EXAMPLES,
  run: async (agents, { agent: agentId, ...options }) => {
    let isOver = false
    process.once('SIGINT', () => {
      isOver = true
    })
    const print = (event: HistoryEvent): void => {
      const line = options.json === true ? JSON.stringify(event) : eventLine(event)
      process.stdout.write(`${line}\n`)
    }
    const from = options.from === undefined ? 1 : readWhole('--from', options.from, 1)
    let next = await printSince(agents, agentId, from, print)
    while (options.follow === true && !isOver) {
      await sleep(POLL_MS)
      next = await printSince(agents, agentId, next, print)
    }
  },
})

/** All events of an agent, with whole texts. */
export async function readHistory(agents: AgentsApi, agentId: string): Promise<HistoryEvent[]> {
  const events: HistoryEvent[] = []
  for (let from: number | null = 1; from !== null; ) {
    const request = { agentId, from, whole: true }
    const page: HistoryPage = await agents.call('wasm_agent_history', request)
    events.push(...page.events)
    from = page.nextCursor
  }
  return events
}

/** Prints events as they come; `total` says what was used so far. */
export async function startFollowing(
  agents: AgentsApi,
  agentId: string,
  print: (line: string) => void,
): Promise<{ drain(): Promise<void>; total(): Promise<string> }> {
  const { lastSeq } = await agents.call<HistoryPage>('wasm_agent_history', { agentId })
  let next = lastSeq + 1
  let turns = -1
  const total = async (): Promise<string> => spent((await stateOf(agents, agentId)).usage)
  return {
    total,
    drain: async () => {
      let turn = turns
      next = await printSince(agents, agentId, next, (event) => {
        turn = event.turn
        print(eventLine(event))
      })
      if (turn > turns && turns >= 0) print(`turn ${turn}: ${await total()} so far`)
      turns = turn
    },
  }
}

async function stateOf(agents: AgentsApi, agentId: string): Promise<StateView> {
  return agents.call<StateView>('wasm_agent_state', { agentId, from: NO_MESSAGES })
}

/** The event after the last that was printed. */
async function printSince(
  agents: AgentsApi,
  agentId: string,
  from: number,
  print: (event: HistoryEvent) => void,
): Promise<number> {
  let next = from
  for (let cursor: number | null = from; cursor !== null; ) {
    const page: HistoryPage = await agents.call('wasm_agent_history', { agentId, from: cursor })
    for (const event of page.events) print(event)
    next = (page.events.at(-1)?.seq ?? next - 1) + 1
    cursor = page.nextCursor
  }
  return next
}

function spent({ totalTokens, cost }: StateView['usage']): string {
  return `${totalTokens} tokens${cost === undefined ? '' : `, cost ${cost.toFixed(4)}`}`
}

function eventLine({ seq, at, kind, turn, ...rest }: HistoryEvent): string {
  const fields = Object.entries(rest)
    .filter(([, value]) => value !== '' && value !== null)
    .map(
      ([name, value]) =>
        `${name} ${shorten(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
  return `${String(seq).padStart(5)}  ${at}  turn ${turn}  ${kind}  ${fields.join('  ')}`.trimEnd()
}

/** On one line. */
function shorten(text: string): string {
  const words = text.split('\n').map((line) => line.trim())
  const line = printable(words.filter((each) => each !== '').join(' '))
  return line.length <= SHOWN_LENGTH ? line : `${line.slice(0, SHOWN_LENGTH)} …`
}
