// The loader's answers to wrong documents, pinned as a person sees them. Each document in
// cases/bad-policies/ stands beside what it is answered with; `UPDATE_CASES=1` writes the answers
// anew, and the difference is then read before it is kept.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { ERRORS as DOCUMENT_ERRORS } from '@sluice/policy/document/errors'
import type { Problem } from '@sluice/policy/document/problem'
import { ERRORS } from '@sluice/policy/language/errors'
import { describe, expect, test } from 'vitest'

const CASES = join(import.meta.dirname, '../cases')
const FOLDER = join(CASES, 'bad-policies')

const tools = JSON.parse(readFileSync(join(CASES, 'tools.json'), 'utf8')) as KnownTool[]
const documents = readdirSync(FOLDER)
  .filter((file) => /\.(yaml|json)$/.test(file))
  .map((file) => {
    const text = readFileSync(join(FOLDER, file), 'utf8')
    return { file, text, problems: compile({ file, text }, { tools }).problems }
  })

describe('a wrong document', () => {
  test.each(documents)('$file is answered as it was', ({ file, problems }) => {
    const path = join(FOLDER, file.replace(/\.\w+$/, '.expected.txt'))
    const answer = problems.map(rendered).join('')
    if (process.env.UPDATE_CASES === '1') writeFileSync(path, answer)
    expect(answer).toBe(readFileSync(path, 'utf8'))
  })

  test.each(documents)(
    '$file is told what is wrong, where, and what to do',
    ({ text, problems }) => {
      expect(problems).not.toEqual([])
      expect(problems.flatMap((problem) => complaints(problem, text))).toEqual([])
    },
  )
})

test('every code is met by a document', () => {
  const met = new Set(documents.flatMap(({ problems }) => problems.map(({ code }) => code)))
  // A fault is met while a call is judged, not while a document is read.
  const all = Object.keys({ ...ERRORS, ...DOCUMENT_ERRORS })
  const codes = all.filter((code) => /^(POLICY_(?!FAULT$)|DOCUMENT_)/.test(code))
  expect(codes.filter((code) => !met.has(code as Problem['code']))).toEqual([])
})

test('every answer belongs to a document', () => {
  const names = new Set(documents.map(({ file }) => file.replace(/\.\w+$/, '')))
  const answers = readdirSync(FOLDER).filter((file) => file.endsWith('.expected.txt'))
  expect(answers.filter((file) => !names.has(file.replace('.expected.txt', '')))).toEqual([])
})

function rendered({ file, line, column, severity, message, code, help }: Problem): string {
  return `${file}:${line}:${column}: ${severity}: ${message} [${code}]\n  help: ${help}\n`
}

/** What is wrong with a problem itself. */
function complaints({ message, help, line, column }: Problem, text: string): string[] {
  const found: string[] = []
  if (!/^[^A-Z]/.test(message)) found.push(`\`${message}\` does not begin in lower case`)
  if (/\.$/.test(message) || /\.$/.test(help)) found.push(`\`${message}\` ends in a full stop`)
  if (help === '') found.push(`\`${message}\` comes without help`)
  if (/\bs\d+\b|sluice[A-Z]|undefined|\[object/.test(message + help))
    found.push(`\`${message}\` speaks of what is inside`)
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const there = (lines[line - 1] ?? '').slice(column - 1)
  if (line > lines.length || column > (lines[line - 1] ?? '').length + 1)
    found.push(`${line}:${column} is outside the file`)
  // What is missing stands nowhere; all else is at its place, or is the value of a key there.
  const before = (lines[line - 1] ?? '').slice(0, column - 1)
  const shown = message.replace('in `when`: ', '')
  const named = [...shown.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
  const written = / (needs|lacks|second) /.test(shown)
    ? []
    : named.filter((name) => text.includes(name))
  const points = written.some(
    (name) =>
      [there, there.replace(/^r?["']/, '')].some((at) => at.startsWith(name)) ||
      isValueOf(name, before, lines.slice(0, line - 1)),
  )
  if (written.length > 0 && !points)
    found.push(`\`${message}\` points at \`${there.slice(0, 30)}\`, not at ${written.join(' or ')}`)
  return found
}

function isValueOf(key: string, before: string, above: readonly string[]): boolean {
  const line = before.trim() === '' ? (above.at(-1) ?? '') : before
  return (
    /:\s*$/.test(line) &&
    line
      .trimEnd()
      .replace(/["']?:$/, '')
      .endsWith(key)
  )
}
