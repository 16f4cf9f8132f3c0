// `sluice grants add`: creates a grant. The token is printed once and not stored; a running gate
// takes it from the next request on.

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hashGrantToken, makeToken } from '@sluice/access/identity/callers/grant'
import type { GrantRequest } from '@sluice/access/identity/grant-fields'
import type { GateConfig } from '@sluice/gateway/config/config'
import { policyNames } from '@sluice/gateway/config/grants'
import { ADD_GRANT, refuseGrant } from '@sluice/gateway/operations/grants'
import type { Command } from 'commander'
import { addOperationCommand } from '../connect/ask-operation.ts'
import { ArgumentError, CliError } from '../terminal/errors.ts'
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
  sluice grants add shop --policy shop --acs            # makes sluice.shop.key, prints lines for sluice.yaml

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
      '--acs':
        'for an agent that asks by the Agent Control Standard: make its key, print lines for sluice.yaml',
    },
    examples: EXAMPLES,
    description: 'add a caller and print its token, once',
    find: findGrants,
    before: (request, { config }, { acs, fixed }, output) =>
      withGrants(config, (grants) =>
        refuseGrant(request, grants, policyNames(config), Date.now()),
      ) ??
      (acs === true
        ? printAcs(request, config, output)
        : fixed === true
          ? printFixed(request, output)
          : undefined),
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

/** The key is in a file that only this user reads. Nothing else is changed: who may ask is for a person to write down. */
function printAcs({ name, ...terms }: GrantRequest, { file }: GateConfig, output: Output): 0 {
  if (!ACS_NAME.test(name))
    throw new ArgumentError(
      `\`${name}\` cannot be the name of a server`,
      'with --acs take small letters, digits and `-`, at most 24',
    )
  const keyFile = `sluice.${name}.key`
  const path = join(dirname(file), keyFile)
  try {
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const why = `the key cannot be written: ${(error as Error).message}`
    throw new CliError('CLI_FILE', why, `if ${path} is of an earlier agent, remove it`)
  }
  const grant = { acs: name, hmac_key: `\${file:./${keyFile}}`, ...terms }
  output.value({ servers: { [name]: { builtin: 'acs' } }, grants: { [name]: grant }, key: path })
  output.line(`key  ${path}, for the agent to sign with`)
  output.line('put this into sluice.yaml, then start the gate again:')
  output.line(`servers:\n  ${name}: { builtin: acs }`)
  output.line(`grants:\n  ${name}: ${JSON.stringify(grant)}`)
  output.dim('the agent asks at /acs, with the name of the grant as `agent_id`: docs/how-to/acs.md')
  return 0
}

/** As the name of a server, which it is too. */
const ACS_NAME = /^[a-z0-9-]{1,24}$/
