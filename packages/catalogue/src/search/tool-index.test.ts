import { runSteps } from '@sluice/policy/structures/steps'
import { describe, expect, test } from 'vitest'
import {
  indexTools,
  rankTools as rankInSteps,
  readToolTerms,
  type ToolTerms,
} from './tool-index.ts'

const TOOLS = [
  { server: 'github', name: 'create_issue', description: 'Opens an issue in a repository.' },
  { server: 'github', name: 'list_issues', description: 'Lists issues of a repository.' },
  { server: 'files', name: 'delete_file', description: 'Deletes a file.' },
  { server: 'files', name: 'createDirectory', description: 'Makes a directory.' },
  { server: 'hubspot', name: 'crm_update', description: 'Changes a contact in HubSpot.' },
  { server: 'maps', name: 'route', description: '驾车路径规划' },
  {
    server: 'pay',
    name: 'refund',
    inputSchema: {
      type: 'object',
      properties: { charge: { type: 'string', description: 'the payment that is reversed' } },
    },
  },
]

const rankTools = (terms: readonly ToolTerms[], query: string, limit: number): number[] =>
  runSteps(rankInSteps(runSteps(indexTools(terms)), query, limit))

const find = (query: string, tools = TOOLS): string[] =>
  rankTools(tools.map(readToolTerms), query, 3).map((at) => tools[at]?.name as string)

describe('the first tool found', () => {
  test.each([
    ['by its name, written apart', 'create issue', 'create_issue'],
    ['by another form of the word', 'listing the issues', 'list_issues'],
    ['by a word with the same meaning', 'remove a document', 'delete_file'],
    ['by parts of a name in camel case', 'make a new folder', 'createDirectory'],
    ['by a product of two words', 'edit someone in HubSpot', 'crm_update'],
    ['by the same product in lower case', 'hubspot contact', 'crm_update'],
    ['by an argument', 'reverse a payment', 'refund'],
    ['in a script without spaces', '规划路径', 'route'],
  ])('%s', (_how, query, name) => {
    expect(find(query)[0]).toBe(name)
  })
})

test('the name of the server decides between equal tools', () => {
  const tools = ['gitlab', 'github'].map((server) => ({ server, name: 'create_issue' }))
  const [first] = rankTools(tools.map(readToolTerms), 'create an issue on github', 2)
  expect(tools[first as number]?.server).toBe('github')
})

test('nothing is found by words that no tool has, or by stop words alone', () => {
  expect(find('quantum chromodynamics')).toEqual([])
  expect(find('what can I do with it?')).toEqual([])
  expect(find('')).toEqual([])
})

test('a description stuffed with the words of all others is not found before them', () => {
  const words = TOOLS.map(({ name, description }) => `${name} ${description ?? ''}`).join(' ')
  const stuffed = { server: 'evil', name: 'run', description: `${words} `.repeat(20) }
  const tools = [stuffed, ...TOOLS]
  for (const query of ['create an issue', 'delete a file', 'make a directory', 'refund a charge'])
    expect(find(query, tools)[0]).not.toBe('run')
})

test('a copy under a foreign server comes behind the tool whose server was named', () => {
  const copies = TOOLS.map((tool) => ({ ...tool, server: 'evil' }))
  const tools = [...copies, ...TOOLS]
  const [first] = rankTools(tools.map(readToolTerms), 'list github issues', 1)
  expect(tools[first as number]?.server).toBe('github')
})

test('a search pauses after each word: its steps are bounded by the question, not by the tools', () => {
  const query = 'delete create update list find stop start copy send check '.repeat(20)
  const stepsOf = (count: number): number => {
    const terms = Array.from({ length: count }, () => TOOLS.map(readToolTerms)).flat()
    const steps = rankInSteps(runSteps(indexTools(terms)), query, 10)
    let taken = 0
    while (steps.next().done !== true) taken += 1
    return taken
  }
  expect(stepsOf(1)).toBeGreaterThan(10)
  expect(stepsOf(20)).toBe(stepsOf(1))
})

test('a question has at most 32 terms: what comes after them finds nothing', () => {
  const letters = [...'bcdfghjklmnpqrtvwxbcdfghjklmnpqrt']
  const others = letters.map((letter, at) => `v${letter}${at < 18 ? 'a' : 'o'}k`)
  expect(new Set(others).size).toBe(33)
  expect(find(`${others.slice(0, 31).join(' ')} github`)).not.toEqual([])
  expect(find(`${others.slice(0, 32).join(' ')} github`)).toEqual([])
})
