// `npm run eval -- box [--every N]`: every line of test/cases/shell-attacks.json (or each Nth) runs in the box of a session,
// in a throw-away project and home, as an ordinary user if this is root. Counts what changed outside of the project, in its
// protected places, which secrets were shown, which hosts were reached, and whether undo brings the project back. Lists the
// lines that change what git ignores, with what the pack `coding-agent` says to them in a box.

import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { BoxTrial, NOBODY } from '../../test/support/boxes.ts'
import { judgeLines } from '../../test/support/shell-lines.ts'
import type { RunOptions } from '../dispatch.ts'

interface Attack {
  readonly kind: string
  readonly command: string
}

const SECRET = 'only-mine-0123456789'
const LINE_MS_MAX = 5_000
/** A box has no limit of the disk, and some lines fill it. In KiB. */
const LIMIT_FILES = 'ulimit -f 65536'
const COMMIT = 'git -c user.name=a -c user.email=a@b commit -qm first'
const FILES = {
  'home/shop/.env': `TOKEN=${SECRET}\n`,
  'home/shop/.gitignore': '.env\nnode_modules\ndist\nlocal.db\n',
  'home/shop/dist/out.js': 'built\n',
  'home/shop/local.db': 'data\n',
  'home/shop/.claude/settings.json': '{}\n',
  'home/shop/.mcp.json': '{}\n',
  'home/shop/.vscode/tasks.json': '{}\n',
  'home/shop/README.md': '# Shop\n',
  'home/shop/Makefile': 'test:\n\techo tested\n',
  'home/shop/package.json': '{ "name": "shop", "scripts": { "test": "node --test" } }\n',
  'home/shop/src/index.js': 'export const sum = (a, b) => a + b\n',
  'home/shop/src/other.js': 'export const other = 1\n',
  'home/shop/untracked.txt': 'not committed\n',
  'home/.ssh/id_rsa': `${SECRET}\n`,
  'home/.aws/credentials': `${SECRET}\n`,
  'home/.bashrc': 'export A=1\n',
  'home/.gitconfig': '[user]\n\tname = Ann\n\temail = ann@shop.example\n',
  'other/notes.txt': `${SECRET}\n`,
}
const PROTECTED = ['.git/config', '.git/hooks', '.claude', '.mcp.json', '.vscode', '.env']
/** Not covered by undo: the repository, and what the project ignores. */
const IGNORED = ['.git', '.env', 'node_modules', 'dist', 'local.db']
const IGNORED_FILES = ['home/shop/dist/out.js', 'home/shop/local.db'] as const
/** What a shell says of a program that is not installed here. */
const MISSING = /command not found|: not found/

export async function run({ every: step }: RunOptions): Promise<number> {
  const every = step === undefined ? 1 : Number(step)
  const file = join(import.meta.dirname, '../../test/cases/shell-attacks.json')
  const all: readonly Attack[] = JSON.parse(readFileSync(file, 'utf8'))
  const attacks = all.filter((_, index) => index % every === 0)
  let reached = 0
  const machine = createServer((_, response) => {
    reached++
    response.end(SECRET)
  })
  await new Promise<void>((resolve) => machine.listen(0, '127.0.0.1', resolve))
  const { port } = machine.address() as AddressInfo
  let trial = await prepare()
  const counts = { lines: 0, changed: 0, ignored: 0, missing: 0, slow: 0, noBox: 0 }
  const wrong: string[] = []
  try {
    let project = digest(trial.project, IGNORED)
    let outside = digest(trial.folder, ['shop', '.data'])
    let places = digestPlaces(trial)
    for (const { kind, command } of attacks) {
      counts.lines++
      const fail = (what: string) => {
        wrong.push(what)
        process.stdout.write(`${what}: ${kind}: ${command}\n`)
      }
      const line = command.replaceAll('localhost:9999', `localhost:${port}`)
      const env = { GITHUB_TOKEN: SECRET, AWS_SECRET_ACCESS_KEY: SECRET }
      const result = await trial
        .run(line, { snapshot: true, env, before: LIMIT_FILES, timeoutMs: LINE_MS_MAX })
        .catch((error: Error) => error)
      if (result instanceof Error) {
        counts.noBox++
        process.stdout.write(`no box: ${result.message}: ${command}\n`)
        continue
      }
      if (result.code === null) {
        counts.slow++
        await trial.end()
      }
      if (MISSING.test(result.output)) counts.missing++
      if (result.output.includes(SECRET)) fail('a secret was shown')
      if (digest(trial.folder, ['shop', '.data']) !== outside) fail('changed outside')
      for (const [name, before] of places)
        if (digest(join(trial.project, name)) !== before) fail(`\`${name}\` was changed`)
      if (IGNORED_FILES.some((name) => readIfThere(join(trial.folder, name)) !== FILES[name])) {
        counts.ignored++
        const labelled = { command, cwd: trial.project, label: 'changes', ask: true } as const
        const [judged] = judgeLines([labelled], { box: 'in' })
        process.stdout.write(`ignored files changed, the pack says ${judged?.action}: ${command}\n`)
        for (const name of IGNORED_FILES)
          rmSync(join(trial.folder, name), { recursive: true, force: true })
        trial.write(Object.fromEntries(IGNORED_FILES.map((name) => [name, FILES[name]])))
      }
      if (digest(trial.project, IGNORED) === project) continue
      counts.changed++
      const last = (await trial.snapshots()).find((each) => each.line === line)
      if (last !== undefined)
        await trial
          .restore(last.commit)
          .catch((error: Error) => fail(`not undone, ${error.message}`))
      if (digest(trial.project, IGNORED) === project) continue
      fail(
        `not brought back (${result.snapshotFailed ? 'no snapshot was made' : last === undefined ? 'not listed' : 'restored'})`,
      )
      // What this line left must not count for the next one.
      await trial.close()
      trial = await prepare()
      project = digest(trial.project, IGNORED)
      outside = digest(trial.folder, ['shop', '.data'])
      places = digestPlaces(trial)
    }
  } finally {
    await trial.close()
    machine.close()
  }
  process.stdout.write(`${JSON.stringify({ ...counts, reached, wrong: wrong.length })}\n`)
  return wrong.length + reached === 0 ? 0 : 1
}

async function prepare(): Promise<BoxTrial> {
  const trial = new BoxTrial(process.getuid?.() === 0 ? NOBODY : undefined)
  trial.write(FILES)
  trial.outside(`git init -q . && git add -A . && git reset -q untracked.txt && ${COMMIT}`)
  await trial.start()
  await trial.run(':', { snapshot: true })
  return trial
}

function readIfThere(file: string): string | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile()
    ? readFileSync(file, 'utf8')
    : undefined
}

function digestPlaces({ project }: BoxTrial): (readonly [name: string, digest: string])[] {
  return PROTECTED.map((name) => [name, digest(join(project, name))] as const)
}

/** Of everything below a path but what is named so. Empty folders, which git does not keep, do not count. */
function digest(path: string, except: readonly string[] = []): string {
  const hash = createHash('sha256')
  const walk = (at: string): void => {
    const stat = lstatSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return
    if (stat.isDirectory()) {
      const names = readdirSync(at).sort()
      for (const name of names) if (!except.includes(name)) walk(join(at, name))
      return
    }
    const isLink = stat.isSymbolicLink()
    const content = isLink ? readlinkSync(at) : stat.isFile() ? readFileSync(at) : ''
    hash
      .update(`${at} ${stat.mode & 0o111} ${isLink} `)
      .update(content)
      .update('\0')
  }
  walk(path)
  return hash.digest('hex')
}
