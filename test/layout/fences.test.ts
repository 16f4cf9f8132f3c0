// The fences hold: what a room may not do does not compile. Two small houses are built from the
// real tsconfigs, one doing everything that is forbidden and one only what is allowed (the
// positive control: a fence that stops everything would prove nothing).

import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { getRoomFolder, listReachable, listRooms, ROOT } from '../support/rooms.ts'

const rooms = listRooms()
const roomNames = [...rooms.keys()]
const pureRooms = roomNames.filter((name) => rooms.get(name)?.kind === 'pure')
const nodeRooms = roomNames.filter((name) => rooms.get(name)?.kind === 'node')

const FENCES = join(ROOT, 'test/layout/fences')
const pureFixtures = readdirSync(join(FENCES, 'pure')).map((file) => {
  const text = readFileSync(join(FENCES, 'pure', file), 'utf8')
  const code = /^\/\/ error: (TS\d+)$/m.exec(text)?.[1]
  if (code === undefined)
    throw new Error(`test/layout/fences/pure/${file} does not say \`// error: TS…\``)
  return { file, text, code }
})

const imports = roomNames.flatMap((from) =>
  roomNames
    .filter((to) => to !== from)
    .map((to) => ({ from, to, allowed: listReachable(from).has(to) })),
)
const forbiddenImports = imports.filter((each) => !each.allowed)
const allowedImports = imports.filter((each) => each.allowed)

type Files = Record<string, string>

/** Calls `use` with an empty folder that sees our node_modules, and removes it again. */
function inNewHouse<Result>(use: (house: string) => Result): Result {
  const house = mkdtempSync(join(tmpdir(), 'sluice-fences-'))
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(house, 'node_modules'))
    return use(house)
  } finally {
    rmSync(house, { recursive: true, force: true })
  }
}

function writeFiles(house: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(house, path)), { recursive: true })
    writeFileSync(join(house, path), text)
  }
}

function runTool(
  house: string,
  tool: string,
  args: string[],
): { status: number | null; output: string } {
  const command = [join(ROOT, 'node_modules', tool), ...args]
  const run = spawnSync(process.execPath, command, { cwd: house, encoding: 'utf8' })
  return { status: run.status, output: run.stdout + run.stderr }
}

/** Builds the rooms with `files` in them and returns the error codes for each file. */
function compile(files: Files): Map<string, string[]> {
  const copied = ['base', 'pure', 'node'].map((kind) => `tsconfig.${kind}.json`)
  copied.push(...roomNames.map((name) => `${getRoomFolder(name)}/tsconfig.json`))
  const references = roomNames.map((name) => ({ path: `./${getRoomFolder(name)}` }))
  const { status, output } = inNewHouse((house) => {
    for (const path of copied) cpSync(join(ROOT, path), join(house, path))
    writeFiles(house, {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ files: [], references }),
      ...Object.fromEntries(
        roomNames.map((name) => [
          `${getRoomFolder(name)}/here.ts`,
          'export const here: number = 1\n',
        ]),
      ),
      ...files,
    })
    return runTool(house, 'typescript/bin/tsc', ['-b', '--force', '--pretty', 'false'])
  })
  const errors = new Map<string, string[]>()
  for (const line of output.split('\n')) {
    // An error without a place is about a tsconfig; `(config)` keeps it from being overlooked.
    const [, path = '(config)', code] = /^(?:(\S+)\(\d+,\d+\): )?error (TS\d+):/.exec(line) ?? []
    if (code !== undefined) errors.set(path, [...(errors.get(path) ?? []), code])
  }
  if (status !== 0 && errors.size === 0) throw new Error(`tsc failed: ${output}`)
  return errors
}

function pathOfImport({ from, to }: { from: string; to: string }): string {
  return `${getRoomFolder(from)}/to-${to.replace('/', '-')}.ts`
}

function importing({ from, to }: { from: string; to: string }): [path: string, text: string] {
  const crosses = to.startsWith('policy/') && !from.startsWith('policy/')
  const target = crosses
    ? `@sluice/${to}/here`
    : `${relative(getRoomFolder(from), getRoomFolder(to))}/here.ts`
  const text = `import { here } from '${target}'\nexport const there: number = here\n`
  return [pathOfImport({ from, to }), text]
}

describe('what is forbidden does not compile', () => {
  const errors = compile({
    ...Object.fromEntries(forbiddenImports.map(importing)),
    ...Object.fromEntries(
      pureRooms.flatMap((room) =>
        pureFixtures.map(({ file, text }) => [`${getRoomFolder(room)}/${file}`, text]),
      ),
    ),
  })

  test.each(forbiddenImports)('$from may not import $to', ({ from, to }) => {
    expect(errors.get(pathOfImport({ from, to })) ?? []).toContain('TS6307')
  })

  describe.each(pureRooms)('%s is pure', (room) => {
    test.each(pureFixtures)('$file', ({ file, code }) => {
      expect(errors.get(`${getRoomFolder(room)}/${file}`) ?? []).toContain(code)
    })
  })

  test('and nothing else is wrong in that house', () => {
    const names = pureFixtures.map(({ file }) => file)
    const isFixture = (path: string): boolean => {
      const file = path.split('/').at(-1) ?? ''
      return file.startsWith('to-') || names.includes(file)
    }
    expect([...errors.keys()].filter((path) => !isFixture(path))).toEqual([])
  })
})

test('what is allowed compiles', () => {
  const allowed = readFileSync(join(FENCES, 'allowed.ts'), 'utf8')
  const errors = compile({
    ...Object.fromEntries(allowedImports.map(importing)),
    ...Object.fromEntries(roomNames.map((room) => [`${getRoomFolder(room)}/allowed.ts`, allowed])),
    ...Object.fromEntries(
      nodeRooms.flatMap((room) =>
        pureFixtures.map(({ file, text }) => [`${getRoomFolder(room)}/${file}`, text]),
      ),
    ),
  })
  expect(Object.fromEntries(errors)).toEqual({})
})

/** Lints `files` with the real biome.json and returns what the linter says. */
function lint(files: Files): string {
  return inNewHouse((house) => {
    cpSync(join(ROOT, 'biome.json'), join(house, 'biome.json'))
    writeFiles(house, files)
    return runTool(house, '@biomejs/biome/bin/biome', ['lint', '--max-diagnostics=none']).output
  })
}

describe('a pure room has no clock', () => {
  const text = 'export const now = (): number => Date.now()\n'
  const output = lint(
    Object.fromEntries(roomNames.map((room) => [`${getRoomFolder(room)}/probe.ts`, text])),
  )
  const stops = (room: string): boolean =>
    new RegExp(`${getRoomFolder(room)}/probe\\.ts:1:\\d+ lint/style/noRestrictedGlobals`).test(
      output,
    )

  test.each(pureRooms)('the linter stops Date in %s', (room) => {
    expect(stops(room), output).toBe(true)
  })

  test.each(nodeRooms)('and not in %s', (room) => {
    expect(stops(room), output).toBe(false)
  })
})
