// `sluice support-bundle`: what somebody who helps needs to know, in one readable file. Secrets are masked, and
// what is in it is listed before it is written. Calls, keys and databases are never in it.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SHOW_STATUS, WRITE_METRICS } from '@sluice/gateway/operations/status'
import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { maskLine } from '@sluice/guard/secrets'
import { isMap, isScalar, parseDocument, visit } from 'yaml'
import { askIfRunning } from '../connect/ask-operation.ts'
import { DATA, findData } from '../connect/find-data.ts'
import { gateLog } from '../connect/start-gate.ts'
import { confirm } from '../terminal/ask.ts'
import { defineCommand, type OptionsOf } from '../terminal/define-command.ts'
import { ArgumentError } from '../terminal/errors.ts'
import { SUPPORT_LOG_LINES } from '../terminal/limits.ts'
import { type Output, plural, printable, toJson } from '../terminal/output.ts'
import { runChecks } from './doctor-checks.ts'
import { readTail } from './logs.ts'

const EXAMPLES = `
Examples:
  sluice support-bundle                      lists what would be in it, then asks
  sluice support-bundle --yes --out help.txt

The file is plain text: read it before you send it. It has the results of \`sluice doctor\`, the status and
metrics of the gate, sluice.yaml and the policy, and the end of the log. Values of \`env\` and \`headers\` and
everything that looks like a secret are masked. No call, key or database is in it.`

const NONE = 'there is none'

const OPTIONS = {
  ...DATA,
  '--out <file>': ['where it is written', 'sluice-support.txt'],
  '--yes': 'write it without asking',
} as const

type Options = OptionsOf<typeof OPTIONS>

export const add = defineCommand({
  name: 'support-bundle',
  options: OPTIONS,
  examples: EXAMPLES,
  run: writeBundle,
})

async function writeBundle(options: Options, output: Output): Promise<0 | 1> {
  const file = resolve(options.out)
  if (existsSync(file))
    throw new ArgumentError(`\`${options.out}\` is there already`, 'name another file')
  const parts = await collectParts(options)
  output.line(`${printable(file)} would have:`)
  for (const [name, lines] of parts) {
    const masked = lines.filter((line) => line.includes('[masked]')).length
    const note = masked === 0 ? '' : `, ${masked} with something masked`
    output.line(`  ${name.padEnd(12)} ${plural(lines.length, 'line')}${note}`)
  }
  const isWanted = options.yes === true || (await confirm('Write it?', output))
  const sizes = parts.map(([name, lines]) => ({ name, lines: lines.length }))
  output.value({ file, written: isWanted, parts: sizes })
  if (!isWanted) {
    output.remark('nothing is written; `--yes` writes it')
    return 1
  }
  const text = parts.map(([name, lines]) => `===== ${name} =====\n${lines.join('\n')}\n`)
  writeFileSync(file, text.join('\n'), { mode: 0o600, flag: 'wx' })
  output.line('written: read it before you send it')
  return 0
}

async function collectParts(options: Options): Promise<[string, readonly string[]][]> {
  const { config } = options
  const { data } = findData(options, { mayBeMissing: true })
  const log = gateLog(data)
  const status = await askIfRunning(data, SHOW_STATUS)
  const metrics = status && (await askIfRunning(data, WRITE_METRICS))
  const document = parseDocument(readOr(config))
  const policy = isMap(document.contents) ? document.get('policy') : undefined
  const versions = { sluice: readPackageVersion(), node: process.versions.node }
  const machine = { platform: process.platform, arch: process.arch }
  const texts: [string, string][] = [
    ['machine', toJson({ ...versions, ...machine })],
    ['doctor', toJson(await runChecks({ config, ...(options.data && { data: options.data }) }))],
    ['status', status === undefined ? 'no gate runs' : toJson(status)],
    ['metrics', metrics?.text ?? 'no gate runs'],
    ['sluice.yaml', hideValues(document)],
    [
      'policy',
      typeof policy === 'string' ? readOr(resolve(config, '..', policy)) : 'none is named',
    ],
    ['log', existsSync(log) ? readTail(log, SUPPORT_LOG_LINES).lines.join('\n') : NONE],
  ]
  return texts.map(([name, text]) => [name, text.trimEnd().split('\n').map(maskLine)])
}

/** Values below `env` and `headers` may be secrets of any form; a reference such as `${NAME}` is none. */
function hideValues(document: ReturnType<typeof parseDocument>): string {
  if (document.errors.length > 0) return 'it cannot be read as YAML'
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || !['env', 'headers'].includes(String(key.value)) || !isMap(value)) return
      visit(value, {
        Scalar: (where, scalar) => {
          if (where !== 'key' && !/^(?:Bearer )?\$\{[^}]+\}$/.test(String(scalar.value)))
            scalar.value = '[masked]'
        },
      })
    },
  })
  return document.toString()
}

/** Also a file that no command would take, because it is not UTF-8 or too long. */
function readOr(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : NONE
}
