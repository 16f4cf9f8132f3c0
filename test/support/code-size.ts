// How much code there is. Code is what stands in a line besides blank lines, comments and imports; it is
// measured in characters, so that a dense line counts for what it holds.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './modules.ts'

/** The code of a package, in characters. */
export interface PackageSize {
  /** The folder below `packages/`. */
  readonly name: string
  readonly characters: number
}

const PRODUCT = ['packages/*/{src,page/src}/**/*.{ts,tsx,css,json}']
/** Not written by hand: what was learnt for the catalogue, settings of the compiler, tests. */
const LEFT_OUT = /\/(?:network|weights|tsconfig)\.json$|\.test\.tsx?$|\.test-support\.ts$/

export function measurePackages(): PackageSize[] {
  const sizes = new Map<string, number>()
  for (const path of globSync(PRODUCT, { cwd: ROOT })) {
    if (LEFT_OUT.test(path)) continue
    const [, name = ''] = path.split('/')
    const text = readFileSync(join(ROOT, path), 'utf8')
    sizes.set(name, (sizes.get(name) ?? 0) + countCharacters(text))
  }
  return [...sizes].map(([name, characters]) => ({ name, characters }))
}

/** The lines of code of a source file. */
export function countCode(text: string): number {
  return listCode(text).length
}

function countCharacters(text: string): number {
  return listCode(text).reduce((sum, line) => sum + line.length, 0)
}

/** The lines that are code, without the blanks around them. */
function listCode(text: string): string[] {
  const lines: string[] = []
  let end: RegExp | undefined
  for (const line of text.split('\n')) {
    const code = line.trim()
    if (end !== undefined) {
      if (end.test(line)) end = undefined
    } else if (code.startsWith('/*')) {
      if (!code.includes('*/')) end = /\*\//
    } else if (/^(?:import\b(?!\()|export (?:type )?[{*])/.test(line)) {
      if (!/ from '|^import '|\}$/.test(line)) end = /^\}/
    } else if (code !== '' && !code.startsWith('//')) lines.push(code)
  }
  return lines
}
