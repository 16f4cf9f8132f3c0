// `sluice approvers`: who may decide. The first approver sets the first PIN without a proof, since there
// is nothing yet to prove it by; so that this is never silent it is recorded, in `sluice status` and in
// the log of every start. What cannot be recorded is not done: the event comes first everywhere.

import { fieldsOf, orNull, TEXT } from '@sluice/access/identity/answer-shapes'
import { GRANT_GROUPS_MAX, GROUP_NAME } from '@sluice/access/identity/grant-fields'
import { isPersonName, PERSON_NAME_HELP } from '@sluice/access/identity/names'
import { canProve, type StoredPerson } from '@sluice/access/identity/people/people'
import { checkNewPin } from '@sluice/access/identity/people/pin'
import {
  type Approver,
  PEOPLE_LIST,
  PERSON_VIEW,
  type PeopleList,
  type PersonView,
  ROLES,
  type Role,
  toActor,
} from '@sluice/access/identity/person'
import {
  BOOLEAN,
  form,
  list,
  required,
  someOf,
  text,
  textOrEmpty,
  word,
} from '@sluice/policy/document/build-shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { pickDefined } from '@sluice/policy/structures/pick-defined'
import { commandOperation, type Operation, type OperationParts, operation } from './operation.ts'
import { REQUIRED_ROLES } from './verify-person.ts'

const NAME = text(64)
/** A grant's name, `local`, or `<issuer>:<subject>`. */
const PRINCIPAL = form('principal', /^[^\s,\p{C}]{1,300}$/u, 'name one as the record has it')
/** Checked by `checkNewPin` alone: a message of the shape's would have the PIN in it. */
const PIN = { kind: 'any' } as const
const WHAT = text(200)

export const LIST_PEOPLE = operation({
  name: 'people.list',
  summary: 'who may decide',
  role: 'viewer',
  proof: 'none',
  socket: 'people',
  http: { method: 'GET', path: '/api/people' },
  command: 'approvers list',
  input: {},
  output: PEOPLE_LIST,
  run: (parts) => listPeople(parts),
})

/** The first approver: the user that the operating system names, with all roles. Refused from then on. */
const SET_FIRST_PIN = commandOperation({
  name: 'people.set-first-pin',
  summary: 'set the first PIN: its owner has all roles',
  role: 'viewer',
  proof: 'none',
  socket: 'first-pin',
  command: 'approvers pin',
  changes: true,
  input: {
    name: required(NAME, 'who'),
    pin: required(PIN, 'the PIN'),
    at: { shape: textOrEmpty(4_096), doc: 'the terminal it was typed at' },
  },
  run: async (parts, { name, pin, at = 'unknown' }) => {
    const first: Approver = {
      name: checkName(name),
      kind: 'person',
      roles: [...ROLES],
      groups: [],
      owns: ['local'],
    }
    const where = at.slice(0, 100)
    const chosen = checkNewPin(pin)
    parts.people.mustBeFirst()
    await parts.record('approver', { how: 'first PIN set', name, at: where })
    await parts.people.setFirst(first, chosen, parts.nowMs())
    parts.announce(`${name} may decide from now on: the first PIN was set at ${where}`)
    return listPeople(parts)
  },
})

/** With the old one; an admin sets anybody's. */
export const CHANGE_PIN = commandOperation({
  name: 'people.change-pin',
  summary: 'change a PIN',
  role: 'viewer',
  proof: 'fresh',
  socket: 'change-pin',
  command: 'approvers pin',
  changes: true,
  input: {
    name: { shape: NAME, doc: 'whose; by default that of the one who asks' },
    pin: required(PIN, 'the new PIN'),
  },
  run: async (parts, input, { by }) => {
    const { people, nowMs, announce } = parts
    const name = input.name === undefined ? by.name : checkName(input.name)
    if (people.find(name)?.kind !== 'person')
      throw new OperationError(
        `no person is called \`${name}\``,
        '`sluice approvers list` shows all',
      )
    if (name !== by.name && !by.roles.includes('admin'))
      throw new OperationError(`\`${by.name}\` may not set the PIN of \`${name}\``, 'an admin may')
    const chosen = checkNewPin(input.pin)
    await parts.record('approver', { how: 'PIN set', name, by: toActor(by) })
    await people.setPin(name, chosen, nowMs())
    announce(`the PIN of ${name} was changed by ${by.name}`)
    return listPeople(parts)
  },
})

export const ADD_PERSON = operation({
  name: 'people.add',
  summary: 'let somebody decide: with a credential for a system, a link for a person, once',
  role: 'admin',
  proof: 'fresh',
  socket: 'approver-add',
  http: { method: 'POST', path: '/api/people', omit: ['pin'] },
  command: 'approvers add',
  changes: true,
  input: {
    name: required(NAME, 'who, as the audit log names them'),
    roles: {
      shape: someOf(word(ROLES), ROLES.length),
      doc: `what they may do, of ${ROLES.join(', ')} (approver)`,
    },
    groups: { shape: list(GROUP_NAME, GRANT_GROUPS_MAX), doc: 'what rules name as `approvers`' },
    owns: { shape: list(PRINCIPAL, GRANT_GROUPS_MAX), doc: 'principals that are their own' },
    token: { shape: BOOLEAN, doc: 'a system: the answer has its credential, once' },
    pin: { shape: PIN, doc: 'a PIN that the person typed' },
  },
  output: fieldsOf({ person: PERSON_VIEW, token: orNull(TEXT) }, { invitation: TEXT }),
  run: async (parts, input, { by }) => {
    const { people, nowMs, announce } = parts
    const isSystem = input.token === true
    const roles = ROLES.filter((role) => (input.roles ?? ['approver']).includes(role))
    if (isSystem && roles.some((role) => role === 'admin' || role === 'policy-manager'))
      throw new OperationError(
        'a system may be `viewer` or `approver`',
        'leave the other roles to people',
      )
    const person: Approver = {
      name: checkName(input.name),
      kind: isSystem ? 'system' : 'person',
      roles,
      groups: [...new Set(input.groups)],
      owns: [...new Set(input.owns)],
    }
    const pin = input.pin === undefined ? undefined : checkNewPin(input.pin)
    const credentials = { token: isSystem, ...pickDefined({ pin }) }
    people.mustBeFree(person.name)
    await parts.record('approver', { how: 'added', ...toApproverView(person), by: toActor(by) })
    const { token } = await people.add(person, credentials, nowMs())
    announce(`${person.name} (${person.kind}, ${roles.join(', ')}) was added by ${by.name}`)
    return { person: toPersonView(people.find(person.name) as StoredPerson), token }
  },
})

export const REMOVE_PERSON = operation({
  name: 'people.remove',
  summary: 'remove an approver',
  role: 'admin',
  proof: 'fresh',
  socket: 'approver-remove',
  http: { method: 'DELETE', path: '/api/people/:name' },
  command: 'approvers remove',
  changes: true,
  input: { name: required(text(300), 'who') },
  output: fieldsOf({ removed: PERSON_VIEW }),
  run: async (parts, { name }, { by }) => {
    const removed = parts.people.remove(checkName(name))
    await parts.record('approver', { how: 'removed', name: removed.name, by: toActor(by) })
    parts.announce(`${removed.name} was removed by ${by.name}`)
    return { removed: toPersonView(removed) }
  },
})

/** For a command that then works by itself, such as `login`. */
export const PROVE_PERSON = commandOperation({
  name: 'people.prove',
  summary: 'show who one is, for a command that then works by itself',
  role: (input) => REQUIRED_ROLES[input.may as keyof typeof REQUIRED_ROLES],
  proof: 'fresh',
  socket: 'prove',
  command: (input) => String(input.what),
  input: {
    what: required(WHAT, 'what the proof is for'),
    may: required(
      word(Object.keys(REQUIRED_ROLES) as (keyof typeof REQUIRED_ROLES)[]),
      'what the person must be allowed to do',
    ),
  },
  run: async ({ record }, { what }, { by }) => {
    const detail = { what, by: toActor(by) }
    await record('proof', detail)
    return { by: toActor(by) }
  },
})

export const PEOPLE_OPERATIONS: readonly Operation[] = [
  LIST_PEOPLE,
  SET_FIRST_PIN,
  CHANGE_PIN,
  ADD_PERSON,
  REMOVE_PERSON,
  PROVE_PERSON,
]

export function listPeople({ people }: Pick<OperationParts, 'people'>): PeopleList {
  const all = people.list()
  return { people: all.map(toPersonView), anybody: all.some(canProve) }
}

function toPersonView(person: StoredPerson): PersonView {
  const { createdMs, pinSetMs, passkeys, hasToken, wrongPins, pausedUntilMs } = person
  return {
    ...toApproverView(person),
    since: new Date(createdMs).toISOString(),
    pinSet: pinSetMs === null ? null : new Date(pinSetMs).toISOString(),
    passkeys,
    token: hasToken,
    wrongPins,
    pausedUntil: pausedUntilMs === 0 ? null : new Date(pausedUntilMs).toISOString(),
  }
}

function toApproverView({ name, kind, roles, groups, owns }: Approver) {
  return { name, kind, roles: [...roles] as Role[], groups: [...groups], owns: [...owns] }
}

function checkName(name: string): string {
  if (isPersonName(name)) return name
  throw new OperationError(
    `\`${name.slice(0, 64)}\` is not a valid approver name`,
    PERSON_NAME_HELP,
  )
}
