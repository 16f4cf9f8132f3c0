// `sluice grants add`: creates a grant. The token is printed once and not stored; a running gate
// takes it from the next request on.

import type { Command } from 'commander'
import type { GateConfig } from '../../gateway/config/config.ts'
import { nameOne, policyNames } from '../../gateway/config/grants.ts'
import { hashGrantToken, makeToken } from '../../identity/callers/grant.ts'
import type { GrantRequest, Grants } from '../../identity/callers/grants.ts'
import {
  AGENT_SESSIONS_MAX,
  AGENT_SESSIONS_SETTING_MAX,
  GRANT_GROUPS_MAX,
} from '../../identity/limits.ts'
import { GRANT_NAME, GRANT_NAME_HELP, GROUP_NAME, GROUP_NAME_HELP } from '../../identity/names.ts'
import { ADD_GRANT } from '../../operations/grants.ts'
import { CliError } from '../../terminal/errors.ts'
import type { SetExitCode } from '../../terminal/exit-code.ts'
import { Output, plural } from '../../terminal/output.ts'
import { askOperation } from '../connect/ask-operation.ts'
import { addConfigOptions, type ConfigOptions } from '../connect/load-config.ts'
import { readCount, readTime } from '../ledger/source.ts'
import { grantsPlace, withGrants } from './source.ts'

interface AddedGrant extends GrantRequest {
  readonly until: string | null
}

interface Options extends ConfigOptions {
  readonly policy: string
  readonly slots: string
  readonly groups?: string
  readonly explain?: boolean
  readonly prompt?: boolean
  readonly until?: string
  readonly fixed?: boolean
}

const EXAMPLES = `
Examples:
  sluice grants add ann --policy readonly
  sluice grants add ci --policy deploy --slots 4 --groups release,ops --explain
  sluice grants add contractor --policy readonly --until 30d
  TOKEN=$(sluice grants add bot --policy policy --json | jq -r .token)
  sluice grants add root-bot --policy admin --fixed     # prints lines for sluice.yaml, keeps nothing

An HTTP client sends the token as \`Authorization: Bearer TOKEN\`; \`sluice stdio\` and \`sluice wrap\`
take it from SLUICE_TOKEN. Asks for your PIN at the terminal (role admin). \`policy\` names the document of \`policy:\`, any other name one of
\`policies:\`. With the first grant everybody needs one, the local user too.
Exit code 0 if it was added, 1 if the name is taken or there is no such policy.`

export function addGrantsAdd(parent: Command, answer: SetExitCode): void {
  addConfigOptions(
    parent
      .command('add')
      .description('add a caller and print its token, once')
      .argument('<name>', 'who it is for: the principal in rules and records')
      .requiredOption('--policy <name>', 'the policy that applies to it')
      .option(
        '--slots <n>',
        'how many sessions it may have within `sessions.window`',
        String(AGENT_SESSIONS_MAX),
      )
      .option('--groups <a,b>', 'what rules see as `principal.groups`')
      .option('--explain', 'denials name the rule and what is left')
      .option('--prompt', 'its client may say what the user asked for (`sluice/prompt` in `_meta`)')
      .option('--until <time>', 'when it ends: `12h`, `30d` (from now), a day, or a time')
      .option('--as <name>', 'your name, if several people have a PIN')
      .option('--fixed', 'print lines for sluice.yaml instead of keeping the grant in the store'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: Options) => {
      const output = new Output(options)
      const request = toGrantRequest(name, options)
      const { why, config } = withGrants(options, output, (grants, current) => ({
        why: refusal(grants, current, request),
        config: current,
      }))
      if (why !== undefined) {
        output.remark(`sluice: ${why.message}\n  help: ${why.help}`)
        output.value({ error: { code: null, ...why } })
        return answer(1)
      }
      if (options.fixed === true) return answer(printFixed(request, output))
      const response = await askOperation(ADD_GRANT, toTerms(request), {
        place: grantsPlace(config),
        options,
      })
      const { grant, token, isFirst } = response
      output.value({ grant, token })
      print(grant as unknown as AddedGrant, String(token), output)
      if (isFirst === true)
        output.remark('note: this is the first grant, so the local user needs one from now on too')
      answer(0)
    })
}

/** Before anybody is asked for a PIN. */
function refusal(
  grants: Grants,
  config: GateConfig,
  { name, policy }: GrantRequest,
): { readonly message: string; readonly help: string } | undefined {
  const policies = policyNames(config)
  if (!policies.includes(policy))
    return { message: `no policy is called \`${policy}\``, help: nameOne(policies) }
  if (grants.hasValid(name, Date.now()))
    return { message: `\`${name}\` has a grant already`, help: `sluice grants revoke ${name}` }
  return undefined
}

function toGrantRequest(name: string, options: Options): GrantRequest {
  const { policy, slots, groups, explain, prompt, until } = options
  if (!GRANT_NAME.test(name))
    throw new CliError('CLI_ARGUMENT', `\`${name}\` is not a valid grant name`, GRANT_NAME_HELP)
  const named = groups === undefined ? [] : groups.split(',')
  const odd = named.find((group) => !GROUP_NAME.test(group))
  if (odd !== undefined)
    throw new CliError('CLI_ARGUMENT', `\`${odd}\` is not a valid group name`, GROUP_NAME_HELP)
  if (named.length > GRANT_GROUPS_MAX)
    throw new CliError('CLI_ARGUMENT', '--groups names too many', `at most ${GRANT_GROUPS_MAX}`)
  const untilMs = readTime(until, '--until', true) ?? null
  if (untilMs !== null && untilMs <= Date.now())
    throw new CliError(
      'CLI_ARGUMENT',
      `--until is \`${until}\`, which is over`,
      'give a time to come',
    )
  return {
    name,
    policy,
    slots: readCount(slots, '--slots', AGENT_SESSIONS_SETTING_MAX),
    groups: [...new Set(named)],
    explain: explain === true,
    canSayPrompt: prompt === true,
    untilMs,
  }
}

function print({ name, policy, slots, until }: AddedGrant, token: string, output: Output): void {
  const end = until === null ? '' : `, until ${until}`
  output.line(
    `${output.paint('bold', name)} may call under \`${policy}\`, ${plural(slots, 'session')}${end}`,
  )
  output.line(`token  ${token}`)
  output.line(output.paint('dim', 'it is shown only once and not stored: put it where it is used'))
}

/** As the operation and sluice.yaml name them. */
function toTerms({ canSayPrompt, groups, untilMs, ...terms }: GrantRequest) {
  return {
    ...terms,
    groups: [...groups],
    ...(canSayPrompt === true ? { prompt: true } : {}),
    ...(typeof untilMs === 'number' ? { until: new Date(untilMs).toISOString() } : {}),
  }
}

function printFixed(request: GrantRequest, output: Output): 0 {
  const { name, ...terms } = toTerms(request)
  const token = makeToken()
  const hash = `sha256:${(hashGrantToken(token) as Buffer).toString('hex')}`
  output.value({ grants: { [name]: { hash, ...terms } }, token })
  output.line(`token  ${token}`)
  output.line('put this into sluice.yaml; the token is kept nowhere:')
  output.line(`grants:\n  ${name}: ${JSON.stringify({ hash, ...terms })}`)
  return 0
}
