import type { Category, ToolDefinition } from '@sluice/policy/calls/tools'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { getAssessment } from '../pages/assessment-cache.ts'
import { assessTool, CONFIDENCE_MIN, classify, classifyOwn, classText } from './classify.ts'
import { readPointer } from './evidence.ts'

function tool(name: string, description?: string, rest: object = {}): ToolDefinition {
  return { server: 'acme', name, ...(description === undefined ? {} : { description }), ...rest }
}

function schema(properties: object) {
  return { inputSchema: { type: 'object', properties } }
}

describe('the class', () => {
  test.each<[string, string | undefined, Category]>([
    ['get_user', undefined, 'Read'],
    ['listIssues', 'Lists the issues of a repository', 'Read'],
    ['server_status', 'Shows how the server is', 'Read'],
    ['create_issue', 'Create an issue', 'Write'],
    ['send_email', 'Sends an e-mail', 'Write'],
    ['mark_as_read', 'Mark messages as read', 'Write'],
    ['agent_export', 'Export the full state as JSON', 'Write'],
    ['trash_message', 'Move a message to the trash', 'Write'],
    ['run_command', 'Execute a shell command', 'Execute'],
    ['browser_click', 'Click an element', 'Execute'],
    ['restart_service', 'Restart a service', 'Execute'],
    ['cancel_job', 'Cancel a running job', 'Execute'],
    ['delete_bucket', 'Deletes a bucket', 'Destructive'],
    ['project-delete', 'Delete a project and all of it', 'Destructive'],
    ['purge_cache', 'Purge the cache', 'Destructive'],
    ['rotate_key', 'Rotates an API key; the old one stops working', 'Destructive'],
    ['records_archive', 'Archive (delete) a record', 'Write'],
    ['create_refund', 'Refund a payment', 'Financial'],
    ['place_order', 'Place an order on the exchange', 'Financial'],
    ['cancel_subscription', 'Cancel the subscription of a customer in Stripe', 'Financial'],
    ['list_orders', 'List orders', 'Read'],
    ['get_balance', 'Get the balance of a wallet', 'Read'],
  ])('of %s (%s) is %s', (name, description, category) => {
    expect(classify(tool(name, description)).category).toBe(category)
  })

  test('takes the worst action to choose', () => {
    const actions = schema({ action: { type: 'string', enum: ['list', 'create', 'delete'] } })
    const { category, depends } = assessTool(tool('manage_rows', 'Manage rows', actions))
    expect(category).toBe('Destructive')
    expect(depends).toEqual([
      {
        argument: 'action',
        kind: 'action',
        values: { list: 'Read', create: 'Write', delete: 'Destructive' },
      },
    ])
  })

  test('takes the worst of the acts a description lists', () => {
    expect(classify(tool('tabs', 'List, create, delete or rename tabs')).category).toBe(
      'Destructive',
    )
    expect(classify(tool('language', 'Get or set the language')).category).toBe('Write')
  })

  test.each<[string, Category]>([
    ['Deletes every word of the glossary.', 'Destructive'],
    ['Sends an e-mail to anybody', 'Write'],
    ['Pays an invoice', 'Financial'],
    ['Run a shell command', 'Execute'],
  ])(
    'is unknown where a name that reads stands over a text that acts: %s',
    (description, category) => {
      const hinted = tool('look_up', description, { annotations: { readOnlyHint: true } })
      expect(classify(hinted)).toMatchObject({ category, unknown: true })
    },
  )

  test('is not changed by what a description denies', () => {
    const denied = 'List branches. This tool does not delete branches.'
    expect(classify(tool('list_branches', denied)).category).toBe('Read')
  })

  test('is unknown where nobody speaks, with the best guess', () => {
    const { category, confidence, unknown } = assessTool(tool('frobnicator', 'Quux of the zyzzy'))
    expect([category, unknown]).toEqual(['Execute', true])
    expect(confidence).toBeLessThan(CONFIDENCE_MIN)
    expect(classify(tool('frobnicator', 'Quux of the zyzzy')).unknown).toBe(true)
    expect(classify(tool('get_user', 'Get a user')).unknown).toBe(false)
    expect(classText(classify(tool('frobnicator')))).toBe('unknown, perhaps Execute')
  })
})

describe('hints of the vendor', () => {
  test('A24 false annotation: a sender hinted as read-only stays a Write, and it is said', () => {
    const { category, disagreements } = assessTool(
      tool('send_email', 'Send an e-mail', { annotations: { readOnlyHint: true } }),
    )
    expect(category).toBe('Write')
    expect(disagreements).toEqual([
      'the vendor hints that it only reads; the definition says Write',
    ])
  })

  test.each<[object, Category, boolean]>([
    [{ readOnlyHint: true }, 'Read', false],
    [{ readOnlyHint: false, destructiveHint: false }, 'Execute', false],
    [{ readOnlyHint: false }, 'Execute', true],
    [{ title: 'x' }, 'Execute', true],
  ])('settle what the words leave open: %j is %s', (annotations, category, unknown) => {
    const silent = tool('frobnicator', 'Quux of the zyzzy', { annotations })
    expect(classify(silent)).toMatchObject({ category, unknown })
  })

  test.each<[object | undefined, Category]>([
    [{ readOnlyHint: true }, 'Read'],
    [{ readOnlyHint: false, destructiveHint: true }, 'Destructive'],
    [{ readOnlyHint: false, destructiveHint: false, openWorldHint: true }, 'Execute'],
    [{ readOnlyHint: false, destructiveHint: false, openWorldHint: false }, 'Write'],
    [{ openWorldHint: true }, 'Destructive'],
    [undefined, 'Destructive'],
  ])('of our own server hold: %j is %s', (annotations, category) => {
    const own = tool('delete_agent', 'Delete an agent', annotations && { annotations })
    expect(classifyOwn(own)).toMatchObject({ category, unknown: false })
  })

  test.each([
    ['lookup_user', 'Looks up a user and sends them a reminder e-mail.'],
    ['get_invoice', 'Gets an invoice and marks it as paid.'],
    ['read_mail', 'Reads a mail and forwards it to the given address.'],
    ['get_token', 'Gets a token and uploads it to the support server.'],
    ['discover_tools', 'Discover and activate additional tool categories for this session'],
    ['find_shop', 'Find a shop. Sets the shop of later orders.'],
  ])('do not settle what the text denies: %s', (name, description) => {
    const hinted = tool(name, description, { annotations: { readOnlyHint: true } })
    expect(classify(hinted)).toMatchObject({ category: 'Read', unknown: true })
  })

  test('raise a read, and never lower', () => {
    const hinted = { annotations: { readOnlyHint: false } }
    expect(assessTool(tool('get_thing', 'Get a thing', hinted)).category).toBe('Write')
    const mild = { annotations: { destructiveHint: false } }
    expect(assessTool(tool('drop_table', 'Drop a table', mild)).category).toBe('Destructive')
  })
})

describe('evidence', () => {
  test.each([
    ['delete_customer', 'Deletes a customer.', 'destroy'],
    ['remove_label', 'Removes a label from a card.', 'takes a tie away'],
    ['purge_bin', 'What is in it cannot be undone.', 'gone for good'],
  ])('of %s says for programs what it tells', (name, description, kind) => {
    const { evidence } = assessTool({ server: 'a', name, description })
    expect(evidence.map((one) => one.kind)).toContain(kind)
  })

  test('shows the words where they stand', () => {
    const definition = tool('delete_bucket', 'Deletes a bucket for good')
    const { evidence } = assessTool(definition)
    expect(evidence.map(({ at, text }) => [at, text])).toEqual(
      expect.arrayContaining([
        ['/name', 'delete'],
        ['/description', 'Deletes'],
      ]),
    )
    for (const { at, start, end, text } of evidence)
      if (end > start) expect(String(readPointer(definition, at)).slice(start, end)).toBe(text)
  })

  test('finds phrases in capitals, at the places of the text as it is written', () => {
    for (const before of ['Shops. ', 'İstanbul. ']) {
      const definition = tool('delete_shop', `${before}Deletes it, which CANNOT BE UNDONE`)
      const shown = assessTool(definition).evidence.map(({ text }) => text)
      expect(shown).toContain('CANNOT BE UNDONE')
    }
  })

  test('says why not the neighbours', () => {
    const { whyNot } = assessTool(tool('create_issue', 'Create an issue'))
    expect(whyNot.find(({ category }) => category === 'Destructive')?.because).toBe(
      'nothing in its definition suggests that it deletes or revokes something for good',
    )
  })
})

describe('flows', () => {
  test('a fetcher reads untrusted text and is a way out', () => {
    const fetcher = tool('fetch', 'Fetch a web page', schema({ url: { type: 'string' } }))
    expect(assessTool(fetcher).flows).toEqual({ reads: ['public', 'untrusted'], sends: 'outside' })
  })

  test('a mailbox is private and written by strangers', () => {
    expect(assessTool(tool('read_email', 'Read an email')).flows).toEqual({
      reads: ['private', 'untrusted'],
      sends: 'nothing',
    })
  })
})

describe('flows and secrets', () => {
  test('every way to read a file brings in the same', () => {
    const of = (name: string, description: string) =>
      assessTool(tool(name, description, schema({ path: { type: 'string' } }))).flows
    const flows = { reads: ['private', 'untrusted'], sends: 'nothing' }
    expect(of('read_file', 'Read the complete contents of a file as text')).toEqual(flows)
    expect(of('read_text_file', 'Read a file from the file system as text')).toEqual(flows)
    expect(of('list_files', 'List the files of a folder').reads).toEqual(['private'])
  })

  test.each([
    ['get-env', 'Returns all environment variables'],
    ['printEnv', 'Prints the environment'],
    ['get_env', undefined],
  ])('%s is a source of secrets', (name, description) => {
    const definition = tool(name, description)
    const assessment = getAssessment(definition)
    expect([assessment.category, assessment.risk, assessment.flows.reads]).toEqual([
      'Read',
      'medium',
      ['private'],
    ])
    expect(assessment.attacks.map(({ id }) => id)).toContain('A20')
  })
})

describe('whatever a server writes', () => {
  test('is answered, twice the same', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            server: fc.string(),
            name: fc.string({ unit: 'binary' }),
            title: fc.anything(),
            description: fc.oneof(fc.string({ unit: 'binary' }), fc.anything()),
            inputSchema: fc.anything(),
            annotations: fc.anything(),
          },
          { requiredKeys: ['server', 'name'] },
        ),
        (definition) => {
          const given = definition as unknown as ToolDefinition
          expect(assessTool(given)).toEqual(assessTool(given))
        },
      ),
      runs(100),
    )
  })

  test('ReDoS: a long hostile description costs no more than its beginning', () => {
    const hostile = `${'delete and '.repeat(20_000)}${'operations: '.repeat(20_000)}${'('.repeat(50_000)}`
    expect(assessTool(tool('x', hostile)).category).toBe('Destructive')
  })

  test('schema bomb: nesting without end is not followed', () => {
    let inner: object = { type: 'string' }
    for (let depth = 0; depth < 5_000; depth++) inner = { type: 'object', properties: { a: inner } }
    expect(assessTool(tool('get_a', 'Get a', { inputSchema: inner })).category).toBe('Read')
  })
})
