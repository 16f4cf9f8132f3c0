// How much code there is: lines as the formatter writes them, without blank lines, comments and imports.
// The budget of each module is in test/layout/budgets.json; scripts/check.ts prints both.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './modules.ts'

export interface ModuleSize {
  readonly module: string
  readonly lines: number
  readonly budget: number | undefined
}

const PRODUCT = ['packages/*/src/**/*.ts', 'console/src/**/*.{ts,tsx,css}']

export function measureModules(): ModuleSize[] {
  const budgets: Record<string, number> = JSON.parse(
    readFileSync(join(ROOT, 'test/layout/budgets.json'), 'utf8'),
  )
  const sizes = new Map(Object.keys(budgets).map((module) => [module, 0]))
  for (const path of globSync(PRODUCT, { cwd: ROOT })) {
    if (/\.test\.tsx?$|\.test-support\.ts$/.test(path)) continue
    const module = moduleOf(path)
    sizes.set(module, (sizes.get(module) ?? 0) + countCode(readFileSync(join(ROOT, path), 'utf8')))
  }
  return [...sizes].map(([module, lines]) => ({ module, lines, budget: budgets[module] }))
}

/** `gateway/call` of the gateway, which is too large for one budget; else the first folder. */
function moduleOf(path: string): string {
  const [top, name = '', , folder = '', below = ''] = path.split('/')
  if (top === 'console') return 'console'
  if (folder.endsWith('.ts')) return name
  return `${name}/${folder}${folder === 'gateway' && !below.endsWith('.ts') ? `/${below}` : ''}`
}

export function countCode(text: string): number {
  let count = 0
  let end: RegExp | undefined
  for (const line of text.split('\n')) {
    const code = line.trim()
    if (end !== undefined) {
      if (end.test(line)) end = undefined
    } else if (code.startsWith('/*')) {
      if (!code.includes('*/')) end = /\*\//
    } else if (/^(?:import\b(?!\()|export (?:type )?[{*])/.test(line)) {
      if (!/ from '|^import '|\}$/.test(line)) end = /^\}/
    } else if (code !== '' && !code.startsWith('//')) count++
  }
  return count
}
