// `sluice grants import`: makes the grants of a file, with one proof. All of the file is checked before the first is made.
// A token is written right after its grant; if that stops in between, the error says which grants were made.

import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { GRANT_NAME, GRANT_REQUEST, type GrantRequest } from '@sluice/access/identity/grant-fields'
import { policyNames } from '@sluice/gateway/config/grants'
import { ADD_GRANT, refuseGrant } from '@sluice/gateway/operations/grants'
import { object, record } from '@sluice/policy/document/build-shape'
import { checkShape } from '@sluice/policy/document/check-shape'
import { toJson } from '@sluice/policy/document/fields'
import { Problems } from '@sluice/policy/document/problem'
import { readDocument } from '@sluice/policy/document/read-document'
import { OperationClient } from '../connect/ask-operation.ts'
import { DATA } from '../connect/find-data.ts'
import { PROOF } from '../connect/prove-person.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { type Output, plural } from '../terminal/output.ts'
import { readText } from '../terminal/read-input.ts'
import { findGrants, withGrants } from './source.ts'

const EXAMPLES = `
Examples:
  sluice grants import agents.yaml --tokens tokens.txt

agents.yaml has the callers by name:
  billing-bot: { policy: billing, groups: [finance] }
  nightly: { policy: readonly, slots: 4, until: 2027-01-31 }

Asks for your PIN once (role admin). The file of the tokens is new, and only you can read it: a line \`NAME TOKEN\` for each.
A name that has a grant already is left as it is: after a fault, the same command with another file for the tokens
makes those that are missing.
Exit code 0 if all have a grant now, 1 if the file names a policy that does not exist or a time that is over.`

const { name: _, ...TERMS } = GRANT_REQUEST
const SHAPE = record(GRANT_NAME, object('a grant', TERMS))

export const addGrantsImport = defineCommand({
  name: 'import',
  description: 'add the callers of a file, with one PIN',
  args: { '<file>': 'callers by name, as under `grants:` of sluice.yaml without `hash`' },
  options: {
    '--tokens <file>': { doc: 'a new file for the tokens', required: true },
    ...DATA,
    ...PROOF,
  },
  examples: EXAMPLES,
  run: async ({ file, tokens, ...options }, output) => {
    const { config, ...place } = findGrants(options, output)
    const requests = readRequests(file, output)
    const nowMs = Date.now()
    const wanted = withGrants(config, (grants) => {
      const missing = requests.filter(({ name }) => !grants.hasValid(name, nowMs))
      for (const request of missing) {
        const refusal = refuseGrant(request, grants, policyNames(config), nowMs)
        if (refusal === undefined) continue
        output.remark(`sluice: ${request.name}: ${refusal.message}\n  help: ${refusal.help}`)
        return undefined
      }
      return missing
    })
    if (wanted === undefined) return 1
    if (wanted.length > 0) {
      if (existsSync(tokens)) throw createFileError(tokens, 'it is there already')
      const client = new OperationClient(place, options)
      // Somebody who gives up at the prompt leaves no file.
      await client.prove()
      createTokenFile(tokens)
      const made: string[] = []
      for (const request of wanted) {
        const { name } = request
        try {
          const { token } = await client.ask(ADD_GRANT, request)
          appendFileSync(tokens, `${name} ${token}\n`)
          made.push(name)
        } catch (error) {
          const isMade = withGrants(config, (grants) => grants.hasValid(name, Date.now()))
          if (made.length === 0) rmSync(tokens)
          throw describeStop(error as Error, {
            made,
            tokens,
            withoutToken: isMade ? name : undefined,
          })
        }
      }
    }
    const left = requests.length - wanted.length
    output.value({ added: wanted.map(({ name }) => name), left })
    output.line(`${plural(wanted.length, 'caller')} may call; the tokens are in ${tokens}`)
    if (left > 0) output.line(`${plural(left, 'name')} had a grant already: left as it is`)
    return 0
  },
})

function readRequests(file: string, output: Output): GrantRequest[] {
  const text = readText(file)
  const problems = new Problems(file, text)
  const tree = readDocument(text, problems)
  if (tree?.kind === 'map' && checkShape(tree, SHAPE, 'the grants', problems))
    return tree.entries.map(
      ({ key, value }) =>
        ({ ...(toJson(value) as object), name: String(key.value) }) as GrantRequest,
    )
  const sorted = problems.sorted()
  for (const problem of sorted) output.problem(problem, text)
  throw new CliError(
    'CLI_FILE',
    `\`${file}\` has no list of callers: nothing was added`,
    'write `NAME: { policy: POLICY }` for each; see `sluice grants import --help`',
    sorted,
  )
}

function createTokenFile(file: string): void {
  try {
    writeFileSync(file, '', { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw createFileError(file, (error as Error).message)
  }
}

function createFileError(file: string, why: string): CliError {
  const help = 'name a file that does not exist: tokens are not written over another'
  return new CliError('CLI_FILE', `\`${file}\` cannot be made: ${why}`, help)
}

interface StoppedImport {
  /** Whose tokens are in the file. */
  readonly made: readonly string[]
  readonly tokens: string
  /** Who has a grant whose token was lost on the way. */
  readonly withoutToken: string | undefined
}

/** An error after which somebody may have a grant says who. */
function describeStop(error: Error, { made, tokens, withoutToken }: StoppedImport): Error {
  if (made.length === 0 && withoutToken === undefined) return error
  const parts = [error.message]
  if (made.length > 0) parts.push(`made before, with tokens in ${tokens}: ${made.join(', ')}`)
  if (withoutToken !== undefined) parts.push(`made without a token: ${withoutToken}`)
  const again = 'run the command again with another file for the tokens'
  const help =
    withoutToken === undefined
      ? again
      : `\`sluice grants revoke ${withoutToken} --forget\`, then ${again}`
  return new CliError('CLI_GATE', parts.join('; '), help)
}
