// `sluice grants revoke`: ends a grant. A running gate refuses its token from the next request on and
// ends its open sessions. The name stays on the list, so that revoking the last one opens nothing.

import type { Command } from 'commander'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output } from '../../terminal/output.ts'
import { loadConfig } from '../connect/load-config.ts'
import { changeGrants, type GrantsOptions, withGrantsOptions } from './source.ts'

interface Options extends GrantsOptions {
  readonly forget?: boolean
}

const EXAMPLES = `
Examples:
  sluice grants revoke ann
  sluice grants revoke ann --forget      also takes it off the list

While grants are on the list, revoked or not, the local user needs a token. After the last one is
forgotten the gate is as it was before the first. Asks for your PIN at the terminal (role admin).
Exit code 0 where it was revoked, 1 where there is no such grant.`

export function addGrantsRevoke(parent: Command, answer: SetExitCode): void {
  withGrantsOptions(
    parent
      .command('revoke')
      .description('end a grant and its open sessions')
      .argument('<name>', 'whose')
      .option('--as <name>', 'who you are, where several people have a PIN')
      .option('--forget', 'take it off the list, too'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: Options) => {
      const output = new Output(options)
      const forget = options.forget === true
      const said = await changeGrants(options, loadConfig(options, output), 'revoke', {
        ...{ name, forget },
      })
      const { revoked, forgotten, fixed, localUser } = said
      output.value({ name, revoked, forgotten, localUser })
      if (revoked) output.line(`${name} is revoked`)
      if (forgotten) output.line(`${name} is forgotten`)
      if (fixed) output.remark(`note: \`${name}\` is fixed in sluice.yaml: take it away there`)
      if (!revoked && !forgotten && !fixed) output.remark(`sluice: no grant is called \`${name}\``)
      if (localUser)
        output.remark('note: no grants are left, so the local user is let in without a token')
      answer((revoked || forgotten) && !fixed ? 0 : 1)
    })
}
