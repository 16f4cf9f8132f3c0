// Who may decide, as a gate finds it when it starts: opened, and written to the log, so that no one can
// have become an approver unnoticed. Called by open-identity.ts.

import { canProve, People, type StoredPerson } from '@sluice/access/identity/people/people'
import type { Log } from '../shared/log.ts'

export function openPeople(directory: string, log: Log, closing: AsyncDisposableStack): People {
  const people = People.open(directory)
  closing.defer(() => people.close())
  const all = people.list()
  if (!all.some(canProve))
    log('warn', 'nobody can approve anything yet: `sluice approvers pin` sets the first PIN')
  for (const person of all) log('info', `may decide: ${describeApprover(person)}`)
  return people
}

/** `ann (admin): PIN since 2026-11-15T08:00:00.000Z, 1 passkey`. */
function describeApprover({
  name,
  roles,
  pinSetMs,
  passkeys,
  hasToken,
  wrongPins,
}: StoredPerson): string {
  const has = [
    ...(pinSetMs === null ? [] : [`PIN since ${new Date(pinSetMs).toISOString()}`]),
    ...(passkeys === 0 ? [] : [`${passkeys} ${passkeys === 1 ? 'passkey' : 'passkeys'}`]),
    ...(hasToken ? ['a token'] : []),
    ...(wrongPins === 0 ? [] : [`${wrongPins} wrong PINs since the last right one`]),
  ]
  return `${name} (${roles.join(', ')}): ${has.join(', ') || 'nothing to prove it by yet'}`
}
