// `sluice ci` on a repository of its own: what passes, what fails, which decisions change against a
// revision, its three reports; and the GitHub Action as a runner runs it.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../support/modules.ts'
import { sluice, sluiceJson } from '../support/run-sluice.ts'
import { scratchDirectory } from '../support/scratch.ts'
import { NODE, SLUICE } from '../support/start-gate.ts'

let folder: string
const file = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(file(name), 'utf8')
const change = (name: string, from: string, to: string) =>
  writeFileSync(file(name), read(name).replace(from, to))

function git(...args: string[]): void {
  const who = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.com']
  execFileSync('git', [...who, ...args], { cwd: folder, stdio: 'ignore' })
}

beforeEach(() => {
  folder = scratchDirectory()
  cpSync(join(ROOT, 'examples', 'policy-tests'), folder, { recursive: true })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'base')
})

describe('sluice ci', () => {
  test('passes with every step, and nothing has changed', async () => {
    const { ok, steps, changes } = await sluiceJson(['ci', folder, '--base', 'HEAD'])
    expect(ok).toBe(true)
    expect(
      steps.map(({ name, status }: { name: string; status: string }) => [name, status]),
    ).toEqual(
      ['check', 'test', 'prove', 'simulate', 'coverage', 'compare'].map((name) => [
        name,
        name === 'simulate' ? 'skipped' : 'passed',
      ]),
    )
    expect(changes).toMatchObject({ tools: [], cases: [], looser: [] })
  })

  test('a careless change fails the case and the property, with its place in each report', async () => {
    change('policy.yaml', 'Destructive: require_approval', 'Destructive: allow')
    const reports = { junit: file('j.xml'), sarif: file('r.sarif'), markdown: file('s.md') }
    const args = Object.entries(reports).flatMap(([name, at]) => [`--${name}`, at])
    const { code, stdout } = await sluice(['ci', folder, '--base', 'HEAD', ...args])
    expect(code).toBe(1)
    expect(stdout).toMatch(/failed {3}test[\s\S]*failed {3}prove[\s\S]*looser: \/categories/)
    const junit = read('j.xml')
    expect(junit).toContain('<testsuite name="prove" tests="1" failures="1" skipped="0">')
    expect(junit).toMatch(
      /name="deleting waits for a person" file=".*cases.yaml" line="20"><failure/,
    )
    const { runs } = JSON.parse(read('r.sarif'))
    const results = runs[0].results.map(
      (one: { ruleId: string; level: string }) => `${one.ruleId} ${one.level}`,
    )
    expect(results).toEqual(['test error', 'prove error'])
    expect(runs[0].results[0].locations[0].physicalLocation.region).toEqual({ startLine: 20 })
    const markdown = read('s.md')
    expect(markdown).toContain('## Policy: failed')
    expect(markdown).toMatch(/\| `shop\/\w+` \| require_approval \| allow \| ⚠️ looser \|/)
    expect(markdown).toContain('| `deleting waits for a person` | require_approval | allow |')
  })

  test('coverage has a threshold, and --fail-on-looser holds a change up', async () => {
    change('policy.yaml', 'default: deny', 'default: allow')
    change('policy.yaml', 'categories:', 'categories:\n  Execute: deny')
    const low = await sluiceJson(['ci', folder, '--coverage', '90'])
    expect(low.steps[4]).toMatchObject({ status: 'failed', summary: '83 % (5 of 6 branches)' })
    const looser = await sluiceJson(['ci', folder, '--base', 'HEAD', '--fail-on-looser'])
    expect(looser.steps.at(-1)).toMatchObject({
      name: 'compare',
      status: 'failed',
      checks: expect.arrayContaining([expect.objectContaining({ name: '/default' })]),
    })
  })

  test('recorded sessions and attacks on them have thresholds', async () => {
    const list = { server: 'shop', tool: 'list_orders', args: {}, answer: 'note: {{injection}}' }
    const refund = { server: 'shop', tool: 'create_refund', args: { amount: 100 }, answer: 'ok' }
    const remove = { server: 'shop', tool: 'delete_customer', args: {}, answer: 'ok' }
    const traces = [
      { id: 'plain', prompt: 'list orders', steps: [list, refund] },
      { id: 'held', prompt: 'delete them', steps: [list, remove] },
    ]
    writeFileSync(file('traces.jsonl'), traces.map((trace) => JSON.stringify(trace)).join('\n'))
    const injection = { id: 'x', goal: 'delete', steps: [remove] }
    writeFileSync(file('injections.jsonl'), JSON.stringify(injection))
    const thresholds = ['--min-untouched', '60', '--min-stopped', '100']
    const { steps } = await sluiceJson(['ci', folder, ...thresholds])
    expect(steps[3]).toMatchObject({
      name: 'simulate',
      status: 'failed',
      summary: '1 of 2 sessions pass untouched, 2 of 2 attacks are stopped',
      checks: [{ level: 'failed' }, { level: 'passed' }],
    })
  })

  test('a policy with errors fails, and the rest is skipped', async () => {
    change('policy.yaml', 'Read: allow', 'Read: alow')
    const { steps } = await sluiceJson(['ci', folder])
    expect(steps[0]).toMatchObject({ status: 'failed', checks: [{ line: 4, column: 9 }] })
    expect(steps[1].status).toBe('skipped')
  })

  test('a base that is none, or an option of git, is named', async () => {
    const missing = await sluiceJson(['ci', folder, '--base', 'nothing'])
    expect(missing.steps.at(-1).summary).toMatch(/git cannot read .* at `nothing`/)
    const option = await sluiceJson(['ci', folder, '--base=--output=x'])
    expect(option.steps.at(-1).summary).toBe('--base is `--output=x`')
    writeFileSync(file('new.yaml'), read('policy.yaml'))
    const fresh = await sluiceJson(['ci', folder, '--policy', file('new.yaml'), '--base', 'HEAD'])
    expect(fresh.steps.at(-1)).toMatchObject({ name: 'compare', status: 'skipped' })
  })

  test('finding: a threshold whose files are missing or empty fails', async () => {
    const args = ['--coverage', '80', '--min-stopped', '90', '--min-untouched', '90']
    for (const name of ['cases.yaml', 'properties.yaml', 'tools.json']) rmSync(file(name))
    const without = await sluice(['ci', folder, ...args])
    expect(without.code).toBe(1)
    expect(without.stdout).toMatch(
      /failed {3}simulate {2}no recorded sessions[\s\S]*failed {3}coverage {2}no cases/,
    )
    expect((await sluice(['ci', folder])).code).toBe(0)
    git('checkout', '-q', '.')
    writeFileSync(file('traces.jsonl'), '')
    const empty = await sluiceJson(['ci', folder, '--min-untouched', '90'])
    expect(empty.ok).toBe(false)
    const unattacked = await sluiceJson(['ci', folder, '--min-stopped', '90'])
    expect(
      unattacked.steps.find(({ name }: { name: string }) => name === 'simulate'),
    ).toMatchObject({ status: 'failed', summary: expect.stringContaining('no attacks') })
  })

  test('names from servers and files are no markup in a report', async () => {
    change('cases.yaml', 'reading is free', '"a \\"<b>\\" | [x](y) & @ann\\u202e\\x1b[2J"')
    change('cases.yaml', 'expect: allow', 'expect: deny')
    const args = ['--junit', file('j.xml'), '--markdown', file('s.md')]
    await sluice(['ci', folder, ...args])
    expect(read('s.md')).not.toMatch(/<b>|\[x\]|@ann/)
    for (const sign of ['\u202e', '\x1b']) expect(read('s.md')).not.toContain(sign)
    expect(read('j.xml')).toContain('name="a &quot;&lt;b&gt;&quot; | [x](y) &amp; @ann')
  })
})

test('finding: the action runs the sources of its own revision, and fails on looser by default', () => {
  const path = join(ROOT, '.github/actions/policy')
  const text = readFileSync(join(path, 'action.yml'), 'utf8')
  const { inputs, runs } = parse(text)
  expect(inputs['fail-on-looser'].default).toBe('true')
  // No name of a registry, which may belong to anyone.
  expect(text).not.toMatch(/npm (?:install|i|exec)|npx/)
  const { run } = runs.steps.find(({ id }: { id?: string }) => id === 'install')
  mkdirSync(file('bin'))
  writeFileSync(file('bin/npm'), `#!/bin/sh\necho "$@" >${file('npm')}\n`)
  chmodSync(file('bin/npm'), 0o755)
  const installed = spawnSync('bash', ['-eo', 'pipefail', '-c', run], {
    encoding: 'utf8',
    env: {
      PATH: `${file('bin')}:${process.env.PATH}`,
      GITHUB_ACTION_PATH: path,
      GITHUB_PATH: file('path'),
      RUNNER_TEMP: file('temp'),
    },
  })
  expect(installed.status, installed.stderr).toBe(0)
  expect(read('npm')).toContain(`ci --prefix ${ROOT}`)
  const command = join(read('path').trim(), 'sluice')
  expect(execFileSync(NODE, [command, '--version'], { encoding: 'utf8' })).toMatch(/^\d+\.\d+\.\d+/)
})

test('the action runs it, writes the summary of the job, and fails with it', () => {
  change('policy.yaml', 'Destructive: require_approval', 'Destructive: allow')
  const action = parse(readFileSync(join(ROOT, '.github/actions/policy/action.yml'), 'utf8'))
  const [script] = action.runs.steps.flatMap((step: { id?: string; run: string }) =>
    step.id === 'ci' ? [step.run] : [],
  )
  // Inputs reach the script as environment and in no other way.
  expect(script).not.toContain('${{')
  mkdirSync(file('bin'))
  writeFileSync(file('bin/sluice'), `#!/bin/sh\nexec "${NODE}" "${SLUICE}" "$@"\n`)
  chmodSync(file('bin/sluice'), 0o755)
  const ran = spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${file('bin')}:${process.env.PATH}`,
      FOLDER: '.',
      BASE: 'HEAD',
      COVERAGE: '0',
      FAIL_ON_LOOSER: 'true',

      RUNNER_TEMP: file('temp'),
      GITHUB_STEP_SUMMARY: file('summary'),
      GITHUB_OUTPUT: file('out'),
    },
  })
  expect(ran.status, ran.stderr).toBe(1)
  expect(read('summary')).toContain('## Policy: failed')
  expect(read('out')).toContain('sarif=')
  expect(
    JSON.parse(read('temp/sluice-ci/sluice.sarif')).runs[0].results[0].locations[0],
  ).toMatchObject({
    physicalLocation: { artifactLocation: { uri: 'cases.yaml' } },
  })
})
