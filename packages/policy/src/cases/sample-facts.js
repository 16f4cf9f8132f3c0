// Facts for hypothetical calls: in `explain`, in cases and in proofs. Everything has a default, so
// that a case states only what it is about.
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import { SessionProvenance } from '../provenance/session-provenance.ts'
/**
 * Facts about the caller of a hypothetical call: a local principal in a new session, unless `said`
 * says otherwise.
 *
 * @example
 * ```ts
 * const facts = sampleFacts(tool, { principal: { groups: ['support'] } })
 * ```
 */
export function sampleFacts(tool, said = {}) {
  return {
    ...(tool === undefined ? {} : { tool }),
    ...(said.callCategory === undefined ? {} : { callCategory: said.callCategory }),
    holdsSecret: () => said.holdsSecret ?? false,
    holds: (kind) => (kind === 'card' ? said.holdsCard : said.holdsIban) ?? false,
    transport: said.transport ?? 'stdio',
    principal: { id: 'local', kind: 'local', groups: [], claims: {}, ...said.principal },
    agent: said.agent
      ? { id: 'agent', owner: 'local', template: '', depth: 0, turn: 0, ...said.agent }
      : null,
    session: { id: 'session', startedAtMs: 0, calls: 0, saw: [], past: NO_PAST, ...said.session },
    provenance: sampleProvenance(said),
  }
}
function sampleProvenance({ prompt, answers = [] }) {
  const memory = new SessionProvenance(SAMPLE_SEED)
  if (prompt !== undefined) memory.addPrompt(prompt)
  for (const answer of answers)
    memory.remember(
      typeof answer === 'string' ? { texts: [answer] } : { texts: [], structured: answer },
    )
  return memory
}
const NO_PAST = { calls: [], hasMore: false }
const SAMPLE_SEED = { low: 1, high: 2 }
/** `server/name` at the first slash. */
export function splitServerAndName(text) {
  const slash = text.indexOf('/')
  if (slash < 1 || slash === text.length - 1) return undefined
  return { server: text.slice(0, slash), name: text.slice(slash + 1) }
}
/** The shape of caller and session in a file that users write. */
export function factFields(bounds) {
  const text = { kind: 'text', max: KEY_LENGTH_MAX }
  const texts = { kind: 'list', of: text, max: bounds.list }
  const count = { kind: 'integer', min: 0, max: bounds.count }
  const object = (noun, doc, shapes) => {
    const fields = Object.entries(shapes).map(([name, shape]) => [name, { shape, doc: '' }])
    return { shape: { kind: 'object', noun, fields: Object.fromEntries(fields) }, doc }
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
