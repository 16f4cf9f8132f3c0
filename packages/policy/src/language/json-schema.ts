// The JSON Schema of the policy language, for editors. `npm run build` writes it to
// schema/policy.json; a test compares the two.

import { type Schema, toJsonSchema } from '../document/json-schema.ts'
import { DOCUMENT } from './language.ts'

/**
 * The JSON Schema of policy documents, for editors. It is also the file `schema/policy.json` of the
 * package.
 *
 * @example
 * ```ts
 * writeFileSync('policy.schema.json', JSON.stringify(policyJsonSchema()))
 * ```
 */
export function policyJsonSchema(): Schema {
  return toJsonSchema(
    'Sluice policy',
    'What happens to each call an agent makes: allow, deny, hide, require_approval.',
    DOCUMENT,
  )
}
