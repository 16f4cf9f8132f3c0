// The command line as its users meet it, in a folder with a policy, tools, cases and properties.
// Answers and exit codes, what is said to a person and to a script when something is wrong. Most run in
// this process, which is many times cheaper; what a process adds (its exit code, pipes, colour, Node) is
// tested with one.

import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ledger } from '../../packages/ledger/src/ledger.ts'
import { ROOT } from '../support/modules.ts'
import { type Ran, sluice as runHere } from '../support/run-sluice.ts'
import { forms } from '../support/runs.ts'
import { SLUICE } from '../support/start-gate.ts'

const BIN = join(ROOT, 'packages/cli/bin/sluice.js')
const ESC = '\u001b'
/** Control, direction and line-separating characters but the end of a line. */
const DRIVES = /[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u
const HOSTILE = `x${ESC}[2J\u009b\u202e`

const properties = { amount: { type: 'integer' }, currency: { type: 'string' } }
const FILES: Readonly<Record<string, string>> = {
  'tools.json': JSON.stringify([
    { server: 'stripe', name: 'create_refund', inputSchema: { type: 'object', properties } },
    { server: 'github', name: 'create_issue', inputSchema: { type: 'object' } },
    { server: 'github', name: 'delete_repo', inputSchema: { type: 'object' } },
    { server: 'gmail', name: 'send', inputSchema: { type: 'object' } },
  ]),
  'policy.yaml': `version: 1
default: deny
categories:
  Destructive: require_approval
tools:
  stripe/create_refund: { action: allow, when: args.amount <= 5000, otherwise: deny }
  github/create_issue: { action: allow, rate_limit: { max: 30, window: 60 } }
  gmail/send: allow
resources: { notes/*: allow }
`,
  'house.yaml': `version: 1
default: deny
guardrails:
  - { name: nothing leaves, match: { tools: [gmail/send] }, action: deny }
`,
  'cases.yaml': `policy: policy.yaml
tools: tools.json
cases:
  - { name: small, call: stripe/create_refund, args: { amount: 100 }, expect: allow }
  - { name: large, call: stripe/create_refund, args: { amount: 9900 }, expect: deny }
  - { call: github/create_issue, repeat: 31, expect: { code: RATE_LIMITED } }
`,
  'more-cases.yaml': 'cases:\n  - { call: gmail/send, expect: allow }\n',
  'properties.yaml': `properties:
  - name: nothing is deleted without a person
    never: { category: Destructive, action: allow }
`,
  'protected.yaml':
    'version: 1\ndefault: allow\nprotect: balanced\ntrust: { gmail/find: { people.id: id }, crm/own: all }\n',
  'destined.yaml':
    'version: 1\ndefault: allow\nprotect: balanced\ndestinations: { gmail/send: { room: address } }\n',
  'traces.jsonl':
    '{"id":"a","steps":[{"server":"gmail","tool":"read","answer":"now {{injection}}"}]}\n',
  'injections.jsonl':
    '{"id":"b","goal":"write to eve","steps":[{"server":"gmail","tool":"send","args":{"to":"eve"}}]}\n',
  'strict.yaml': 'version: 1\ndefault: allow\nprotect: strict\n',
  'lookups.jsonl':
    '{"id":"a","steps":[{"server":"gmail","tool":"read","answer":"[{\\"from\\":\\"ann@corp.example\\",\\"x\\":1}]"},{"server":"gmail","tool":"send","args":{"to":"ann@corp.example"},"answer":"ok"}]}\n',
  'queries.yaml': `version: 1
default: deny
tools:
  db/query: { action: allow, when: 'call.category == "Read"', otherwise: require_approval }
guardrails:
  - { name: no secrets, when: call.secret, action: deny }
  - { name: no cards, when: call.card, action: deny }
`,
  'queries.json': JSON.stringify([
    { server: 'db', name: 'query', inputSchema: { type: 'object', properties: { sql: {} } } },
  ]),
  'queries.jsonl': [
    'SELECT 1',
    'DELETE FROM users',
    `SELECT 'sk_live_${'4eC39HqLyjWDarjtT1zdp7dc'}'`,
    "SELECT '4111 1111 1111 1111'",
  ]
    .map((sql) => JSON.stringify({ server: 'db', tool: 'query', args: { sql } }))
    .map((step, id) => `{"id":"${id}","steps":[${step}]}\n`)
    .join(''),
  'no-goal.jsonl': '{"id":"b","steps":[{"server":"gmail","tool":"send"}]}\n',
  'no-steps.jsonl': '\n{"id":"b","steps":[]}\n',
  'intercept.yaml': `version: "1"
default: deny
tools:
  create_issue:
    rules:
      - { name: brief, conditions: [{ path: args.title, op: eq, value: brief }] }
`,
  'rules.yaml':
    'tools:\n  create_issue: { action: deny, reason: read only }\n  list_issues: { rate_limit: { max: 10, window: 60 } }\n',
  'hosted.json': '{"version": "1", "default": "deny", "tools": {"create_refund": {}}}',
  // Below: what goes wrong.
  'wrong-case.yaml':
    'policy: policy.yaml\ntools: tools.json\ncases:\n  - { call: gmail/send, expect: deny }\n',
  'wrong-tool.yaml':
    'policy: policy.yaml\ntools: tools.json\ncases:\n  - { call: gmail/sned, expect: deny }\n',
  'wrong-claim.yaml': 'properties:\n  - never: { tool: gmail/send, action: allow }\n',
  'typo-claim.yaml': 'properties:\n  - never: { tool: gmail/sned, action: allow }\n',
  'labels.yaml':
    'version: 1\ndefault: deny\ntools: { github/create_issue: allow, gmail/send: allow }\nlabels: { github/create_issue: [private] }\n',
  'sequence-claim.yaml':
    'properties:\n  - never: { tool: gmail/send, after: private, action: allow }\n',
  'typo-label.yaml': 'properties:\n  - never: { tool: gmail/send, after: privat, action: allow }\n',
  'typo-argument.yaml':
    'properties:\n  - never: { tool: stripe/create_refund, when: args.amout > 1, action: allow }\n',
  'no-claim.yaml': 'properties: []\n',
  'wrong.yaml': 'version: 1\r\ndefault: dney\r\n',
  'none.json': '[]',
  'twice.json': '[{"server":"a","name":"b"},{"server":"a","name":"b"}]',
  'hostile.yaml': `version: 1\ndefault: deny\ntools:\n  "shop/${ESC}[31m\u202e": alow\n`,
  'hostile.json': JSON.stringify([{ server: 'shop', name: HOSTILE }]),
  'hostile-case.yaml': 'policy: "\\e[2J.yaml"\ncases: [{ call: a/b, expect: deny }]\n',
  'allow.yaml': 'version: 1\ndefault: allow\n',
  'any.yaml': 'properties: [{ never: { action: allow } }]\n',
  'sluice.yaml':
    'version: 1\nservers:\n  notes: { command: [node, "--version"] }\npolicy: ./policy.yaml\n',
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'latin1.yaml'), Buffer.from('version: 1 # caf\xe9\n', 'latin1'))
  process.chdir(folder)
})
afterAll(() => {
  process.chdir(ROOT)
  rmSync(folder, { recursive: true, force: true })
})

function environment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { NO_COLOR: _, FORCE_COLOR: __, NODE_OPTIONS: ___, ...env } = process.env
  return { ...env, ...more }
}

function execute(command: string, args: readonly string[], cwd = folder, env = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { cwd, env: environment(env), maxBuffer: 2 ** 26 }
    const child = execFile(command, args, options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    )
    child.stdin?.end()
  })
}

const sluice = (...args: string[]) => runHere(args)
const started = (...args: string[]) => execute(process.execPath, [SLUICE, ...args])

const DESTINED = 'policy explain gmail/send --tools tools.json'
const EXPLAIN = ['policy', 'explain', 'stripe/create_refund', '--tools', 'tools.json']

describe('answers', () => {
  test.for<[line: string, code: 0 | 1, stdout: RegExp]>([
    ['policy check --tools tools.json', 0, /^ok: \/.*\/policy\.yaml, 5 rules, .*\n4 tools: .*\n$/],
    ['policy explain gmail/send --tools tools.json --house house.yaml', 1, / deny DENIED /],
    ['policy test wrong-case.yaml', 1, /decided by gmail\/send \(.*policy\.yaml:8\)/],
    [
      'policy coverage cases.yaml --min 58',
      1,
      /4 of 7 branches \(57 %\), 3 cases\nbelow the minimum of 58 %\n$/,
    ],
    ['policy test more-cases.yaml', 0, /1 passed/],
    ['policy coverage wrong-case.yaml', 1, /1 case not as expected/],
    ['policy import intercept.yaml --server github', 0, /^(.*\n)*version: 1\n/],
  ])('sluice %s', async ([line, code, stdout]) => {
    const ran = await sluice(...line.split(' '))
    expect(ran.code, ran.stderr).toBe(code)
    expect(ran.stdout).toMatch(stdout)
    expect(ran.stdout + ran.stderr).not.toContain(ESC)
  })

  test('a misspelt tool in a case is told, since a default deny would let it pass', async () => {
    const { code, stderr } = await sluice('policy', 'test', 'wrong-tool.yaml')
    expect(code).toBe(0)
    expect(stderr).toBe(
      'wrong-tool.yaml:4: warning: no known tool is `gmail/sned`: did you mean `gmail/send`?\n',
    )
  })

  test('what refutes a claim is a command that shows it', async () => {
    const claim = ['policy', 'prove', 'wrong-claim.yaml', '--tools', 'tools.json']
    const { code, stdout } = await sluice(...claim)
    expect(code).toBe(1)
    const shown = stdout.split('\n').find((line) => line.includes('sluice policy explain')) ?? ''
    expect((await runLine(shown.trim())).code).toBe(0)
  })

  test('what refutes a claim over sequences is a command for each call', async () => {
    const claim = ['policy', 'prove', 'sequence-claim.yaml', '--tools', 'tools.json']
    const { code, stdout, stderr } = await sluice(...claim, '--policy', 'labels.yaml')
    expect(code, stderr).toBe(1)
    expect(stdout).toMatch(/^refuted .*\n +1\. github\/create_issue: allow, brings private\n/)
    const shown = stdout.split('\n').filter((line) => line.includes('sluice policy explain'))
    expect(shown).toHaveLength(2)
    for (const line of shown) expect((await runLine(line.trim())).code).toBe(0)
  })

  test('arguments are shown as they were written', async () => {
    const args = '{ "amount": 12345678901234567890123, "units": 1, "scale": 2, "currency": "a  b" }'
    expect((await sluice(...EXPLAIN, '--args', args)).stdout).toContain(`\n  ${args}\n`)
  })
})

const SIMULATE =
  'policy simulate --tools tools.json --traces traces.jsonl --injections injections.jsonl'

const TRUST = 'policy suggest --trust --tools tools.json'

describe('--json is one JSON value on stdout, whatever happens', () => {
  const problems = [{ code: 'DOCUMENT_UNKNOWN_WORD', file: 'wrong.yaml', line: 2, column: 10 }]

  test.for<[line: string, code: number, holds: object]>([
    ['policy check policy.yaml --tools tools.json', 0, { ok: true, tools: { deny: 0 } }],
    ['policy check wrong.yaml', 1, { ok: false, problems: [{ line: 2, column: 10 }] }],
    ['policy explain a/b', 1, { call: 'a/b', action: 'deny', rule: '/default', visible: false }],
    ['policy test cases.yaml wrong-case.yaml', 1, { passed: 3, failed: 1 }],
    ['policy prove properties.yaml --tools tools.json', 0, { proved: true }],
    ['policy coverage cases.yaml --min 90', 1, { covered: 4, total: 7, min: 90, failed: 0 }],
    [
      'policy check protected.yaml --show',
      0,
      {
        protect: [{ when: 'call.valueFromText' }, {}, {}],
        trust: { 'gmail/find': { 'people.id': 'id' }, 'crm/own': 'all' },
      },
    ],
    [
      `${DESTINED} --policy destined.yaml --args {"room":"evil"} --facts {"answers":["evil!"]}`,
      1,
      {
        reason:
          'the address `args.room` (by `destinations`) (`evil`) stands in the text of an answer, and in no field that the policy trusts: the user can name it, or an approver release the call',
      },
    ],
    [
      `${DESTINED} --policy destined.yaml --args {"room":"evil"} --facts {"answers":[{"id":"evil"},"so!"]}`,
      0,
      { action: 'allow' },
    ],
    [`${DESTINED} --facts {"called":[{"tool":"send"}]}`, 2, { error: { code: 'CLI_ARGUMENT' } }],
    [`${SIMULATE} --policy protected.yaml --min-stopped 100`, 0, { attacks: { stopped: 1 } }],
    [`${SIMULATE} --policy protected.yaml --attack bare`, 0, { benign: { untouched: 1 } }],
    [
      `${TRUST} --policy strict.yaml --traces lookups.jsonl`,
      0,
      {
        proposals: [{ tool: 'gmail/read', path: 'from', word: 'address', sessions: 1, attacks: 0 }],
        trust: '',
      },
    ],
    [
      `${TRUST} --policy strict.yaml --traces lookups.jsonl --injections injections.jsonl --accept`,
      0,
      { trust: 'trust:\n  "gmail/read": { "from": address }\n' },
    ],
    [`${SIMULATE} --policy strict.yaml --attack forged`, 0, { attacks: { stopped: 1 } }],
    [`${SIMULATE} --min-stopped 100`, 1, { suites: { gmail: { attacks: { pairs: 1 } } } }],
    ['policy import intercept.yaml --server github', 0, { errors: [] }],
    ['policy test cases.yaml --policy wrong.yaml', 2, { error: { code: 'CLI_POLICY', problems } }],
    ['policy check --nothing', 2, { error: { code: 'CLI_ARGUMENT' } }],
    ['policy import intercept.yaml --server a --out policy.yaml', 2, { error: {} }],
  ])('sluice %s', async ([line, code, holds]) => {
    const ran = await sluice(...line.split(' '), '--json')
    expect(ran.code, ran.stderr).toBe(code)
    expect(JSON.parse(ran.stdout)).toMatchObject(holds)
  })
})

test('`policy simulate` decides by the class of each call and by what its arguments hold, as the gate does', async () => {
  const files = '--policy queries.yaml --tools queries.json --traces queries.jsonl'
  const ran = await sluice('policy', 'simulate', ...files.split(' '), '--json')
  const { traces } = JSON.parse(ran.stdout) as { traces: { calls: { action: string }[] }[] }
  expect(traces.map(({ calls }) => calls[0]?.action)).toEqual([
    'allow',
    'require_approval',
    'deny',
    'deny',
  ])
})

describe('what cannot run exits with 2, says why, and what to do', () => {
  test.for<[args: string[], message: string, help: string]>([
    [['policy', 'check', 'polcy.yml'], '`polcy.yml` was not found [CLI_FILE]', '`policy.yaml`?'],
    [TRUST.split(' '), '--trust needs --traces', 'recorded sessions'],
    [[...SIMULATE.split(' '), '--attack', 'x'], '--attack is `x`', 'one of plain, bare'],
    [[...SIMULATE.split(' '), '--min-stopped', ''], '--min-stopped is ``', '0 to 100'],
    [
      [...SIMULATE.split(' '), '--injections', 'no-goal.jsonl'],
      'no-goal.jsonl:1: `goal`',
      '"steps"',
    ],
    [
      [...SIMULATE.split(' '), '--traces', 'no-steps.jsonl'],
      'no-steps.jsonl:2: `steps`',
      '"steps"',
    ],
    [['policy', 'check', '/dev/zero'], 'has more than 8388608 bytes [CLI_FILE]', 'split it'],
    [['policy', 'check', 'latin1.yaml'], 'is not UTF-8 [CLI_FILE]', 'save it as UTF-8'],
    [['policy', 'check', '--tools', 'policy.yaml'], '[CLI_TOOLS]', '"server"'],
    [['policy', 'check', '--tools', 'twice.json'], 'as entry 1 and 2 [CLI_TOOLS]', 'keep one'],
    [['policy', 'test', 'cases.yaml', '--policy', 'wrong.yaml'], '[CLI_POLICY]', 'policy check'],
    [['policy', 'prove', 'typo-claim.yaml', '--tools', 'tools.json'], ':2: ', '`gmail/send`?'],
    [
      ['policy', 'prove', 'typo-label.yaml', '--tools', 'tools.json', '--policy', 'labels.yaml'],
      'the label `privat`',
      '`private`?',
    ],
    [['policy', 'prove', 'typo-argument.yaml', '--tools', 'tools.json'], ':2: ', 'the names'],
    [['policy', 'prove', 'no-claim.yaml', '--tools', 'tools.json'], '[', 'p'],
    [['policy', 'coverage', 'cases.yaml', '--min', ''], '--min is `` [CLI_ARGUMENT]', '0 to 100'],
    [['policy', 'explain', 'send', '--tools', 'tools.json'], '<server>/<tool>', '`gmail/send`?'],
    [['policy', 'explain', 'gmail/sned', '--tools', 'tools.json'], 'has no', '`gmail/send`?'],
    [[...EXPLAIN, '--args', '{amount: 1}'], 'at character 2 [CLI_ARGUMENT]', `'{"name": `],
    [[...EXPLAIN, '--facts', '{"sesion": {}}'], 'unknown key `sesion`', '`session`?'],
    [[...EXPLAIN, '--facts', '{"session": {"saw": "a"}}'], '--facts:1:21: error', 'a list'],
    [[...EXPLAIN, '--method', 'tool/call'], '--method is `tool/call`', '`tools/call`?'],
    [['pin', '--tools', 'none.json'], 'nothing to pin', 'let a client list'],
    [['up', '--config', 'nowhere/sluice.yaml'], 'was not found', 'folder `nowhere` does not exist'],
    [['policy', 'check', '--tool', 'x'], 'unknown option `--tool`', '`--tools`?'],
    [['check', 'policy.yaml'], 'unknown command `check`', '`sluice policy check`?'],
  ])('sluice %j', async ([args, message, help]) => {
    const { code, stdout, stderr } = await sluice(...args)
    expect(code, stderr).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    const helps = [...stderr.matchAll(/^ {2}help: (.*)$/gm)].map(([, text]) => text)
    expect(helps.join('\n')).toContain(help)
  })

  test('CLI_START: a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const { code, stdout, stderr } = await started('up', '--port', String(port), '--data', 'data')
    server.close()
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/in use.*\[CLI_START\]\n {2}help: /)
  })

  test('a group without a command shows its help, and is no yes', async () => {
    const { code, stdout, stderr } = await sluice('policy')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^Usage: sluice policy/)
  })
})

describe('the terminal is not driven by what files say', () => {
  test.for<[line: string]>([
    ['policy prove any.yaml --policy allow.yaml --tools hostile.json'],
    ['policy prove any.yaml --policy allow.yaml --tools hostile.json --json'],
    ['policy test hostile-case.yaml --json'],
    [`policy explain shop/${HOSTILE} --policy allow.yaml --tools hostile.json`],
  ])('sluice %j', async ([line]) => {
    const { stdout, stderr } = await sluice(...line.split(' '))
    expect(stdout + stderr).not.toMatch(DRIVES)
  })

  test('the caret stands under the place, also behind characters that are spelt out', async () => {
    const { stderr } = await sluice('policy', 'check', 'hostile.yaml')
    expect(stderr).not.toMatch(DRIVES)
    const [, shown = '', caret = ''] = stderr.split('\n')
    expect(shown.slice(caret.indexOf('^'))).toBe('alow')
  })

  test('colour only where it is asked for', async () => {
    const args = [SLUICE, 'policy', 'check', 'wrong.yaml']
    const forced = await execute(process.execPath, args, folder, { FORCE_COLOR: '1' })
    expect(forced.stdout).toContain(`${ESC}[31mnot ok${ESC}[39m`)
  })

  test('a reader that goes away changes nothing but what it sees', async () => {
    const { code, stderr } = await execute('sh', [
      '-c',
      `{ "${process.execPath}" "${SLUICE}" policy coverage cases.yaml --min 90; echo $? >&2; } | true`,
    ])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '1\n' })
  })
})

/** A line of a help text or of an answer, as somebody pastes it: a shell takes it apart. */
async function runLine(line: string, cwd = folder): Promise<Ran> {
  const inShell = (command: string) =>
    execute('sh', ['-c', `sluice() { ${command} "$@"; }\n${line}`], cwd)
  if (line.includes('>')) return inShell(`"${process.execPath}" "${SLUICE}"`)
  const { stdout: words } = await inShell("printf '%s\\0'")
  process.chdir(cwd)
  try {
    return await runHere(words.split('\0').slice(0, -1))
  } finally {
    process.chdir(folder)
  }
}

describe('help', () => {
  const commands = ['check', 'explain', 'test', 'prove', 'coverage', 'import']

  const tried = new Set<string>()

  test.for([...commands, ''])('the examples of sluice policy %s run', async (command) => {
    const asked = await sluice('policy', ...(command === '' ? [] : [command]), '--help')
    expect(asked.code).toBe(0)
    const lines = [...asked.stdout.matchAll(/^ {2}(sluice policy .*)$/gm)].map(([, line]) => line)
    expect(lines.length).toBeGreaterThan(0)
    const place = mkdtempSync(join(folder, 'help-'))
    for (const name of Object.keys(FILES)) cpSync(join(folder, name), join(place, name))
    // A gate that has run here.
    cpSync(join(place, 'policy.yaml'), join(place, 'stricter.yaml'))
    writeFileSync(
      join(place, 'sluice.yaml'),
      'version: 1\nservers: {}\npolicy: ./policy.yaml\ndata: ./.sluice\n',
    )
    Ledger.open({ directory: join(place, '.sluice') }).close()
    // What an import writes may not be there yet.
    if (command === 'import') rmSync(join(place, 'policy.yaml'))
    for (const line of lines as string[]) {
      const bare = line.replace(/ +#.*$/, '')
      if (tried.has(bare)) continue
      tried.add(bare)
      const { code, stderr } = await runLine(line, place)
      expect(code, `${line}\n${stderr}`).toBeLessThan(2)
      if (command === 'import') rmSync(join(place, 'policy.yaml'), { force: true })
    }
  })

  const ENDS: readonly [line: string, code: number][] = [
    ['policy explain a/b', 1],
    ['policy explain a', 2],
    ['policy explain gmail/send --tools tools.json', 0],
  ]
  test.for(forms(ENDS))('the process ends with the code: sluice %s', async ([line, code]) => {
    expect((await execute(process.execPath, [BIN, ...line.split(' ')])).code).toBe(code)
  })

  test('sluice alone shows what there is, and the codes', async () => {
    const { code, stdout } = await sluice()
    expect(code).toBe(0)
    expect(stdout).toMatch(/Examples:[\s\S]*Exit codes: 0 yes, 1 no .*, 2 could not run\./)
  })
})

describe('Node', () => {
  const old = (process.env.PATH ?? '')
    .split(delimiter)
    .map((place) => join(place, 'node'))
    .find((node) => existsSync(node) && majorOf(node) < 24)

  test.skipIf(old === undefined)(
    'an older one on the PATH hands over to that of the clone',
    async () => {
      const ran = await execute(old as string, [BIN, 'policy', 'explain', 'a/b'])
      expect(ran.code, ran.stderr).toBe(1)
      expect(ran.stdout).toContain('deny DENIED')
    },
  )

  function majorOf(node: string): number {
    return Number.parseInt(
      spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout,
      10,
    )
  }
})
