// Long policy documents, read to trees by a thread of their own (tree-thread.ts), so that the gate goes
// on serving. A policy inside a long sluice.yaml is cut out of it there too. Used when documents change.

import { once } from 'node:events'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Problem } from '@sluice/policy/document/problem'
import type { LocatedMap } from '@sluice/policy/document/read-document'
import { enterStep } from '../shared/current-step.ts'
import type { PolicyDocument } from './documents.ts'
import { READ_TREES_MS_MAX } from './limits.ts'
import type { GivenDocument, TreePart } from './tree-thread.ts'

/** The trees of documents by their digest, up to the first that is not YAML. */
export interface DocumentTrees {
  readonly trees: ReadonlyMap<string, LocatedMap>
  /** Why the next document could not be read; absent if all were. */
  readonly problem?: Problem
}

/** Rejects if the thread fails or takes too long. */
export async function readTrees(policies: readonly PolicyDocument[]): Promise<DocumentTrees> {
  const documents = [...new Map(policies.map((document) => [document.digest, document])).values()]
  const texts = documents.map(({ file, text }) => ({ file, text }))
  return askThread(texts, async (ask) => {
    const trees = new Map<string, LocatedMap>()
    for (const { digest } of documents) {
      const { problem, tree } = await readTree(ask)
      if (problem !== undefined) return { problem, trees }
      trees.set(digest, tree)
    }
    return { trees }
  })
}

/** The policy that a configuration contains, as `documentWithin` cuts it out. Rejects if the thread
 * fails or takes too long. */
export async function cutPolicy(configuration: string): Promise<string> {
  return askThread([{ file: '', text: configuration, within: 'policy' }], async (ask) => {
    const part = await ask()
    if (!('text' in part)) throw lostPlace()
    return part.text
  })
}

/** The next part of what the thread makes of the documents. */
type ReadTree = () => Promise<TreePart>

async function askThread<Result>(
  documents: readonly GivenDocument[],
  use: (ask: ReadTree) => Promise<Result>,
): Promise<Result> {
  const name = join(import.meta.dirname, `tree-thread${extname(import.meta.filename)}`)
  const worker = new Worker(name, { workerData: documents })
  const signal = AbortSignal.timeout(READ_TREES_MS_MAX)
  try {
    return await use(async () => {
      worker.postMessage('next')
      const [part] = (await once(worker, 'message', { signal })) as [TreePart]
      enterStep('reload')
      return part
    })
  } finally {
    await worker.terminate()
  }
}

function lostPlace(): Error {
  return new Error('the thread that reads policies lost its place')
}

type TreeReading =
  | { readonly problem: Problem; readonly tree?: undefined }
  | { readonly problem?: undefined; readonly tree: LocatedMap }

async function readTree(ask: ReadTree): Promise<TreeReading> {
  const first = await ask()
  if ('problem' in first) return first
  if (!('tree' in first)) throw lostPlace()
  const sections = new Map<number, LocatedMap['entries'][number][]>()
  for (;;) {
    const part = await ask()
    if ('isEnd' in part) break
    if (!('section' in part)) throw lostPlace()
    const entries = sections.get(part.section)
    if (entries === undefined) sections.set(part.section, [...part.entries])
    else entries.push(...part.entries)
  }
  const whole = first.tree.entries.map(({ key, value }, at) => {
    const entries = sections.get(at)
    return { key, value: entries === undefined ? value : { ...(value as LocatedMap), entries } }
  })
  return { tree: { ...first.tree, entries: whole } }
}
