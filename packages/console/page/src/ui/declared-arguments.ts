// Arguments that a tool declares, from the text of its schema. Pure.

import { attempt } from '@sluice/policy/structures/attempt'

export interface DeclaredArgument {
  readonly name: string
  /** The type as the schema has it, which may be anything. */
  readonly type: unknown
  readonly isRequired: boolean
}

/** The list is empty if the schema cannot be read. */
export function listDeclared(schema: string): DeclaredArgument[] {
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
