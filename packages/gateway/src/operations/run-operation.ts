// The only way to run an operation: input, proof, role, in this order, so that a malformed request
// costs no PIN attempt; then the row's own work. The socket and the command line come in by
// `runOperation`, the API by `runProven` after it has checked sign-in, role and passkey.

import { NOBODY, type Person } from '@sluice/access/identity/person'
import { checkShape } from '@sluice/policy/document/check-shape'
import { locateValue } from '@sluice/policy/document/locate-value'
import { Problems } from '@sluice/policy/document/problem'
import type { ShapeFields } from '@sluice/policy/document/shape'
import { InputError } from '@sluice/policy/structures/operation-error'
import { isObject, type JsonObject, type JsonValue } from '@sluice/policy/values/json'
import type { Operation, OperationParts, Proof, Requester } from './operation.ts'

/** `request` is a line of the socket: `{ do, proof, ...input }`. */
export async function runOperation(
  row: Operation,
  parts: OperationParts,
  { do: _, proof, ...input }: JsonObject,
): Promise<JsonObject> {
  checkInput(row.input, input)
  // Without proof the file mode of the socket is the check.
  const by = proofOf(row, input) === 'none' ? NOBODY : await prove(row, parts, input, proof)
  return await runRow(row, parts, input, { by, channel: 'terminal' })
}

/** After sign-in, role, input and passkey have been checked. */
export async function runProven(
  row: Operation,
  parts: OperationParts,
  input: JsonObject,
  by: Person,
): Promise<JsonObject> {
  return await runRow(row, parts, input, { by, channel: 'console' })
}

async function runRow(
  row: Operation,
  parts: OperationParts,
  input: JsonObject,
  asker: Requester,
): Promise<JsonObject> {
  const run = async () => (await row.run(parts, input, asker)) as JsonObject
  // What changes nothing does not wait for a shared store, which may be down: `status` says that it is.
  return row.changes === true ? confirmChange(parts, run) : run()
}

/** Makes a change that gates share: refused if their store is down, and answered when it is committed. */
export async function confirmChange<Answer>(
  { beginChange }: Pick<OperationParts, 'beginChange'>,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const confirm = beginChange?.()
  const answer = await work()
  await confirm?.()
  return answer
}

export function proofOf({ proof }: Operation, input: JsonObject): Proof {
  return typeof proof === 'function' ? proof(input) : proof
}

export function checkInput(fields: ShapeFields, input: JsonValue): void {
  if (!isObject(input)) throw new InputError('the request is not an object', 'name each field')
  refuseNull(fields, input)
  const problems = new Problems('', '')
  const shape = { kind: 'object', noun: 'the request', fields } as const
  checkShape(locateValue(input), shape, 'the request', problems)
  const [first] = problems.sorted()
  if (first !== undefined) throw new InputError(first.message, first.help)
}

/** In YAML an empty list may be left blank; here it is another value, which no operation expects. */
function refuseNull(fields: ShapeFields, input: JsonObject): void {
  for (const [name, value] of Object.entries(input))
    if (!['any', 'nullable'].includes(fields[name]?.shape.kind ?? '') && hasNull(value))
      throw new InputError(`\`${name}\` has a null in it`, 'leave out what is not meant')
}

function hasNull(value: JsonValue): boolean {
  if (value === null) return true
  return typeof value === 'object' && Object.values(value).some(hasNull)
}

function prove(
  { role, command, name }: Operation,
  parts: OperationParts,
  input: JsonObject,
  proof: JsonValue | undefined,
): Promise<Person> {
  const least = typeof role === 'function' ? role(input) : role
  const what = typeof command === 'function' ? command(input) : (command ?? name)
  return parts.prove(proof === undefined ? {} : { proof }, least, what)
}
