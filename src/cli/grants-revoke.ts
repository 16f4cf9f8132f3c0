// `sluice grants revoke`: ends a grant. A running gate refuses its token from the next request on and
// ends its open sessions. The name stays on the list, so that revoking the last one opens nothing.

import type { Command } from 'commander'
import type { Answer } from './answer.ts'
import { type GrantsOptions, withGrants, withGrantsOptions } from './grants-source.ts'
import { Output } from './output.ts'

interface Options extends GrantsOptions {
  readonly forget?: boolean
}

const EXAMPLES = `
Examples:
  sluice grants revoke ann
  sluice grants revoke ann --forget      also takes it off the list

While grants are on the list, revoked or not, the local user needs a token. After the last one is
forgotten the gate is as it was before the first.
Exit code 0 where it was revoked, 1 where there is no such grant.`

export function addGrantsRevoke(parent: Command, answer: Answer): void {
  withGrantsOptions(
    parent
      .command('revoke')
      .description('end a grant and its open sessions')
      .argument('<name>', 'whose')
      .option('--forget', 'take it off the list, too'),
  )
    .addHelpText('after', EXAMPLES)
    .action((name: string, options: Options) => {
      const output = new Output(options)
      answer(
        withGrants(options, output, (grants) => {
          const fixed = grants.list().some((one) => one.name === name && one.isFixed)
          const revoked = grants.revoke(name, Date.now()) !== undefined
          const forgotten = options.forget === true && grants.forget(name) > 0
          output.value({ name, revoked, forgotten, localUser: !grants.exist })
          if (revoked) output.line(`${name} is revoked`)
          if (forgotten) output.line(`${name} is forgotten`)
          if (fixed) output.remark(`note: \`${name}\` is fixed in sluice.yaml: take it away there`)
          if (!revoked && !forgotten && !fixed)
            output.remark(`sluice: no grant is called \`${name}\``)
          if (!grants.exist)
            output.remark('note: no grants are left, so the local user is let in without a token')
          return (revoked || forgotten) && !fixed ? 0 : 1
        }),
      )
    })
}
