// Shared by `npm run bench`, `soak` and `eval`: NAME selects a file, whose `run` gets the options.
// No name or an unknown one lists the names and exits with 2.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './run-step.ts'

/** `--json` is `true`; `--name=value` and `--name value` are strings; a bare `--name` is `true`. */
export type RunOptions = { json: boolean } & Record<string, string | boolean>

/** What each file of a family exports as `run`; a number is the exit code. */
type Run = (options: RunOptions) => unknown

type Family = { command: string; folder: string; suffix: string }

export async function dispatch(family: Family, argv: readonly string[]): Promise<number> {
  const names = listNames(family)
  const [name, ...rest] = argv
  if (name === undefined || !names.includes(name)) {
    if (name !== undefined) console.error(`there is no ${family.command} called \`${name}\``)
    console.error(`usage: npm run ${family.command} -- NAME [--json] [--option value]`)
    console.error(`names: ${names.join(', ') || `none yet, they go into ${family.folder}/`}`)
    return 2
  }
  const file = join(ROOT, family.folder, name + family.suffix)
  const module = (await import(pathToFileURL(file).href)) as { run?: Run }
  if (typeof module.run !== 'function') {
    console.error(`${family.folder}/${name}${family.suffix} does not export a function \`run\``)
    return 2
  }
  const code = await module.run(parseOptions(rest))
  return typeof code === 'number' ? code : 0
}

function listNames({ folder, suffix }: Family): string[] {
  const path = join(ROOT, folder)
  if (!existsSync(path)) return []
  return readdirSync(path)
    .filter((file) => file.endsWith(suffix) && !file.endsWith('.test.ts'))
    .map((file) => file.slice(0, -suffix.length))
    .sort()
}

function parseOptions(argv: readonly string[]): RunOptions {
  const options: RunOptions = { json: false }
  for (let at = 0; at < argv.length; at += 1) {
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/s.exec(argv[at] ?? '') ?? []
    if (name === undefined) throw new Error(`unexpected \`${argv[at]}\`, options start with \`--\``)
    const next = argv[at + 1]
    if (value !== undefined) options[name] = value
    else if (name === 'json' || next === undefined || next.startsWith('--')) options[name] = true
    else {
      options[name] = next
      at += 1
    }
  }
  return options
}
