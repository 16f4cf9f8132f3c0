// Who may approve, as `sluice status` and `sluice approvers` print it.

import { isObject, type JsonObject } from '@sluice/policy/core/json'
import { type Output, plural, printable } from '../../terminal/output.ts'

/** As `sluice status` shows them, too. */
export function showPeople({ people, anybody }: JsonObject, output: Output): void {
  if (anybody !== true)
    output.line(
      `${output.paint('yellow', 'nobody can approve')}: \`sluice approvers pin\` sets the first PIN`,
    )
  for (const person of Array.isArray(people) ? people.filter(isObject) : [])
    output.line(`approver ${output.paint('bold', printable(String(person.name)))} ${about(person)}`)
}

function about(person: JsonObject): string {
  const list = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : '')
  const has = [
    ...(person.pinSet === null ? [] : [`PIN since ${person.pinSet}`]),
    ...(person.passkeys === 0 ? [] : [plural(Number(person.passkeys), 'passkey')]),
    ...(person.token === true ? ['a token'] : []),
    ...(person.wrongPins === 0 ? [] : [`${person.wrongPins} wrong PINs since the last right one`]),
  ]
  const groups = list(person.groups)
  const what = `(${person.kind}: ${list(person.roles)}${groups === '' ? '' : `; groups ${groups}`})`
  return printable(`${what}: ${has.join(', ') || 'nothing to prove it by yet'}`)
}
