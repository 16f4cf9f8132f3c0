// What `sluice init` needs before it takes hooks that block out of a client: an agent that could do it by itself
// would only have to run the command.

import { existsSync } from 'node:fs'
import { LIST_PEOPLE, PROVE_PERSON } from '@sluice/gateway/operations/people'
import { CliError } from '../terminal/errors.ts'
import { terminal } from '../terminal/terminal.ts'
import { OperationClient } from './ask-operation.ts'

/** The proof of a person if the gate has an approver, else a word at the terminal. */
export async function proveHooks(data: string, what: string): Promise<void> {
  const client = new OperationClient({ data }, {})
  if (existsSync(data) && (await client.ask(LIST_PEOPLE, {})).anybody) {
    await client.ask(PROVE_PERSON, { what, may: 'servers' })
    return
  }
  const typed = await terminal.ask(
    'Without these hooks clients no longer stop if no gate answers.\nType `undo` to go on: ',
  )
  if (typed?.trim() === 'undo') return
  throw new CliError('CLI_TERMINAL', 'it was not confirmed', 'nothing was changed')
}
