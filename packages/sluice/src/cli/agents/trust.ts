// `sluice agents trust`: the key that this installation signs bundles with, and those of other
// installations whose bundles restore memory here. Trusting one needs the proof of a person.

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { TRUST_KEY } from '../../operations/trust-key.ts'
import { readTrustedKeys } from '../../store/files/trusted-keys.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { OperationClient } from '../connect/ask-operation.ts'
import { addDirectoryOptions } from '../connect/find-data.ts'

interface TrustOptions {
  readonly data: string
  readonly remove?: boolean
  readonly as?: string
  readonly json?: boolean
}

const EXAMPLES = `
Examples:
  sluice agents trust                    the key of this installation, and whom it trusts
  sluice agents trust 3f1c…              bundles of that installation restore memory here
  sluice agents trust 3f1c… --remove

A bundle of a trusted installation restores the exact memory of its agent if it was made with the same
core; others restore from JSON. It grants no tools. Asks for your PIN at the terminal (role admin).`

export function addAgentsTrust(parent: Command, answer: SetExitCode): void {
  addDirectoryOptions(parent.command('trust [key]'))
    .description('other installations whose bundles restore memory here')
    .option('--remove', 'stop trusting it')
    .option('--as <name>', 'your name, if several people have a PIN')
    .option('--json', 'print JSON')
    .addHelpText('after', EXAMPLES)
    .action(async (key: string | undefined, options: TrustOptions) => {
      const output = new Output(options)
      const data = resolve(options.data)
      if (key === undefined) await list(data, output)
      else await change(data, key, options, output)
      answer(0)
    })
}

async function list(data: string, output: Output): Promise<void> {
  const { loadBundleKey } = await import('../../agents/transfer/bundle-key.ts')
  const own = loadBundleKey(data).publicKey
  const trusted = readTrustedKeys(data)
  output.value({ key: own, trusted })
  output.line(`${own} this installation`)
  for (const { key, by, at } of trusted) output.line(`${key} trusted by ${by}, ${at}`)
}

async function change(
  data: string,
  key: string,
  options: TrustOptions,
  output: Output,
): Promise<void> {
  const input = { key, remove: options.remove === true }
  const response = await new OperationClient({ data }, options).ask(TRUST_KEY, input)
  output.value(response)
  output.line(response.trusted ? `${key} is trusted` : `${key} is trusted no more`)
}
