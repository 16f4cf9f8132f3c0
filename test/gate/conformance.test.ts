// The two published conformance suites against a server of our own, straight and through a gate that
// allows everything: what the server can, it can through the gate. What does not hold is named in
// the tables below with its reason, and a name that no longer belongs there fails the test.

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Check,
  endSuites,
  runScenarios,
  runSuite,
  scoredScenarios,
} from '../conformance/run-suite.ts'
import { FIXTURE, type FixtureServer, serveFixture } from '../support/fixture-server.ts'
import { forms, IS_FULL } from '../support/runs.ts'
import { endGates, NODE, startGate } from '../support/start-gate.ts'

const CHECKS_OF_THE_ACTIVE_SUITE = 40
const NOT_STREAMED: Exceptions = {
  'server-sse-streams-functional':
    'counts streams among the answers; the gate answers in JSON where nothing was said on the way',
}
const IN_THE_MIDDLE = [
  'tools-call-with-logging',
  'tools-call-with-progress',
  'tools-call-sampling',
  'elicitation-sep1330-enums',
]
/** Not scored by the suite, but what it only asks for kindly must hold as well. */
const BEYOND_THE_SCORE = [
  'json-schema-2020-12',
  'http-header-validation',
  'http-custom-header-server-validation',
]

/** The tasks extension, which the suite runs and does not score either. */
const TASKS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
]
/** The skills extension: the checks of its three scenarios. */
const SKILLS = [
  'sep-2640-skills-directory',
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
]
const CHECKS_OF_SKILLS = 45
const TWICE_AT_ALL: Exceptions = {
  'sep-2640-names-should-be-unique':
    'all servers are the fixture: each skill has several addresses',
}
const NOT_LOOKED_AT: Exceptions = {
  'tasks-status-notifications': 'the suite itself skips it: it has no harness for it yet',
}

type Exceptions = Record<string, string>

let server: FixtureServer
let direct = ''
let gated = ''
let gatedStdio = ''
let gatedAll = ''

beforeAll(async () => {
  server = await serveFixture()
  direct = server.url
  const servers = {
    fixture: { url: direct },
    // A list of all servers does not wait for long for a process that has yet to start: two by URL are always in it.
    again: { url: direct },
    stdio: { command: [NODE, FIXTURE, '--stdio'] },
  }
  const { url } = await startGate({ servers })
  gated = `${url}/mcp/fixture`
  gatedAll = `${url}/mcp`
  gatedStdio = `${url}/mcp/stdio`
})
afterAll(async () => {
  await endSuites()
  await endGates()
  server.process.kill()
})

describe('0.1.16, the session generation', () => {
  test.runIf(IS_FULL)('straight: all 40 checks', async () => {
    const checks = await runSuite('session', direct)
    expect(checks.filter(({ status }) => status !== 'SUCCESS')).toEqual([])
    expect(checks).toHaveLength(CHECKS_OF_THE_ACTIVE_SUITE)
  })

  test('through the gate: the same', async () => {
    const checks = await runSuite('session', gated)
    const others = checks.filter(({ status }) => status !== 'SUCCESS')
    expect(others.map(({ id, status }) => [id, status])).toEqual(
      Object.keys(NOT_STREAMED).map((id) => [id, 'INFO']),
    )
    expect(checks).toHaveLength(CHECKS_OF_THE_ACTIVE_SUITE)
    expect(passed(checks, 'dns-rebinding-protection')).toBe(true)
  })

  test('F5: through the gate, a POST stream that the server ends is primed, and resumed', async () => {
    const polling = 'server-sse-polling'
    const checks = await runScenarios('sessionNext', gated, [polling])
    const statusOf = (wanted: string) => checks.find(({ id }) => id === wanted)?.status
    expect([
      statusOf('server-sse-priming-event'),
      statusOf('server-sse-retry-field'),
      statusOf('server-sse-disconnect-resume'),
    ]).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS'])
  })

  test('through the gate to a stdio server: what a server says in the middle of a call', async () => {
    const checks = await runScenarios('session', gatedStdio, IN_THE_MIDDLE)
    expect(IN_THE_MIDDLE.filter((scenario) => !passed(checks, scenario))).toEqual([])
  })
})

describe('0.2.0, the stateless generation', () => {
  test.runIf(IS_FULL)('straight: every scored scenario', async () => {
    const checks = await runSuite('stateless', direct)
    const asked = [...scoredScenarios(), ...BEYOND_THE_SCORE, ...TASKS]
    expect(asked.filter((scenario) => !passed(checks, scenario))).toEqual([])
    expect(asked).toHaveLength(49)
    expect(skipped(checks)).toEqual(Object.keys(NOT_LOOKED_AT))
  })

  test('through the gate: the same', async () => {
    const checks = await runSuite('stateless', gated)
    const asked = [...scoredScenarios(), ...BEYOND_THE_SCORE, ...TASKS]
    const failed = asked.filter((scenario) => !passed(checks, scenario))
    const why = checks.filter((check) => failed.includes(check.scenario) && !holds(check))
    expect(why).toEqual([])
    expect(failed).toEqual([])
  })
})

describe('0.2.0, the skills extension', () => {
  test('straight, through the gate to each kind of server and to all: every check', async () => {
    for (const url of forms([gatedAll, gatedStdio, gated, direct], 2)) {
      const checks = await runScenarios('stateless', url, SKILLS)
      const others = checks.filter(({ status }) => status !== 'SUCCESS')
      const expected = url === gatedAll ? Object.keys(TWICE_AT_ALL) : []
      expect(others.map(({ id, status }) => [id, status])).toEqual(
        expected.map((id) => [id, 'WARNING']),
      )
      expect(checks).toHaveLength(CHECKS_OF_SKILLS)
    }
  })
})

/** Looked at, and nothing in it failed. */
function passed(checks: readonly Check[], scenario: string): boolean {
  const own = checks.filter((check) => check.scenario === scenario)
  return own.some(({ status }) => status === 'SUCCESS') && own.every(holds)
}

function skipped(checks: readonly Check[]): string[] {
  return checks.filter(({ status }) => status === 'SKIPPED').map(({ scenario }) => scenario)
}

function holds({ status }: Check): boolean {
  return status !== 'FAILURE'
}
