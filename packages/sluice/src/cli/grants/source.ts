// What the grants commands share: the configuration that says where they are kept and which policies
// they may name, the store itself, and the way to change it.

import type { JsonObject } from '@sluice/policy/core/json'
import type { Command } from 'commander'
import type { GateConfig } from '../../gateway/config/config.ts'
import { policyNames } from '../../gateway/config/grants.ts'
import { Grants } from '../../identity/callers/grants.ts'
import { IdentityError } from '../../identity/errors.ts'
import { addGrant, revokeGrant } from '../../operations/grant-commands.ts'
import { REQUIRED_ROLES } from '../../operations/verify-person.ts'
import { StoreError } from '../../store/errors.ts'
import { makePrivateFolder } from '../../store/files/private-folder.ts'
import { CliError } from '../../terminal/errors.ts'
import type { Output } from '../../terminal/output.ts'
import { type ConfigOptions, loadConfig } from '../connect/load-config.ts'
import { provePerson, withPeople } from '../connect/prove-person.ts'
import { runOnOwner } from '../connect/run-on-owner.ts'

export interface GrantsOptions extends ConfigOptions {
  readonly as?: string
  readonly json?: boolean
}

export function withGrantsOptions(command: Command): Command {
  return command
    .option('--config <file>', 'the configuration', 'sluice.yaml')
    .option('--data <dir>', 'another data directory than the configuration says')
    .option('--json', 'answer as JSON')
}

/** Runs `work` on the grants of an installation and closes them, whatever happens. */
export function withGrants<T>(
  options: GrantsOptions,
  output: Output,
  work: (grants: Grants, config: GateConfig) => T,
): T {
  const config = loadConfig(options, output)
  let grants: Grants | undefined
  try {
    grants = Grants.open(config.data, config.grants)
    return work(grants, config)
  } catch (error) {
    if (error instanceof StoreError || error instanceof IdentityError)
      throw new CliError('CLI_FILE', `${error.message} (${error.code})`, error.help)
    throw error
  } finally {
    grants?.close()
  }
}

/** By the owner of the data directory, after the proof of a person. */
export async function changeGrants(
  options: GrantsOptions,
  config: GateConfig,
  how: 'add' | 'revoke',
  wish: JsonObject,
): Promise<JsonObject> {
  const { data } = config
  makePrivateFolder(data)
  const proof = await provePerson(data, options)
  const request = { ...wish, do: `grant-${how}`, proof }
  return runOnOwner(data, request, () =>
    withPeople(data, async ({ ledger, prove }) => {
      const by = await prove(request, REQUIRED_ROLES.grants, `grants ${how}`)
      const grants = Grants.open(data, config.grants)
      try {
        const policies = policyNames(config)
        const parts = { grants, ledger, policies, changed: () => {}, nowMs: Date.now }
        return await (how === 'add' ? addGrant : revokeGrant)(parts, request, by)
      } finally {
        grants.close()
      }
    }),
  )
}
