// Tools of the fixture that answer at once: every kind of content, an error, and the schemas that a
// proxy must not touch.

import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import { answer, embedded, image, text, WAV } from './content.ts'

const ADDRESS = {
  $anchor: 'address',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}
const FULL_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: ADDRESS },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const
const HEADER_SCHEMA = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
  required: ['region'],
} as const

export function addContentTools(server: McpServer): void {
  const add = (name: string, description: string, result: ReturnType<typeof resultOf>): void =>
    void server.registerTool(name, { description }, () => result)
  add('test_simple_text', 'text', resultOf(text('This is a simple text response for testing.')))
  add('test_image_content', 'an image', resultOf(image))
  const sound = { type: 'audio', data: WAV, mimeType: 'audio/wav' } as const
  add('test_audio_content', 'a sound', resultOf(sound))
  const resource = embedded('test://embedded-resource', 'text/plain', 'An embedded resource.')
  add('test_embedded_resource', 'a resource', resultOf(resource))
  const data = embedded('test://mixed-content-resource', 'application/json', '{"value":123}')
  add('test_multiple_content_types', 'three kinds at once', resultOf(text('Mixed:'), image, data))
  server.registerTool('test_error_handling', { description: 'always fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'a schema with rare words', inputSchema: fromJsonSchema(FULL_SCHEMA) },
    (args) => answer(JSON.stringify(args)),
  )
  server.registerTool(
    'test_param_header',
    {
      description: 'an argument also told in a header',
      inputSchema: fromJsonSchema(HEADER_SCHEMA),
    },
    (args) => answer(JSON.stringify(args)),
  )
}

type Content = ReturnType<typeof text> | typeof image | ReturnType<typeof embedded> | Sound
type Sound = { readonly type: 'audio'; readonly data: string; readonly mimeType: string }

function resultOf(...content: Content[]): { content: Content[] } {
  return { content }
}
