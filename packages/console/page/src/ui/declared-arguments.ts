// Arguments that a tool declares, from the text of its schema. Pure.

import { attempt } from '@sluice/policy/core/attempt'

/** None if the schema cannot be read. */
export function listDeclared(schema: string) {
  return attempt(() => {
    const { properties = {}, required = [] } = JSON.parse(schema) as {
      properties?: Record<string, { type?: unknown }>
      required?: readonly string[]
    }
    return Object.entries(properties).map(([name, { type }]) => ({
      name,
      type,
      isRequired: required.includes(name),
    }))
  }, [])
}
