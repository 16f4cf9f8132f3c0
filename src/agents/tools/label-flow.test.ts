import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TOOLS } from './all-tools.ts'
import { LABEL_FLOWS } from './label-flow.ts'

test('H2: for every tool somebody has decided which way labels go, and the documentation says it', () => {
  const names = TOOLS.map(({ name }) => name)
  expect(Object.keys(LABEL_FLOWS).sort()).toEqual([...names].sort())
  const docs = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8')
  for (const [name, { into, from }] of Object.entries(LABEL_FLOWS))
    expect(docs, name).toContain(`| \`${name}\` | ${into} | ${from} |`)
})

test('H2: a tool that names an agent reads from it or tells it something', () => {
  for (const { name, input } of TOOLS) {
    const flow = LABEL_FLOWS[name]
    if ('agentId' in input.shape && name !== 'wasm_agent_terminate')
      expect([flow?.into, flow?.from], name).toContain('agent')
    if (name.startsWith('wasm_gallery_'))
      expect([flow?.into, flow?.from].join(), name).toMatch(/gallery|template/)
  }
})
