// `npx node test/upgrade/make-fixtures.ts TREE NAME`: stores what a gate of the version that is checked out (and
// installed) in TREE leaves behind as fixtures of test/upgrade, and its command. See README.md.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { findPostgres, startPostgres } from '../support/postgres.ts'
import { packFolder } from './archive.ts'
import { bundleCommand } from './bundle-version.ts'
import { FIXTURES, makeStory } from './story.ts'

const [tree, name] = process.argv.slice(2)
if (tree === undefined || name === undefined) {
  console.error('usage: npx node test/upgrade/make-fixtures.ts TREE NAME')
  process.exit(2)
}
const program = ['packages/cli/bin/sluice.js', 'packages/sluice/bin/sluice.js', 'bin/sluice.js']
  .map((path) => resolve(tree, path))
  .find((path) => existsSync(path))
if (program === undefined) throw new Error(`\`${tree}\` is not a checkout of Sluice`)

/** A long value of bytes, which compresses badly as text, and not at all if it is in another file as bytes too. */
const LONG_BYTES = /'\\x([0-9a-f]{2000,})'/g

const folder = mkdtempSync(join(tmpdir(), 'sluice-fixture-'))
const isShared = ['packages/ledger', 'packages/sluice'].some((product) =>
  existsSync(join(tree, product, 'src/store/postgres')),
)
try {
  mkdirSync(join(folder, 'data/sqlite'), { recursive: true })
  await makeStory(join(folder, 'data/sqlite'), program)
  // Versions before it had no shared store.
  if (isShared) {
    await makeShared(join(folder, 'data/postgres'), program)
    await bundleCommand(resolve(tree), join(folder, 'command'))
    write(`${name}-command.br`, join(folder, 'command'))
  }
  write(`${name}.br`, join(folder, 'data'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function makeShared(to: string, command: string): Promise<void> {
  mkdirSync(to)
  const postgres = findPostgres()
  if (postgres === undefined) throw new Error('PostgreSQL is not installed')
  const server = await startPostgres(postgres)
  try {
    await makeStory(to, command, server.url())
    const dump = join(dirname(realpathSync(postgres)), 'pg_dump')
    const args = ['--no-owner', '--inserts', server.url()]
    const text = execFileSync(dump, args, { maxBuffer: 2 ** 28, encoding: 'utf8' })
    let blobs = 0
    const short = text
      // Lines that only `psql` understands.
      .replaceAll(/^\\.*\n/gm, '')
      .replaceAll(LONG_BYTES, (_, hex: string) => {
        writeFileSync(join(to, `bytes-${++blobs}`), Buffer.from(hex, 'hex'))
        return `:bytes-${blobs}:`
      })
    writeFileSync(join(to, 'dump.sql'), short)
  } finally {
    await server.end()
  }
}

function write(file: string, from: string): void {
  const bytes = packFolder(from)
  writeFileSync(join(FIXTURES, file), bytes)
  console.log(`test/upgrade/fixtures/${file}: ${bytes.length} bytes`)
}
