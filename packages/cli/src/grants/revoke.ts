// `sluice grants revoke`: ends a grant. A running gate refuses its token from the next request on and
// ends its open sessions. The name stays on the list, so that revoking the last one opens nothing.

import { REVOKE_GRANT } from '@sluice/gateway/operations/grants'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { findGrants } from './source.ts'

const EXAMPLES = `
Examples:
  sluice grants revoke ann
  sluice grants revoke ann --forget      also takes it off the list

While grants are on the list, revoked or not, the local user needs a token. After the last one is
forgotten the gate is as it was before the first. Asks for your PIN at the terminal (role admin).
Exit code 0 if it was revoked, 1 if there is no such grant.`

export function addGrantsRevoke(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: REVOKE_GRANT,
    examples: EXAMPLES,
    description: 'end a grant and its open sessions',
    args: { name: '<name>' },
    find: findGrants,
    value: ({ fixed: _, ...answer }) => answer,
    print: ({ name, revoked, forgotten, fixed, localUser }, output) => {
      if (revoked) output.line(`${name} is revoked`)
      if (forgotten) output.line(`${name} is forgotten`)
      if (fixed) output.remark(`note: \`${name}\` is fixed in sluice.yaml: take it away there`)
      if (!revoked && !forgotten && !fixed) output.remark(`sluice: no grant is called \`${name}\``)
      if (localUser)
        output.remark('note: no grants are left, so the local user is let in without a token')
      return (revoked || forgotten) && !fixed ? 0 : 1
    },
  })
}
