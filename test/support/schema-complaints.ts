// Validates a value with one of our JSON Schemas: draft 7, as far as they use it. An unknown
// keyword is an error.

interface Node {
  readonly [keyword: string]: unknown
}

export function schemaComplaints(
  value: unknown,
  schema: Node,
  node: Node = schema,
  at = '',
): string[] {
  const complaints: string[] = []
  const demand = (holds: boolean, what: string) =>
    void (holds || complaints.push(`${at || '/'} ${what}`))
  for (const [keyword, wanted] of Object.entries(node)) {
    switch (keyword) {
      case '$schema':
      case 'title':
      case 'description':
      case 'default':
      case 'examples':
      case 'definitions':
        break
      case '$ref': {
        const name = String(wanted).replace('#/definitions/', '')
        complaints.push(
          ...schemaComplaints(
            value,
            schema,
            (schema.definitions as Record<string, Node>)[name],
            at,
          ),
        )
        break
      }
      case 'type':
        demand(
          [wanted].flat().includes(getType(value)) ||
            (getType(value) === 'integer' && wanted === 'number'),
          `is no ${wanted}`,
        )
        break
      case 'enum':
        demand((wanted as unknown[]).includes(value), `is none of ${wanted}`)
        break
      case 'const':
        demand(value === wanted, `is not ${wanted}`)
        break
      case 'anyOf':
        demand(
          (wanted as Node[]).some((one) => schemaComplaints(value, schema, one, at).length === 0),
          'fits none',
        )
        break
      case 'minLength':
        demand(typeof value !== 'string' || value.length >= (wanted as number), 'is too short')
        break
      case 'maxLength':
        demand(typeof value !== 'string' || value.length <= (wanted as number), 'is too long')
        break
      case 'pattern':
        demand(
          typeof value !== 'string' || new RegExp(wanted as string).test(value),
          'has another form',
        )
        break
      case 'minimum':
        demand(typeof value !== 'number' || value >= (wanted as number), 'is too small')
        break
      case 'maximum':
        demand(typeof value !== 'number' || value <= (wanted as number), 'is too large')
        break
      case 'exclusiveMinimum':
        demand(typeof value !== 'number' || value > (wanted as number), 'is too small')
        break
      case 'minItems':
        demand(!Array.isArray(value) || value.length >= (wanted as number), 'has too few')
        break
      case 'maxItems':
        demand(!Array.isArray(value) || value.length <= (wanted as number), 'has too many')
        break
      case 'items':
        if (Array.isArray(value))
          for (const [index, item] of value.entries())
            complaints.push(...schemaComplaints(item, schema, wanted as Node, `${at}/${index}`))
        break
      case 'required':
        if (getType(value) === 'object')
          for (const name of wanted as string[])
            demand(Object.hasOwn(value as object, name), `lacks ${name}`)
        break
      case 'properties':
      case 'patternProperties':
      case 'additionalProperties':
        if (keyword === 'additionalProperties' && getType(value) === 'object')
          complaints.push(...checkNames(value as Node, schema, node, at))
        break
      default:
        throw new Error(`the validator does not know \`${keyword}\``)
    }
  }
  return complaints
}

function checkNames(value: Node, schema: Node, node: Node, at: string): string[] {
  const properties = (node.properties ?? {}) as Record<string, Node>
  const patterns = Object.entries((node.patternProperties ?? {}) as Record<string, Node>)
  return Object.entries(value).flatMap(([name, inner]) => {
    const pattern = patterns.find(([text]) => new RegExp(text, 'u').test(name))
    const wanted = Object.hasOwn(properties, name) ? properties[name] : pattern?.[1]
    return wanted === undefined
      ? [`${at}/${name} is unknown`]
      : schemaComplaints(inner, schema, wanted, `${at}/${name}`)
  })
}

function getType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
