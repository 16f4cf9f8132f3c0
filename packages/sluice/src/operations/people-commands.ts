// `sluice approvers …` as the owner of the data directory does it: the first PIN, other PINs, adding
// and removing. Whoever comes first sets the first PIN without a proof, since there is nothing yet to
// prove it by; so that this is never silent it is on the record, in `sluice status` and in the log of
// every start.

import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/core/json'
import { OperationError } from '../core/operation-error.ts'
import { type Person, ROLES, type Role, toActor } from '../core/person.ts'
import type { CommandHandler } from '../gateway/front/socket/command-registry.ts'
import { GRANT_GROUPS_MAX } from '../identity/limits.ts'
import { GROUP_NAME, GROUP_NAME_HELP, isPersonName, PERSON_NAME_HELP } from '../identity/names.ts'
import { type Approver, canProve, type StoredPerson } from '../identity/people/people.ts'
import { checkNewPin } from '../identity/people/pin.ts'
import { type ProveParts, REQUIRED_ROLES, type VerifyPerson } from './verify-person.ts'

export interface PeopleParts extends ProveParts {
  readonly prove: VerifyPerson
  /** Whoever looks at the log is to see who may decide from now on. */
  readonly tell: (what: string) => void
}

export function listPeople({ people }: Pick<PeopleParts, 'people'>): JsonObject {
  const all = people.list()
  return { people: all.map(toldPerson), anybody: all.some(canProve) }
}

/** The first of all: whoever the system says runs this, with all roles. Refused from then on. */
async function setFirstPin(parts: PeopleParts, request: JsonObject): Promise<JsonObject> {
  const { people, nowMs } = parts
  const { name, pin, at } = request
  const first: Approver = {
    ...{ name: readName(name), kind: 'person', roles: [...ROLES] },
    ...{ groups: [], owns: ['local'] },
  }
  const where = typeof at === 'string' ? at.slice(0, 100) : 'unknown'
  const chosen = checkNewPin(pin)
  people.mustBeFirst()
  // On record before it holds, here and below: what cannot be recorded is not done.
  await record(parts, { how: 'first PIN set', name: first.name, at: where })
  await people.setFirst(first, chosen, nowMs())
  parts.tell(`${first.name} may decide from now on: the first PIN was set at ${where}`)
  return listPeople(parts)
}

/** With the old one; an admin sets anybody's. */
async function changePin(parts: PeopleParts, request: JsonObject): Promise<JsonObject> {
  const { people, prove, nowMs } = parts
  const by = await prove(request, 'viewer', 'approvers pin')
  const name = request.name === undefined ? by.name : readName(request.name)
  const person = people.find(name)
  if (person === undefined || person.kind !== 'person')
    throw new OperationError(`no person is called \`${name}\``, '`sluice approvers list` shows all')
  if (name !== by.name && !by.roles.includes('admin'))
    throw new OperationError(`\`${by.name}\` may not set the PIN of \`${name}\``, 'an admin may')
  const chosen = checkNewPin(request.pin)
  await record(parts, { how: 'PIN set', name, by: toActor(by) })
  await people.setPin(name, chosen, nowMs())
  parts.tell(`the PIN of ${name} was changed by ${by.name}`)
  return listPeople(parts)
}

async function addPerson(parts: PeopleParts, request: JsonObject): Promise<JsonObject> {
  const by = await parts.prove(request, 'admin', 'approvers add')
  return addBy(parts, by, request)
}

/** After the proof. */
export async function addBy(
  parts: Omit<PeopleParts, 'prove'>,
  by: Person,
  request: JsonObject,
): Promise<JsonObject> {
  const { people, nowMs } = parts
  const isSystem = request.token === true
  const roles = readRoles(request.roles ?? ['approver'])
  if (isSystem && roles.some((role) => role === 'admin' || role === 'policy-manager'))
    throw new OperationError(
      'a system may be `viewer` or `approver`',
      'leave the other roles to people',
    )
  const person: Approver = {
    name: readName(request.name),
    kind: isSystem ? 'system' : 'person',
    roles,
    groups: readGroups(request.groups),
    owns: readOwns(request.owns),
  }
  const pin = request.pin === undefined ? undefined : checkNewPin(request.pin)
  const credentials = { token: isSystem, ...(pin === undefined ? {} : { pin }) }
  people.mustBeFree(person.name)
  await record(parts, { how: 'added', ...toApproverView(person), by: toActor(by) })
  const { token } = await people.add(person, credentials, nowMs())
  parts.tell(`${person.name} (${person.kind}, ${roles.join(', ')}) was added by ${by.name}`)
  return { person: toldPerson(people.find(person.name) as StoredPerson), token }
}

async function removePerson(parts: PeopleParts, request: JsonObject): Promise<JsonObject> {
  const by = await parts.prove(request, 'admin', 'approvers remove')
  return removeBy(parts, by, request)
}

export async function removeBy(
  parts: Omit<PeopleParts, 'prove'>,
  by: Person,
  request: JsonObject,
): Promise<JsonObject> {
  const removed = parts.people.remove(readName(request.name))
  await record(parts, { how: 'removed', name: removed.name, by: toActor(by) })
  parts.tell(`${removed.name} was removed by ${by.name}`)
  return { removed: toldPerson(removed) }
}

/** Never anything of a PIN or a token. */
export function toldPerson(person: StoredPerson): JsonObject {
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
  return { name, kind, roles: [...roles], groups: [...groups], owns: [...owns] }
}

async function record(
  { ledger, nowMs }: Pick<PeopleParts, 'ledger' | 'nowMs'>,
  detail: JsonObject,
): Promise<void> {
  await ledger.event({ atMs: nowMs(), name: 'approver', detail })
}

function readName(name: JsonValue | undefined): string {
  if (typeof name === 'string' && isPersonName(name)) return name
  throw new OperationError(
    `\`${String(name).slice(0, 64)}\` is no name of an approver`,
    PERSON_NAME_HELP,
  )
}

function readRoles(value: JsonValue): Role[] {
  const known: readonly string[] = ROLES
  const named = textsOf(value, 'roles')
  const odd = named.find((role) => !known.includes(role))
  if (odd !== undefined || named.length === 0)
    throw new OperationError(`\`${odd ?? ''}\` is no role`, `roles are ${ROLES.join(', ')}`)
  return ROLES.filter((role) => named.includes(role))
}

function readGroups(value: JsonValue | undefined): string[] {
  const groups = textsOf(value ?? [], 'groups')
  const odd = groups.find((group) => !GROUP_NAME.test(group))
  if (odd !== undefined)
    throw new OperationError(`\`${odd}\` is no name of a group`, GROUP_NAME_HELP)
  return groups
}

/** Principals: a grant's name, `local`, or `<issuer>:<subject>`. */
function readOwns(value: JsonValue | undefined): string[] {
  const owns = textsOf(value ?? [], 'owns')
  const odd = owns.find((id) => !/^[^\s,\p{C}]{1,300}$/u.test(id))
  if (odd === undefined) return owns
  throw new OperationError(
    `\`${odd.slice(0, 64)}\` is no principal`,
    'name one as the record has it',
  )
}

function textsOf(value: JsonValue, name: string): string[] {
  if (!Array.isArray(value) || isObject(value) || !value.every((one) => typeof one === 'string'))
    throw new OperationError(`\`${name}\` is no list of names`, 'say a,b')
  if (value.length > GRANT_GROUPS_MAX)
    throw new OperationError(`\`${name}\` names too many`, `at most ${GRANT_GROUPS_MAX}`)
  return [...new Set(value as string[])]
}

/** The words of the control channel about people. */
export function createPeopleCommands(parts: PeopleParts): Readonly<Record<string, CommandHandler>> {
  return {
    people: () => listPeople(parts),
    'first-pin': (request) => setFirstPin(parts, request),
    'change-pin': (request) => changePin(parts, request),
    'approver-add': (request) => addPerson(parts, request),
    'approver-remove': (request) => removePerson(parts, request),
    // For a command that then works by itself, such as `login`.
    prove: async (request) => {
      const { what, role } = readAsked(request)
      const by = await parts.prove(request, role, what)
      await parts.ledger.event({
        ...{ atMs: parts.nowMs(), name: 'proof' },
        detail: { what, by: toActor(by) },
      })
      return { by: toActor(by) }
    },
  }
}

function readAsked({ what, may }: JsonObject): { what: string; role: Role } {
  if (typeof what !== 'string' || what === '' || what.length > 200)
    throw new OperationError('it is not said what the proof is for', 'say `what`')
  const known: readonly string[] = Object.keys(REQUIRED_ROLES)
  if (typeof may !== 'string' || !known.includes(may))
    throw new OperationError(
      `\`${String(may).slice(0, 40)}\` is nothing to prove for`,
      known.join(', '),
    )
  return { what, role: REQUIRED_ROLES[may as keyof typeof REQUIRED_ROLES] }
}
