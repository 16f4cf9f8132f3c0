// The policy as the console edits it: documents in force, what a text would mean, a move on the board
// as an edit of the text, saving with a proof, and the versions that were saved.

import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { BASE_POLICY } from '@sluice/gateway/config/grants'
import type { OperationParts } from '@sluice/gateway/operations/operation'
import { confirmChange } from '@sluice/gateway/operations/run-operation'
import { makeDocument, type PolicyDocument } from '@sluice/gateway/state/documents'
import type { Policies } from '@sluice/gateway/state/policies'
import { ACTIONS } from '@sluice/policy/calls/actions'
import { CATEGORIES } from '@sluice/policy/calls/tools'
import {
  ALTERNATIVE_KINDS,
  type MoveResult,
  moveRule,
  type RuleMove,
} from '@sluice/policy/change/edit-rule'
import { shadowAdditions } from '@sluice/policy/change/shadow-edit'
import {
  BOOLEAN,
  form,
  integer,
  object,
  record,
  required,
  text,
  word,
} from '@sluice/policy/document/build-shape'
import type { ShapeValue } from '@sluice/policy/document/shape'
import { policyJsonSchema } from '@sluice/policy/language/json-schema'
import { attempt } from '@sluice/policy/structures/attempt'
import { InputError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { type Endpoint, endpoint } from '../http/endpoint.ts'
import { ApiError } from '../http/errors.ts'
import type { LedgerReader } from '../queries/ledger-reader.ts'
import { REPLAY_MS } from '../queries/limits.ts'
import { ruleTextOf } from '../queries/rule-text.ts'
import { isVersioned, SAVE, type SavePolicyParts, savePolicy } from './save-policy.ts'

export interface PolicyEndpointParts extends SavePolicyParts, Pick<OperationParts, 'beginChange'> {
  readonly reader: LedgerReader
  /** Stores the known tools, for processes that read them from the data directory. */
  readonly flushTools: () => Promise<void>
}

const action = word(ACTIONS)
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
  also: {
    shape: object('an alternative', {
      argument: required(text(600), 'of the tool'),
      value: required(text(2_000), 'a number up to which, or the JSON of a text'),
      by: { shape: word(ALTERNATIVE_KINDS), doc: 'what the text is of it; `value` unless said' },
    }),
    doc: 'beside what the condition of the rule allows',
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
  name: SAVE.name,
  text: SAVE.text,
  move: { shape: MOVE, doc: 'on the board' },
  shadow: { shape: BOOLEAN, doc: 'put the rules that it adds into shadow' },
  replay: { shape: BOOLEAN, doc: 'try it on recorded calls' },
  days: { shape: integer(1, 30), doc: 'on those of so many; 1 unless said' },
  test: { shape: TEST, doc: 'a case to add' },
  call: {
    shape: object('a call', {
      server: required(text(1_000), 'which server'),
      name: required(text(1_000), 'which tool'),
      principal: required(text(1_000), 'who calls: a grant, or `local`'),
      args: required(text(100_000), 'the arguments as JSON'),
    }),
    doc: 'a call that is decided and not made',
  },
  prove: { shape: BOOLEAN, doc: 'prove the properties beside the document' },
} as const

/** `GET /api/policy`. */
export interface PolicyView {
  readonly documents: readonly PolicyDocumentView[]
  /** What waits or is wrong; empty if the files are in force. */
  readonly why: string
}

/** A document as its file is now. */
export interface PolicyDocumentView extends PolicyDocument {
  /** It is the base policy, which every other one is combined with. */
  readonly house: boolean
  /** Whether this text is what is in force; else it waits or has errors. */
  readonly inForce: boolean
  /** The text that decides calls, and its digest. */
  readonly textInForce: string
  readonly digestInForce: string
  /** Why the document cannot be saved from the console; empty if it can. */
  readonly fixed: string
  /** The file lies in a checkout: what is saved is a patch to take along. */
  readonly versioned: boolean
}

export function policyEndpoints(parts: PolicyEndpointParts): Endpoint[] {
  const { policies, store, reader, flushTools, nowMs } = parts
  return [
    endpoint('GET /api/policy', {
      role: 'viewer',
      summary: 'the policy documents as their files are now, and whether that is in force',
      handle: () => viewPolicies(policies),
    }),
    endpoint('GET /api/policy/rule', {
      role: 'viewer',
      input: { rule: required(text(1_000), 'its pointer, as a decision names it') },
      summary: 'a rule as it is written in each document in force that has it (RuleText)',
      handle: ({ input: { rule } }) => ({
        rules: [...policies.documents.values()].flatMap(({ name, digest }) => {
          const found = ruleTextOf(policies.documents, `${name} ${digest}`, rule)
          return found === null ? [] : [found]
        }),
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
      handle: async ({ input }) => {
        const { name, text, move, shadow, replay, days = 1, test, call, prove } = input
        const inForce = policies.documents.get(name)
        if (inForce === undefined)
          throw new ApiError('API_NOT_FOUND', `there is no policy \`${name}\``, 'see /api/policy')
        await flushTools()
        return reader.ask('draft', {
          documents: [...policies.documents],
          name,
          text: editText(text, { move, before: shadow === true ? inForce.text : undefined }),
          replaySinceMs: replay === true ? nowMs() - days * REPLAY_MS : undefined,
          test,
          call: call && { ...call, nowMs: nowMs() },
          isProved: prove,
        })
      },
    }),
    endpoint('PUT /api/policy', {
      role: 'policy-manager',
      proof: true,
      input: SAVE,
      summary: 'save a document and put it in force; a file under version control gives a patch',
      handle: ({ input, person }) => confirmChange(parts, () => savePolicy(parts, input, person)),
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

function viewPolicies({ documents, why }: Policies): PolicyView {
  return { documents: [...documents.values()].map(viewOf), why }
}

/** A file that cannot be read just now is shown as it is in force. */
function viewOf(document: PolicyDocument): PolicyDocumentView {
  const { name: called, file } = document
  const now = readAgain(document)
  return {
    ...now,
    house: called === BASE_POLICY,
    inForce: now.digest === document.digest,
    textInForce: document.text,
    digestInForce: document.digest,
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

interface TextEdits {
  readonly move: ShapeValue<typeof MOVE> | undefined
  /** The text in force, if what is added to it is put into shadow. */
  readonly before: string | undefined
}

function editText(text: string, { move, before }: TextEdits): string {
  const moved = move === undefined ? text : textOf(moveRule(text, toRuleMove(move)))
  return before === undefined ? moved : textOf(shadowAdditions(before, moved), SHADOW_HELP)
}

const SHADOW_HELP = 'add a guardrail or an exact rule in place of the change'

function textOf(made: MoveResult, help = 'change it in the text of the policy'): string {
  if ('text' in made) return made.text
  throw new ApiError('API_REFUSED', made.refused, help)
}

function toRuleMove({ tool, category, to, from, also }: ShapeValue<typeof MOVE>): RuleMove {
  if ((tool === undefined) === (category === undefined))
    throw new InputError('a move names a `tool` or a `category`, one of them', 'name one')
  return {
    ...(tool === undefined
      ? { section: 'categories', key: category as string }
      : { section: 'tools', key: tool }),
    to,
    ...pickDefined({ from, also }),
  }
}
