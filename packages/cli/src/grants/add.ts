// `sluice grants add`: creates a grant. The token is printed once and not stored; a running gate
// takes it from the next request on.

import { hashGrantToken, makeToken } from '@sluice/access/identity/callers/grant'
import type { GrantRequest } from '@sluice/access/identity/grant-fields'
import { policyNames } from '@sluice/gateway/config/grants'
import { ADD_GRANT, refuseGrant } from '@sluice/gateway/operations/grants'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import type { SetExitCode } from '../terminal/exit-code.ts'
import { type Output, plural } from '../terminal/output.ts'
import { findGrants, withGrants } from './source.ts'

const EXAMPLES = `
Examples:
  sluice grants add ann --policy readonly
  sluice grants add ci --policy deploy --slots 4 --groups release,ops --explain
  sluice grants add contractor --policy readonly --until 30d
  TOKEN=$(sluice grants add bot --policy policy --json | jq -r .token)
  sluice grants add root-bot --policy admin --fixed     # prints lines for sluice.yaml, keeps nothing

An HTTP client sends the token as \`Authorization: Bearer TOKEN\`; \`sluice stdio\` and \`sluice wrap\`
take it from SLUICE_TOKEN. Asks for your PIN at the terminal (role admin). \`policy\` names the document of \`policy:\`, any other name one of
\`policies:\`. With the first grant everybody needs one, the local user too.
Exit code 0 if it was added, 1 if the name is taken or there is no such policy.`

export function addGrantsAdd(parent: Command, answer: SetExitCode): void {
  addOperationCommand(parent, answer, {
    row: ADD_GRANT,
    args: { name: '<name>' },
    options: {
      '--fixed': 'print lines for sluice.yaml instead of keeping the grant in the store',
    },
    examples: EXAMPLES,
    description: 'add a caller and print its token, once',
    find: findGrants,
    before: (request, { config }, { fixed }, output) =>
      withGrants(config, (grants) =>
        refuseGrant(request, grants, policyNames(config), Date.now()),
      ) ?? (fixed === true ? printFixed(request, output) : undefined),
    value: ({ grant, token }) => ({ grant, token }),
    print: ({ grant: { name, policy, slots, until }, token, isFirst }, output) => {
      const end = until === null ? '' : `, until ${until}`
      const terms = `\`${policy}\`, ${plural(slots, 'session')}${end}`
      output.line(`${output.paint('bold', name)} may call under ${terms}`)
      output.line(`token  ${token}`)
      const once = 'it is shown only once and not stored: put it where it is used'
      output.dim(once)
      if (isFirst)
        output.remark('note: this is the first grant, so the local user needs one from now on too')
      return 0
    },
  })
}

function printFixed({ name, ...terms }: GrantRequest, output: Output): 0 {
  const token = makeToken()
  const hash = `sha256:${(hashGrantToken(token) as Buffer).toString('hex')}`
  output.value({ grants: { [name]: { hash, ...terms } }, token })
  output.line(`token  ${token}`)
  output.line('put this into sluice.yaml; the token is kept nowhere:')
  output.line(`grants:\n  ${name}: ${JSON.stringify({ hash, ...terms })}`)
  return 0
}
