// The engine from a folder with the layout of src/: the real one, or a copy with a planted fault.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Engine } from './compare.ts'

export async function loadEngine(folder: string): Promise<Engine> {
  const load = (file: string) => import(pathToFileURL(join(folder, file)).href)
  const { compile } = await load('policy/compile.ts')
  const { decide } = await load('policy/decide/decide.ts')
  const { MemoryCounters } = await load('store/memory/counters.ts')
  return { compile, decide, MemoryCounters }
}
