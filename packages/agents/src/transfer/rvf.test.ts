// RVF both ways, with the package that made the format as the judge.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { initSync, WasmGallery, WasmRvfBuilder } from '@ruvector/rvagent-wasm'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { runs } from '../../../../test/support/runs.ts'
import { type Container, EMPTY, instructionsOf, readRvf, writeRvf } from './rvf.ts'

beforeAll(() => {
  const file = import.meta.resolve('@ruvector/rvagent-wasm/rvagent_wasm_bg.wasm')
  initSync({ module: readFileSync(fileURLToPath(file)) })
})

const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const few = <Value>(value: fc.Arbitrary<Value>) => fc.array(value, { maxLength: 3 })
const container: fc.Arbitrary<Container> = fc.record({
  tools: few(
    fc.record({ name: text, description: text, parameters: fc.constant({}), returns: text }),
  ),
  prompts: few(fc.record({ name: text, system_prompt: text, version: text })),
  orchestrator: fc.constant(null),
  skills: few(fc.record({ name: text, description: text, trigger: text, content: text })),
  mcp_tools: few(
    fc.record({ name: text, description: text, input_schema: fc.constant({}), group: text }),
  ),
  capabilities: few(
    fc.record({
      name: text,
      rights: few(text),
      scope: text,
      delegation_depth: fc.nat(10),
    }),
  ),
})

test('what is written here is read there, 1,000 random containers', () => {
  fc.assert(
    fc.property(container, (made) => {
      expect(WasmRvfBuilder.parse(writeRvf(made))).toMatchObject(made)
    }),
    runs(1_000),
  )
})

test('what is written there is read here', () => {
  fc.assert(
    fc.property(container, (made) => {
      const builder = new WasmRvfBuilder()
      builder.addTools(JSON.stringify(made.tools))
      builder.addPrompts(JSON.stringify(made.prompts))
      builder.addSkills(JSON.stringify(made.skills))
      builder.addMcpTools(JSON.stringify(made.mcp_tools))
      builder.addCapabilities(JSON.stringify(made.capabilities))
      const bytes = builder.build()
      builder.free()
      expect(readRvf(bytes)).toMatchObject(made)
    }),
    runs(100),
  )
})

test('the containers of its gallery are read, and their prompts are what an agent is told', () => {
  const gallery = new WasmGallery()
  for (const { id } of gallery.list() as { id: string }[]) {
    const read = readRvf(gallery.loadRvf(id))
    for (const { system_prompt } of read.prompts)
      expect(instructionsOf(read)).toContain(system_prompt)
  }
})

test('damaged containers are refused, whatever byte it is', () => {
  const made = writeRvf({
    ...readRvf(new WasmGallery().loadRvf('coder')),
    orchestrator: { topology: 'star' },
  })
  fc.assert(
    fc.property(fc.nat(made.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const bad = Buffer.from(made)
      bad[at] = (bad[at] as number) ^ by
      expect(() => readRvf(bad)).toThrow(/cannot be used/)
      expect(() => readRvf(made.subarray(0, at))).toThrow(/cannot be used/)
    }),
    runs(100),
  )
})

test('every bit of a small container flipped, its checksum made anew: read or refused, nothing else', () => {
  const prompts = [{ name: 'a', system_prompt: 'be good', version: '1' }]
  const made = writeRvf({ ...EMPTY, prompts })
  const body = made.subarray(0, -32)
  for (let bit = 0; bit < body.length * 8; bit += 1) {
    const bad = Buffer.from(body)
    bad[bit >> 3] = (bad[bit >> 3] as number) ^ (1 << (bit & 7))
    const sealed = Buffer.concat([bad, createHash('sha3-256').update(bad).digest()])
    expect(() => readRvf(Buffer.concat([bad, made.subarray(-32)]))).toThrow(/cannot be used/)
    try {
      readRvf(sealed)
    } catch (error) {
      expect((error as { code?: string }).code).toBe('RVF_INVALID')
    }
  }
})
