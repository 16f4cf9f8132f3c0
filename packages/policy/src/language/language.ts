// The shape of the policy language, version 1, with the descriptions that editors show.
// Combinations of fields are checked in parse-rule.ts.

import { ACTIONS } from '../calls/actions.ts'
import { BLOCKING_KINDS, DATA_KINDS } from '../calls/data-kinds.ts'
import { CHANNELS } from '../calls/decision.ts'
import { ARGUMENT_ROLES, PROTECTION_LEVELS, TRUST_WORDS } from '../calls/provenance.ts'
import { CATEGORIES } from '../calls/tools.ts'
import {
  BOOLEAN,
  duration,
  form,
  integer,
  list,
  object,
  record,
  required,
  someOf,
  word,
} from '../document/build-shape.ts'
import { KEY_LENGTH_MAX } from '../document/limits.ts'
import type { Field, KeyShape, Shape, ShapeFields } from '../document/shape.ts'
import {
  ANSWER_BYTES_MAX,
  ANSWER_TOKENS_MAX,
  APPROVAL_TIMEOUT_SECONDS_MAX,
  APPROVAL_WAIT_SECONDS_MAX,
  CANARY_LENGTH_MAX,
  EXPRESSION_LENGTH_MAX,
  GUARDRAILS_MAX,
  HOSTS_MAX,
  LIMITS_PER_RULE_MAX,
  QUORUM_MAX,
  RATE_MAX,
  REASON_LENGTH_MAX,
  WINDOW_SECONDS_MAX,
} from './limits.ts'
import { CONTENT_METHODS } from './methods.ts'

const text = (max: number, example?: string): Shape => ({
  kind: 'text',
  max,
  ...(example === undefined ? {} : { example }),
})
const oneOrMore = (of: Shape): Shape => ({
  kind: 'either',
  of: [of, someOf(of, LIMITS_PER_RULE_MAX)],
})

const ACTION = word(ACTIONS)
const TIGHTENING: Shape = {
  kind: 'word',
  words: ACTIONS.filter((action) => action !== 'allow'),
  note: 'a guardrail only tightens',
}
const MODE = word(['enforce', 'shadow'])
const PER = oneOrMore(text(KEY_LENGTH_MAX))
const WINDOW: Field = required(
  duration(WINDOW_SECONDS_MAX),
  'seconds, or `30s`, `5m`, `1h`, `1d`; the window slides',
)
const PER_FIELD: Field = {
  shape: PER,
  doc: 'what splits the counter: `session` (the default), `principal`, `agent`, `server`, `tool`, `everyone`, `args.x`, or a list',
}

const RATE_LIMIT: Shape = {
  kind: 'object',
  noun: 'a rate limit',
  example: '`{ max: 5, window: 1m }`',
  fields: {
    max: required(
      { kind: 'integer', min: 1, max: RATE_MAX, zero: 'to let nothing pass, write `deny`' },
      'calls in any stretch of `window`',
    ),
    window: WINDOW,
    per: PER_FIELD,
  },
}

const SPEND_LIMIT: Shape = {
  kind: 'object',
  noun: 'a spend limit',
  example: '`{ amount: args.amount, max: 100, window: 1d }`',
  fields: {
    amount: required(
      { kind: 'either', of: [{ kind: 'decimal' }, text(KEY_LENGTH_MAX, '`args.amount`')] },
      'what a call costs: a number, an argument, or an argument times an argument or a number: `args.amount`, `args.cents * 0.01`',
    ),
    max: required(
      { kind: 'either', of: [{ kind: 'decimal' }, text(EXPRESSION_LENGTH_MAX)] },
      'sum in any stretch of `window`: a number, or a field of an earlier answer',
    ),
    window: WINDOW,
    per: PER_FIELD,
  },
}

const APPROVAL: Shape = object('an approval', {
  timeout: {
    shape: duration(APPROVAL_TIMEOUT_SECONDS_MAX),
    doc: 'how long a request stays open; then it is denied (10m)',
  },
  wait: {
    shape: duration(APPROVAL_WAIT_SECONDS_MAX),
    doc: 'how long the call itself waits before it is told to retry (25s)',
  },
  approvers: { shape: list(text(100)), doc: 'groups or names; any approver by default' },
  quorum: { shape: integer(1, QUORUM_MAX), doc: 'how many must approve (1)' },
  channels: { shape: someOf(word(CHANNELS)), doc: 'how approvers are notified, in this order' },
  separate_duties: { shape: BOOLEAN, doc: 'the owner of the agent may not approve' },
  edit_args: { shape: BOOLEAN, doc: 'an approver may change arguments' },
})

const COMMON: ShapeFields = {
  reason: {
    shape: text(REASON_LENGTH_MAX),
    doc: 'shown to the agent on a denial or when approval is required',
  },
  when: {
    shape: text(EXPRESSION_LENGTH_MAX, '`args.amount <= 5000`'),
    doc: 'a CEL expression over args, tool, session, …',
  },
  rate_limit: { shape: oneOrMore(RATE_LIMIT), doc: 'calls in a sliding window' },
  spend_limit: { shape: oneOrMore(SPEND_LIMIT), doc: 'amounts in a sliding window' },
  approval: { shape: APPROVAL, doc: 'how approval is requested' },
  extra_args: {
    shape: word(['allow']),
    doc: 'arguments the tool does not declare do not make `when` undecidable',
  },
  mode: { shape: MODE, doc: '`shadow`: not enforced, its decision is only recorded' },
}

const RULE: Shape = {
  kind: 'either',
  of: [
    ACTION,
    {
      kind: 'object',
      noun: 'a rule',
      elsewhere: {
        if: 'the condition of a rule is called `when`',
        condition: 'the condition of a rule is called `when`',
        else: 'the action if `when` is false is called `otherwise`',
        max: 'put it under `rate_limit` or `spend_limit`',
        window: 'put it under `rate_limit` or `spend_limit`',
        per: 'put it under `rate_limit` or `spend_limit`',
        approvers: 'put it under `approval`',
        timeout: 'put it under `approval`',
      },
      fields: {
        action: required(ACTION, 'what happens to the call'),
        otherwise: { shape: ACTION, doc: 'if `when` is false; `deny` by default' },
        over: { shape: someOf(word(CATEGORIES)), doc: 'categories whose rule this glob lifts' },
        ...COMMON,
      },
    },
  ],
}

const GUARDRAIL: Shape = {
  kind: 'object',
  noun: 'a guardrail',
  elsewhere: {
    otherwise: 'a guardrail has none: if `when` is false it does not apply',
    tools: 'put it under `match`',
    servers: 'put it under `match`',
    categories: 'put it under `match`',
    methods: 'put it under `match`',
  },
  fields: {
    name: required(text(200), 'unique; counters and records go by it'),
    match: {
      doc: 'all that are given must hold; left out matches every call',
      shape: object('a match', {
        categories: { shape: someOf(word(CATEGORIES)), doc: 'the tool has one of these' },
        tools: { shape: someOf(text(KEY_LENGTH_MAX), 1_000), doc: '`<server>/<tool>` or globs' },
        servers: { shape: someOf(text(KEY_LENGTH_MAX)), doc: 'names or globs' },
        methods: {
          shape: someOf(word(['tools/call', ...CONTENT_METHODS.keys()])),
          doc: 'the call is one of these',
        },
      }),
    },
    action: { shape: TIGHTENING, doc: 'combined with the rule; the stronger action wins' },
    ...COMMON,
  },
}

const HOSTS = list(text(253, '`*.example.com`'), HOSTS_MAX)
const KINDS = someOf(word(DATA_KINDS), DATA_KINDS.length)

const ANSWER: Shape = {
  kind: 'object',
  noun: 'a rule for answers',
  elsewhere: { action: 'answers have no action: write `deny`, `redact` or `mark`' },
  fields: {
    deny: {
      shape: someOf(
        {
          kind: 'word',
          words: BLOCKING_KINDS,
          note: 'what is only a shape may be redacted or marked',
        },
        BLOCKING_KINDS.length,
      ),
      doc: 'kinds of data: an answer with one of them is not passed on',
    },
    redact: { shape: KINDS, doc: 'kinds of data that are replaced, as by `[card ****1111]`' },
    mark: { shape: KINDS, doc: 'kinds of data that pass, and label the session with their name' },
    seal: {
      shape: someOf(text(KEY_LENGTH_MAX), 100),
      doc: 'tools that the agent may pass a redacted secret on to, by its placeholder',
    },
    max_bytes: {
      shape: integer(1_024, ANSWER_BYTES_MAX),
      doc: 'texts of an answer are cut at so many bytes, with a handle to read on',
    },
    max_tokens: { shape: integer(256, ANSWER_TOKENS_MAX), doc: 'the same in estimated tokens' },
    links: {
      shape: HOSTS,
      doc: 'hosts whose links and images in Markdown stay; others are removed',
    },
  },
}

const names = (noun: string): KeyShape => ({ kind: 'name', noun })

export const DOCUMENT: Shape & { kind: 'object' } = {
  kind: 'object',
  noun: 'a policy',
  elsewhere: { rules: 'rules are under `tools` and `categories`' },
  fields: {
    version: required({ kind: 'constant', value: 1 }, '`1`, the version of the language'),
    default: required(ACTION, 'the action for calls that no rule matches'),
    mode: { shape: MODE, doc: '`shadow`: nothing is enforced, every verdict is recorded' },
    protect: {
      shape: word(PROTECTION_LEVELS),
      doc: "holds calls whose values come from a stranger's text; `policy check --show` lists its guardrails",
    },
    quiet: {
      shape: word(['reads']),
      doc: '`reads`: the user of a coding agent is not asked about lines that certainly only read local files, nor about what an approver approved',
    },
    categories: { shape: record(word(CATEGORIES), RULE), doc: 'rules by what a tool can do' },
    tools: {
      shape: record(names('tool'), RULE),
      doc: 'rules by `<server>/<tool>`; `*` and `?` make a glob',
    },
    guardrails: {
      shape: list(GUARDRAIL, GUARDRAILS_MAX),
      doc: 'apply on top of every rule; only tighten',
    },
    labels: {
      shape: record(names('tool'), someOf(text(50))),
      doc: 'what an answer of this tool brings into the session',
    },
    label_scope: {
      shape: word(['session', 'principal']),
      doc: '`principal`: rules see the labels of all sessions of the principal (`session`)',
    },
    answers: {
      shape: record(names('tool'), ANSWER),
      doc: 'what comes back, by `<server>/<name>` or glob; all that match add up',
    },
    egress: {
      shape: record(names('tool'), HOSTS),
      doc: 'hosts that arguments of this tool may name; any other denies the call',
    },
    canaries: {
      shape: record(
        form('canary', /^[a-z0-9][a-z0-9_-]{0,49}$/i, 'letters, digits, `-` and `_`'),
        text(CANARY_LENGTH_MAX),
      ),
      doc: 'planted values by name: a call that carries one is denied, and its session frozen',
    },
    classify: {
      shape: record(names('tool'), word(CATEGORIES)),
      doc: "overrides the catalogue's classification",
    },
    destinations: {
      shape: record(
        names('tool'),
        record(
          form(
            'argument',
            /^[^.\s[\]]{1,100}(?:\.[^.\s[\]]{1,100}){0,7}$/,
            'its name, or the names on the way to it: `to`, `message.to`',
          ),
          word(ARGUMENT_ROLES),
        ),
      ),
      doc: 'what arguments are for `protect`, over what their names say',
    },
    trust: {
      shape: record(names('tool'), {
        kind: 'either',
        of: [
          word(['all']),
          record(
            form(
              'field',
              /^(?:\.|[^.\s[\]]{1,100}(?:\.[^.\s[\]]{1,100}){0,7})$/,
              'its name, or the names on the way to it: `email`, `items.id`, `*.id`, `items.$key`, or `.` for everything',
            ),
            word(TRUST_WORDS),
          ),
        ],
      }),
      doc: 'fields of answers that nobody else can choose, for `protect`; `all`: nobody else writes any of it',
    },
    methods: {
      shape: record(word([...CONTENT_METHODS.keys()]), RULE),
      doc: 'rules for what is not a tool call',
    },
    resources: { shape: record(names('resource'), RULE), doc: 'rules by `<server>/<URI>`' },
    prompts: { shape: record(names('prompt'), RULE), doc: 'rules by `<server>/<name>`' },
  },
}
