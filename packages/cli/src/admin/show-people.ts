// Who may approve, as `sluice status` and `sluice approvers` print it.

import type { PeopleList, PersonView } from '@sluice/access/identity/person'
import { type Output, plural, printable } from '../terminal/output.ts'

export function showPeople({ people, anybody }: PeopleList, output: Output): void {
  if (!anybody)
    output.line(
      `${output.paint('yellow', 'nobody can approve')}: \`sluice approvers pin\` sets the first PIN`,
    )
  for (const person of people)
    output.line(`approver ${output.paint('bold', printable(person.name))} ${about(person)}`)
}

function about(person: PersonView): string {
  const { kind, roles, groups, pinSet, passkeys, token, wrongPins } = person
  const has = [
    pinSet !== null && `PIN since ${pinSet}`,
    passkeys > 0 && plural(passkeys, 'passkey'),
    token && 'a token',
    wrongPins > 0 && `${wrongPins} wrong PINs since the last right one`,
  ].filter((part) => part !== false)
  const of = groups.length === 0 ? '' : `; groups ${groups.join(', ')}`
  const what = `(${kind}: ${roles.join(', ')}${of})`
  return printable(`${what}: ${has.join(', ') || 'nothing to prove it by yet'}`)
}
