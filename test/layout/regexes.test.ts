// Every regular expression of the sources takes time in proportion to its text. That is decided by analysis of
// the expression (test/support/regex), not by running it: `test/slow-inputs` runs the readers, and can miss one.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, test, vi } from 'vitest'
import { ROOT } from '../support/modules.ts'
import { findAmbiguity } from '../support/regex/ambiguity.ts'
import { findAmbiguityOnce } from '../support/regex/known-ambiguities.ts'

/** Where the analysis finds polynomial time and the caller prevents it: how. Exponential time is never allowed. */
const POLYNOMIAL: readonly (readonly [file: string, pattern: RegExp, reason: string])[] = [
  ['policy/src/values/decimal.ts', /0+$/, 'DECIMAL_DIGITS_MAX (40) digits for each factor'],
  ['policy/src/readers/sql-reads.ts', /[A-Za-z_]\w*(?![\w$])/y, 'a mismatch ends the reading'],
  [
    'policy/src/readers/sql-reads.ts',
    /(?:0[xX][0-9A-Fa-f]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.$])/y,
    'a mismatch ends the reading',
  ],
  [
    'policy/src/decide/egress.ts',
    /["'`{}|]+[\w.~%+:-]{0,100}@/y,
    'tried behind an address only: once for each run of quotes',
  ],
  [
    'policy/src/expression/pattern-steps.ts',
    /\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/g,
    'PATTERN_LENGTH_MAX (500) characters',
  ],
  [
    'access/src/approvals/json-text.ts',
    /[ \t\r\n]*("[^"\\]*(?:\\.[^"\\]*)*"|[-+.\w]+|[[\]{}:,])/y,
    'a mismatch ends the reading',
  ],
  [
    'catalogue/src/classify/classify-call.ts',
    /\bsql\b|\bselect\b|\bquer(?:y|ies)\b.*\bdatabase|postgres|mysql/i,
    'a name (1,024 characters) and SQL_CHARS_MAX (400) of its description',
  ],
  [
    'catalogue/src/signals/read-phrases.ts',
    /["'`]?([A-Za-z]\w*)["'`]?(?: \([^()]{0,120}\))?(?:\s?[,|/]\s?(?:and |or )?| and | or |$|(?=[.;\n]))/y,
    'tried behind an offer, which ends in `:` or `=`, at most OFFERED_MAX (24) times',
  ],
  [
    'catalogue/src/signals/read-text.ts',
    /(?:\s*(?:\[[^\]\n]{1,160}\]|[^\p{L}\p{N}\s[]{1,6}|[A-Z]{4,12}\b:?(?= [A-Z])|\d+\.|Purpose:|Designer Tool -))+\s*/uy,
    'tried SENTENCES_MAX (6) times in a text',
  ],
  [
    'catalogue/src/signals/read-text.ts',
    /(?:\W*)(?:when|if|always|important|note|only|do not|don't|never|requires?|prerequisite|before|after|once|for best|best for|examples?|warning|caution|mandatory|deprecated|critical|call this|must|you must|please|parameters?|args|arguments|returns?:|usage|start (?:here|with)|use (?:when|this when|it|only|before|after|if|with|the)|see|this method has been deprecated|decommissioned|internal use|terminology|not for|next steps?|this tool requires|this is a sub|guardrails|data modification)\b/iy,
    'tried SENTENCES_MAX (6) times in a text',
  ],
  [
    'cli/src/catalogue/scan.ts',
    /<nav.*<\/nav>\n/,
    'a page that has one <nav>: in the texts of others `<` is escaped',
  ],
  [
    'gateway/src/front/fast-path/request-reader.ts',
    /([!#$%&'*+.^_`|~\dA-Za-z-]+): ?([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)\r\n/y,
    'a mismatch ends the reading',
  ],
  ['guard/src/html-addresses.ts', /[^\s"'<>/=:]*$/, 'NAME_CHARS_MAX (20) characters'],
  [
    'guard/src/secret-detectors.ts',
    /(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[ \t]{0,3}(?:(?:\\n|\r?\n){1,2}[ \t]{0,8}[A-Z][A-Za-z-]{3,20}: [^\r\n\\]{1,80}){1,4}|(?:(?:\\n|\s){1,4}[A-Z][A-Za-z-]{3,20}: (?:[ \t]{0,3}[^\s\\:]|:(?! )){1,80}){0,4}))((?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{16,8192}){1,200}(?:(?:\\n|\s){0,4}[A-Za-z0-9+/=]{1,15}(?=(?:\\n|\s){0,4}-----END))?)/g,
    'what is read in vain has 4 headers of at most 80 letters',
  ],
  [
    'cli/src/terminal/failure.ts',
    /Did you mean (?:one of )?(.+?)\?\)/,
    'one line that names own commands or options',
  ],
]

/** `new RegExp` of a function that no module calls when it is loaded, and what it makes there. */
const MADE_LATER: readonly (readonly [file: string, made: readonly RegExp[], of: string])[] = [
  ['policy/src/expression/inspect-expression.ts', [/^[\s)]*\.\s*name\s*\(/], 'a name of CEL'],
  [
    'access/src/identity/oauth/discover-login.ts',
    [/(?:^|[\s,])scope="([^"]{1,2048})"/i],
    'a name that is written in the module',
  ],
  [
    'gateway/src/session/strip-gate-tokens.ts',
    [],
    'BEGINNING and MAYBE, which are made when the module is loaded',
  ],
  ['console/src/router.ts', [/^\/api\/approvals\/(?<id>[^/]{1,300})\/grant$/], 'own paths'],
  [
    'cli/src/agents/open-agents.ts',
    [/^([a-z][a-z0-9_-]{0,63}:[^=]+)=(\d{1,9}(?:\.\d{1,6})?)\/(\d{1,9}(?:\.\d{1,6})?)$/],
    'nothing else',
  ],
  [
    'policy/src/change/edit-rule.ts',
    [/(?<=^|\(|&& |\|\| )args\.amount <=? \d+(?:\.\d+)?(?=$|\)| &&| \|\|)/],
    'the path of an argument',
  ],
  [
    'cli/src/packs/merge-pack.ts',
    [/(?<![\w./-])name\//g, /"name: /g, /\bserver: name\b/g],
    'the name of a server in a pack',
  ],
]

interface Site {
  readonly file: string
  readonly line: number
}

interface Written extends Site {
  readonly source: string
  readonly flags: string
}

const PACKAGES = join(ROOT, 'packages')
/** Comments, and imports by name. */
const OTHER_LINES = /^(?: *(?:\/\/|\/?\*)|import\b|export .* from '|\} from ').*/gm
const files = globSync('*/src/**/*.ts', { cwd: PACKAGES }).filter(
  (file) => !/\.test(-support)?\.ts$/.test(file),
)
const syntax = files.flatMap(readSyntax)
const literals = syntax.flatMap(({ literals: found }) => found)
const calls = syntax.flatMap(({ calls: found }) => found)
/** The guard's modules hand their patterns to each other when they are loaded. */
const guard = files.filter((file) => file.startsWith('guard/src/'))
const made = await recordMade([...new Set(calls.map(({ file }) => file)), ...guard])

describe('regular expressions', () => {
  test('that are written in the sources take linear time', () => {
    expect(literals.length).toBeGreaterThan(1_000)
    expect(findSlow(literals)).toEqual([])
  })

  test('that are made when modules are loaded take linear time', () => {
    const later = MADE_LATER.map(([file]) => file)
    const silent = calls.filter(
      ({ file, line }) =>
        !later.includes(file) && !made.some((each) => each.file === file && each.line === line),
    )
    expect(silent).toEqual([])
    expect(findSlow(made)).toEqual([])
  })

  test('that are made later take linear time', () => {
    const examples = MADE_LATER.flatMap(([file, patterns]) =>
      patterns.map(({ source, flags }) => ({ file, line: 0, source, flags })),
    )
    expect(findSlow(examples)).toEqual([])
    const stale = MADE_LATER.filter(([file]) => !calls.some((call) => call.file === file))
    expect(stale).toEqual([])
  })

  test('that are allowed are still there, and still need it', () => {
    const stale = POLYNOMIAL.filter(
      ([file, { source, flags }]) =>
        findAmbiguityOnce(source, flags)?.growth !== 'polynomial' ||
        ![...literals, ...made].some((each) => each.file === file && each.source === source),
    )
    expect(stale.map(([file, { source }]) => `${file}: ${source}`)).toEqual([])
  })
})

describe('the analysis', () => {
  test.each([
    /(a*)*b/,
    /(a|a)*b/,
    /^(a+)+$/,
    /^(?:x*y*)*z/,
    /^(?:\w+\s?)*$/,
    /^(?:a|ab|b)*c/,
    /^(?:a{0,30}){0,30}b/,
    /^(([a-z])+.)+[A-Z]([a-z])+$/,
    /(?=(?:a|a)*b)/,
    /^(?:[sſ]|ſ)*!/iu,
    /(?:(?:\\n|\s){1,4}[A-Z][A-Za-z-]{3,20}: [^\n\\]{1,80}){0,4}A{16}/,
  ])('finds exponential time: %s', ({ source, flags }) => {
    expect(findAmbiguity(source, flags)?.growth).toBe('exponential')
  })

  test.each([
    /a+!/,
    /\s+$/,
    /^a*a*b/,
    /^\s+x/m,
    /^[^<]* [^<]*$/,
    /^(?:(?!a*b)a)*c/,
    /a(?:.*b)?/g,
    /a(?=.*)/g,
    /\$\{([^}]*)\}/g,
    /!+[^\s!]*$/,
    /<[^>]{0,3000}>/,
    /(?<=a*)b/,
  ])('finds polynomial time: %s', ({ source, flags }) => {
    expect(findAmbiguity(source, flags)?.growth).toBe('polynomial')
  })

  test.each([
    /a+/g,
    /^a+!/,
    /^\s*x/,
    /\b\w+!/,
    /".*?"/g,
    /"[^"]*"/g,
    /^(?:a|b?)*c/,
    /^a*[\s\S]*$/,
    /^(?:a{5})*b/,
    /[\w.+-]{1,64}@/,
    /\$\{([^}]*)(\}?)/g,
    /^(?:\w+\s)*\w+$/,
    /(?<![\w-])[\w-]{13}[\w-]*\.eyJ/g,
    /^("(?:[^"\\]|\\.)*"|[^\s"]+) /,
    /[A-Z]+(?![a-z])|[a-z]+/g,
  ])('knows linear time: %s', ({ source, flags }) => {
    expect(findAmbiguity(source, flags)).toBeUndefined()
  })
})

function findSlow(all: readonly Written[]): string[] {
  const distinct = new Map(all.map((each) => [`${each.file} ${each.source} ${each.flags}`, each]))
  return [...distinct.values()].flatMap(({ file, line, source, flags }) => {
    const found = findAmbiguityOnce(source, flags)
    const isAllowed = POLYNOMIAL.some(
      ([allowed, pattern]) => allowed === file && pattern.source === source,
    )
    if (found === undefined || (found.growth === 'polynomial' && isAllowed)) return []
    const [first, second] = found.parts
    return [
      `packages/${file}:${line}: /${source}/${flags} takes ${found.growth} time: \`${first}\` and ` +
        `\`${second}\` can read the same characters`,
    ]
  })
}

/** Empty if nothing in the file can be an expression: to parse them all takes seconds. */
function readSyntax(file: string): { literals: Written[]; calls: Site[] }[] {
  const text = readFileSync(join(PACKAGES, file), 'utf8')
  if (!/\/|RegExp/.test(text.replace(OTHER_LINES, ''))) return []
  const literals: Written[] = []
  const calls: Site[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || node instanceof RegExp) return
    const { regex, start = 0, type = '', callee } = node as SyntaxNode
    const line = () => text.slice(0, start).split('\n').length
    if (regex) literals.push({ file, line: line(), source: regex.pattern, flags: regex.flags })
    else if (/^(?:New|Call)Expression$/.test(type) && callee?.name === 'RegExp')
      calls.push({ file, line: line() })
    for (const child of Object.values(node)) visit(child)
  }
  visit(parseSync(file, text).program)
  return [{ literals, calls }]
}

interface SyntaxNode {
  readonly type?: string
  readonly start?: number
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly name?: string }
}

/** What modules make of `RegExp` while they are loaded. */
async function recordMade(modules: readonly string[]): Promise<Written[]> {
  const made: Written[] = []
  const Original = globalThis.RegExp
  globalThis.RegExp = new Proxy(Original, {
    construct(target, [pattern, flags]) {
      const result = new target(pattern, flags)
      const place = /packages\/([^:?)]+\.ts)[^:)]*:(\d+)/.exec(new Error().stack ?? '')
      const [, file = '', line = ''] = place ?? []
      made.push({ file, line: Number(line), source: result.source, flags: result.flags })
      return result
    },
  })
  // Also those that an earlier test file has loaded.
  vi.resetModules()
  try {
    for (const module of modules) await import(join(PACKAGES, module))
  } finally {
    globalThis.RegExp = Original
  }
  return made.filter(({ file }) => files.includes(file))
}
