// Sluice as measured: installed like a package, with a policy of a thousand rules, limits on the
// tool and in total, a grant for the caller, and a durable ledger.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describeStep, ROOT, runStep } from '../../scripts/run-step.ts'
import { type RunningProcess, start } from './running.ts'

const RULES = 1_000
const TOKEN = `sluice_${'5'.repeat(64)}`
export const CALLER = { authorization: `Bearer ${TOKEN}` }

/** The command; built first, unless it runs from the sources. */
export async function install(folder: string, fromSources: boolean): Promise<string> {
  if (fromSources) return join(ROOT, 'packages/cli/bin/sluice.js')
  const built = await runStep('build', ['scripts/build.ts'])
  if (!built.passed) throw new Error(describeStep(built))
  return copyPackage(ROOT, join(folder, 'installed'))
}

/** The command of another checkout, built by its own script. */
export async function installBeside(tree: string, folder: string): Promise<string> {
  const child = spawn(process.execPath, ['scripts/build.ts'], { cwd: tree, stdio: 'inherit' })
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`could not build \`${tree}\`: run \`npm ci\` there first`)
  return copyPackage(resolve(tree), join(folder, 'beside'))
}

/** A copy, because the command runs the sources where it finds them beside it. */
function copyPackage(tree: string, target: string): string {
  // Older trees have one package, at their root.
  const staged = join(tree, 'dist/sluice')
  const source = existsSync(staged) ? staged : tree
  mkdirSync(target)
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(source, part), join(target, part), { recursive: true })
  symlinkSync(join(tree, 'node_modules'), join(target, 'node_modules'))
  return join(target, 'bin', 'sluice.js')
}

export interface SluiceOptions {
  readonly command: string
  /** Kept: a second start continues with its data. */
  readonly folder: string
  readonly server: { readonly url: string } | { readonly command: readonly string[] }
  /** Of the policy. */
  readonly rules?: number
  /** Instead of that one. */
  readonly policy?: string
  /** A line more for the policy: `balanced` or `strict`. */
  readonly protect?: string
  /** Folder for a CPU profile. */
  readonly profile?: string
  /** A module that is loaded before. */
  readonly preload?: string
  /** How many sessions the caller may have, if not four. */
  readonly slots?: number
  /** Further keys of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>
}

export async function startSluice(options: SluiceOptions): Promise<RunningProcess> {
  const { command, folder, server, rules = RULES, policy = policyText(rules), profile } = options
  mkdirSync(folder, { recursive: true })
  if (profile !== undefined) mkdirSync(profile, { recursive: true })
  const more = options.protect === undefined ? '' : `protect: ${options.protect}\n`
  writeFileSync(join(folder, 'policy.yaml'), policy + more)
  const hash = `sha256:${createHash('sha256').update(TOKEN).digest('hex')}`
  const config = {
    version: 1,
    servers: { echo: server },
    policy: './policy.yaml',
    data: './data',
    grants: { bench: { hash, policy: 'policy', slots: options.slots ?? 4 } },
    ...options.config,
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config))
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]
  if (options.preload !== undefined) flags.push('--import', options.preload)
  const up = ['up', '--config', join(folder, 'sluice.yaml'), '--port', '0']
  const running = await start({ command: [process.execPath, ...flags, command, ...up] })
  return { ...running, url: `${running.url}/mcp/echo` }
}

/** Exact names, and a tenth globs, all with a limit; the last is the tool that is called. */
function policyText(rules: number): string {
  const lines = ['version: 1', 'default: deny', 'categories: { Destructive: deny }', 'tools:']
  for (let index = 1; index < rules; index++)
    lines.push(`  ${createName(index)}: { action: allow, rate_limit: { max: 1000, window: 60 } }`)
  lines.push(
    '  echo/echo: { action: allow, rate_limit: { max: 1000000, window: 60 } }',
    'guardrails:',
    '  - { name: all calls, rate_limit: { max: 1000000, window: 60, per: everyone } }',
  )
  return `${lines.join('\n')}\n`
}

function createName(index: number): string {
  return index % 10 === 9
    ? `server-${index % 50}/glob_${index}_*`
    : `server-${index % 50}/tool_${index}`
}
