// What the grants commands share: the configuration that says where they are kept and which policies
// they may name, the store itself, and a grant as it is shown (never its token, never its hash).

import type { Command } from 'commander'
import type { GateConfig } from '../gateway/config.ts'
import { IdentityError } from '../identity/errors.ts'
import type { Grant } from '../identity/grant.ts'
import { Grants } from '../identity/grants.ts'
import { StoreError } from '../store/errors.ts'
import { CliError } from './errors.ts'
import { type ConfigOptions, loadConfig } from './load-config.ts'
import type { Output } from './output.ts'

export interface GrantsOptions extends ConfigOptions {
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

export function grantJson(grant: Grant): object {
  const { id, name, policy, slots, groups, explain, isFixed } = grant
  const at = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())
  return {
    ...{ name, id, policy, slots, groups, explain, fixed: isFixed },
    created: at(grant.createdMs),
    lastUsed: at(grant.lastUsedMs),
    revoked: at(grant.revokedMs),
  }
}
