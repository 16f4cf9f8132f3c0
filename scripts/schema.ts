// Writes the committed JSON Schemas for editors: packages/policy/schema/policy.json and
// packages/cli/schema/config.json, each from the shape that its reader checks.

import { mkdirSync, writeFileSync } from 'node:fs'
import { policyJsonSchema } from '@sluice/policy/language/json-schema'
import { configJsonSchema } from '../packages/gateway/src/config/json-schema.ts'

const SCHEMAS = {
  '../packages/policy/schema/policy.json': policyJsonSchema(),
  '../packages/cli/schema/config.json': configJsonSchema(),
}

for (const [file, schema] of Object.entries(SCHEMAS)) {
  const target = new URL(file, import.meta.url)
  mkdirSync(new URL('.', target), { recursive: true })
  writeFileSync(target, `${JSON.stringify(schema, null, 2)}\n`)
}
