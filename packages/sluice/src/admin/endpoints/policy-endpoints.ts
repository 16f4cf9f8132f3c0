// The policy as the console edits it: documents in force, what a text would mean, a move on the board
// as an edit of the text, saving with a proof, and the versions that were saved.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { moveRule } from '@sluice/policy/change/edit-rule'
import { ACTIONS } from '@sluice/policy/core/actions'
import { attempt } from '@sluice/policy/core/attempt'
import { CATEGORIES } from '@sluice/policy/core/tools'
import {
  BOOLEAN,
  form,
  integer,
  object,
  record,
  required,
  text,
  textOrEmpty,
  word,
} from '@sluice/policy/document/build-shape'
import type { ShapeValue } from '@sluice/policy/document/shape'
import { policyJsonSchema } from '@sluice/policy/language/json-schema'
import { InputError } from '../../core/operation-error.ts'
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

const action = word(ACTIONS)
const NAME = required(text(64), 'which policy')
const TEXT = required(textOrEmpty(DRAFT_LENGTH_MAX), 'the document')
/** One of `tool` and `category`. */
const MOVE = object('a move', {
  tool: { shape: text(400), doc: '`<server>/<tool>`' },
  category: { shape: word(CATEGORIES), doc: 'a category of tools' },
  to: required(action, 'what becomes of calls'),
  from: {
    shape: object('a bound', {
      argument: required(text(600), 'of the tool'),
      value: required(text(40), 'from which on'),
    }),
    doc: 'only calls from a value on',
  },
})
const ARGUMENT = form(
  'name of an argument',
  /^[A-Za-z_]\w{0,63}$/,
  'letters, digits and `_`, at most 64',
)
const SCALAR = form(
  'value of an argument',
  /^(?=.{0,400}$)(?:true|false|null|-?\d{1,15}(?:\.\d{1,15})?|"(?:[^"\\\p{C}]|\\["\\/bfnrt])*")$/u,
  'JSON on one line: a text, a number, true, false or null',
)
const TEST = object('a case', {
  name: required(text(200), 'what it is called'),
  call: required(text(400), '`<server>/<tool>`'),
  args: required(record(ARGUMENT, SCALAR), 'values as JSON'),
  expect: required(action, 'what becomes of the call'),
})
const DRAFT = {
  name: NAME,
  text: TEXT,
  move: { shape: MOVE, doc: 'on the board' },
  replay: { shape: BOOLEAN, doc: 'try it on recorded calls' },
  days: { shape: integer(1, 30), doc: 'on those of so many; 1 unless said' },
  test: { shape: TEST, doc: 'a case to add' },
} as const
const SAVE = {
  name: NAME,
  text: TEXT,
  base: required(text(100), 'digest of what was edited'),
  why: required(textOrEmpty(500), 'kept with the version'),
  tests: {
    shape: object('a file of cases', {
      base: required(textOrEmpty(100), 'digest; empty for a new one'),
      text: TEXT,
    }),
    doc: 'the file of cases beside it, as it was drafted',
  },
} as const

export function policyEndpoints(parts: PolicyEndpointParts): Endpoint[] {
  const { policies, store, reader, flushTools, nowMs } = parts
  return [
    endpoint('GET /api/policy', {
      role: 'viewer',
      summary: 'the policy documents as their files are now, and whether that is in force',
      handle: (): PolicyView => ({
        documents: [...policies.documents.values()].map(viewOf),
        why: policies.why,
      }),
    }),
    endpoint('GET /api/policy/schema', {
      role: 'viewer',
      summary: 'the JSON Schema of a policy document',
      handle: () => policyJsonSchema() as object,
    }),
    endpoint('POST /api/policy/draft', {
      role: 'viewer',
      input: DRAFT,
      summary: 'what a text would mean, or the text after a move; nothing is saved',
      handle: async ({ input: { name, text, move, replay, days = 1, test } }) => {
        if (!policies.documents.has(name))
          throw new ApiError('API_NOT_FOUND', `there is no policy \`${name}\``, 'see /api/policy')
        await flushTools()
        return reader.ask('draft', {
          documents: [...policies.documents],
          name,
          text: move === undefined ? text : moved(text, move),
          replaySinceMs: replay === true ? nowMs() - days * REPLAY_MS : undefined,
          test,
        })
      },
    }),
    endpoint('PUT /api/policy', {
      role: 'policy-manager',
      proof: true,
      input: SAVE,
      summary: 'save a document and put it in force; a file under version control gives a patch',
      handle: ({ input, person }) => savePolicy(parts, input, person),
    }),
    endpoint('GET /api/policy/versions', {
      role: 'viewer',
      summary: 'versions that were saved here, the newest first',
      handle: () => ({ versions: store.versions() }),
    }),
    endpoint('GET /api/policy/versions/:id', {
      role: 'viewer',
      summary: 'the text of one version',
      handle: ({ input }) => {
        const text = store.textOf(Number(input.id))
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
  return attempt(
    () => makeDocument(document.name, document.file, readFileSync(document.file, 'utf8')),
    document,
  )
}

function moved(text: string, { tool, category, to, from }: ShapeValue<typeof MOVE>): string {
  if ((tool === undefined) === (category === undefined))
    throw new InputError('a move names a `tool` or a `category`, one of them', 'name one')
  const made = moveRule(text, {
    ...(tool === undefined
      ? { section: 'categories', key: category as string }
      : { section: 'tools', key: tool }),
    to,
    ...(from === undefined ? {} : { from }),
  })
  if ('text' in made) return made.text
  throw new ApiError('API_REFUSED', made.refused, 'change it in the text beside the board')
}
