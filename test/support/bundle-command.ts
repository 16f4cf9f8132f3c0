// Global setup: bundles the command from the current sources, for the tests that start it as a
// process. A start then costs half of stripping the types of every file, and there are hundreds.
// Its folder is named by its content: nothing stale is ever started, and concurrent runs do not
// interfere. Called by Vitest; tests find it by `SLUICE` of start-gate.ts.

import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleCommand } from '../../scripts/bundle.ts'
import { ROOT } from './rooms.ts'

/** Not in dist, which a build empties. */
const PLACE = join(ROOT, 'node_modules', '.cache', 'sluice-command')
const KEPT_MS = 24 * 3_600_000
const ENTRY = 'sluice.mjs'
const START = `import { main } from './main.js'
process.exitCode = await main(process.argv.slice(2))
`

export async function setup(): Promise<void> {
  mkdirSync(PLACE, { recursive: true })
  for (const name of readdirSync(PLACE)) forget(join(PLACE, name))
  const { output } = await bundleCommand(
    {
      main: join(ROOT, 'packages/sluice/src/cli/main.ts'),
      placeOf: (path) => ({
        dirname: JSON.stringify(dirname(path)),
        filename: JSON.stringify(path),
        url: JSON.stringify(pathToFileURL(path).href),
      }),
      policy: [join(ROOT, 'packages/policy/src'), '.ts'],
    },
    {},
  )
  const files: [name: string, contents: string | Uint8Array][] = output.map((file) => [
    file.fileName,
    file.type === 'chunk' ? file.code : file.source,
  ])
  // Modules, whatever a package.json above the folder says.
  files.push([ENTRY, START], ['package.json', '{ "type": "module" }'])
  const hash = createHash('sha256')
  for (const [name, contents] of files) hash.update(`${name}\0`).update(contents)
  const made = join(PLACE, hash.digest('hex').slice(0, 16))
  const draft = mkdtempSync(join(PLACE, 'draft-'))
  for (const [name, contents] of files) writeFileSync(join(draft, name), contents)
  try {
    renameSync(draft, made)
  } catch {
    // It exists already, with the same content.
    rmSync(draft, { recursive: true })
  }
  process.env.SLUICE_TEST_COMMAND = join(made, ENTRY)
}

/** Unused by current runs; another run may be renaming it. */
function forget(folder: string): void {
  const madeMs = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
  if (Date.now() - madeMs > KEPT_MS) rmSync(folder, { recursive: true, force: true })
}
