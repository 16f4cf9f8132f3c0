// `sluice agents trust`: the key that this installation signs bundles with, and those of other
// installations whose bundles restore memory here. Trusting one needs the proof of a person.

import { resolve } from 'node:path'
import { TRUST_KEY } from '@sluice/gateway/operations/trust-key'
import { readTrustedKeys } from '@sluice/ledger/store/files/trusted-keys'
import { OperationClient } from '../connect/ask-operation.ts'
import { DIRECTORY } from '../connect/find-data.ts'
import { PROOF } from '../connect/prove-person.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import type { Output } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice agents trust                    the key of this installation, and whom it trusts
  sluice agents trust 3f1c…              bundles of that installation restore memory here
  sluice agents trust 3f1c… --remove

A bundle of a trusted installation restores the exact memory of its agent if it was made with the same
core; others restore from JSON. It grants no tools. Asks for your PIN at the terminal (role admin).`

const OPTIONS = {
  ...DIRECTORY,
  '--remove': 'stop trusting it',
  ...PROOF,
} as const

type TrustOptions = OptionsOf<typeof OPTIONS>

export const addAgentsTrust = defineCommand({
  name: 'trust',
  description: 'other installations whose bundles restore memory here',
  args: { '[key]': '' },
  options: OPTIONS,
  examples: EXAMPLES,
  run: async ({ key, ...options }, output) => {
    const data = resolve(options.data)
    if (key === undefined) await list(data, output)
    else await change(data, key, options, output)
  },
})

async function list(data: string, output: Output): Promise<void> {
  const { loadBundleKey } = await import('@sluice/agents/transfer/bundle-key')
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
