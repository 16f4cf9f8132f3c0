// Facts for hypothetical calls: in `explain`, in cases and in proofs. Everything has a default, so
// that a case states only what it is about.

import type { AgentFacts, Facts, Principal, SessionFacts } from '../core/call.ts'
import type { JsonValue } from '../core/json.ts'
import type { PastCalls } from '../core/past-calls.ts'
import type { Category, KnownTool } from '../core/tools.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import type { Shape, ShapeFields } from '../document/shape.ts'
import { SessionProvenance } from '../provenance/session-provenance.ts'

export interface SampleFacts {
  readonly principal?: Partial<Principal>
  readonly session?: Partial<SessionFacts>
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
      past: NO_PAST,
      ...overrides.session,
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

const NO_PAST: PastCalls = { calls: [], hasMore: false }
const SAMPLE_SEED = { low: 1, high: 2 }

/** `server/name` at the first slash. */
export function splitServerAndName(text: string): { server: string; name: string } | undefined {
  const slash = text.indexOf('/')
  if (slash < 1 || slash === text.length - 1) return undefined
  return { server: text.slice(0, slash), name: text.slice(slash + 1) }
}

/** The shape of caller and session in a file that users write. */
export function factFields(bounds: { readonly count: number; readonly list: number }): ShapeFields {
  const text: Shape = { kind: 'text', max: KEY_LENGTH_MAX }
  const texts: Shape = { kind: 'list', of: text, max: bounds.list }
  const count: Shape = { kind: 'integer', min: 0, max: bounds.count }
  const object = (noun: string, doc: string, shapes: Readonly<Record<string, Shape>>) => {
    const fields = Object.entries(shapes).map(([name, shape]) => [name, { shape, doc: '' }])
    return { shape: { kind: 'object', noun, fields: Object.fromEntries(fields) }, doc } as const
  }
  return {
    prompt: { shape: { kind: 'text', max: 10_000 }, doc: 'what the user asked for' },
    answers: {
      shape: { kind: 'list', of: { kind: 'any' }, max: 100 },
      doc: 'answers that the session has read: text, or structured content',
    },
    principal: object('a principal', 'who calls', {
      id: text,
      kind: text,
      groups: texts,
      claims: { kind: 'any' },
    }),
    session: object('a session', 'what the session is like', {
      id: text,
      calls: count,
      saw: texts,
    }),
    agent: object('an agent', 'the agent that calls', {
      id: text,
      owner: text,
      template: text,
      depth: count,
      turn: count,
    }),
  }
}
