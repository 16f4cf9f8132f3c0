// Draws the tools of a world and the calls that hit it: few servers, tool names over two letters
// (globs must overlap), arguments that are mostly as declared and now and then missing, of another
// type, not exact, undeclared or beyond the bounds.

import type { AgentFacts, Call, Facts, Principal } from '@sluice/policy/calls/call'
import type { PastCalls } from '@sluice/policy/calls/past-calls'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { CATEGORIES } from '@sluice/policy/calls/tools'
import { SessionProvenance } from '@sluice/policy/provenance/session-provenance'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { ExactNumber } from '@sluice/policy/values/json'
import { ADDRESS_TEXTS } from './egress.ts'
import { PLUMBING } from './evaluate.ts'
import { ADDRESSES, type Address, RAW_MEMORIES } from './protect.ts'
import type { Random } from './random.ts'
import { between, chance, pick, some, weighted } from './random.ts'

export interface GeneratedCall {
  call: Call
  facts: Facts
  nowMs: number
}

export const SERVERS = ['a', 'b', 'ab']
export const RESOURCES = ['r://x', 'r://x/y', 'r://xy', 'r://y']
export const PROMPTS = ['p', 'pq', 'q/p', 'qq']
export const JUDGED_METHODS = [
  'resources/read',
  'resources/subscribe',
  'prompts/get',
  'completion/complete',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
]
const UNKNOWN_METHODS = ['tasks/get', 'tools/cal', 'logging/setLevel', 'x']

/** The type of each argument name, the same in all tools that declare it. */
const SCHEMAS: Record<string, JsonObject> = {
  n: { type: 'integer' },
  price: { type: 'number' },
  s: { type: 'string' },
  b: { type: 'boolean' },
  tags: { type: 'array', items: { type: 'string' } },
  o: { type: 'object', properties: { y: { type: 'integer' }, z: { type: 'string' }, w: {} } },
  d: { description: 'anything' },
}
export const ARGUMENTS = Object.keys(SCHEMAS)
/** Those whose names say what they are, where a document has `protect`. */
const PROTECTED_SCHEMAS: Record<string, JsonObject> = {
  to: { type: 'string' },
  url: { type: 'string' },
  body: { type: 'string' },
  due: { type: 'string' },
  mode: { type: 'string', enum: ['x', 'xy'] },
}

export function generateTools(random: Random, isProtected: boolean): KnownTool[] {
  const names = new Set<string>()
  const count = between(random, 8, 14)
  while (names.size < count) {
    const word = (least: number) =>
      Array.from({ length: between(random, least, 3) }, () => pick(random, ['x', 'y'])).join('')
    const name = chance(random, 0.15) ? `${word(1)}/${word(1)}` : word(1)
    names.add(`${pick(random, SERVERS)}/${name}`)
  }
  return [...names].map((full) => generateTool(random, full, isProtected))
}

export function declaredArguments(tool: KnownTool): string[] {
  const schema = tool.definition.inputSchema as JsonObject | undefined
  return Object.keys(schema?.properties ?? {}).filter((name) => name in SCHEMAS)
}

function generateTool(random: Random, full: string, isProtected: boolean): KnownTool {
  const slash = full.indexOf('/')
  const names = some(random, ARGUMENTS, 0.65)
  const more = isProtected ? some(random, Object.keys(PROTECTED_SCHEMAS), 0.5) : []
  const properties = Object.fromEntries(
    [...names, ...more].map((name) => [name, SCHEMAS[name] ?? PROTECTED_SCHEMAS[name] ?? {}]),
  )
  const additional = weighted(random, { left: 3, no: 1, yes: 1 })
  const inputSchema: JsonObject = {
    type: 'object',
    properties,
    ...(additional === 'left' ? {} : { additionalProperties: additional === 'yes' }),
  }
  const definition = { server: full.slice(0, slash), name: full.slice(slash + 1) }
  return {
    definition: chance(random, 0.08) ? definition : { ...definition, inputSchema },
    category: pick(random, CATEGORIES),
    risk: pick(random, ['low', 'medium', 'high', 'critical']),
    ...(chance(random, 0.2) ? { unknown: true } : {}),
  }
}

interface CalledWorld {
  readonly labels: readonly string[]
  readonly isProtected: boolean
}

export function generateCalls(
  random: Random,
  tools: readonly KnownTool[],
  world: CalledWorld,
  count: number,
): GeneratedCall[] {
  const favourites = Array.from({ length: 4 }, () => pick(random, tools))
  const calls: GeneratedCall[] = []
  let nowMs = between(random, 0, 1000) * 1000
  for (let i = 0; i < count; i += 1) {
    // Whole seconds often, so that events leave a window at its very edge.
    nowMs += chance(random, 0.6) ? between(random, 0, 3) * 1000 : between(random, 0, 2500)
    const made = generateCall(random, tools, favourites, world)
    const session = { ...made.facts.session, past: generatePast(random, nowMs) }
    calls.push({ ...made, facts: { ...made.facts, session }, nowMs })
  }
  return calls
}

function generateCall(
  random: Random,
  tools: readonly KnownTool[],
  favourites: readonly KnownTool[],
  { labels, isProtected }: CalledWorld,
): { call: Call; facts: Facts } {
  const facts = generateFacts(random, labels, isProtected)
  const kind = weighted(random, { tool: 84, unlisted: 1, judged: 12, plumbing: 1, unknown: 1 })
  const server = pick(random, SERVERS)
  if (kind === 'tool') {
    const tool = pick(random, chance(random, 0.5) ? favourites : tools)
    const { server, name } = tool.definition
    const isDeclared = tool.definition.inputSchema !== undefined
    const names = isDeclared ? declaredArguments(tool) : some(random, ['n', 'price', 's'], 0.5)
    const plain = generateArguments(random, names)
    const args = isProtected ? { ...plain, ...protectedArguments(random, tool, plain) } : plain
    const readable = chance(random, 0.2) ? { callCategory: pick(random, CATEGORIES) } : {}
    return {
      call: { server, method: 'tools/call', name, args },
      facts: { ...facts, tool, ...readable },
    }
  }
  if (kind === 'unlisted') {
    const name = pick(random, ['x', 'yx', 'yyyy', 'zz'])
    const isKnown = tools.some(({ definition: d }) => d.server === server && d.name === name)
    const args = generateArguments(random, ARGUMENTS)
    return { call: { server, method: 'tools/call', name: isKnown ? 'zzz' : name, args }, facts }
  }
  if (kind === 'plumbing') {
    return { call: { server, method: pick(random, PLUMBING), name: '', args: {} }, facts }
  }
  if (kind === 'unknown') {
    return { call: { server, method: pick(random, UNKNOWN_METHODS), name: '', args: {} }, facts }
  }
  const method = pick(random, [...JUDGED_METHODS, 'resources/read', 'prompts/get'])
  const name = method.startsWith('resources/')
    ? pick(random, RESOURCES)
    : method === 'prompts/get'
      ? pick(random, PROMPTS)
      : ''
  const args = chance(random, 0.5) ? {} : generateArguments(random, ['n', 's'])
  return { call: { server, method, name, args }, facts }
}

const PRINCIPALS: Principal[] = [
  { id: 'ann', kind: 'user', groups: ['ops', 'dev'], claims: {} },
  { id: 'bob', kind: 'grant', groups: ['dev'], claims: {} },
  { id: 'cy', kind: 'grant', groups: [], claims: {} },
]

function generateFacts(random: Random, labels: readonly string[], isProtected: boolean): Facts {
  const agent: AgentFacts = {
    id: pick(random, ['agent-1', 'agent-2']),
    owner: 'ann',
    template: 'worker',
    depth: between(random, 0, 3),
    turn: between(random, 0, 9),
  }
  return {
    transport: 'stdio',
    principal: pick(random, PRINCIPALS),
    agent: chance(random, 0.5) ? agent : null,
    session: {
      id: pick(random, ['session-1', 'session-2']),
      startedAtMs: 0,
      calls: between(random, 0, 20),
      saw: some(random, [...labels, 'unheard'], 0.4),
    },
    provenance: generateMemory(random, isProtected),
  }
}

const READ = ['x', 'xy', 'yx', 'z']

/** What the session has read; sometimes nothing is known of it. */
function generateMemory(random: Random, isProtected: boolean): SessionProvenance | undefined {
  if (chance(random, 0.1)) return undefined
  const texts = (probability: number) => [
    ...some(random, READ, probability),
    ...(isProtected ? some(random, ADDRESSES, probability).map((one) => spell(random, one)) : []),
  ]
  const records = Array.from({ length: isProtected ? between(random, 0, 3) : 0 }, () => ({
    values: texts(0.3),
    words: pick(random, [0, 1, 11, 12, 13]),
  }))
  const prose = chance(random, 0.3) ? [] : texts(0.4)
  const raw = { prompt: texts(0.2), fields: texts(0.3), prose, records }
  const memory = new SessionProvenance({
    low: between(random, 0, 1e6),
    high: between(random, 0, 1e6),
  })
  if (raw.prompt.length > 0) memory.addPrompt(raw.prompt.join(', '))
  memory.remember({ texts: [prose.join(' ')] })
  memory.remember({ texts: [], structured: raw.fields })
  for (const { values, words } of records) {
    const body = Array.from({ length: words }, () => 'lorem').join(' ')
    memory.remember({ texts: [], structured: { values, body } })
  }
  RAW_MEMORIES.set(memory, raw)
  return memory
}

function spell(random: Random, { spellings }: Address): string {
  return pick(random, spellings)
}

/** Of those that the tool declares; and texts that are drawn from the table of addresses. */
function protectedArguments(random: Random, tool: KnownTool, plain: JsonObject): JsonObject {
  const schema = tool.definition.inputSchema as JsonObject | undefined
  const declared = Object.keys(schema?.properties ?? {})
  const text = () =>
    chance(random, 0.5) ? spell(random, pick(random, ADDRESSES)) : pick(random, READ)
  const args: Record<string, JsonValue> = {}
  for (const name of ['to', 'url', 'due'])
    if (declared.includes(name) && chance(random, 0.8)) args[name] = text()
  if (declared.includes('mode')) args.mode = pick(random, ['x', 'xy'])
  if (declared.includes('body')) {
    const within = some(random, ADDRESSES, 0.2).map(({ spellings }) => spellings[0])
    args.body = ['see', ...within, pick(random, READ)].join(' ')
  }
  if (typeof plain.s === 'string' && ADDRESS_TEXTS.has(plain.s)) args.s = text()
  return args
}

/** Calls before this one, the newest last. */
function generatePast(random: Random, nowMs: number): PastCalls | undefined {
  if (chance(random, 0.1)) return undefined
  let atMs = nowMs
  const calls = Array.from({ length: between(random, 0, 6) }, () => {
    atMs -= between(random, 0, 8) * 1000
    const name = pick(random, ['x', 'y', 'xy', 'yx', 'yy'])
    return { server: pick(random, SERVERS), name, atMs }
  })
  return { calls: calls.reverse(), hasMore: chance(random, 0.3) }
}

function generateArguments(random: Random, declared: readonly string[]): JsonObject {
  const args: Record<string, JsonValue> = {}
  for (const name of declared) {
    const kind = weighted(random, { good: 93, missing: 3, odd: 4 })
    if (kind === 'good') args[name] = goodValue(random, name)
    if (kind === 'odd') args[name] = oddValue(random, name)
  }
  if (chance(random, 0.06)) {
    const name = pick(random, [...ARGUMENTS, 'more'])
    if (!declared.includes(name)) args[name] = goodValue(random, name)
  }
  return args
}

function goodValue(random: Random, name: string): JsonValue {
  switch (name) {
    case 'n':
      return chance(random, 0.03)
        ? pick(random, [new ExactNumber('9007199254740993'), 4_000_000_000, 1e17])
        : between(random, 0, 9)
    case 'price':
      return pick(random, [0, 0.1, 0.2, 0.99, 1, 1.5, 2.25, 5, 7, '3', '12.50', 0.000_000_1])
    case 's':
      return chance(random, 0.02)
        ? 'x'.repeat(40_000)
        : chance(random, 0.3)
          ? pick(random, [...ADDRESS_TEXTS.keys()])
          : pick(random, ['', 'x', 'xy', 'yx', 'yyy', 'x\u{1f600}'])
    case 'b':
      return chance(random, 0.5)
    case 'tags': {
      const length = chance(random, 0.02) ? 600 : between(random, 0, 3)
      return Array.from({ length }, () => pick(random, ['x', 'xy', 'yx']))
    }
    case 'o': {
      const members = {
        y: between(random, 0, 9),
        z: pick(random, ['x', 'yx']),
        w: anyValue(random),
      }
      return Object.fromEntries(some(random, Object.entries(members), 0.85))
    }
    default:
      return anyValue(random)
  }
}

function anyValue(random: Random): JsonValue {
  return pick<JsonValue>(random, [0, 2, 5, 2.25, -1.5, 'x', 'xy', '7', true, false])
}

function oddValue(random: Random, name: string): JsonValue {
  switch (name) {
    case 'n':
      return pick<JsonValue>(random, [
        2.5,
        '3',
        null,
        -4,
        new ExactNumber('9223372036854775808'),
        1e20,
      ])
    case 'price':
      return pick<JsonValue>(random, [
        -1,
        '-2',
        'abc',
        '1e3',
        ' 7',
        null,
        true,
        1e15,
        new ExactNumber('0.1000000000000000055511151231257827'),
        new ExactNumber('12345678901234567890.5'),
      ])
    case 's':
      return pick<JsonValue>(random, [3, null, true, ['x'], 'x'.repeat(70_000)])
    case 'tags':
      return pick<JsonValue>(random, ['x', 3, null, Array.from({ length: 1200 }, () => 'x')])
    case 'o':
      return pick<JsonValue>(random, [{ y: 'x', z: 3 }, { y: 2.5 }, 'x', null, {}])
    default:
      return name === 'b'
        ? pick<JsonValue>(random, ['true', 0, null])
        : new ExactNumber('0.30000000000000000001')
  }
}
