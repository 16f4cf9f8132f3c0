// House rules as a test. Every rule gathers its findings as sentences that say where and what to
// do, and expects none. A new rule goes here rather than into prose nobody enforces.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { FULLY_COVERED, PUBLISHED, ROOT, roomsThatExist } from '../support/rooms.ts'

const LINES_MAX = 399
const OPENING_LINES_MIN = 2
const OPENING_LINES_MAX = 8
const NOT_OURS = ['.git', 'node_modules', 'dist', 'coverage', '.sluice']
const ALLOWED = /allowed: \S/

type File = { path: string; text: string }

const rooms = roomsThatExist()
const files = readAll('.')
const sources = files.filter(({ path }) => path.startsWith('src/') && path.endsWith('.ts'))
const modules = sources.filter(({ path }) => !isTest(path))

describe('files', () => {
  test('are shorter than 400 lines', () => {
    const long = sources.filter(({ text }) => lineCount(text) > LINES_MAX)
    const say = ({ path, text }: File): string =>
      `${path} has ${lineCount(text)} lines, at most ${LINES_MAX}: look for the second idea in it`
    expect(long.map(say)).toEqual([])
  })

  test('open with a comment of 2 to 8 lines on what they are', () => {
    const wrong = modules.filter(({ text }) => {
      const lines = openingCommentLines(text)
      return lines < OPENING_LINES_MIN || lines > OPENING_LINES_MAX
    })
    const say = ({ path, text }: File): string =>
      `${path} opens with ${openingCommentLines(text)} comment lines, ` +
      `${OPENING_LINES_MIN} to ${OPENING_LINES_MAX} are asked for`
    expect(wrong.map(say)).toEqual([])
  })

  test('are named in kebab-case, and after what they do', () => {
    const code = files.filter(({ path }) => /^(src|test|scripts|bench|bin)\/.*\.[jt]s$/.test(path))
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/
    const drawer = /(^|[-./])(utils?|helpers?|misc|common)([-./]|$)/
    expect([
      ...code
        .filter(({ path }) => path.split('/').some((part) => !kebab.test(part)))
        .map(({ path }) => `${path} is not in kebab-case`),
      ...code
        .filter(({ path }) => drawer.test(path))
        .map(({ path }) => `${path} is named like a drawer, name it after what it does`),
    ]).toEqual([])
  })

  test('are called index.ts only where a room is published', () => {
    const allowed = PUBLISHED.map((room) => `src/${room}/index.ts`)
    const wrong = sources.filter(({ path }) => basename(path) === 'index.ts')
    expect(wrong.map(({ path }) => path).filter((path) => !allowed.includes(path))).toEqual([])
  })
})

describe('imports', () => {
  test('go to the file, with its extension', () => {
    const code = files.filter(({ path }) => /^(src|test|scripts|bench)\/.*\.ts$/.test(path))
    const wrong = code.flatMap(({ path, text }) =>
      importsOf(text)
        .filter((target) => target.startsWith('.') && !/\.(ts|json)$/.test(target))
        .map((target) => `${path} imports \`${target}\`, which does not end in .ts`),
    )
    expect(wrong).toEqual([])
  })

  test('of every file in src/core come from two rooms or more', () => {
    const shared = modules
      .map(({ path }) => path)
      .filter((path) => path.startsWith('src/core/') && !/\/(errors|limits)\.ts$/.test(path))
    const lonely = shared
      .map((path) => ({ path, users: [...roomsUsing(path)].sort() }))
      .filter(({ users }) => users.length < 2)
    const say = ({ path, users }: { path: string; users: string[] }): string =>
      users.length === 0
        ? `no room imports ${path}: delete it`
        : `only ${users[0]} imports ${path}: move it to src/${users[0]}/`
    expect(lonely.map(say)).toEqual([])
  })
})

describe('rooms', () => {
  test('are all in the table of test/rooms.ts', () => {
    const folders = readdirSync(join(ROOT, 'src'))
    expect(folders.filter((name) => !rooms.has(name))).toEqual([])
  })

  test.each([...rooms.keys()])('%s is fenced as the table says', (name) => {
    const room = rooms.get(name)
    const config = readJson(`src/${name}/tsconfig.json`) as {
      extends: string
      compilerOptions: Record<string, unknown>
      references?: { path: string }[]
    }
    expect({
      extends: config.extends,
      // Any other option here could open the fence.
      options: config.compilerOptions,
      references: (config.references ?? []).map(({ path }) => path).sort(),
    }).toEqual({
      extends: `../../tsconfig.${room?.kind}.json`,
      options: { rootDir: '.', outDir: `../../dist/${name}` },
      references: (room?.imports ?? []).map((other) => `../${other}`).sort(),
    })
  })

  test.each(['tsconfig.json', 'tsconfig.test.json'])('are all built by %s', (file) => {
    const { references } = readJson(file) as { references: { path: string }[] }
    const built = references.map(({ path }) => path)
    expect([...rooms.keys()].filter((name) => !built.includes(`./src/${name}`))).toEqual([])
  })

  test('that are pure have no clock and no randomness', () => {
    const impure = /\bMath\s*\.\s*random\b|\bDate\s*\.\s*now\b|\bnew\s+Date\b/
    const wrong = modules
      .filter(({ path }) => rooms.get(roomOf(path))?.kind === 'pure')
      .flatMap((file) => findLines(file, impure))
    expect(wrong).toEqual([])
  })

  test('that must be fully covered have the files that are named', () => {
    const missing = FULLY_COVERED.filter((glob) => globSync(glob, { cwd: ROOT }).length === 0)
    expect(missing.map((glob) => `${glob} matches no file: correct FULLY_COVERED`)).toEqual([])
  })
})

describe('error codes', async () => {
  const tables = modules.filter(({ path }) => /^src\/[^/]+\/errors\.ts$/.test(path))
  const codes: { code: string; path: string; meaning: unknown }[] = []
  for (const { path } of tables) {
    const module = await import(pathToFileURL(join(ROOT, path)).href)
    for (const [code, meaning] of Object.entries(module.ERRORS ?? {}))
      codes.push({ code, path, meaning })
    if (module.ERRORS === undefined) codes.push({ code: '(no ERRORS)', path, meaning: undefined })
  }

  test('are in a table ERRORS, each with what it means', () => {
    const wrong = codes.filter(
      ({ code, meaning }) =>
        !/^[A-Z][A-Z0-9_]+$/.test(code) || typeof meaning !== 'string' || meaning === '',
    )
    expect(wrong).toEqual([])
  })

  test('are unique over all rooms', () => {
    const twice = codes.filter(({ code, path }) =>
      codes.some((other) => other.code === code && other.path !== path),
    )
    expect(twice.map(({ code, path }) => `${code} in ${path} is taken`)).toEqual([])
  })

  test('are the ones in docs/errors.md', () => {
    const path = 'docs/errors.md'
    const page = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : ''
    const missing = codes.filter(({ code }) => !page.includes(`\`${code}\``))
    const rows = [...page.matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map((row) => row[1] ?? '')
    const known = new Set(codes.map(({ code }) => code))
    expect([
      ...missing.map(({ code, meaning }) => `${path} lacks a row: | \`${code}\` | ${meaning} |`),
      ...rows
        .filter((code) => !known.has(code))
        .map((code) => `${path} has \`${code}\`, no room does`),
    ]).toEqual([])
  })
})

describe('the repository', () => {
  test('names no machine', () => {
    // Put together here, so that this file does not contain what it looks for.
    const machine = new RegExp(
      ['/wo' + 'rk/', '/ro' + 'ot/', '/ho' + 'me/', '\\.\\./sha' + 'red'].join('|'),
    )
    const registry = new RegExp('registry\\.np' + 'mjs')
    expect([
      ...files.flatMap((file) => findLines(file, machine)),
      ...files
        .filter(({ path }) => !path.startsWith('docs/'))
        .flatMap((file) => findLines(file, registry)),
    ]).toEqual([])
  })

  test('pins its dependencies to exact versions', () => {
    const manifest = readJson('package.json') as Record<string, Record<string, string> | undefined>
    const all = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'].flatMap(
      (group) => Object.entries(manifest[group] ?? {}),
    )
    expect(
      all.filter(([, version]) => !/^(npm:[@\w/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)),
    ).toEqual([])
  })

  test('has a lock file that any registry can serve, for every platform', () => {
    type Entry = {
      resolved?: string
      link?: boolean
      optionalDependencies?: Record<string, string>
    }
    const { packages } = readJson('package-lock.json') as { packages: Record<string, Entry> }
    const hosts = Object.entries(packages).filter(([, { resolved, link }]) => resolved && !link)
    const parts = Object.values(packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}),
    )
    const paths = Object.keys(packages)
    const missing = parts.filter(
      (name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)),
    )
    expect([
      ...hosts.map(
        ([path]) => `${path} names a host in \`resolved\`: set omit-lockfile-registry-resolved`,
      ),
      ...missing.map(
        (name) => `${name} is missing, \`npm ci\` would refuse: node scripts/complete-lock.js`,
      ),
    ]).toEqual([])
  })
})

function readAll(folder: string): File[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.includes(entry.name)) return []
    const path = folder === '.' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) return readAll(path)
    if (!entry.isFile() || matchesGlob(entry.name, '*.{tgz,tsbuildinfo}')) return []
    const bytes = readFileSync(join(ROOT, path))
    return bytes.includes(0) ? [] : [{ path, text: bytes.toString('utf8') }]
  })
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

function isTest(path: string): boolean {
  return /\.test(-support)?\.ts$/.test(path) || path.endsWith('/standard-tests.ts')
}

function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length
}

function openingCommentLines(text: string): number {
  const block = /^\/\*\*?([\s\S]*?)\*\//.exec(text)?.[1]
  if (block !== undefined) return block.split('\n').filter((line) => /[^\s*]/.test(line)).length
  return (
    /^(\/\/.*\n)*/
      .exec(text)?.[0]
      .split('\n')
      .filter((line) => /^\/\/.*\w/.test(line)).length ?? 0
  )
}

function findLines({ path, text }: File, pattern: RegExp): string[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      pattern.test(line) && !ALLOWED.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [],
    )
}

function importsOf(text: string): string[] {
  const statements = text.matchAll(
    /^(?:import|export)\b[^'"`;]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  )
  return [...statements].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '')
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? ''
}

/** The rooms that need a file of core: by an import of their own, or through another file of core. */
function roomsUsing(path: string, seen = new Set<string>()): Set<string> {
  seen.add(path)
  const users = new Set<string>()
  for (const other of modules) {
    const targets = importsOf(other.text).map((target) => join(dirname(other.path), target))
    if (!targets.includes(path) || seen.has(other.path)) continue
    if (roomOf(other.path) !== 'core') users.add(roomOf(other.path))
    else for (const user of roomsUsing(other.path, seen)) users.add(user)
  }
  return users
}
