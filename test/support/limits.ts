// Reads the constants of every `limits.ts` with their comments, for the tests that compare them with the documentation.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../../scripts/run-step.ts'

const FILES = ['packages/*/src/**/{,console-,turn-}limits.ts']

export interface Limit {
  /** From the root of the repository. */
  readonly file: string
  /** Of the constant; a member of an object is `CONSTANT.member`. */
  readonly name: string
  readonly value: number
  /** Its comment on one line; empty if it has none. */
  readonly says: string
}

export async function readLimits(): Promise<Limit[]> {
  const limits: Limit[] = []
  for (const file of globSync(FILES, { cwd: ROOT }).sort()) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const values = (await import(pathToFileURL(join(ROOT, file)).href)) as Record<string, unknown>
    for (const [constant, says] of commentsIn(text))
      for (const [name, value] of numbersIn(constant, values[constant]))
        limits.push({ file, name, value, says: findMemberComment(text, name) ?? says })
  }
  return limits
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
