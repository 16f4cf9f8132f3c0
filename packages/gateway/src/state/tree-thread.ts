// The thread that reads long policy documents: YAML to a checked tree, which cannot be done in slices.
// The tree goes over in parts, each when the gate asks for it: taking it over costs the gate too.
// Started by read-trees.ts for one reload; ends with it.

import { parentPort, workerData } from 'node:worker_threads'
import { readPolicyTree } from '@sluice/policy/compile/compile'
import { extractDocument } from '@sluice/policy/document/document-within'
import { errorsIn, type Problem, Problems } from '@sluice/policy/document/problem'
import type { LocatedMap, LocatedNode } from '@sluice/policy/document/read-document'
import { TREE_ENTRIES_PER_TURN } from './limits.ts'

export interface GivenDocument {
  readonly file: string
  readonly text: string
  /** Only the text of the document under this key is wanted. */
  readonly within?: string
}

type Entry = LocatedMap['entries'][number]

/** `tree` is the document without the entries of its sections, which follow. */
export type TreePart =
  | { readonly problem: Problem }
  | { readonly tree: LocatedMap }
  | { readonly section: number; readonly entries: readonly Entry[] }
  | { readonly isEnd: true }
  | { readonly text: string }

function* partsOf({ file, text, within }: GivenDocument): Generator<TreePart> {
  if (within !== undefined) return yield { text: extractDocument(text, within) }
  const problems = new Problems(file, text)
  const tree = readPolicyTree(text, problems)
  if (tree === undefined || tree.kind !== 'map') {
    yield { problem: errorsIn(problems.sorted())[0] as Problem }
    return
  }
  const isLong = (value: LocatedNode): value is LocatedMap =>
    value.kind === 'map' && value.entries.length > TREE_ENTRIES_PER_TURN
  const short = (value: LocatedNode): LocatedNode =>
    isLong(value) ? { ...value, entries: [] } : value
  yield {
    tree: {
      ...tree,
      entries: tree.entries.map(({ key, value }) => ({ key, value: short(value) })),
    },
  }
  for (const [section, { value }] of tree.entries.entries())
    if (isLong(value))
      for (let at = 0; at < value.entries.length; at += TREE_ENTRIES_PER_TURN)
        yield { section, entries: value.entries.slice(at, at + TREE_ENTRIES_PER_TURN) }
  yield { isEnd: true }
}

const documents = workerData as readonly GivenDocument[]
const parts = (function* () {
  for (const document of documents) yield* partsOf(document)
})()

parentPort?.on('message', () => parentPort?.postMessage(parts.next().value))
