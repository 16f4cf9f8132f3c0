// The library of attacks, held against the policy engine: every rule it recommends is a policy that
// compiles without a word, and stops what it is said to stop.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolDefinition } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { describe, expect, test } from 'vitest'
import { listAgentTools } from '../../packages/agents/src/mcp/server.ts'
import {
  ATTACKS,
  linkAttacks,
  ruleAgainst,
} from '../../packages/catalogue/src/attacks/link-attacks.ts'
import { assessTool } from '../../packages/catalogue/src/classify/classify.ts'
import { getAssessment } from '../../packages/catalogue/src/pages/assessment-cache.ts'
import { attacksPage } from '../../packages/catalogue/src/pages/attacks-page.ts'
import { markdownOf } from '../../packages/guard/src/show/page-markdown.ts'
import { ROOT } from '../support/modules.ts'

/** From A38 on, attacks are linked by what a tool is about. */
const FIRST_BY_SUBJECT = 37

describe('the library', () => {
  test('has 55 entries, numbered without a gap', () => {
    expect(ATTACKS.map(({ id }) => id)).toEqual(
      Array.from({ length: 55 }, (_, index) => `A${String(index + 1).padStart(2, '0')}`),
    )
  })

  test.each(ATTACKS.map((attack) => [attack.id, attack] as const))(
    'recommends in %s a policy that compiles',
    (_, attack) => {
      const text = ruleAgainst(attack, 'acme/tool')
      expect(text).not.toMatch(/[{}](?:tool|arg)/)
      const { policy, problems } = compile({ file: 'rule.yaml', text })
      expect(problems).toEqual([])
      expect(policy?.fallback).toBe('deny')
    },
  )

  test('is written down in docs/reference/attacks.md as it is', () => {
    expect(readFileSync(join(ROOT, 'docs', 'reference', 'attacks.md'), 'utf8')).toBe(
      markdownOf(attacksPage()),
    )
  })

  test('says in public what no gate stops', () => {
    expect(ATTACKS.filter(({ gate }) => gate === 'no').map(({ id }) => id)).toEqual(['A18', 'A43'])
  })
})

describe('a tool', () => {
  const links = (definition: ToolDefinition, others: ToolDefinition[] = []) =>
    linkAttacks(definition, assessTool(definition), others).map(({ id }) => id)
  const properties = (...names: string[]) => ({
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    },
  })

  test('that takes a URL is a target of forgery, one that takes a path of traversal', () => {
    const fetcher = {
      server: 'web',
      name: 'fetch',
      description: 'Fetch a page',
      ...properties('url'),
    }
    expect(links(fetcher)).toEqual(expect.arrayContaining(['A05', 'A06', 'A11']))
    expect(links(fetcher)).not.toContain('A07')
    const reader = {
      server: 'fs',
      name: 'read_file',
      description: 'Read a file',
      ...properties('path'),
    }
    expect(links(reader)).toContain('A07')
    expect(links(reader)).not.toContain('A11')
  })

  test('that only looks up a thing has what its class lets an attacker do', () => {
    const plain = {
      server: 'a',
      name: 'get_version',
      description: 'Get the version',
      ...properties(),
    }
    expect(links(plain)).toEqual(['A33'])
  })

  test('that is about agents has attacks of its own, not only those of its class', () => {
    const own = (attack: { id: string }) =>
      ATTACKS.findIndex(({ id }) => id === attack.id) >= FIRST_BY_SUBJECT
    const tools = listAgentTools().map((tool) => ({ ...tool, server: 'claude-flow' }))
    const poor = tools.filter((tool) => {
      const definition = tool as unknown as ToolDefinition
      return linkAttacks(definition, getAssessment(definition)).filter(own).length < 2
    })
    // These came with Sluice; the 27 of Claude Flow all have two.
    expect(poor.map(({ name }) => name)).toEqual([
      'wasm_agent_wait',
      'wasm_agent_pause',
      'wasm_agent_schedule',
      'wasm_agent_schedules',
      'wasm_agent_unschedule',
      'wasm_agent_replay',
    ])
    const page = (name: string) => links({ server: 'flow', name, description: 'Get it' })
    expect(page('agent_export')).toContain('A38')
    expect(page('agent_todos')).toContain('A40')
    expect(page('agent_is_stopped')).toContain('A42')
    // In the words of Claude Flow itself. What its class could do does not fit a copy, a yes or a number.
    const theirs = (name: string, description: string) =>
      links({ server: 'claude-flow', name, description, ...properties('agentId') })
    const gallery = 'Load a WASM Gallery template RVF container. Use when native Task is wrong.'
    expect(theirs('wasm_gallery_load_rvf', gallery)).toEqual(['A34', 'A52', 'A53'])
    const state = "Export a WASM agent's full state (config, filesystem, conversation) as JSON."
    expect(theirs('wasm_agent_export', state)).toEqual(['A38', 'A39'])
    const stopped = 'Check whether a WASM agent has reached its stop condition.'
    expect(theirs('wasm_agent_is_stopped', stopped)).toEqual(['A42', 'A43'])
  })

  test('is told why it is in none of the other four classes', () => {
    const { whyNot } = assessTool({ server: 'a', name: 'get_version' })
    expect(whyNot.map(({ category }) => category)).toEqual([
      'Write',
      'Execute',
      'Destructive',
      'Financial',
    ])
  })

  test('that pays is a target of payment abuse, by its amount', () => {
    const pay = {
      server: 'p',
      name: 'create_refund',
      description: 'Refund a payment',
      ...properties('amount'),
    }
    const linked = linkAttacks(pay, assessTool(pay))
    expect(linked.find(({ id }) => id === 'A22')?.argument).toBe('amount')
  })

  test('A03: a look-alike of a neighbour is linked', () => {
    const one = { server: 'a', name: 'send_mail', description: 'Send mail' }
    const twin = { server: 'b', name: 'send_mai1', description: 'Send mail' }
    expect(links(one)).not.toContain('A03')
    expect(links(one, [one, twin])).toContain('A03')
  })
})
