// Long policy documents, read to trees by a thread of their own (tree-thread.ts), so that the gate goes
// on serving. Used by policies.ts when documents have changed.

import { once } from 'node:events'
import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Problem } from '../../document/problem.ts'
import type { LocatedMap } from '../../document/read-document.ts'
import { READ_TREES_MS_MAX } from '../limits.ts'
import { enterStep } from './current-step.ts'
import type { PolicyDocument, Trees } from './documents.ts'
import type { GivenDocument, TreePart } from './tree-thread.ts'

export interface TreesReading {
  readonly problem?: Problem
  readonly trees: Trees
}

/** Rejects where the thread fails or takes too long. */
export async function readTrees(given: readonly PolicyDocument[]): Promise<TreesReading> {
  const trees = new Map<string, LocatedMap>()
  const documents = [...new Map(given.map((document) => [document.digest, document])).values()]
  const name = join(import.meta.dirname, `tree-thread${extname(import.meta.filename)}`)
  const workerData = documents.map(({ file, text }): GivenDocument => ({ file, text }))
  const worker = new Worker(name, { workerData })
  const signal = AbortSignal.timeout(READ_TREES_MS_MAX)
  const ask = async (): Promise<TreePart> => {
    worker.postMessage('next')
    const [part] = (await once(worker, 'message', { signal })) as [TreePart]
    enterStep('reload')
    return part
  }
  try {
    for (const { digest } of documents) {
      const { problem, tree } = await readTree(ask)
      if (problem !== undefined) return { problem, trees }
      trees.set(digest, tree)
    }
    return { trees }
  } finally {
    await worker.terminate()
  }
}

type TreeReading =
  | { readonly problem: Problem; readonly tree?: undefined }
  | { readonly problem?: undefined; readonly tree: LocatedMap }

async function readTree(ask: () => Promise<TreePart>): Promise<TreeReading> {
  const first = await ask()
  if ('problem' in first) return first
  if (!('tree' in first)) throw new Error('the thread that reads policies lost its place')
  const sections = new Map<number, LocatedMap['entries'][number][]>()
  for (;;) {
    const part = await ask()
    if ('isEnd' in part) break
    if (!('section' in part)) throw new Error('the thread that reads policies lost its place')
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
