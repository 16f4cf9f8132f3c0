import { CATEGORIES, type ToolDefinition } from '@sluice/policy/core/tools'
import { expect, test } from 'vitest'
import { markdownOf } from '../../core/pages/page-markdown.ts'
import { getAssessment } from './assessment-cache.ts'
import { toolPage } from './tool-page.ts'

const properties = {
  path: { type: 'string', description: 'Which file' },
  force: { type: 'boolean' },
}
const tool = (name: string, description: string, more: object = {}): ToolDefinition => ({
  server: 'acme__files',
  name,
  description,
  inputSchema: { type: 'object', properties, required: ['path'] },
  ...more,
})
const DELETE = tool('delete_file', 'Delete a file for good')
const SERVER = [
  DELETE,
  tool('trash_file', 'Move a file to the trash'),
  tool('read_file', 'Read a file'),
]

test('a page says what a person needs, and the policy once', () => {
  const page = toolPage(DELETE, { neighbours: SERVER, pathOf: ({ name }) => `acme/${name}` })
  const text = markdownOf(page)
  expect(page.sections.map(({ heading }) => heading)).toEqual([
    'What it does',
    'Parameters',
    'How agents use it',
    'Why it needs a policy',
    'What it is not',
    'What this access lets an attacker do',
    'Advice',
    'A policy to begin with',
    'Four ways to rule it',
    'What a denied agent receives',
    'Related tools of the server',
    'Its server',
  ])
  expect(text.split('version: 1').length - 1).toBe(1)
  for (const part of [
    'Which file',
    '@acme/files',
    'denied by policy',
    'trash\\_file',
    'read\\_file',
  ])
    expect(text).toContain(part)
  expect(text).toContain('chooses `path` and `force`, and what that names is gone for good')
})

test('a page of a tool of unknown class says so, and tells no risk', () => {
  const text = markdownOf(toolPage({ server: 'a', name: 'frobnicator' }))
  expect(text).toContain('**Unknown**, perhaps Execute')
  expect(text).not.toMatch(/critical|high risk|Risk:/)
  expect(text).toContain('It takes no arguments.')
  expect(text).toContain('A call gets the verdict for Execute.')
  expect(text).toContain('If it is Execute: It runs something')
  expect(text).toContain('classify:\n  "a/frobnicator": Execute')
  expect(text).not.toContain('What it is not')
})

test('advice names the labels of the tool, and none where it brings in nothing private', () => {
  const read = markdownOf(toolPage(tool('read_file', 'Read a file')))
  expect(read).toContain('Label what it brings in (`private`, `untrusted`)')
  const own = {
    server: 'a',
    name: 'gallery_list',
    description: 'List the public gallery templates',
  }
  expect(markdownOf(toolPage(own))).not.toContain('Label what it brings in')
})

test('what is archived is not called a copy', () => {
  const { lead } = toolPage(tool('archive_task', 'Archive a task'))
  expect(lead).toContain('changes the state')
})

test('every class has an attack, whatever else is known of the tool', () => {
  const names = { Read: 'get_x', Write: 'create_x', Execute: 'run_x', Destructive: 'delete_x' }
  for (const [category, name] of Object.entries({ ...names, Financial: 'pay_x' })) {
    const assessment = getAssessment({
      server: 'a',
      name,
      description: `${name.replace('_', ' ')}`,
    })
    expect(assessment.category).toBe(category)
    expect(assessment.attacks.map(({ id }) => id)).toContain(
      `A${33 + CATEGORIES.indexOf(assessment.category)}`,
    )
    expect(assessment.attacks.every(({ what }) => what !== '')).toBe(true)
  }
})
