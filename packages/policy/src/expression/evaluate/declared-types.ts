// Reduces a tool's input schema to what expressions need: which JSON kinds a value may have,
// whether a number is an integer, and which names are declared. Schemas come from servers: followed
// to a bounded depth, never fetched, and trusted only to narrow.

import { SCHEMA_DEPTH_MAX } from '../../language/limits.ts'
import { isObject, type JsonObject, type JsonValue } from '../../values/json.ts'
import { followReference } from '../../values/json-pointer.ts'

export const NULL = 1
export const BOOLEAN = 2
export const INTEGER = 4
export const NUMBER = 8
export const STRING = 16
export const LIST = 32
export const MAP = 64
const ANY = 127

export interface DeclaredType {
  /** The JSON kinds this value may have, as bits. */
  readonly kinds: number
  readonly items?: DeclaredType
  readonly properties?: ReadonlyMap<string, DeclaredType>
  /** Names other than `properties` are explicitly permitted. */
  readonly open: boolean
}

export const ANYTHING: DeclaredType = { kinds: ANY, open: true }

/** The declared arguments of a tool; a schema that is missing or not an object declares none. */
export function readDeclaredArguments(inputSchema: JsonValue | undefined): DeclaredType {
  if (!isObject(inputSchema)) return { kinds: MAP, properties: new Map(), open: false }
  const declared = declare(inputSchema, inputSchema, 0)
  return { kinds: MAP, properties: declared.properties ?? new Map(), open: declared.open }
}

function declare(schema: JsonValue | undefined, root: JsonObject, depth: number): DeclaredType {
  if (schema === false) return { kinds: 0, open: false }
  if (!isObject(schema) || depth > SCHEMA_DEPTH_MAX) return ANYTHING
  if (typeof schema.$ref === 'string')
    return declare(followReference(schema.$ref, root), root, depth + 1)
  const union = schema.anyOf ?? schema.oneOf
  if (Array.isArray(union) && schema.type === undefined)
    return unite(union.map((branch) => declare(branch, root, depth + 1)))
  const nested = (value: JsonValue | undefined) => declare(value, root, depth + 1)
  const declared: { -readonly [K in keyof DeclaredType]: DeclaredType[K] } = {
    kinds: readKinds(schema.type) | (schema.nullable === true ? NULL : 0),
    open: isOpen(schema),
  }
  if (isObject(schema.items)) declared.items = nested(schema.items)
  if (isObject(schema.properties))
    declared.properties = new Map(
      Object.entries(schema.properties).map(([name, value]) => [name, nested(value)]),
    )
  return declared
}

/** Only explicit permission counts: JSON Schema's default would allow every undeclared name. */
function isOpen(schema: JsonObject): boolean {
  const { additionalProperties: extra, patternProperties } = schema
  return (
    extra === true || (isObject(extra) && extra.not === undefined) || isObject(patternProperties)
  )
}

function readKinds(type: JsonValue | undefined): number {
  if (typeof type === 'string') return KINDS[type] ?? ANY
  if (!Array.isArray(type)) return ANY
  return type.reduce(
    (bits: number, one) => bits | ((typeof one === 'string' && KINDS[one]) || 0),
    0,
  )
}

const KINDS: Record<string, number> = {
  null: NULL,
  boolean: BOOLEAN,
  integer: INTEGER,
  number: NUMBER,
  string: STRING,
  array: LIST,
  object: MAP,
}

function unite(branches: readonly DeclaredType[]): DeclaredType {
  const kinds = branches.reduce((bits, branch) => bits | branch.kinds, 0)
  const shaped = branches.filter((branch) => branch.items ?? branch.properties)
  const [only] = shaped
  return shaped.length === 1 && only !== undefined ? { ...only, kinds } : { kinds, open: true }
}

/** The declaration at a path of names. Undefined: not declared. */
export function findDeclared(
  declared: DeclaredType,
  path: readonly string[],
): DeclaredType | undefined {
  let place: DeclaredType | undefined = declared
  for (const name of path) {
    if (place === undefined) return undefined
    const next: DeclaredType | undefined = place.properties?.get(name)
    if (next !== undefined) place = next
    else place = place.open || place.properties === undefined ? ANYTHING : undefined
  }
  return place
}

/** A number here is a CEL int; every other number is a double. */
export function isInteger(declared: DeclaredType): boolean {
  return (declared.kinds & (INTEGER | NUMBER)) === INTEGER
}

/** The CEL type that a checker may rely on; `dyn` if several kinds fit. */
export function celType(declared: DeclaredType): string {
  switch (declared.kinds) {
    case BOOLEAN:
      return 'bool'
    case INTEGER:
      return 'int'
    case NUMBER:
    case NUMBER | INTEGER:
      return 'double'
    case STRING:
      return 'string'
    case LIST:
      return `list<${declared.items ? celType(declared.items) : 'dyn'}>`
    default:
      return 'dyn'
  }
}
