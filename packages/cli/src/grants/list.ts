// `sluice grants list`: who may call, under which policy, and when they last did. Shows no token, for
// none is kept.

import { isGrantValid } from '@sluice/access/identity/callers/grant'
import type { GrantView } from '@sluice/access/identity/grant-fields'
import { isSharedCopy } from '@sluice/gateway/data/shared-tables'
import { toGrantView } from '@sluice/gateway/operations/grants'
import { CONFIG_OPTIONS, loadConfig } from '../connect/load-config.ts'
import { defineCommand } from '../terminal/define-command.ts'
import { type Output, plural, printable } from '../terminal/output.ts'
import { withGrants } from './source.ts'

const EXAMPLES = `
Examples:
  sluice grants list
  sluice grants list --all --json

Exit code 0 if there are grants, 1 if there are none: then the local user needs no token.`

const ALL_REVOKED =
  'every grant is revoked or has ended (--all shows them), so nobody is let in: `sluice grants add` makes another, `sluice grants revoke NAME --forget` of each lets the local user in again'

export const addGrantsList = defineCommand({
  name: 'list',
  description: 'who may call',
  options: { '--all': 'the revoked and ended ones too', ...CONFIG_OPTIONS },
  examples: EXAMPLES,
  run: (options, output) => {
    const config = loadConfig(options, output)
    const nowMs = Date.now()
    withGrants(config, (grants) => {
      const shown = grants.list().filter((one) => options.all || isGrantValid(one, nowMs))
      const views = shown.map((one) => toGrantView(one, grants))
      output.value({ grants: views, localUser: !grants.exist })
      const never = isSharedCopy(config.data) ? 'not used at this gate' : 'never used'
      for (const view of views) output.line(formatGrant(view, never, nowMs, output))
      if (!grants.exist) output.line('no grants: the local user is let in without a token')
      else if (shown.length === 0) output.line(ALL_REVOKED)
      return grants.exist ? 0 : 1
    })
  },
})

function formatGrant(grant: GrantView, never: string, nowMs: number, output: Output): string {
  const { name, policy, slots, groups, explain, prompt, fixed, until, lastUsed, revoked } = grant
  const hasEnded = until !== null && Date.parse(until) <= nowMs
  const parts = [
    `policy ${policy}`,
    plural(slots, 'session'),
    groups.length > 0 && `groups ${groups.join(',')}`,
    explain && 'explain',
    prompt && 'prompt',
    fixed ? 'from sluice.yaml' : lastUsed === null ? never : `used ${minute(lastUsed)}`,
    revoked !== null && output.paint('red', `revoked ${minute(revoked)}`),
    revoked === null && until !== null && !hasEnded && `until ${minute(until)}`,
    revoked === null && hasEnded && output.paint('red', `ended ${minute(until)}`),
  ]
  const terms = parts.filter((part) => part !== false).join(', ')
  return `${output.paint('bold', printable(name).padEnd(20))} ${printable(terms)}`
}

function minute(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}
