// `sluice policy apply`: puts a policy in force that may loosen something, after it was seen what. A
// change that only tightens needs no command: the gate takes it by itself.

import type { PolicyFiles } from '@sluice/gateway/operations/operation'
import { APPLY_POLICY } from '@sluice/gateway/operations/policy'
import { Policies, TIGHTENINGS_NAMED_MAX } from '@sluice/gateway/state/policies'
import { ActiveLockFile } from '@sluice/gateway/tools/active-lock-file'
import { lockPath } from '@sluice/gateway/tools/open-pins'
import { isObject, type JsonObject, listObjects } from '@sluice/policy/values/json'
import { OperationClient } from '../connect/ask-operation.ts'
import { DATA, findData } from '../connect/find-data.ts'
import { loadConfig, loadDocuments } from '../connect/load-config.ts'
import type { OfflineParts } from '../connect/offline-parts.ts'
import { PROOF } from '../connect/prove-person.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { CliError } from '../terminal/errors.ts'
import { type Output, printable } from '../terminal/output.ts'

const EXAMPLES = `
Examples:
  sluice policy apply --dry-run     what waits, and which decisions it changes
  sluice policy apply               puts it in force

The gate looks at its policy files by itself. What only tightens holds at once; what may loosen a
decision or a limit waits for this command, since an agent with a file tool could have written it: it
asks for your PIN at the terminal (role policy-manager or admin). The same
holds for sluice.lock. A file with errors changes nothing. Servers of sluice.yaml: see \`sluice server\`; the rest of it is read at start only.
Exit code 0 if something was applied or would be, 1 if nothing waits.`

const OPTIONS = { ...DATA, ...PROOF, '--dry-run': 'only show what would change' } as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'apply',
  options: OPTIONS,
  examples: EXAMPLES,
  run: apply,
})

async function apply(options: Options, output: Output): Promise<0 | 1> {
  const { data } = findData(options)
  const client = new OperationClient(
    { data, policyFiles: (parts) => openPolicyFiles(parts, { ...options, data }, output) },
    options,
  )
  const seen = (await client.ask(APPLY_POLICY, {})) as JsonObject
  const { digest, broken } = seen
  if (typeof broken === 'string')
    throw new CliError('CLI_POLICY', broken, 'fix it; the policy in force is unchanged')
  const pins = isObject(seen.lock) ? seen.lock.digest : undefined
  if (typeof digest !== 'string' && typeof pins !== 'string') {
    output.value({ ...seen, applied: false })
    output.line('nothing waits: the policy files are what is in force')
    return 1
  }
  printPreview(seen, output)
  if (options.dryRun === true) {
    output.value({ ...seen, applied: false })
    output.dim('`sluice policy apply` puts it in force')
    return 0
  }
  const done = await client.ask(APPLY_POLICY, {
    ...(typeof digest === 'string' ? { digest } : {}),
    ...(typeof pins === 'string' ? { lock: pins } : {}),
  })
  output.value({ ...done, applied: true })
  output.line(`${output.paint('green', 'applied')}: it is in force`)
  return 0
}

/** If no gate runs: what the next one will start with. */
function openPolicyFiles(
  { store, ledger, nowMs }: OfflineParts,
  options: Options,
  output: Output,
): PolicyFiles {
  const config = loadConfig(options, output)
  const documents = loadDocuments(config, output, () => {})
  const log = () => {}
  return {
    policies: new Policies(documents, { store, ledger, log, nowMs }),
    lock: new ActiveLockFile({ path: lockPath(config), store, ledger, log, nowMs }),
    reload: () => {},
  }
}

function printPreview(seen: JsonObject, output: Output): void {
  const pinned = isObject(seen.lock) ? listObjects(seen.lock.loosens) : []
  for (const { where, what } of [...listObjects(seen.loosens), ...pinned])
    output.line(
      `${output.paint('yellow', 'may loosen')} ${printable(String(where))}: ${printable(String(what))}`,
    )
  const tightens = Array.isArray(seen.tightens) ? seen.tightens.map(String) : []
  if (tightens.length > 0) {
    const named = tightens.slice(0, TIGHTENINGS_NAMED_MAX).map(printable).join(', ')
    const more = tightens.length - TIGHTENINGS_NAMED_MAX
    const rest = more > 0 ? ` and ${more} more` : ''
    output.line(`${output.paint('green', 'only tightens')} ${named}${rest}`)
  }
  for (const { policy, tool, from, to, change } of listObjects(seen.decisions)) {
    const style = change === 'tightens' ? 'green' : 'yellow'
    output.line(
      `${output.paint(style, String(change))} ${printable(String(tool))}: ${actionWord(from)} -> ${actionWord(to)} (${policy})`,
    )
  }
}

function actionWord(action: unknown): string {
  return action === 'depends' ? 'by a condition' : String(action)
}
