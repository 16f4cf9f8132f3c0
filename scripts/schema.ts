// Writes packages/policy/schema/policy.json from the language's shapes, formatted as it is committed.

import { mkdirSync, writeFileSync } from 'node:fs'
import { policyJsonSchema } from '@sluice/policy/language/json-schema'

const target = new URL('../packages/policy/schema/policy.json', import.meta.url)
mkdirSync(new URL('.', target), { recursive: true })
writeFileSync(target, `${JSON.stringify(policyJsonSchema(), null, 2)}\n`)
