// The engine as it is, and copies of it with a fault planted in each: bundled with the one line changed.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compile } from '@sluice/policy/compile/compile'
import { MemoryCounters } from '@sluice/policy/counters/memory-counters'
import { decide } from '@sluice/policy/decide/decide'
import { build } from 'esbuild'
import { ROOT } from '../../../scripts/run-step.ts'
import type { Engine } from './compare.ts'
import type { Fault } from './faults.ts'

export const ENGINE: Engine = { compile, decide, MemoryCounters }

const ENTRY = `export { compile } from './packages/policy/src/compile/compile.ts'
export { decide } from './packages/policy/src/decide/decide.ts'
export { MemoryCounters } from './packages/policy/src/counters/memory-counters.ts'
`

/** By the name of the fault. */
export async function loadFaulty(faults: readonly Fault[]): Promise<Map<string, Engine>> {
  // In the clone, where the packages are found.
  const folder = mkdtempSync(join(ROOT, '.faults-'))
  try {
    const loaded = faults.map(async (fault, at): Promise<[string, Engine]> => {
      const outfile = join(folder, `${at}.mjs`)
      await plant(fault, outfile)
      return [fault.name, await import(pathToFileURL(outfile).href)]
    })
    return new Map(await Promise.all(loaded))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function plant({ file, find, put }: Fault, outfile: string): Promise<void> {
  const place = join(ROOT, 'packages', file)
  const source = readFileSync(place, 'utf8')
  if (source.split(find).length !== 2) throw new Error(`\`${find}\` does not stand once in ${file}`)
  await build({
    stdin: { contents: ENTRY, loader: 'ts', resolveDir: ROOT },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'warning',
    plugins: [
      {
        name: 'the fault',
        // The bundler asks for this file alone, and reads the others itself.
        setup: ({ onLoad }) =>
          onLoad({ filter: new RegExp(`/${file.replaceAll('.', '\\.')}$`) }, () => ({
            contents: source.replace(find, () => put),
            loader: 'ts',
          })),
      },
    ],
  })
}
