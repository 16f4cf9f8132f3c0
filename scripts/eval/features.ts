// `npm run eval -- features`: the 34 features that are promised, each tried from outside where that is
// possible in a minute: a real gate, a real server, plain HTTP and the command line. Prints `works`,
// `does not`, `not built`, or `elsewhere` with the command that shows it. Exits with 1 if something does not work.

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PlainClient } from '../../test/support/plain-client.ts'
import {
  endGates,
  NODE,
  type RunningGate,
  SLUICE,
  startGate,
} from '../../test/support/start-gate.ts'

const COUNTER = join(import.meta.dirname, '../../test/servers/counter.ts')
const WINDOW_SECONDS = 2
const POLICY = `
version: 1
default: deny
tools:
  agents/*: allow
  up/read: { action: allow, rate_limit: { max: 3, window: ${WINDOW_SECONDS} } }
  up/write: { action: allow, when: "args.n < 10", extra_args: allow }
  up/slow: { action: deny, reason: not by an agent }
guardrails:
  - { name: watch, match: { tools: [ up/write ] }, action: deny, mode: shadow, reason: later }
`
const TURNS = [
  { toolCalls: [{ name: 'write_todos', input: { todos: ['one', 'two'] } }], delayMs: 400 },
  { toolCalls: [{ name: 'up__write', input: { n: 1 } }] },
  { text: 'done' },
]

interface Place {
  readonly gate: RunningGate
  readonly log: string
  readonly up: PlainClient
  readonly agents: PlainClient
  /** What an earlier row made. */
  readonly made: { id?: string }
}

const NOT_BUILT = 'not built'

type Row = readonly [title: string, test: ((place: Place) => Promise<boolean>) | string]

const ROWS: readonly Row[] = [
  ['register a server, proxy URL', async ({ up }) => (await tools(up)).includes('read')],
  [
    'rule per tool, deny with reason',
    async ({ up }) => (await said(up, 'slow')).includes('not by an agent'),
  ],
  ['rate limit per session, resets itself', rateLimit],
  ['require approval', 'npx vitest run test/gate/approvals'],
  ['enforced before the server', async ({ log }) => !readFileSync(log, 'utf8').includes('slow')],
  ['category, risk, reason, evidence', 'npm run eval -- catalogue'],
  ['attacks for this access', 'sluice scan'],
  ['tool and server pages', 'sluice catalogue build'],
  ['wasm_agent_todos', agentTodos],
  ['is_stopped', async (place) => (await agent(place, 'is_stopped')).isStopped === false],
  ['wasm_agent_export', async (place) => (await agent(place, 'export')).todos.length === 2],
  [
    'the 27 tools of Claude Flow',
    async ({ agents }) =>
      (await tools(agents)).filter((name) => name.startsWith('wasm_')).length >= 27,
  ],
  [
    'a model that answers, a loop with tools',
    async (place) => (await agent(place, 'wait')).response === 'done',
  ],
  ['own memory, CPU and memory limits', programLimits],
  ['survives restart', 'npm run soak -- agents-kill'],
  ['conditions on arguments', conditions],
  ['history, labels, trifecta', 'npx vitest run test/agents/labels'],
  ['shadow per rule', (place) => cli(place, ['ledger', 'query'], /shadow: deny by/)],
  ['pins, diff, approve', 'npx vitest run test/gate/pins'],
  ['redaction of answers', 'npm run eval -- guard'],
  ['identity, limits per user', 'npx vitest run test/gate/identity'],
  ['audit log, tamper-evident', (place) => cli(place, ['ledger', 'verify'], /\d+ records?\b/)],
  ['both generations of MCP', 'npx vitest run test/gate/eras'],
  ['policy tests in CI', 'sluice policy test'],
  ['fork, pause, resume, replay', pauseAndReplay],
  ['scale-out', NOT_BUILT],
  ['policy prove', 'sluice policy prove'],
  [
    'policy replay',
    (place) => cli(place, ['policy', 'replay', '--policy', policyOf(place)], /\bsame\b/),
  ],
  ['approval bound to its call', 'npx vitest run test/gate/approvals'],
  ['agents behind the same policy', async ({ log }) => readFileSync(log, 'utf8').includes('"n":1')],
  ['byte-exact export', exportTwice],
  ['bridge between generations', 'npx vitest run test/gate/eras'],
  ['published accuracy', 'npm run eval -- catalogue'],
  ['importers', importSpellings],
]

export async function run(): Promise<number> {
  let failed = 0
  const folderLog = join(import.meta.dirname, '../../node_modules/.cache/features.log')
  mkdirSync(join(folderLog, '..'), { recursive: true })
  writeFileSync(folderLog, '')
  const servers = {
    agents: { builtin: 'agents' as const },
    up: { command: [NODE, COUNTER, folderLog] },
  }
  try {
    const gate = await startGate({ servers, policy: POLICY })
    mkdirSync(join(gate.data, 'scripts'), { recursive: true })
    writeFileSync(join(gate.data, 'scripts', 'story.json'), JSON.stringify({ turns: TURNS }))
    const open = (server: string) => PlainClient.open(gate, server)
    const [up, agents] = [await open('up'), await open('agents')]
    const place: Place = { gate, log: folderLog, up, agents, made: {} }
    for (const [index, [title, test]] of ROWS.entries()) {
      const found = typeof test === 'string' ? whereOf(test) : await tried(() => test(place))
      if (found.startsWith('does not')) failed += 1
      console.log(`${String(index + 1).padStart(2)}  ${title.padEnd(42)} ${found}`)
    }
  } finally {
    await endGates()
  }
  return failed === 0 ? 0 : 1
}

function whereOf(command: string): string {
  return command === NOT_BUILT ? NOT_BUILT : `elsewhere: ${command}`
}

async function tried(test: () => Promise<boolean>): Promise<string> {
  try {
    return (await test()) ? 'works' : 'does not'
  } catch (error) {
    return `does not: ${(error as Error).message.slice(0, 200)}`
  }
}

async function tools(client: PlainClient): Promise<string[]> {
  const { answer } = await client.ask('tools/list')
  return answer.result.tools.map(({ name }: { name: string }) => name)
}

async function said(client: PlainClient, name: string, args: object = {}): Promise<string> {
  const { answer } = await client.call(name, args)
  return answer.error?.message ?? answer.result.content[0].text
}

// biome-ignore lint/suspicious/noExplicitAny: taken apart by the rows
async function agent({ agents, made }: Place, word: string, more: object = {}): Promise<any> {
  return JSON.parse(await said(agents, `wasm_agent_${word}`, { agentId: made.id, ...more }))
}

async function rateLimit({ up }: Place): Promise<boolean> {
  const texts: string[] = []
  for (let at = 0; at < 4; at += 1) texts.push(await said(up, 'read', { at }))
  const isLimited = texts[2]?.startsWith('read') === true && !texts[3]?.startsWith('read')
  await sleep(WINDOW_SECONDS * 1_000 + 300)
  return isLimited && (await said(up, 'read')).startsWith('read')
}

/** Creates the agent that the next rows look at, pauses it in its first turn, and lets it end. */
async function agentTodos(place: Place): Promise<boolean> {
  const given = { model: 'script:story', tools: ['up/write'] }
  const created = JSON.parse(await said(place.agents, 'wasm_agent_create', given))
  place.made.id = created.agent.id
  await agent(place, 'prompt', { input: 'go' })
  return (await agent(place, 'todos')).todos.length === 2
}

async function programLimits(place: Place): Promise<boolean> {
  const loop = { toolName: 'run_code', toolInput: { code: 'for (;;) {}' } }
  const { success } = await agent(place, 'tool', loop)
  return success === false
}

async function conditions({ up }: Place): Promise<boolean> {
  const [small, large] = [await said(up, 'write', { n: 2 }), await said(up, 'write', { n: 12 })]
  return small.startsWith('write') && !large.startsWith('write')
}

async function pauseAndReplay(place: Place): Promise<boolean> {
  const made = { id: '' }
  const own = { ...place, made }
  const given = { model: 'script:story', tools: ['up/write'] }
  made.id = JSON.parse(await said(place.agents, 'wasm_agent_create', given)).agent.id
  const { runId } = await agent(own, 'prompt', { input: 'go', waitMs: 0 })
  const { state } = await agent(own, 'pause')
  await sleep(1_000)
  const { turnCount } = await agent(own, 'turn_count')
  await agent(own, 'resume')
  const ended = await agent(own, 'wait', { runId })
  const { agents: forks } = await agent(own, 'fork', { at: 1 })
  const replayed = await agent(own, 'replay')
  const isHeld = state === 'paused' && turnCount <= 1
  return isHeld && ended.response === 'done' && forks.length === 1 && replayed.isSame === true
}

async function exportTwice(place: Place): Promise<boolean> {
  const [one, two] = [await agent(place, 'export'), await agent(place, 'export')]
  return JSON.stringify(one) === JSON.stringify(two)
}

async function importSpellings(place: Place): Promise<boolean> {
  const condition = { path: 'args.n', op: 'gt', value: 3 }
  const hosted = {
    version: '1',
    default: 'deny',
    tools: {
      pay: {
        deny_if: [{ conditions: [condition], on_deny: 'too much' }],
        limits: [{ scope: 'grant', window: 'minute', max: 3 }],
      },
    },
  }
  const pages =
    'tools:\n  pay:\n    rate_limit: { max: 10, window: 60 }\n  drop: { action: deny }\n'
  for (const [name, text] of Object.entries({
    'a.json': JSON.stringify(hosted),
    'b.yaml': pages,
  })) {
    const file = join(place.gate.folder, name)
    writeFileSync(file, text)
    if (!(await cli(place, ['policy', 'import', file, '--server', 'shop'], /shop\/pay/)))
      return false
  }
  return true
}

function policyOf({ gate }: Place): string {
  return join(gate.folder, 'policy.yaml')
}

const WITHOUT_DATA: ReadonlySet<string> = new Set(['import'])

/** A command as a user types it; whether it says this. */
function cli({ gate }: Place, args: readonly string[], says: RegExp): Promise<boolean> {
  const data = args.some((word) => WITHOUT_DATA.has(word)) ? [] : ['--data', gate.data]
  return new Promise((resolve) => {
    execFile(NODE, [SLUICE, ...args, ...data], { cwd: gate.folder }, (_, out, err) =>
      resolve(says.test(`${out}${err}`)),
    )
  })
}
