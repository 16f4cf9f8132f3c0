// The policy as the console edits it: documents in force, what a text would mean, a move on the board
// as an edit of the text, saving with a proof, and the versions that were saved.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { moveRule } from '@sluice/policy/change/edit-rule'
import { ACTIONS } from '@sluice/policy/core/actions'
import { CATEGORIES } from '@sluice/policy/core/tools'
import { policyJsonSchema } from '@sluice/policy/language/json-schema'
import { z } from 'zod'
import { BASE_POLICY } from '../../gateway/config/grants.ts'
import { makeDocument, type PolicyDocument } from '../../gateway/state/documents.ts'
import { DRAFT_LENGTH_MAX, REPLAY_MS } from '../contract/console-limits.ts'
import type { PolicyDocumentView, PolicyView } from '../contract/contract-console.ts'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import { isVersioned, type SavePolicyParts, savePolicy } from './save-policy.ts'

export interface PolicyEndpointParts extends SavePolicyParts {
  readonly reader: LedgerReader
  /** Stores the known tools, for processes that read them from the data directory. */
  readonly flushTools: () => Promise<void>
}

const name = z.string().min(1).max(64)
const text = z.string().max(DRAFT_LENGTH_MAX)
const action = z.enum(ACTIONS)
const MOVE = z.union([
  z.strictObject({
    tool: z.string().min(3).max(400),
    to: action,
    from: z.strictObject({ argument: z.string().max(600), value: z.string().max(40) }).optional(),
  }),
  z.strictObject({ category: z.enum(CATEGORIES), to: action }),
])
/** A value of an argument as JSON, on one line. */
const scalar = z
  .string()
  .max(400)
  .regex(/^(?:true|false|null|-?\d{1,15}(?:\.\d{1,15})?|"(?:[^"\\\p{C}]|\\["\\/bfnrt])*")$/u)
const TEST = z.strictObject({
  name: z.string().min(1).max(200),
  call: z.string().min(3).max(400),
  args: z.record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), scalar),
  expect: action,
})
const DRAFT = z.strictObject({
  name,
  text,
  move: MOVE.optional(),
  replay: z.boolean().optional(),
  test: TEST.optional(),
})
const SAVE = z.strictObject({
  name,
  text,
  base: z.string().min(1).max(100),
  why: z.string().max(500),
  /** The file of cases beside it, as it was drafted; `base` is empty for a new one. */
  tests: z.strictObject({ base: z.string().max(100), text }).optional(),
})

export function policyEndpoints(parts: PolicyEndpointParts): Endpoint[] {
  const { policies, store, reader, flushTools, nowMs } = parts
  return [
    endpoint({
      method: 'GET',
      path: '/api/policy',
      role: 'viewer',
      summary: 'the policy documents as their files are now, and whether that is in force',
      handle: (): PolicyView => ({
        documents: [...policies.documents.values()].map(viewOf),
        why: policies.why,
      }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/policy/schema',
      role: 'viewer',
      summary: 'the JSON Schema of a policy document',
      handle: () => policyJsonSchema() as object,
    }),
    endpoint({
      method: 'POST',
      path: '/api/policy/draft',
      role: 'viewer',
      body: DRAFT,
      summary: 'what a text would mean, or the text after a move; nothing is saved',
      handle: async ({ body }) => {
        if (!policies.documents.has(body.name))
          throw new ApiError(
            'API_NOT_FOUND',
            `there is no policy \`${body.name}\``,
            'see /api/policy',
          )
        await flushTools()
        return reader.ask('draft', {
          documents: [...policies.documents],
          name: body.name,
          text: body.move === undefined ? body.text : moved(body.text, body.move),
          replaySinceMs: body.replay === true ? nowMs() - REPLAY_MS : undefined,
          test: body.test,
        })
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/api/policy',
      role: 'policy-manager',
      proof: true,
      body: SAVE,
      summary: 'save a document and put it in force; a file under version control gives a patch',
      handle: ({ body, person }) => savePolicy(parts, body, person),
    }),
    endpoint({
      method: 'GET',
      path: '/api/policy/versions',
      role: 'viewer',
      summary: 'versions that were saved here, the newest first',
      handle: () => ({ versions: store.versions() }),
    }),
    endpoint({
      method: 'GET',
      path: '/api/policy/versions/:id',
      role: 'viewer',
      summary: 'the text of one version',
      handle: ({ params }) => {
        const text = store.textOf(Number(params.id))
        if (text === undefined)
          throw new ApiError(
            'API_NOT_FOUND',
            'there is no such version',
            'see /api/policy/versions',
          )
        return { text }
      },
    }),
  ]
}

/** A file that cannot be read just now is shown as it is in force. */
function viewOf(document: PolicyDocument): PolicyDocumentView {
  const { name: called, file } = document
  const now = readAgain(document)
  return {
    ...now,
    house: called === BASE_POLICY,
    inForce: now.digest === document.digest,
    fixed: document.isWithin ? `this policy stands in ${basename(file)} itself` : '',
    versioned: isVersioned(file),
  }
}

function readAgain(document: PolicyDocument): PolicyDocument {
  if (document.isWithin) return document
  try {
    return makeDocument(document.name, document.file, readFileSync(document.file, 'utf8'))
  } catch {
    return document
  }
}

function moved(from: string, move: z.output<typeof MOVE>): string {
  const made = moveRule(from, {
    ...('tool' in move
      ? { section: 'tools', key: move.tool }
      : { section: 'categories', key: move.category }),
    to: move.to,
    ...('from' in move && move.from !== undefined ? { from: move.from } : {}),
  })
  if ('text' in made) return made.text
  throw new ApiError('API_REFUSED', made.refused, 'change it in the text beside the board')
}
