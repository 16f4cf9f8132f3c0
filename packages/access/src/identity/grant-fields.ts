// A grant, described once. The reader of sluice.yaml with its JSON Schema and reference page, the
// operations with `/api` and its OpenAPI page, the options of `sluice grants add`, and the types and the
// form of the console derive from these fields.

import { BOOLEAN, form, integer, list, required, text } from '@sluice/policy/document/build-shape'
import type { FieldValues, ShapeValue } from '@sluice/policy/document/shape'
import { COUNT, FLAG, fieldsOf, listOf, orNull, TEXT, TIME } from './answer-shapes.ts'

/** Default of `sessions.max`, and the largest. */
export const AGENT_SESSIONS_MAX = 20
export const AGENT_SESSIONS_SETTING_MAX = 1_000
/** Groups of one grant or access token. One with more is refused. */
export const GRANT_GROUPS_MAX = 64

/** A colon separates the name of a token's issuer from its subject, so no grant can be named like a
 * principal with a token, nor like the local user. */
export const GRANT_NAME = form(
  'grant name',
  /^(?!local$)[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/,
  'letters, digits, `.`, `_`, `@` and `-`, at most 64, and not `local`, who is the user here',
)

export const GROUP_NAME = form(
  'group name',
  /^[^\s,\p{Cc}]{1,64}$/u,
  'at most 64 characters, without spaces and commas',
)

export const POLICY_NAME = form(
  'name of a policy',
  /^[a-z0-9][a-z0-9-]{0,63}$/,
  'small letters, digits and `-`, at most 64',
)

export const SLOTS = integer(1, AGENT_SESSIONS_SETTING_MAX)

const TERMS = {
  policy: required(
    POLICY_NAME,
    'the policy that applies to it: a name under `policies`, or `policy`',
    'readonly',
  ),
  groups: {
    shape: list(GROUP_NAME, GRANT_GROUPS_MAX),
    doc: 'what rules see as `principal.groups`',
    example: ['ops'],
  },
  explain: {
    shape: BOOLEAN,
    doc: 'a denial names the rule and what is left of a limit',
    default: false,
  },
  prompt: {
    shape: BOOLEAN,
    doc: 'what its client says in `_meta` under `sluice/prompt` counts as asked for by the user',
    default: false,
  },
  until: {
    shape: { kind: 'time' },
    doc: 'when it ends: a time with a time zone, or a day (from 00:00 UTC on)',
    unset: 'when it is revoked',
    example: '2027-01-31T18:00:00Z',
  },
} as const

/** `grants.add`. */
export const GRANT_REQUEST = {
  name: required(GRANT_NAME, 'who it is for: the principal in rules and records'),
  ...TERMS,
  slots: {
    shape: SLOTS,
    doc: 'how many sessions it may have within `sessions.window`',
    default: AGENT_SESSIONS_MAX,
  },
} as const

/** Under `grants:` of sluice.yaml, by its name. */
export const FIXED_GRANT = {
  hash: {
    shape: form(
      'hash of a token',
      /^sha256:[0-9a-f]{64}$/,
      '`sha256:` and 64 hex digits, as `sluice grants add NAME --fixed` prints it',
      { secret: true },
    ),
    doc: 'of its token, as `sluice grants add NAME --fixed` prints it; every grant has one but those with `acs`',
    example: `sha256:${'0'.repeat(64)}`,
  },
  ...TERMS,
  hooks: {
    shape: text(24),
    doc: 'the server with `builtin: claude-code` or another client whose hooks it is for, as `sluice init --hooks` writes it. It opens `/hooks/NAME` and nothing else',
    example: 'claude-code',
  },
  acs: {
    shape: text(24),
    doc: 'the server with `builtin: acs` that stands for an agent of the Agent Control Standard, as `sluice grants add NAME --acs` writes it. It opens `/acs` and nothing else; the `agent_id` of its requests is the name of the grant',
    example: 'shop',
  },
  hmac_key: {
    shape: text(8_192),
    doc: 'with `acs`: the key that the agent signs with, 32 bytes or more',
    example: `$\{file:./sluice.shop.key}`,
  },
  slots: { shape: SLOTS, doc: 'an older name of `sessions.max`', example: 5 },
} as const

/** What lists and answers show: never its token, never its hash. */
export const GRANT_VIEW = fieldsOf({
  name: TEXT,
  id: TEXT,
  policy: TEXT,
  slots: COUNT,
  groups: listOf(TEXT),
  explain: FLAG,
  prompt: FLAG,
  fixed: FLAG,
  until: orNull(TIME),
  created: orNull(TIME),
  lastUsed: orNull(TIME),
  revoked: orNull(TIME),
})

/** `GET /api/grants`. */
export const GRANT_LIST = fieldsOf({
  grants: listOf(GRANT_VIEW),
  policies: listOf(TEXT),
  localUser: FLAG,
})

export type GrantRequest = FieldValues<typeof GRANT_REQUEST>
export type GrantView = ShapeValue<typeof GRANT_VIEW>
export type GrantList = ShapeValue<typeof GRANT_LIST>
