// `sluice grants list`: who may call, under which policy, and when they last did. Shows no token, for
// none is kept.

import type { Command } from 'commander'
import { isSharedCopy } from '../../gateway/data/shared-tables.ts'
import { type Grant, getRevocationMs, isGrantValid } from '../../identity/callers/grant.ts'
import { toGrantView } from '../../operations/grants.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural, printable } from '../../terminal/output.ts'
import { findData } from '../connect/find-data.ts'
import { addConfigOptions, type ConfigOptions } from '../connect/load-config.ts'
import { withGrants } from './source.ts'

interface Options extends ConfigOptions {
  readonly all?: boolean
}

const EXAMPLES = `
Examples:
  sluice grants list
  sluice grants list --all --json

Exit code 0 if there are grants, 1 if there are none: then the local user needs no token.`

const ALL_REVOKED =
  'every grant is revoked or has ended (--all shows them), so nobody is let in: `sluice grants add` makes another, `sluice grants revoke NAME --forget` of each lets the local user in again'

export function addGrantsList(parent: Command, answer: SetExitCode): void {
  addConfigOptions(
    parent
      .command('list')
      .description('who may call')
      .option('--all', 'the revoked and ended ones too'),
  )
    .addHelpText('after', EXAMPLES)
    .action((options: Options) => {
      const output = new Output(options)
      answer(
        withGrants(options, output, (grants) => {
          const nowMs = Date.now()
          const shown = grants
            .list()
            .filter((one) => options.all === true || isGrantValid(one, nowMs))
          const views = shown.map((one) => toGrantView(one, grants))
          output.value({ grants: views, localUser: !grants.exist })
          const { data } = findData(options, { mayBeMissing: true })
          const never = isSharedCopy(data) ? 'not used at this gate' : 'never used'
          for (const grant of shown) output.line(formatGrant(grant, never, nowMs, output))
          if (!grants.exist) output.line('no grants: the local user is let in without a token')
          else if (shown.length === 0) output.line(ALL_REVOKED)
          return grants.exist ? 0 : 1
        }),
      )
    })
}

function formatGrant(grant: Grant, never: string, nowMs: number, output: Output): string {
  const { name, policy, slots, groups, explain, canSayPrompt, isFixed, lastUsedMs } = grant
  const { untilMs } = grant
  const revokedMs = getRevocationMs(grant)
  const hasEnd = typeof untilMs === 'number' && revokedMs === null
  const parts = [
    `policy ${policy}`,
    plural(slots, 'session'),
    ...(groups.length > 0 ? [`groups ${groups.join(',')}`] : []),
    ...(explain ? ['explain'] : []),
    ...(canSayPrompt === true ? ['prompt'] : []),
    ...(isFixed ? ['from sluice.yaml'] : [lastUsedMs === null ? never : `used ${day(lastUsedMs)}`]),
    ...(!hasEnd
      ? []
      : [untilMs > nowMs ? `until ${day(untilMs)}` : output.paint('red', `ended ${day(untilMs)}`)]),
    ...(revokedMs === null ? [] : [output.paint('red', `revoked ${day(revokedMs)}`)]),
  ]
  return `${output.paint('bold', printable(name).padEnd(20))} ${printable(parts.join(', '))}`
}

function day(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}
