// What the page of hooks says of each client is what the gate knows of it.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hookClientsPage } from '../../scripts/hook-clients-page.ts'

test('the table of clients with hooks is that of the sources (run `node scripts/hook-clients-page.ts`)', () => {
  expect(readFileSync('docs/how-to/hooks.md', 'utf8')).toBe(hookClientsPage())
})
