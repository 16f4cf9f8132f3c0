// `sluice.lock`: the pins as a file for review, a line a tool, sorted, so that a pull request shows
// what changed and nothing else: server, tool, digest, class, risk. Names with spaces are JSON
// strings. Pure.

import { CATEGORIES, type Category, RISKS, type Risk } from '@sluice/policy/calls/tools'

/**
 * The digest of a definition that a person accepted, with its category and risk.
 *
 * @example
 * ```ts
 * const pin: Pin = { server: 'shop', name: 'list_orders', digest, category: 'Read', risk: 'low' }
 * ```
 */
export interface Pin {
  readonly server: string
  readonly name: string
  readonly digest: string
  readonly category: Category
  readonly risk: Risk
}

const HEAD = '# Pinned definitions of tools, written by `sluice pin`. Review it like any lock file.'
const LINE =
  /^("(?:[^"\\]|\\.)*"|[^\s"]+) ("(?:[^"\\]|\\.)*"|[^\s"]+) (sha256:[0-9a-f]{64}) (\w+) (\w+)$/

/**
 * The text of a `sluice.lock`.
 *
 * @example
 * ```ts
 * writeFileSync('sluice.lock', writeLock(pins))
 * ```
 */
export function writeLock(pins: readonly Pin[]): string {
  const lines = pins.map(
    ({ server, name, digest, category, risk }) =>
      `${word(server)} ${word(name)} ${digest} ${category} ${risk}`,
  )
  return `${HEAD}\n${lines.sort().join('\n')}${lines.length > 0 ? '\n' : ''}`
}

/**
 * The pins of a `sluice.lock`, or the number of the first line that is not one.
 *
 * @example
 * ```ts
 * const read = readLock(readFileSync('sluice.lock', 'utf8'))
 * if ('line' in read) throw new Error(`line ${read.line} is not a pin`)
 * ```
 */
export function readLock(text: string): { readonly pins: Pin[] } | { readonly line: number } {
  const pins: Pin[] = []
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const pin = readLine(line)
    if (pin === undefined) return { line: index + 1 }
    pins.push(pin)
  }
  return { pins }
}

function readLine(line: string): Pin | undefined {
  const [, server, name, digest, category, risk] = LINE.exec(line) ?? []
  if (server === undefined || name === undefined || digest === undefined) return undefined
  if (!CATEGORIES.includes(category as Category) || !RISKS.includes(risk as Risk)) return undefined
  return {
    server: unword(server),
    name: unword(name),
    digest,
    category: category as Category,
    risk: risk as Risk,
  }
}

function word(text: string): string {
  return /^[\w./@:-]+$/.test(text) ? text : JSON.stringify(text)
}

function unword(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
