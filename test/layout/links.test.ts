// Every relative link in the repository's Markdown leads to a file, and every anchor to a heading of it.
// Pages under `docs/` link only to each other, because they are published without the rest of the tree,
// and a page that code, a message or a test names exists.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { ALERT_KINDS } from '../../packages/access/src/approvals/alert.ts'
import { ROOT } from '../support/modules.ts'

const NOT_OURS = ['node_modules', '.git', 'dist', 'coverage', '.sluice']

interface Link {
  readonly from: string
  readonly to: string
}

const pages = listFiles('**/*.md')
const links = pages.flatMap((from) =>
  [...readProse(from).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, to = '']) => ({ from, to }))
    .filter(({ to }) => !/^[a-z]+:/.test(to)),
)

test('relative links lead to a file, and anchors to a heading', () => {
  expect(links.length).toBeGreaterThan(100)
  expect(links.filter((link) => !isResolved(link)).map(describeLink)).toEqual([])
})

test('pages under docs/ link to nothing outside of it', () => {
  const leaving = links.filter(
    ({ from, to }) => from.startsWith('docs/') && !findTarget({ from, to }).startsWith('docs'),
  )
  expect(leaving.map(describeLink)).toEqual([])
})

test('every page under docs/ can be reached from its index', () => {
  const reached = new Set(['docs/README.md'])
  for (const page of reached)
    for (const link of links)
      if (link.from === page) {
        const target = findTarget(link)
        const isFolder = statSync(join(ROOT, target)).isDirectory()
        for (const path of isFolder ? listFiles(`${target}/*.md`) : [target]) reached.add(path)
      }
  const unreached = pages.filter((path) => path.startsWith('docs/') && !reached.has(path))
  expect(unreached).toEqual([])
})

test('pages that code, messages and tests name exist', () => {
  const files = listFiles('{packages,console,scripts,test,bench,examples}/**/*.{ts,tsx,js,txt,md}')
  const missing = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md/g)]
      .filter(([page]) => !existsSync(join(ROOT, page)))
      .map(([page]) => `${file} names ${page}`),
  )
  expect(missing).toEqual([])
})

test('files that comments name exist', () => {
  const files = listFiles('**/*.{ts,tsx}')
  const paths = files.map((file) => `/${file}`)
  /** A path may leave out `packages` and `src`: ledger/query/query.ts. */
  const isThere = (named: string) => {
    const parts = named.split('/')
    const isLike = (path: string) =>
      path.endsWith(`/${named}`) ||
      (path.endsWith(`/${parts.slice(1).join('/')}`) && path.startsWith(`/packages/${parts[0]}/`))
    return paths.some(isLike)
  }
  const missing = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:^ *| {2})(?:\/\/|\/\*\*|\*) .*$/gm)]
      .flatMap(([comment]) => comment.match(/(?<![\w/.*@-])\w[\w.-]*(?:\/[\w.-]+)*\.tsx?\b/g) ?? [])
      .filter((named) => !named.includes('NAME') && !isThere(named))
      .map((named) => `${file} names ${named}`),
  )
  expect(missing).toEqual([])
})

test('tests that pages name exist', () => {
  const files = listFiles('{packages,test}/**/*.test.ts').map((file) => ({
    name: basename(file),
    text: readFileSync(join(ROOT, file), 'utf8'),
  }))
  const named = pages.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/`([\w-]+\.test\.ts)`: ([^|;]+)/g)].map(
      ([, file = '', title = '']) => ({ page, file, title: title.trim() }),
    ),
  )
  expect(named.length).toBeGreaterThan(20)
  const isThere = ({ file, title }: (typeof named)[number]) =>
    files.some(({ name, text }) => name === file && text.includes(title))
  expect(named.filter((each) => !isThere(each))).toEqual([])
})

test('files that ARCHITECTURE.md and CONTRIBUTING.md name exist', () => {
  const sources = listFiles('**/*.{ts,tsx,js,json,md}')
  const missing = ['ARCHITECTURE.md', 'CONTRIBUTING.md'].flatMap((page) =>
    [
      ...readFileSync(join(ROOT, page), 'utf8').matchAll(
        /`([\w./-]+\/[\w.-]+\.(?:ts|js|json|md))`/g,
      ),
    ]
      .filter(
        ([, name = '']) =>
          !/\bNAME\b/.test(name) && !sources.some((path) => `/${path}`.endsWith(`/${name}`)),
      )
      .map(([, name]) => `${page} names ${name}`),
  )
  expect(missing).toEqual([])
})

function listFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: ROOT, exclude: (path) => NOT_OURS.includes(path) })
    .filter((path) => !path.split('/').some((part) => NOT_OURS.includes(part)))
    .sort()
}

/** The page without fenced code and code spans, which may contain what looks like a link. */
function readProse(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
    .replace(/^```[\s\S]*?^```$/gm, '')
    .replace(/`[^`\n]*`/g, '`')
}

function findTarget({ from, to }: Link): string {
  const [path = ''] = to.split('#')
  return path === '' ? from : relative(ROOT, join(ROOT, dirname(from), path))
}

function isResolved(link: Link): boolean {
  const target = findTarget(link)
  if (!existsSync(join(ROOT, target))) return false
  const [, anchor] = link.to.split('#')
  return anchor === undefined || listAnchors(target).has(anchor)
}

/** Anchors of headings as GitHub makes them: lower case, without punctuation, `-N` from the second on. */
function listAnchors(page: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const base = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(base) ?? 0
    anchors.add(count === 0 ? base : `${base}-${count}`)
    seen.set(base, count + 1)
  }
  return anchors
}

function describeLink({ from, to }: Link): string {
  return `${from} links to ${to}, which does not exist`
}

test('every kind of alert has a runbook', () => {
  const headings = readFileSync(join(ROOT, 'docs/how-to/runbooks.md'), 'utf8').match(/^## .+$/gm)
  for (const kind of ALERT_KINDS) expect(headings).toContain(`## ${kind}`)
})
