// Facts for hypothetical calls: in `explain`, in cases and in proofs. Everything has a default, so
// that a case states only what it is about.

import type { AnswerValues } from '../calls/answer-values.ts'
import type { AgentFacts, Call, Facts, Principal, SessionFacts } from '../calls/call.ts'
import type { Instant } from '../calls/clock.ts'
import type { PastCalls } from '../calls/past-calls.ts'
import type { Category, KnownTool } from '../calls/tools.ts'
import { duration, integer, list, object, required, text } from '../document/build-shape.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import { parseDuration, type Shape, type ShapeFields } from '../document/shape.ts'
import { isAnswerScalar, toAnswerKey } from '../provenance/answer-key.ts'
import { toCallDigest } from '../provenance/call-digest.ts'
import { SessionProvenance } from '../provenance/session-provenance.ts'
import { getMember, type JsonObject, type JsonValue } from '../values/json.ts'

export interface SampleFacts {
  readonly principal?: Partial<Principal>
  readonly session?: Partial<Omit<SessionFacts, 'repeats'>> & {
    /** How often the call was made in a row before. */
    readonly repeats?: number
  }
  readonly agent?: Partial<AgentFacts> | null
  readonly callCategory?: Category
  readonly holdsSecret?: boolean
  readonly holdsCard?: boolean
  readonly holdsIban?: boolean
  readonly transport?: string
  /** What the user asked for. */
  readonly prompt?: string
  /** Answers that the session has read: text, or structured content. */
  readonly answers?: readonly JsonValue[]
  /** What the session called before, the oldest first. */
  readonly called?: readonly CalledBefore[]
}

export interface CalledBefore {
  /** `<server>/<tool>`. */
  readonly tool: string
  /** A duration; a moment ago if it is missing. */
  readonly ago?: string | number
  readonly args?: JsonObject
  /** What it answered: structured content. An error, or only text, if it is missing. */
  readonly answer?: JsonValue
}

/**
 * Facts about the caller of a hypothetical call: a local principal in a new session, unless `given`
 * says otherwise.
 *
 * @example
 * ```ts
 * const facts = sampleFacts(tool, { principal: { groups: ['support'] } })
 * ```
 */
export function sampleFacts(tool: KnownTool | undefined, overrides: SampleFacts = {}): Facts {
  const { repeats = 0, ...session } = overrides.session ?? {}
  return {
    ...(tool === undefined ? {} : { tool }),
    ...(overrides.callCategory === undefined ? {} : { callCategory: overrides.callCategory }),
    holdsSecret: () => overrides.holdsSecret ?? false,
    holds: (kind) => (kind === 'card' ? overrides.holdsCard : overrides.holdsIban) ?? false,
    transport: overrides.transport ?? 'stdio',
    principal: { id: 'local', kind: 'local', groups: [], claims: {}, ...overrides.principal },
    agent: overrides.agent
      ? { id: 'agent', owner: 'local', template: '', depth: 0, turn: 0, ...overrides.agent }
      : null,
    session: {
      id: 'session',
      startedAtMs: 0,
      calls: 0,
      saw: [],
      past: samplePast(overrides),
      values: sampleValues(overrides),
      repeats: () => repeats,
      tokens: 0,
      ...session,
    },
    provenance: sampleProvenance(overrides),
  }
}

function sampleProvenance({ prompt, answers = [] }: SampleFacts): SessionProvenance {
  const memory = new SessionProvenance(SAMPLE_SEED)
  if (prompt !== undefined) memory.addPrompt(prompt)
  for (const answer of answers)
    memory.remember(
      typeof answer === 'string' ? { texts: [answer] } : { texts: [], structured: answer },
    )
  return memory
}

/** Fields of the answers that `called` gives. */
function sampleValues({ called = [] }: SampleFacts): AnswerValues {
  return {
    find: ({ tool, by, field }, key) => {
      const asked = called.findLast(
        ({ tool: name, args = {} }) =>
          name === tool &&
          Object.keys(args).every((each) => by.includes(each)) &&
          toAnswerKey(by.map((each) => getMember(args, [each]))) === key,
      )
      if (asked === undefined) return 'never'
      const value = asked.answer === undefined ? undefined : getMember(asked.answer, field)
      return isAnswerScalar(value) ? { value } : 'unknown'
    },
  }
}

/** The clock of a hypothetical call starts at 0. */
function samplePast({ called = [] }: SampleFacts): PastCalls {
  const calls = called.flatMap(({ tool, ago }) => {
    const parts = splitServerAndName(tool)
    return parts === undefined ? [] : { ...parts, atMs: -1_000 * (parseDuration(ago) ?? 0) }
  })
  return { calls, hasMore: false }
}

/** Facts with a past that grows: repeated calls are each other's past. */
export function withPast(facts: Facts): {
  readonly facts: Facts
  readonly remember: (call: Call, now: Instant) => void
} {
  const past = { calls: [...(facts.session.past?.calls ?? [])], hasMore: false }
  let last = ''
  let times = 0
  const repeats = (call: Call) =>
    toCallDigest(call) === last ? times : (facts.session.repeats?.(call) ?? 0)
  return {
    facts: { ...facts, session: { ...facts.session, past, repeats } },
    remember: (call, { monotonicMs: atMs }) => {
      const { server, name } = call
      times = repeats(call) + 1
      last = toCallDigest(call)
      past.calls.push({ server, name, atMs })
      if (past.calls.length <= PAST_KEPT) return
      past.calls.shift()
      past.hasMore = true
    },
  }
}

/** Calls of one case that its last ones see. */
const PAST_KEPT = 1_000

/** The first that names no tool of a server. */
export function findUnnamedCall(called: SampleFacts['called']): string | undefined {
  return called?.find(({ tool }) => splitServerAndName(tool) === undefined)?.tool
}

const SAMPLE_SEED = { low: 1, high: 2 }

/** `server/name` at the first slash. */
export function splitServerAndName(text: string): { server: string; name: string } | undefined {
  const slash = text.indexOf('/')
  if (slash < 1 || slash === text.length - 1) return undefined
  return { server: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** The shape of caller and session in a file that users write. */
export function factFields(bounds: { readonly count: number; readonly list: number }): ShapeFields {
  const name: Shape = text(KEY_LENGTH_MAX)
  const texts: Shape = list(name, bounds.list)
  const count: Shape = integer(0, bounds.count)
  const factOf = (noun: string, doc: string, shapes: Readonly<Record<string, Shape>>) => {
    const fields = Object.entries(shapes).map(([key, shape]) => [key, { shape, doc: '' }])
    return { shape: object(noun, Object.fromEntries(fields)), doc }
  }
  return {
    prompt: { shape: text(10_000), doc: 'what the user asked for' },
    answers: {
      shape: list({ kind: 'any' }, 100),
      doc: 'answers that the session has read: text, or structured content',
    },
    called: {
      shape: list(
        object('an earlier call', {
          tool: required(name, '`<server>/<tool>`'),
          args: { shape: { kind: 'any' }, doc: 'its arguments' },
          answer: { shape: { kind: 'any' }, doc: 'its structured content' },
          ago: {
            shape: duration(31_536_000),
            doc: 'how long before this call; a moment if left out',
          },
        }),
        PAST_KEPT,
      ),
      doc: 'what the session called before, the oldest first',
    },
    principal: factOf('a principal', 'who calls', {
      id: name,
      kind: name,
      groups: texts,
      claims: { kind: 'any' },
    }),
    session: factOf('a session', 'what the session is like', {
      id: name,
      calls: count,
      repeats: count,
      tokens: count,
      saw: texts,
      mode: name,
    }),
    agent: factOf('an agent', 'the agent that calls', {
      id: name,
      owner: name,
      template: name,
      depth: count,
      turn: count,
    }),
  }
}
