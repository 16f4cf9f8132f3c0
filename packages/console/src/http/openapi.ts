// `/api/openapi.json`: the table of the API as an OpenAPI document. Written from the rows that are
// served, so that it cannot say anything else than they do.

import { readPackageVersion } from '@sluice/gateway/shared/package-version'
import { toInlineSchema } from '@sluice/policy/document/json-schema'
import { type Endpoint, namesIn } from './endpoint.ts'

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'help'],
      properties: {
        code: { type: 'string' },
        message: { type: 'string' },
        help: { type: 'string' },
      },
    },
  },
}

export function openApiOf(endpoints: readonly Endpoint[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const row of endpoints) {
    const path = row.path.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    ;(paths[path] as Record<string, object>)[row.method.toLowerCase()] = operationOf(row)
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: readPackageVersion() },
    components: {
      securitySchemes: {
        signedIn: { type: 'http', scheme: 'bearer' },
        proof: { type: 'apiKey', in: 'header', name: 'Sluice-Proof' },
      },
      schemas: { Error: ERROR },
    },
    paths,
  }
}

function operationOf(row: Endpoint): object {
  const { role, proof, summary, path } = row
  const answer = row.output
  const named = namesIn(path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const failure = {
    description: 'why not',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
  const needs =
    role === 'anyone' ? [] : [{ signedIn: [], ...(proof === true ? { proof: [] } : {}) }]
  const { query, body } = schemasOf(row)
  const parameters = [...named, ...(query === undefined ? [] : queryOf(query))]
  return {
    summary,
    'x-role': role,
    'x-proof': proof,
    security: needs,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      200: {
        description: 'done',
        ...(answer === undefined ? {} : { content: { 'application/json': { schema: answer } } }),
      },
      default: failure,
    },
  }
}

interface ObjectSchema {
  readonly properties?: Record<string, object>
  readonly required?: readonly string[]
}

/** What is not in the path comes in the query or in the body. */
function schemasOf(row: Endpoint): { query?: ObjectSchema; body?: object } {
  const inPath = namesIn(row.path)
  const rest = Object.entries(row.input).filter(([name]) => !inPath.includes(name))
  if (rest.length === 0) return {}
  const fields = Object.fromEntries(rest)
  const schema = toInlineSchema({ kind: 'object', noun: 'the request', fields })
  return row.hasBody ? { body: schema } : { query: schema as ObjectSchema }
}

function queryOf({ properties = {}, required = [] }: ObjectSchema): object[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}
