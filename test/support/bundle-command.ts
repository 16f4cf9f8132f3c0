// Global setup: bundles the command from the current sources, the threads and processes that it starts, and
// the servers of the tests and examples. A start then costs half to a sixth of stripping the types of every file, and
// there are hundreds. Its folder is named by its content: nothing stale is ever started, and concurrent runs do not
// interfere. Called by Vitest; tests find it by `SLUICE` of start-gate.ts.

import { createHash } from 'node:crypto'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundle, findStarted } from '../../scripts/bundle.ts'
import { ROOT } from './modules.ts'

/** Not in dist, which a build empties. */
const PLACE = join(ROOT, 'node_modules', '.cache', 'sluice-command')
const KEPT_MS = 24 * 3_600_000
/** As in the package. */
const ENTRY = 'bin/sluice.js'
const MAIN = '../main.js'
/** Compiled code is kept beside the bundle, as the command of the package keeps it beside its own: clients start it
 * without the variables of the tests. */
const START = `const { enableCompileCache } = process.getBuiltinModule('node:module')
if (process.env.NODE_COMPILE_CACHE === undefined) enableCompileCache(import.meta.dirname + '/../.compiled')
const { main } = await import('${MAIN}')
process.exitCode = await main(process.argv.slice(2))
`

const PROGRAMS = join(ROOT, 'test/servers')
const EXAMPLE_SERVER = join(ROOT, 'examples/support/shop-server.ts')
const CONFORMANCE_FIXTURE = join(ROOT, 'test/conformance/serve.ts')
const BOX_DRIVER = join(ROOT, 'test/support/box-driver.ts')

/** Two projects have this set-up; one bundle is enough. */
const shared = globalThis as { sluiceBundle?: Promise<void> }

export function setup(): Promise<void> {
  shared.sluiceBundle ??= bundleAll()
  return shared.sluiceBundle
}

async function bundleAll(): Promise<void> {
  mkdirSync(PLACE, { recursive: true })
  for (const name of readdirSync(PLACE)) forget(join(PLACE, name))
  const files: [name: string, contents: string | Uint8Array][] = []
  const add = async (input: Record<string, string>): Promise<void> => {
    const { output } = await bundle({ input, placeOf, findOwn }, {})
    for (const file of output)
      files.push([file.fileName, file.type === 'chunk' ? file.code : file.source])
  }
  // Each thread is one file, and the command does not have to be split because of them.
  await add({ main: join(ROOT, 'packages/cli/src/main.ts') })
  const sources = globSync('packages/*/src/**/*.ts', { cwd: ROOT }).map((path) => join(ROOT, path))
  for (const [name, file] of findStarted(sources)) await add({ [name]: file })
  await add(Object.fromEntries(listPrograms()))
  files.sort()
  // Modules, whatever a package.json above the folder says.
  files.push([ENTRY, START], ['package.json', '{ "type": "module" }'])
  const hash = createHash('sha256')
  for (const [name, contents] of files) hash.update(`${name}\0`).update(contents)
  const made = join(PLACE, hash.digest('hex').slice(0, 16))
  const draft = mkdtempSync(join(PLACE, 'draft-'))
  mkdirSync(join(draft, 'bin'))
  for (const [name, contents] of files) writeFileSync(join(draft, name), contents)
  // Some tests start it as another user.
  chmodSync(draft, 0o755)
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

/** Starts a gate for a pipe, by the command of the package that it is in. */
const GATE_STARTER = join(ROOT, 'packages/cli/src/connect/start-gate.ts')

function placeOf(path: string) {
  const inBundle = `new URL('./src/connect/', import.meta.url).href`
  return {
    dirname: JSON.stringify(dirname(path)),
    filename: JSON.stringify(path),
    url: path === GATE_STARTER ? inBundle : JSON.stringify(pathToFileURL(path).href),
  }
}

function findOwn(name: string, file: string): string {
  return join(ROOT, 'packages', name, 'src', `${file}.ts`)
}

function listPrograms(): [name: string, file: string][] {
  const programs = readdirSync(PROGRAMS).map((name) => join(PROGRAMS, name))
  const files = [...programs, EXAMPLE_SERVER, CONFORMANCE_FIXTURE, BOX_DRIVER]
  return files.map((file) => [basename(file, '.ts'), file])
}
