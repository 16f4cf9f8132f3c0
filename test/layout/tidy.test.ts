// House rules as a test. Every rule collects its findings as sentences that say where and what to
// do, and expects none. A new rule goes here rather than into prose that nothing enforces.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseSync } from 'vite'
import { describe, expect, test } from 'vitest'
import { countCode } from '../support/code-size.ts'
import {
  FULLY_COVERED,
  findModule,
  getModuleFolder,
  listModules,
  PUBLISHED,
  ROOT,
} from '../support/modules.ts'

const FUNCTION_LINES_MAX = 80
const BRANCHES_MAX = 25
const OPENING_LINES_MIN = 1
const OPENING_LINES_MAX = 8
const NOT_OURS = ['.git', 'node_modules', 'dist', 'coverage', '.sluice']
const ALLOWED = /allowed: \S/
const BRANCHES =
  /^(?:If|For|ForIn|ForOf|While|DoWhile)Statement$|^(?:Logical|Conditional)Expression$|^SwitchCase$|^CatchClause$/

/** Phrases of the former dialect, and the plain English to write instead. */
const DIALECT: readonly (readonly [RegExp, string])[] = [
  [/\banew\b/i, 'again'],
  [/\bwhoever\b/i, 'the caller, the user, anyone who'],
  [/\bheld against\b/i, 'compared with, checked against'],
  [/\bwhere there is no(?:ne|thing)?\b/i, 'if X is missing'],
  [/\bnobody has\b/i, 'no one has, is not found'],
  [/\bstands for itself\b/i, 'is literal'],
]

/** Words that were replaced in whole modules, in names and comments alike. */
const REPLACED: readonly (readonly [modules: RegExp, word: RegExp, instead: string])[] = [
  [/^packages\/policy\/src\//, /\b(?:laid|lies)\b/i, 'draft, matched, applies'],
  [/^packages\/policy\/src\/decide\//, /weigh|verdict|\bcame\b/i, 'decide, decision, result'],
  // A verdict is a person's, on a call that waits.
  [
    /^packages\/(?:ledger\/src\/(?!store)|guard\/src|gateway\/src\/(?:state|tools|metrics)|cli\/src\/(?:policy|ledger))\//,
    /verdict/i,
    'decision',
  ],
  [/^packages\/gateway\/src\/call\//, /\bCallVerdict\b|\bverdict = await\b/, 'decision'],
  // `judged` is public: `record: judged` of a policy.
  [
    /^packages\/(?:ledger\/src\/(?!store)|gateway\/src\/(?:call|start)\/)/,
    /judge(?!d)|weigh|misfit/i,
    'decide, entry, stale or full',
  ],
  // Approvers are notified; *held* is for calls.
  [
    /^packages\/access\/src\/approvals\//,
    /#book\b|BookParts|\btell(?:ers?|ing)?\b|\bheld\b/i,
    'registry, notify, pending',
  ],
  // Also a definition is pending, and not held.
  [/^packages\/gateway\/src\/(?:tools|session|alerts)\//, /\bheldOf\b|\bheld(?=\??:)/, 'pending'],
  [/^packages\/catalogue\/src\/signals\//, /\btell(?:er\b|[A-Z(:,])/, 'emit'],
  [
    /^packages\/(?:agents\/src|cli\/src|gateway\/src\/(?:upstream|operations|aggregate|alerts))\//,
    /#tell\b|\btell(?:ers?\b|[A-Z(:])/,
    'notify, report, print',
  ],
]

/** Modules whose doc comments are sentences, and how a fragment begins. */
const SENTENCES =
  /^packages\/(?:(?:access|policy|guard|catalogue|protocol|import-policylayer)\/src\/|ledger\/src\/(?!store)|agents\/src\/(?!guest)|gateway\/src\/(?:call|front|start|tools|upstream)\/)/
const FRAGMENT =
  /^\s*\/\*\* (?:Of|By|Not|As|To|For|With|Without|Beside|Below|Behind|Undefined|Those|None|Also|Neither|In place of) /

/** Left as it is: the bundle's text is the identity of an agent's core. */
const DIALECT_FROZEN = 'packages/agents/src/guest/'

const PARAMETERS_MAX = 4

/** Files with functions of five or six parameters. An object for each call would be made in the inner loops
 * of a decision, a classification and what is read of every message; values of agents cross threads and
 * gates by their place; `replace` of a string calls back with its groups. */
const LONG_CALLS = [
  'packages/policy/src/decide/',
  'packages/agents/src/service/',
  'packages/agents/src/step-thread/operations.ts',
  'packages/agents/src/steps/stepper.ts',
  'packages/catalogue/src/signals/',
  'packages/gateway/src/call/inspect-answers.ts',
  'packages/guard/src/views.ts',
  'packages/agents/src/guest/',
  'packages/protocol/src/read-message.ts',
]

type File = { path: string; text: string }

const modules = listModules()
const files = readAll('.')
const sources = files.filter(({ path }) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path))
const productFiles = sources.filter(({ path }) => !isTest(path))
const page = files.filter(
  ({ path }) => /^packages\/console\/page\/src\/.*\.tsx?$/.test(path) && !isTest(path),
)
const productCode = [...productFiles, ...page]

describe('files', () => {
  test('open with a comment of 1 to 8 lines on what they are', () => {
    const wrong = productFiles.filter(({ text }) => {
      const lines = openingCommentLines(text)
      return lines < OPENING_LINES_MIN || lines > OPENING_LINES_MAX
    })
    const say = ({ path, text }: File): string =>
      `${path} opens with ${openingCommentLines(text)} comment lines, ` +
      `${OPENING_LINES_MIN} to ${OPENING_LINES_MAX} are asked for`
    expect(wrong.map(say)).toEqual([])
  })

  test('are named in kebab-case, and after what they do', () => {
    const code = files.filter(({ path }) => /^(packages|test|scripts|bench)\/.*\.[jt]s$/.test(path))
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

  test('are called index.ts only where a module is published', () => {
    const wrong = sources.filter(({ path }) => basename(path) === 'index.ts')
    expect(wrong.map(({ path }) => path).filter((path) => !PUBLISHED.includes(path))).toEqual([])
  })
})

describe('comments', () => {
  const commented = files.filter(
    ({ path }) =>
      /^(packages\/[^/]+\/src|packages\/console\/page\/src|scripts|bench|test\/support)\/.*\.[jt]sx?$/.test(
        path,
      ) && !path.startsWith(DIALECT_FROZEN),
  )
  const findDialect = ({ path, text }: File): string[] =>
    listComments(text).flatMap(({ line, comment }) =>
      DIALECT.flatMap(([phrase, instead]) => {
        const [found] = phrase.exec(comment) ?? []
        return found === undefined ? [] : [`${path}:${line} has "${found}": write ${instead}`]
      }),
    )

  test('are in plain technical English', () => {
    expect(commented.flatMap(findDialect)).toEqual([])
  })

  test('are sentences that can be read without the code', () => {
    const read = productFiles.filter(({ path }) => SENTENCES.test(path))
    const wrong = read.flatMap((file) => findLines(file, FRAGMENT))
    expect(wrong).toEqual([])
  })

  test('say who calls a module only if that module imports it', () => {
    const wrong = productCode.flatMap(({ path, text }) => {
      const [opening = ''] = /^(?:\/\/.*\n)*/.exec(text) ?? []
      const claimed = [...opening.replace(/\n\/\//g, '').matchAll(CALLER)].map(([, name]) => name)
      const isCaller = (name: string) =>
        productCode.some((one) => basename(one.path) === name && importsModule(one, basename(path)))
      return claimed
        .filter((name = '') => !isCaller(name))
        .map((name) => `${path} says that ${name} calls it, which does not import it`)
    })
    expect(wrong).toEqual([])
  })

  test('and names have one word for one concept', () => {
    const wrong = productFiles.flatMap(({ path, text }) =>
      REPLACED.filter(([modules]) => modules.test(path)).flatMap(([, word, instead]) => {
        const found = word.exec(text)
        return found === null
          ? []
          : [`${path}:${findLine(text, found.index)} has "${found[0]}": write ${instead}`]
      }),
    )
    expect(wrong).toEqual([])
  })
})

describe('literals', () => {
  test('are not spread into another literal', () => {
    // `{ ...{ a, b } }` and `[...['a', 'b']]` keep the formatter from one line for each member.
    const code = files.filter(
      ({ path, text }) => /\.m?[jt]sx?$/.test(path) && /\.\.\.\(?[{[]/.test(text),
    )
    const wrong = code.flatMap(({ path, text }) =>
      findNodes({ path, text }, isLiteralSpread).map(({ start }) => {
        return `${path}:${findLine(text, start)} spreads a literal: write its members without the spread`
      }),
    )
    expect(wrong).toEqual([])
  })
})

describe('functions', () => {
  test('have at most 80 lines of code, but for a list that only shrinks', () => {
    const listed = readJson('test/layout/long-functions.json') as Record<string, number>
    const long = new Map(productCode.flatMap(listLongFunctions))
    expect([
      ...[...long]
        .filter(([name, lines]) => lines > (listed[name] ?? FUNCTION_LINES_MAX))
        .map(([name, lines]) => `${name} has ${lines} lines of code: take a step out of it`),
      ...Object.entries(listed)
        .filter(([name, lines]) => lines !== (long.get(name) ?? 0))
        .map(([name]) => `${name} is shorter: set ${long.get(name) ?? 'no entry'} in the list`),
    ]).toEqual([])
  })

  test('have at most 25 branches, but for a list that only shrinks', () => {
    const listed = readJson('test/layout/branches.json') as Record<string, number>
    const branchy = new Map(productCode.flatMap(listBranchyFunctions))
    expect([
      ...[...branchy]
        .filter(([name, branches]) => branches > (listed[name] ?? BRANCHES_MAX))
        .map(
          ([name, branches]) =>
            `${name} has ${branches} branches: take a step or a table out of it`,
        ),
      ...Object.entries(listed)
        .filter(([name, branches]) => branches !== (branchy.get(name) ?? 0))
        .map(
          ([name]) =>
            `${name} has fewer branches: set ${branchy.get(name) ?? 'no entry'} in the list`,
        ),
    ]).toEqual([])
  })

  test('take an options object past four parameters', () => {
    const wrong = productCode
      .filter(({ path }) => !LONG_CALLS.some((allowed) => path.startsWith(allowed)))
      .flatMap(({ path, text }) =>
        listFunctions({ path, text })
          .filter(hasManyParameters)
          .map(
            ({ start }) =>
              `${path}:${findLine(text, start)} has more than ${PARAMETERS_MAX} parameters`,
          ),
      )
    expect(wrong).toEqual([])
  })
})

describe('imports', () => {
  test('go to the file, with its extension', () => {
    // Not Biome's rule of this name: for that it reads the whole tree, even if it is to check one file.
    const code = files.filter(({ path }) =>
      /^(?:(?:packages|test|scripts|bench|examples|site)\/.*|[^/]+)\.tsx?$/.test(path),
    )
    expect(code.some(({ path }) => path.endsWith('.tsx'))).toBe(true)
    const wrong = code.flatMap(({ path, text }) =>
      importsOf(text)
        .filter((target) => target.startsWith('.') && !/\.(?:tsx?|json|css)$/.test(target))
        .map((target) => `${path} imports \`${target}\`, which does not end in .ts`),
    )
    expect(wrong).toEqual([])
  })

  test('of the API leave reading the ledger to its thread: the gate would stand still', () => {
    const isReading =
      /\/ledger\/((query|verify|report)\/|chain\/read\.ts|export\/chunks\.ts)|\/operations\/(replay|past-traffic)\.ts|-thread\.ts$/
    const byPath = new Map(productFiles.map((file) => [file.path, file]))
    const reached = new Set(['packages/console/src/start-admin.ts'])
    const wrong: string[] = []
    for (const path of reached) {
      const { text = '' } = byPath.get(path) ?? {}
      for (const target of targetsOf({ path, text: text.replace(/^import type /gm, '// ') })) {
        if (isReading.test(target))
          wrong.push(`${path} imports ${target}: ask for it with LedgerReader`)
        else if (target.startsWith('packages/console/src/')) reached.add(target)
      }
    }
    expect(wrong).toEqual([])
    const queries = [...reached].filter((path) => path.includes('/queries/'))
    expect(queries).toContain('packages/console/src/queries/ledger-reader.ts')
    expect(queries).not.toContain('packages/console/src/queries/ledger-queries.ts')
  })

  test('of every file that modules share come from two modules or more', () => {
    const shared = productFiles
      .map(({ path }) => path)
      .filter(
        (path) =>
          /^packages\/policy\/src\/(?:values|calls|readers|structures)\//.test(path) &&
          !/\/(errors|limits)\.ts$/.test(path),
      )
    const lonely = shared
      .map((path) => ({ path, users: [...roomsUsing(path)].sort() }))
      .filter(({ users }) => users.length < 2)
    const say = ({ path, users }: { path: string; users: string[] }): string =>
      users.length === 0
        ? `no module imports ${path}: delete it`
        : `only ${users[0]} imports ${path}: move it there`
    expect(lonely.map(say)).toEqual([])
  })
})

describe('folders', () => {
  test('of packages/*/src import each other in one direction', () => {
    const imports = new Map<string, Map<string, string>>()
    for (const file of productFiles)
      for (const target of targetsOf(file)) {
        const [from, to] = [dirname(file.path), dirname(target)]
        if (from === to) continue
        const edges = imports.get(from) ?? new Map<string, string>()
        imports.set(from, edges.set(to, `${file.path} imports ${target}`))
      }
    expect(findCycle(imports)).toEqual([])
  })
})

describe('modules', () => {
  test('import directly only what the table says', () => {
    const wrong = productFiles.flatMap((file) => {
      const from = findModule(file.path)
      if (from === undefined) return []
      return targetsOf(file)
        .map((target) => findModule(target))
        .filter((to) => to !== undefined && to !== from && !modules.get(from)?.imports.includes(to))
        .map((to) => `${file.path} imports ${to}: add it to test/support/modules.ts, or do not`)
    })
    expect(wrong).toEqual([])
  })

  test('are all in the table of test/support/modules.ts', () => {
    const strangers = sources
      .map(({ path }) => path)
      .filter((path) => {
        const module = findModule(path)
        return !PUBLISHED.includes(path) && (module === undefined || !modules.has(module))
      })
    expect(strangers).toEqual([])
  })

  test.each([...modules.keys()])('%s is bounded as the table says', (name) => {
    const module = modules.get(name)
    const folder = getModuleFolder(name)
    const output = folder.replace(/^packages\/([^/]+)\/src/, 'dist/$1/dist')
    const config = readJson(`${folder}/tsconfig.json`) as {
      extends: string
      compilerOptions: Record<string, unknown>
      references?: { path: string }[]
    }
    expect({
      extends: config.extends,
      // Any other option here could open the boundary.
      options: config.compilerOptions,
      references: (config.references ?? []).map(({ path }) => path).sort(),
    }).toEqual({
      extends: relative(folder, `tsconfig.${module?.kind}.json`),
      options: { rootDir: '.', outDir: relative(folder, output) },
      references: (module?.imports ?? [])
        .map((other) => relative(folder, getModuleFolder(other)))
        .map((path) => (path.startsWith('.') ? path : `./${path}`))
        .sort(),
    })
  })

  test.each(['tsconfig.json', 'tsconfig.test.json'])('are all built by %s', (file) => {
    const { references } = readJson(file) as { references: { path: string }[] }
    const built = references.map(({ path }) => path)
    expect(
      [...modules.keys()]
        .map((name) => `./${getModuleFolder(name)}`)
        .filter((path) => !built.includes(path)),
    ).toEqual([])
  })

  test('that are pure have no clock and no randomness', () => {
    const impure = /\bMath\s*\.\s*random\b|\bDate\s*\.\s*now\b|\bnew\s+Date\b/
    const wrong = productFiles
      .filter(({ path }) => modules.get(findModule(path) ?? '')?.kind === 'pure')
      // Examples in TSDoc are the code of somebody else, who has a clock.
      .map(({ path, text }) => ({ path, text: text.replace(/^\s*\* .*$/gm, '') }))
      .flatMap((file) => findLines(file, impure))
    expect(wrong).toEqual([])
  })

  test('that must be fully covered have the files that are named', () => {
    const missing = FULLY_COVERED.filter((glob) => globSync(glob, { cwd: ROOT }).length === 0)
    expect(missing.map((glob) => `${glob} matches no file: correct FULLY_COVERED`)).toEqual([])
  })
})

describe('error codes', async () => {
  const tables = productFiles.filter(({ path }) => /\/errors\.ts$/.test(path))
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

  test('are unique over all modules', () => {
    const twice = codes.filter(({ code, path }) =>
      codes.some((other) => other.code === code && other.path !== path),
    )
    expect(twice.map(({ code, path }) => `${code} in ${path} is taken`)).toEqual([])
  })

  test('are the ones in docs/reference/errors.md', () => {
    const path = 'docs/reference/errors.md'
    const page = existsSync(join(ROOT, path)) ? readFileSync(join(ROOT, path), 'utf8') : ''
    const missing = codes.filter(({ code }) => !page.includes(`\`${code}\``))
    const rows = [...page.matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map((row) => row[1] ?? '')
    const known = new Set(codes.map(({ code }) => code))
    expect([
      ...missing.map(({ code, meaning }) => `${path} lacks a row: | \`${code}\` | ${meaning} |`),
      ...rows
        .filter((code) => !known.has(code))
        .map((code) => `${path} has \`${code}\`, no module does`),
    ]).toEqual([])
  })
})

describe('the repository', () => {
  test('names no machine', () => {
    // Put together here, so that this file does not contain what it looks for.
    const machine = new RegExp(
      [
        '/wo' + 'rk/',
        '/ro' + 'ot/',
        '/ho' + 'me/',
        '\\.\\./sha' + 'red/(?:data|design|findings|hooks|prototypes)/',
      ].join('|'),
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
    const groups = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides']
    const all = ['.', ...globSync('packages/*', { cwd: ROOT })].flatMap((folder) => {
      const manifest = readJson(`${folder}/package.json`) as Record<string, Record<string, string>>
      return groups.flatMap((group) => Object.entries(manifest[group] ?? {}))
    })
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

/** Who calls a module, by its opening comment. */
const CALLER = /\b(?:Called|Used|Made) by ([\w-]+\.tsx?)/g

/** Modules of other packages are imported without their ending. */
function importsModule({ text }: File, module: string): boolean {
  return text.includes(`/${module}'`) || text.includes(`/${module.replace(/\.tsx?$/, '')}'`)
}

/** Each run of comment lines as one text, with the number of its first line. */
function listComments(text: string): { line: number; comment: string }[] {
  const found: { line: number; comment: string }[] = []
  let open = false
  for (const [at, line] of text.split('\n').entries()) {
    const words = /^\s*(?:\/\/|\{?\/\*+|\*)\s?(.*)$/.exec(line)?.[1]
    const last = found.at(-1)
    if (words !== undefined && open && last !== undefined) last.comment += ` ${words}`
    else if (words !== undefined) found.push({ line: at + 1, comment: words })
    open = words !== undefined
  }
  return found
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

type SyntaxNode = { readonly type: string; readonly start: number; readonly [key: string]: unknown }

function findNodes({ path, text }: File, isWanted: (node: SyntaxNode) => boolean): SyntaxNode[] {
  const found: SyntaxNode[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    if (isNode(node) && isWanted(node)) found.push(node)
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync(path, text).program)
  return found
}

function isNode(value: object): value is SyntaxNode {
  return 'type' in value && typeof value.type === 'string'
}

function isFunction({ type }: SyntaxNode): boolean {
  return /^(?:Arrow)?Function(?:Declaration|Expression)$/.test(type)
}

const functions = new Map<string, SyntaxNode[]>()

/** Found once for each file: to parse them all takes seconds. */
function listFunctions(file: File): SyntaxNode[] {
  const found = functions.get(file.path) ?? findNodes(file, isFunction)
  functions.set(file.path, found)
  return found
}

function hasManyParameters({ params }: SyntaxNode): boolean {
  return (params as unknown[]).length > PARAMETERS_MAX
}

/** Functions above the limit, each as `path name` with its lines. A function without a name has that of what it
 * is assigned to. */
function listLongFunctions({ path, text }: File): [name: string, lines: number][] {
  return listFunctions({ path, text }).flatMap((node) => {
    const { start, end } = node as SyntaxNode & { end: number }
    const own = text.slice(start, end)
    // Few have that many lines at all.
    const lines =
      own.split('\n', FUNCTION_LINES_MAX + 1).length > FUNCTION_LINES_MAX ? countCode(own) : 0
    return lines <= FUNCTION_LINES_MAX ? [] : [[nameFunction({ path, text }, node), lines]]
  })
}

/** Functions above the limit, each with its branches. What a function inside of it decides is its own. */
function listBranchyFunctions(file: File): [name: string, branches: number][] {
  return listFunctions(file).flatMap((node) => {
    const branches = countBranches(node.body)
    return branches <= BRANCHES_MAX ? [] : [[nameFunction(file, node), branches]]
  })
}

/** An `if`, a loop, a case, a condition, a `catch` and each `&&`, `||` and `??` is a branch. */
function countBranches(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 0
  if (isNode(node) && isFunction(node)) return 0
  let count = isNode(node) && BRANCHES.test(node.type) ? 1 : 0
  for (const child of Object.values(node)) count += countBranches(child)
  return count
}

/** `path name`. A function without a name has that of what it is assigned to. */
function nameFunction({ path, text }: File, node: SyntaxNode): string {
  const name = (node.id as { name: string } | null)?.name
  const before = /([\w#]+)(?:\s*[=:(]\s*[\w(]*|)$/.exec(text.slice(0, node.start).trimEnd())?.[1]
  return `${path} ${name ?? before ?? ''}`
}

function findLine(text: string, start: number): number {
  return text.slice(0, start).split('\n').length
}

function isLiteralSpread({ type, argument }: SyntaxNode): boolean {
  if (type !== 'SpreadElement' && type !== 'JSXSpreadAttribute') return false
  let inner = argument as SyntaxNode
  while (inner.expression !== undefined) inner = inner.expression as SyntaxNode
  return inner.type === 'ObjectExpression' || inner.type === 'ArrayExpression'
}

/** The source files that a file imports, from the root of the repository. */
function targetsOf({ path, text }: File): string[] {
  return importsOf(text).flatMap((target) => {
    const [, name, file] = /^@sluice\/([^/]+)\/(.+)$/.exec(target) ?? []
    if (file !== undefined) return [`packages/${name}/src/${file}.ts`]
    return target.startsWith('.') ? [join(dirname(path), target)] : []
  })
}

let importers: Map<string, File[]> | undefined

/** The files that import one. */
function findImporters(path: string): File[] {
  if (importers === undefined) {
    importers = new Map()
    for (const file of productFiles)
      for (const target of new Set(targetsOf(file)))
        importers.set(target, [...(importers.get(target) ?? []), file])
  }
  return importers.get(path) ?? []
}

/** The modules that need a file of core: by an import of their own, or through another file of core. */
function roomsUsing(path: string, seen = new Set<string>()): Set<string> {
  seen.add(path)
  const users = new Set<string>()
  for (const other of findImporters(path)) {
    if (seen.has(other.path)) continue
    const module = findModule(other.path) ?? other.path
    if (module !== findModule(path)) users.add(module)
    else for (const user of roomsUsing(other.path, seen)) users.add(user)
  }
  return users
}

/** The imports of one cycle between folders, or none. */
function findCycle(imports: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  const done = new Set<string>()
  const path: string[] = []
  const visit = (folder: string): string[] => {
    if (done.has(folder)) return []
    const start = path.indexOf(folder)
    if (start >= 0) {
      const cycle = [...path.slice(start), folder]
      return cycle.slice(1).map((to, at) => imports.get(cycle[at] ?? '')?.get(to) ?? '')
    }
    path.push(folder)
    for (const to of imports.get(folder)?.keys() ?? []) {
      const cycle = visit(to)
      if (cycle.length > 0) return cycle
    }
    path.pop()
    done.add(folder)
    return []
  }
  for (const folder of imports.keys()) {
    const cycle = visit(folder)
    if (cycle.length > 0) return cycle
  }
  return []
}
