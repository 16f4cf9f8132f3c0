// Saving a policy document from the console: only onto the version it was made from, only a text that
// compiles, written whole or not at all; then put in force by the person who proved who they are. A
// file under version control is not written: its owners get the change as a patch.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Person } from '@sluice/access/identity/person'
import { digestOfSet, makeDocument, type PolicyDocument } from '@sluice/gateway/state/documents'
import { compileAside, type Policies } from '@sluice/gateway/state/policies'
import { writeWhole } from '@sluice/ledger/store/files/write-whole'
import { readCases } from '@sluice/policy/cases/cases'
import { object, required, text, textOrEmpty } from '@sluice/policy/document/build-shape'
import type { FieldValues } from '@sluice/policy/document/shape'
import { OperationError } from '@sluice/policy/structures/operation-error'
import { casesFileOf, readCasesFile } from '../queries/draft-tests.ts'
import { DRAFT_LENGTH_MAX } from '../queries/limits.ts'
import type { ConsoleStore } from './console-store.ts'

const CONTEXT = 3

export interface SavedPolicy {
  readonly digest: string
  readonly inForce: boolean
  /** Digest of the file of cases, if it was written. */
  readonly tests?: string
  /** Where the file is under version control: nothing was written, this is the change. */
  readonly patch?: string
}

export interface SavePolicyParts {
  readonly policies: Policies
  readonly store: ConsoleStore
  /** Looks at the policy files at once. */
  readonly reload: () => void | Promise<void>
  readonly nowMs: () => number
}

const TEXT = required(textOrEmpty(DRAFT_LENGTH_MAX), 'the document')
export const SAVE = {
  name: required(text(64), 'which policy'),
  text: TEXT,
  base: required(text(100), 'digest of what was edited'),
  why: required(textOrEmpty(500), 'kept with the version'),
  tests: {
    shape: object('a file of cases', {
      base: required(textOrEmpty(100), 'digest; empty for a new one'),
      text: TEXT,
    }),
    doc: 'the file of cases beside it, as it was drafted',
  },
} as const

export async function savePolicy(
  { policies, store, reload, nowMs }: SavePolicyParts,
  { name, base, text, why, tests }: FieldValues<typeof SAVE>,
  by: Person,
): Promise<SavedPolicy> {
  const known = policies.documents.get(name)
  if (known === undefined)
    throw new OperationError(`there is no policy \`${name}\``, 'sluice.yaml names the documents')
  if (known.isWithin)
    throw new OperationError(
      `the policy stands in ${basename(known.file)} itself`,
      'change it there, or put it into a file of its own and name that under `policy`',
    )
  const { file } = known
  const saved = makeDocument(name, file, text)
  // Before the file is read: it may take a while, and another may write the file meanwhile.
  const { compiled, problems } = await compileAside(new Map(policies.documents).set(name, saved))
  const current = makeDocument(name, file, readFileSync(file, 'utf8'))
  if (current.digest !== base)
    throw new OperationError(
      'the file was changed in the meantime',
      'load it again: your text was made from an older version',
    )
  if (compiled === undefined) {
    const wrong = problems.find(({ problem }) => problem.severity === 'error')?.problem
    throw new OperationError(
      `line ${wrong?.line}: ${wrong?.message}`,
      wrong?.help ?? 'fix the text',
    )
  }
  const cases = tests && checkTests(file, tests)
  if (isVersioned(file)) {
    const patches = [
      patchOf(basename(file), current.text, text),
      cases === undefined ? '' : patchOf(basename(cases.file), cases.before, cases.text),
    ]
    return { digest: base, inForce: false, patch: patches.join('') }
  }
  // Before anything is written: what another wrote elsewhere is not what this person has read.
  await reload()
  waitingDigest(policies, current)
  if (!store.hasVersion(name, base))
    store.addVersion({
      atMs: nowMs(),
      name,
      digest: base,
      text: current.text,
      by: '',
      why: 'as it was',
    })
  writeWhole(file, text)
  await reload()
  const digest = waitingDigest(policies, saved)
  // What only tightens is in force already.
  if (digest !== undefined)
    await policies.apply(digest, by).catch(async (error) => {
      // Refused: the text must not wait for somebody else to apply it.
      if (readFileSync(file, 'utf8') === text) writeWhole(file, current.text)
      await reload()
      throw error
    })
  store.addVersion({ atMs: nowMs(), name, digest: saved.digest, text, by: by.name, why })
  if (cases?.text === '') rmSync(cases.file, { force: true })
  else if (cases?.isNew) writeFileSync(cases.file, cases.text, { flag: 'wx', flush: true })
  else if (cases !== undefined) writeWhole(cases.file, cases.text)
  const written = cases && makeDocument('', cases.file, cases.text).digest
  return { digest: saved.digest, inForce: true, ...(written && { tests: written }) }
}

/** Cases decide nothing: they are only to be what the person was shown, and readable. */
function checkTests(
  policyFile: string,
  { base, text }: { readonly base: string; readonly text: string },
) {
  const current = readCasesFile(policyFile)
  const file = casesFileOf(policyFile)
  if ((current?.digest ?? '') !== base)
    throw new OperationError(
      `${basename(file)} was changed in the meantime`,
      'open the dialog again: your case was added to an older version',
    )
  // Without a text there is to be no file: the one case that it was made for is taken back.
  const [wrong] = text === '' ? [] : readCases({ file: basename(file), text }).problems
  if (wrong !== undefined)
    throw new OperationError(`${basename(file)}, line ${wrong.line}: ${wrong.message}`, wrong.help)
  return { file, before: current?.text ?? '', text, isNew: current === undefined }
}

/** Of what waits, undefined if nothing does. Throws if that is more than this one document: an
 * agent could have written another file, and its person would put that in force by saving theirs. */
function waitingDigest(policies: Policies, only: PolicyDocument): string | undefined {
  const digest = policies.waitingDigest
  if (digest === undefined) return undefined
  if (digest === digestOfSet(new Map(policies.documents).set(only.name, only))) return digest
  throw new OperationError(
    'another document was changed, may loosen, and waits for a person',
    'look at it with `sluice policy apply`, or take it back; then save again',
  )
}

/** Some folder above it is a checkout. */
export function isVersioned(file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git')) || existsSync(join(folder, '.hg'))) return true
    if (folder === dirname(folder)) return false
  }
}

/**
 * The change from one text to another as a patch that `git apply` takes: one hunk, from the first line
 * that differs to the last. Pure.
 */
export function patchOf(file: string, before: string, after: string): string {
  if (before === after) return ''
  const [old, now] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  const most = Math.min(old.length, now.length) - start
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const from = Math.max(0, start - CONTEXT)
  const tail = Math.max(0, end - CONTEXT)
  const lead = old.slice(from, start)
  const gone = old.slice(start, old.length - end)
  const added = now.slice(start, now.length - end)
  const trail = old.slice(old.length - end, old.length - tail)
  const count = (changed: readonly string[]) => lead.length + changed.length + trail.length
  const place = (lines: number) => `${lines === 0 ? from : from + 1},${lines}`
  return [
    `--- a/${file}\n`,
    `+++ b/${file}\n`,
    `@@ -${place(count(gone))} +${place(count(added))} @@\n`,
    markLines(' ', lead),
    markLines('-', gone),
    markLines('+', added),
    markLines(' ', trail),
  ].join('')
}

function markLines(sign: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${sign}${lines.join(`\n${sign}`)}\n`
}

/** Without their ends. A last line that has none carries the remark that patches have for it. */
function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`)
  return lines
}
