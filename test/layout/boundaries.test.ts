// The boundaries hold: what a module may not do does not compile. Two small projects are built from the
// real tsconfigs, one doing everything that is forbidden and one only what is allowed (the
// positive control: a boundary that stops everything would prove nothing).

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
import { getModuleFolder, listModules, listReachable, ROOT } from '../support/modules.ts'

const modules = listModules()
const moduleNames = [...modules.keys()]
const pureModules = moduleNames.filter((name) => modules.get(name)?.kind === 'pure')
const nodeModules = moduleNames.filter((name) => modules.get(name)?.kind === 'node')

const FIXTURES = join(ROOT, 'test/layout/boundaries')
const pureFixtures = readdirSync(join(FIXTURES, 'pure')).map((file) => {
  const text = readFileSync(join(FIXTURES, 'pure', file), 'utf8')
  const code = /^\/\/ error: (TS\d+)$/m.exec(text)?.[1]
  if (code === undefined)
    throw new Error(`test/layout/boundaries/pure/${file} does not say \`// error: TS…\``)
  return { file, text, code }
})

const imports = moduleNames.flatMap((from) =>
  moduleNames
    .filter((to) => to !== from)
    .map((to) => ({ from, to, allowed: listReachable(from).has(to) })),
)
const forbiddenImports = imports.filter((each) => !each.allowed)
const allowedImports = imports.filter((each) => each.allowed)

type Files = Record<string, string>

/** Calls `use` with an empty folder that sees our node_modules, and removes it again. */
function inNewFolder<Result>(use: (folder: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-boundaries-'))
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeFiles(folder: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

function runTool(
  folder: string,
  tool: string,
  args: string[],
): { status: number | null; output: string } {
  const command = [join(ROOT, 'node_modules', tool), ...args]
  const run = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' })
  return { status: run.status, output: run.stdout + run.stderr }
}

/** Builds the modules with `files` in them and returns the error codes for each file. */
function compile(files: Files): Map<string, string[]> {
  const copied = ['base', 'pure', 'node'].map((kind) => `tsconfig.${kind}.json`)
  copied.push(...moduleNames.map((name) => `${getModuleFolder(name)}/tsconfig.json`))
  const references = moduleNames.map((name) => ({ path: `./${getModuleFolder(name)}` }))
  const { status, output } = inNewFolder((folder) => {
    for (const path of copied) cpSync(join(ROOT, path), join(folder, path))
    writeFiles(folder, {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ files: [], references }),
      ...Object.fromEntries(
        moduleNames.map((name) => [
          `${getModuleFolder(name)}/here.ts`,
          'export const here: number = 1\n',
        ]),
      ),
      ...files,
    })
    return runTool(folder, 'typescript/bin/tsc', [
      '-b',
      '--force',
      '--singleThreaded',
      '--pretty',
      'false',
    ])
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
  return `${getModuleFolder(from)}/to-${to.replace('/', '-')}.ts`
}

/** Other packages are imported by name, but for the command, which has none for them. */
function importing({ from, to }: { from: string; to: string }): [path: string, text: string] {
  const [fromPackage] = from.split('/')
  const [toPackage = ''] = to.split('/')
  const target =
    fromPackage !== toPackage && toPackage !== 'cli'
      ? `@sluice/${to}/here`
      : `./${relative(getModuleFolder(from), getModuleFolder(to))}/here.ts`
  const text = `import { here } from '${target}'\nexport const there: number = here\n`
  return [pathOfImport({ from, to }), text]
}

describe('what is forbidden does not compile', () => {
  const errors = compile({
    ...Object.fromEntries(forbiddenImports.map(importing)),
    ...Object.fromEntries(
      pureModules.flatMap((module) =>
        pureFixtures.map(({ file, text }) => [`${getModuleFolder(module)}/${file}`, text]),
      ),
    ),
  })

  test.each(forbiddenImports)('$from may not import $to', ({ from, to }) => {
    expect(errors.get(pathOfImport({ from, to })) ?? []).toContain('TS6307')
  })

  describe.each(pureModules)('%s is pure', (module) => {
    test.each(pureFixtures)('$file', ({ file, code }) => {
      expect(errors.get(`${getModuleFolder(module)}/${file}`) ?? []).toContain(code)
    })
  })

  test('and nothing else is wrong in that folder', () => {
    const names = pureFixtures.map(({ file }) => file)
    const isFixture = (path: string): boolean => {
      const file = path.split('/').at(-1) ?? ''
      return file.startsWith('to-') || names.includes(file)
    }
    expect([...errors.keys()].filter((path) => !isFixture(path))).toEqual([])
  })
})

test('what is allowed compiles', () => {
  const allowed = readFileSync(join(FIXTURES, 'allowed.ts'), 'utf8')
  const errors = compile({
    ...Object.fromEntries(allowedImports.map(importing)),
    ...Object.fromEntries(
      moduleNames.map((module) => [`${getModuleFolder(module)}/allowed.ts`, allowed]),
    ),
    ...Object.fromEntries(
      nodeModules.flatMap((module) =>
        pureFixtures.map(({ file, text }) => [`${getModuleFolder(module)}/${file}`, text]),
      ),
    ),
  })
  expect(Object.fromEntries(errors)).toEqual({})
})

/** Lints `files` with the real biome.json and returns what the linter says. */
function lint(files: Files): string {
  return inNewFolder((folder) => {
    cpSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'))
    writeFiles(folder, files)
    return runTool(folder, '@biomejs/biome/bin/biome', ['lint', '--max-diagnostics=none']).output
  })
}

describe('a pure module has no clock', () => {
  const text = 'export const now = (): number => Date.now()\n'
  const output = lint(
    Object.fromEntries(moduleNames.map((module) => [`${getModuleFolder(module)}/probe.ts`, text])),
  )
  const stops = (module: string): boolean =>
    new RegExp(`${getModuleFolder(module)}/probe\\.ts:1:\\d+ lint/style/noRestrictedGlobals`).test(
      output,
    )

  test.each(pureModules)('the linter stops Date in %s', (module) => {
    expect(stops(module), output).toBe(true)
  })

  test.each(nodeModules)('and not in %s', (module) => {
    expect(stops(module), output).toBe(false)
  })
})
