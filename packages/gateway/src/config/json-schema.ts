// The JSON Schema of sluice.yaml, for editors, made from the shape that the reader checks by.
// `node scripts/schema.ts` writes it to schema/config.json; a test compares.

import { type Schema, toJsonSchema } from '@sluice/policy/document/json-schema'
import { CONFIG } from './shape.ts'

export function configJsonSchema(): Schema {
  return toJsonSchema(
    'Sluice configuration',
    'sluice.yaml: the servers behind the gate, who may call, and how the gate runs.',
    CONFIG,
  )
}
