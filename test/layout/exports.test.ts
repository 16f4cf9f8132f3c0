// Everything that a published entry point exports has a TSDoc comment with an example: the declaration
// files of the packages are their reference.

import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { PUBLISHED, ROOT } from '../support/modules.ts'

test.each(PUBLISHED)('what %s exports has TSDoc with an example', (entry) => {
  const exported = listExports(entry)
  expect(exported.length).toBeGreaterThan(5)
  const wrong = exported.filter(({ file, name }) => {
    const comment = readComment(file, name)
    return !/\w[\s\S]+@example/.test(comment)
  })
  expect(
    wrong.map(({ file, name }) => `${file}: \`${name}\` needs a TSDoc comment with @example`),
  ).toEqual([])
})

test('every entry point of a package is looked at', () => {
  const entries = globSync('packages/*', { cwd: ROOT }).flatMap((folder) => {
    const manifest = readFileSync(join(ROOT, folder, 'package.json'), 'utf8')
    const { exports = {} } = JSON.parse(manifest) as { exports?: Record<string, string> }
    // Paths with `*` are for the other packages, not for programs.
    const paths = Object.values(exports).filter((path) => /^[^*]*\.ts$/.test(path))
    return paths.map((path) => join(folder, path))
  })
  expect(entries.sort()).toEqual([...PUBLISHED].sort())
})

const READMES = globSync('packages/*/README.md', { cwd: ROOT })

test.each(READMES)('%s says what the package has, and what it never does', (path) => {
  const text = readFileSync(join(ROOT, path), 'utf8')
  expect(text).toMatch(/Public functions|What the package itself exports/)
  expect(text).toMatch(/What it never does/)
  const named = [...text.matchAll(/((?:`\w+`(?:,| and)?\s+)+)\(`(src\/[\w/.-]+)`\)/g)].flatMap(
    ([, names = '', file = '']) =>
      [...names.matchAll(/\w+/g)]
        .filter(([name]) => name !== 'and')
        .map(([name]) => ({ name, file })),
  )
  const isLibrary = PUBLISHED.some((entry) => dirname(dirname(entry)) === dirname(path))
  const exported = new Set(
    isLibrary ? listExports(join(dirname(path), 'src/index.ts')).map(({ name }) => name) : [],
  )
  expect(path === 'packages/cli/README.md' || named.length > 0).toBe(true)
  const wrong = named.filter(({ name, file }) => {
    const source = readFileSync(join(ROOT, dirname(path), file), 'utf8')
    const isThere = new RegExp(
      `^export (?:async )?(?:class|function\\*?|interface|const) ${name}\\b`,
      'm',
    )
    return !isThere.test(source) || (isLibrary && !exported.has(name))
  })
  expect(wrong).toEqual([])
})

function listExports(entry: string): { readonly file: string; readonly name: string }[] {
  const text = readFileSync(join(ROOT, entry), 'utf8')
  const statements = text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'$/gm)
  return [...statements].flatMap(([, names = '', from = '']) => {
    const [, own, path] = /^@sluice\/([^/]+)\/(.+)$/.exec(from) ?? []
    const file = path === undefined ? join(dirname(entry), from) : `packages/${own}/src/${path}.ts`
    return names
      .split(',')
      .map((name) => name.replace(/\btype\b/, '').trim())
      .filter((name) => name !== '')
      .map((name) => ({ file, name }))
  })
}

/** The comment directly above a declaration; empty if there is none. */
function readComment(file: string, name: string): string {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const declaration = new RegExp(
    `(\\/\\*\\*(?:(?!\\*\\/)[\\s\\S])*\\*\\/)\\n` +
      `export (?:class|function\\*?|interface|type|const) ${name}\\b`,
  )
  return declaration.exec(text)?.[1] ?? ''
}
