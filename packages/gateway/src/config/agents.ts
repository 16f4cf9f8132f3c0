// What sluice.yaml says of the agents: the providers of their models, what models cost, how much of
// their history is kept, and what becomes of runs that a crash cut off. Called by config.ts.

import {
  form,
  integer,
  object,
  record,
  required,
  text,
  word,
} from '@sluice/policy/document/build-shape'
import { findEntry, type LocatedMap } from '@sluice/policy/document/read-document'
import type { ShapeValue } from '@sluice/policy/document/shape'
import { readFields, readValue, URL_SHAPE } from './values.ts'

/** `agents` and `models` of sluice.yaml. */
export interface AgentsConfig {
  /** Providers of models, by name. */
  readonly models: ShapeValue<typeof MODELS>
  /** Prices of a million tokens, by the whole name of the model. */
  readonly prices: ShapeValue<typeof PRICES>
  /** Whether runs that a crash interrupted continue by themselves. */
  readonly resume: 'auto' | 'ask'
  /** How much of what an agent did is kept. */
  readonly history: {
    /** Older events are dropped. Absent: none are, by their age. */
    readonly days?: number
    /** Size of the events of one agent. Absent: 64. */
    readonly megabytes?: number
  }
}

const DAYS_MAX = 36_500
const MEGABYTES_MAX = 100_000

export const MODELS = record(
  form(
    'name of a provider',
    /^[a-z][a-z0-9_-]{0,63}$/,
    'small letters, digits, `_` and `-`, at most 64',
  ),
  object('a provider of models', {
    url: required(URL_SHAPE, 'base address of its API', 'https://models.example.com/v1'),
    api: {
      shape: word(['chat', 'responses', 'anthropic']),
      doc: "the form of its requests: OpenAI's chat completions, OpenAI's responses, Anthropic's messages",
      default: 'chat',
    },
    key: { shape: text(8_192), doc: 'its key, given by a variable', example: `$\{MODEL_KEY}` },
  }),
)

const PRICES = record(
  form(
    'name of a model',
    /^[a-z][a-z0-9_-]{0,63}:.{1,200}$/,
    '`provider:model`, such as `anthropic:claude-sonnet-4-6`',
  ),
  object('a price', {
    input: required({ kind: 'decimal' }, 'of a million input tokens', 3),
    output: required({ kind: 'decimal' }, 'of a million output tokens', 15),
  }),
)

export const AGENTS = object('settings of the agents', {
  resume: {
    shape: word(['auto', 'ask']),
    doc: 'whether runs that a crash interrupted continue by themselves',
    default: 'auto',
  },
  prices: { shape: PRICES, doc: 'what models cost, so that agents can have a limit on cost' },
  history: {
    shape: object('how much history is kept', {
      days: {
        shape: integer(1, DAYS_MAX),
        doc: 'older events of an agent are dropped, behind a checkpoint',
        unset: 'no bound by age',
        example: 30,
      },
      megabytes: {
        shape: integer(1, MEGABYTES_MAX),
        doc: 'size of the events of one agent; the oldest are dropped beyond it',
        unset: '64',
        example: 64,
      },
    }),
    doc: 'how much of what agents did is kept; their state always is',
  },
})

export function readAgents(map: LocatedMap): AgentsConfig {
  const { resume, prices = {}, history = {} } = readFields(AGENTS.fields, findEntry(map, 'agents'))
  const models = readValue<typeof MODELS>(findEntry(map, 'models')) ?? {}
  return { models, prices, resume, history }
}
