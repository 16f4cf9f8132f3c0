// The tables of docs/reference/limits.md, generated from the limits.ts of every module: name, value,
// unit, and its comment. Run by hand after a limit has changed (`node scripts/limits-page.ts`); a
// test compares.

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './run-step.ts'

const PAGE = join(ROOT, 'docs', 'reference', 'limits.md')
const MARK =
  '<!-- From here on made by scripts/limits-page.ts: change the limits.ts of the module. -->'
const FILES = ['packages/*/src/**/{,console-,turn-}limits.ts']
/** By the ending of the name without its qualifier (`QUALIFIERS`); otherwise it is a number of things. */
const UNITS: readonly (readonly [ending: RegExp, unit: string])[] = [
  [/BYTES_PER_SECOND$/, 'bytes per second'],
  [/_PER_SECOND$/, 'per second'],
  [/MEGABYTES$/, 'MiB'],
  [/KIB$/, 'KiB'],
  [/BYTES$/, 'bytes'],
  [/(_|^)MS$|Ms$/, 'ms'],
  [/SECONDS$|_S$/, 's'],
  [/PERCENT$/, '%'],
  [/(LENGTH|CHARS)$|[lL]ength$/, 'UTF-16 code units'],
]
const QUALIFIERS = /(_?(MAX|MIN|Max|Min)|_(ALLOWED|DEFAULT|KEPT|SHOWN|TYPICAL))+$/

export interface LimitRow {
  readonly file: string
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly says: string
}

export async function readLimits(): Promise<LimitRow[]> {
  const rows: LimitRow[] = []
  for (const file of globSync(FILES, { cwd: ROOT }).sort()) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const values = (await import(pathToFileURL(join(ROOT, file)).href)) as Record<string, unknown>
    const comments = commentsIn(text)
    for (const [name, says] of comments)
      for (const [path, value] of numbersIn(name, values[name]))
        rows.push({
          file,
          name: path,
          value,
          unit: getUnit(path),
          says: findMemberComment(text, path) ?? says,
        })
  }
  return rows
}

/** Each exported constant, in order, with the comment directly above it; empty if it has none. */
function commentsIn(text: string): [name: string, says: string][] {
  const constants = /(?:\/\*\*(?<comment>(?:(?!\*\/)[\s\S])*)\*\/\n)?^export const (?<name>\w+)/gm
  return Array.from(text.matchAll(constants), ({ groups }) => [
    groups?.name ?? '',
    toOneLine(groups?.comment ?? ''),
  ])
}

function toOneLine(comment: string): string {
  return comment.replace(/\s*\n\s*\*\s*/g, ' ').trim()
}

/** For a member of an object of limits: the comment of its type. */
function findMemberComment(text: string, path: string): string | undefined {
  const [, member] = path.split('.')
  if (member === undefined) return undefined
  const [before = '', declared] = text.split(`readonly ${member}:`)
  const comment = declared === undefined ? undefined : before.slice(before.lastIndexOf('/**') + 3)
  return comment === undefined ? undefined : toOneLine(comment.replace(/\*\/\s*$/, ''))
}

function numbersIn(name: string, value: unknown): [string, number][] {
  if (typeof value === 'number') return [[name, value]]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(`${name}.${key}`, inner))
}

function getUnit(name: string): string {
  const bare = name.replace(QUALIFIERS, '')
  return UNITS.find(([ending]) => ending.test(bare))?.[1] ?? ''
}

export function writeNumber(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 6 })
}

export function limitTables(rows: readonly LimitRow[]): string {
  const files = [...new Set(rows.map(({ file }) => file))]
  const table = (file: string): string => {
    const lines = rows
      .filter((row) => row.file === file)
      .map(
        ({ name, value, unit, says }) =>
          `| \`${name}\` | ${writeNumber(value)} | ${unit} | ${says.replaceAll('|', '\\|')} |`,
      )
    const head = '| name | value | unit | what it bounds |\n|---|--:|---|---|'
    return `### ${file}\n\n${head}\n${lines.join('\n')}\n`
  }
  return `${MARK}\n\n${files.map(table).join('\n')}`
}

/** The page with its current tables. */
export async function limitsPage(): Promise<{ readonly is: string; readonly shouldBe: string }> {
  const is = readFileSync(PAGE, 'utf8')
  const [written = ''] = is.split(MARK)
  return { is, shouldBe: written + limitTables(await readLimits()) }
}

if (import.meta.main) writeFileSync(PAGE, (await limitsPage()).shouldBe)
