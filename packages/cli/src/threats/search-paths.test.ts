import { classify } from '@sluice/catalogue/classify/classify'
import type { KnownTool } from '@sluice/policy/calls/tools'
import { compile } from '@sluice/policy/compile/compile'
import { DOCUMENT_LENGTH_MAX } from '@sluice/policy/document/limits'
import type { JsonObject, JsonValue } from '@sluice/policy/values/json'
import { describe, expect, test } from 'vitest'
import { listClosings } from './close-path.ts'
import { findThreats } from './search-paths.ts'
import { isSerious, type ThreatInputs, type ThreatServer } from './threat.ts'

const TEXT = { type: 'string' }

function tool(id: string, properties: JsonObject, more: Partial<KnownTool> = {}): KnownTool {
  const [server = '', name = ''] = id.split('/')
  const inputSchema = { type: 'object', properties, required: Object.keys(properties) }
  const definition = { server, name, description: name.replaceAll('_', ' '), inputSchema }
  return { definition, ...classify(definition), unknown: false, ...more }
}

const READ = tool('files/read_file', { path: TEXT })
const WRITE = tool('files/write_file', { path: TEXT, content: TEXT })
const FETCH = tool('web/fetch', { url: TEXT })
const MAIL = tool('mail/send_email', { to: TEXT, subject: TEXT, body: TEXT })
const FILES: ThreatServer = { kind: 'process' }
const OWN = (['Read', 'Write', 'Bash', 'BashOutside', 'WebFetch'] as const).map((name) => {
  const args: JsonObject = name.startsWith('Bash')
    ? { command: TEXT, cwd: TEXT }
    : { file_path: TEXT, cwd: TEXT }
  const category = { Read: 'Read', Write: 'Write', WebFetch: 'Read' }[name as string] ?? 'Execute'
  const more = { category, isClientTool: true } as Partial<KnownTool>
  return tool(`coder/${name}`, args, more)
})

function search(policy: string, tools: readonly KnownTool[], more: Partial<ThreatInputs> = {}) {
  const compiled = compile({ file: 'policy.yaml', text: `version: 1\n${policy}` }).policy
  if (compiled === undefined) throw new Error('the policy has errors')
  const inputs: ThreatInputs = {
    policy: compiled,
    tools,
    servers: { files: FILES, coder: { kind: 'client' } },
    home: '/srv/ann',
    project: '/srv/ann/shop',
    nowMs: () => 0,
    ...more,
  }
  const report = findThreats(inputs)
  const { harms } = report
  const words = Object.fromEntries(harms.map(({ harm, result }) => [harm, result]))
  return { ...report, inputs, words, of: (name: string) => harms.find(({ harm }) => harm === name) }
}

const ALL = 'default: allow\n'

test('a file that somebody wrote has a start file written', () => {
  const { words, of } = search('default: deny\ncategories: { Read: allow, Write: allow }\n', [
    READ,
    WRITE,
  ])
  expect(words).toMatchObject({ code: 'open', gate: 'open', money: 'closed', secret: 'closed' })
  const [path] = of('code')?.paths ?? []
  expect(path?.steps.map((step) => step.tool)).toEqual(['files/read_file', 'files/write_file'])
  expect(path?.steps[1]?.args.path).toBe('/srv/ann/shop/.git/hooks/pre-commit')
  expect(path && isSerious(path)).toBe(true)
})

test('what is read leaves in an address, or by mail', () => {
  const { of } = search(ALL, [READ, FETCH, MAIL])
  expect(
    of('secret')
      ?.paths.map(({ end }) => end)
      .sort(),
  ).toEqual(['mail/send_email', 'web/fetch'])
  for (const { steps, reach } of of('secret')?.paths ?? [])
    expect([steps.length, reach]).toEqual([3, 'an address of their choice'])
})

test('closed is proved: no branch of any rule lets a tool that could do it pass', () => {
  const asks = 'default: allow\ntools: { web/fetch: allow, mail/send_email: require_approval }\n'
  const { words } = search(asks, [FETCH, MAIL])
  expect(words.message).toBe('closed')
  const when =
    'tools: { mail/send_email: { action: allow, when: "args.to == \'me@shop.example\'" } }\n'
  expect(search(`default: deny\n${when}`, [MAIL, FETCH]).words.message).toBe('none found')
})

test('without a text of a stranger it is a mistake of the agent, which is not serious', () => {
  const [path] = search(ALL, [WRITE]).of('code')?.paths ?? []
  expect(path?.writer).toBeUndefined()
  expect(path && isSerious(path)).toBe(false)
})

test('a fact by words alone is a guess, unless the policy says it', () => {
  const inbox = tool('desk/get_tickets', { project: TEXT })
  const [perhaps] = search(ALL, [inbox, MAIL]).of('message')?.paths ?? []
  expect(perhaps?.guesses).toEqual(['it answers what strangers wrote'])
  const labelled = `${ALL}labels: { desk/get_tickets: [untrusted] }\n`
  const [certain] = search(labelled, [inbox, MAIL]).of('message')?.paths ?? []
  expect([certain?.guesses, certain?.writer]).toEqual([[], 'whoever can write to you'])
})

test('a tool whose class is a guess is not judged, until the policy classifies it', () => {
  const odd = tool('files/write_file', { path: TEXT, content: TEXT }, { unknown: true })
  const guessed = search(ALL, [READ, odd])
  expect([guessed.words.code, guessed.unjudged]).toEqual(['closed', ['files/write_file']])
  const said = search(`${ALL}classify: { files/write_file: Write }\n`, [READ, odd])
  expect([said.words.code, said.unjudged]).toEqual(['open', []])
})

test('a server of which nothing is known has files of this machine only perhaps, a remote one never', () => {
  const [path] = search(ALL, [READ, WRITE], { servers: {} }).of('code')?.paths ?? []
  expect(path?.guesses).toEqual(['its server runs on this machine'])
  const remote = search(ALL, [READ, WRITE], { servers: { files: { kind: 'remote' } } })
  expect(remote.words.code).toBe('closed')
})

test('paths in another place than this machine are no files of it', () => {
  const drive = (more: JsonObject) =>
    search(ALL, [READ, tool('drive/create_file', { content: TEXT, ...more })], {
      servers: { drive: FILES, files: FILES },
    }).of('code')
  expect(drive({ path: TEXT })?.paths[0]?.guesses).toEqual([])
  expect(drive({ folderId: TEXT })?.result).toBe('closed')
  const optional = tool('drive/create_file', { content: TEXT, path: TEXT, folderId: TEXT })
  const { inputSchema } = optional.definition
  const definition = {
    ...optional.definition,
    inputSchema: { ...(inputSchema as JsonObject), required: ['content'] },
  }
  const servers = { drive: FILES, files: FILES }
  const [path] =
    search(ALL, [READ, { ...optional, definition }], { servers }).of('code')?.paths ?? []
  expect(path?.guesses).toEqual(['its paths are of this machine'])
})

test('what is written goes back to a stranger where both calls are told the same place', () => {
  const issue = { repo: TEXT, number: TEXT }
  const read = tool('hub/get_issue', issue)
  const labelled = `${ALL}labels: { hub/get_issue: [untrusted] }\n`
  const message = (end: KnownTool) => search(labelled, [read, end]).words.message
  expect(message(tool('hub/add_comment', { ...issue, body: TEXT }))).toBe('open')
  expect(message(tool('hub/add_note', { account: TEXT, body: TEXT }))).toBe('none found')
})

describe('isolation', () => {
  test('a locked server has its folders and its hosts alone', () => {
    const files = { kind: 'process', reads: ['/srv/notes'], writes: [], hosts: [] } as const
    const { of, words } = search(ALL, [READ, WRITE], { servers: { files } })
    expect([words.code, words.gate]).toEqual(['closed', 'closed'])
    expect(of('code')?.boundedCount).toBeGreaterThan(0)
    const web = { kind: 'process', reads: [], writes: [], hosts: ['docs.example'] } as const
    expect(search(ALL, [FETCH, READ], { servers: { web, files: FILES } }).words.secret).toBe(
      'closed',
    )
  })

  test('the folder of a server stands for the project', () => {
    const files = { kind: 'process', reads: ['/srv/ws'], writes: ['/srv/ws'] } as const
    const paths = search(ALL, [READ, WRITE], { servers: { files } }).of('code')?.paths ?? []
    expect(paths[0]?.steps[1]?.args.path).toBe('/srv/ws/.git/hooks/pre-commit')
  })

  test('a line in a box reaches the project and nothing else', () => {
    const only = 'default: deny\ntools: { coder/Bash: allow, coder/Read: allow }\n'
    const open = search(only, OWN)
    expect(open.words).toMatchObject({ secret: 'open', code: 'open', gate: 'open', data: 'open' })
    const box = (...hosts: string[]) =>
      search(only, OWN, { servers: { coder: { kind: 'client', hasBox: true, hosts } } }).words
    const bounded = { secret: 'closed', code: 'closed', gate: 'closed', data: 'open' }
    expect(box()).toMatchObject(bounded)
    expect(box('registry.example')).toMatchObject(bounded)
    expect(box('*')).toMatchObject({ ...bounded, secret: 'open' })
  })

  test('hosts bound a server unless they are any; without hosts it sends no mail', () => {
    const leak = (hosts: readonly string[]) => {
      const web = { kind: 'process', reads: [], writes: [], hosts } as const
      return search(ALL, [FETCH, READ], { servers: { web, files: FILES } }).words.secret
    }
    expect(['docs.example', '*.example', '*', '*:8443'].map((one) => leak([one]))).toEqual([
      'closed',
      'closed',
      'open',
      'open',
    ])
    const mail = (...hosts: string[]) =>
      search(ALL, [MAIL, FETCH], { servers: { mail: { kind: 'process', hosts } } }).words.message
    expect([mail(), mail('smtp.example')]).toEqual(['closed', 'open'])
  })
})

describe('closing', () => {
  function close(
    policy: string,
    tools: readonly KnownTool[],
    harm: string,
    hosts: Readonly<Record<string, readonly string[]>> = {},
    nowMs: () => number = () => 0,
  ) {
    const { inputs, of, harms } = search(policy, tools)
    const found = of(harm)
    if (found === undefined) throw new Error('no such harm')
    const open = new Set(harms.filter(({ result }) => result === 'open').map((one) => one.harm))
    const document = { file: 'policy.yaml', text: `version: 1\n${policy}` }
    const known = new Map(Object.entries(hosts))
    return listClosings({ ...inputs, nowMs }, { document, found, open, hosts: known, max: 9 })
  }

  test('each change closes the harm, the narrowest first', () => {
    const policy = '# mine\ndefault: deny\ncategories: { Read: allow, Write: allow } # all\n'
    const { closings } = close(policy, [READ, WRITE], 'code')
    expect(closings.map(({ what }) => what)).toEqual([
      'guardrail: writing a file that starts programs asks',
      "after a stranger's text this tool asks",
      'protect: balanced',
      'protect: strict',
      'this tool asks every time',
    ])
    const stricter = closings.map(({ isOnlyStricter }) => isOnlyStricter)
    expect(stricter).toEqual([true, false, true, true, true])
    for (const { text } of closings) {
      expect(text).toContain('# mine')
      expect(text).toContain('# all')
      expect(search(text.replace('version: 1\n', ''), [READ, WRITE]).words.code).not.toBe('open')
    }
  })

  test('a change that closes one way of two is not offered', () => {
    const { closings, rejected } = close(ALL, OWN, 'code')
    const asks = closings.map(({ what }) => what)
    expect(asks).not.toContain('guardrail: writing a file that starts programs asks')
    expect(asks).toContain('guardrail: a command line that does more than read asks')
    expect(rejected[0]?.why).toBe('`code` is open by coder/Bash')
  })

  test('the hosts on record are offered where every end has some, and are confirmed like others', () => {
    const hosts = { 'web/fetch': ['docs.example'], 'mail/send_email': ['shop.example'] }
    const offered = (by: Readonly<Record<string, readonly string[]>>, policy = ALL) =>
      close(policy, [READ, FETCH, MAIL], 'secret', by).closings.find(({ what }) =>
        what.startsWith('egress'),
      )
    const { text = '', isOnlyStricter } = offered(hosts) ?? {}
    expect(text).toContain('"web/fetch": ["docs.example"]')
    expect(isOnlyStricter).toBe(true)
    expect(offered({ 'web/fetch': ['docs.example'] })).toBeUndefined()
    expect(offered({ ...hosts, 'web/fetch': ['collect.attacker.example'] })).toBeUndefined()
    const listed = `${ALL}egress: { "web/*": [collect.attacker.example] }\n`
    expect(offered(hosts, listed)).toBeUndefined()
  })

  test('a change that opens another harm is not offered', () => {
    // The new label turns the rule of the mail around.
    const policy = `default: deny
tools: { files/read_file: allow, files/write_file: allow, mail/send_email: { action: allow, when: session.saw.untrusted } }
`
    const { closings, rejected } = close(policy, [READ, WRITE, MAIL], 'code')
    expect(closings.map(({ what }) => what)).toContain('this tool asks every time')
    expect(rejected).toContainEqual({
      what: "after a stranger's text this tool asks",
      why: '`secret` is open by mail/send_email',
    })
  })

  test('changes for which no time is left are not offered, and named', () => {
    let now = 0
    const policy = 'default: deny\ncategories: { Read: allow, Write: allow }\n'
    const { closings, rejected } = close(policy, [READ, WRITE], 'code', {}, () => (now += 40_000))
    expect(closings).toEqual([])
    expect(rejected.at(-1)).toEqual({
      what: 'this tool asks every time',
      why: 'there was no time left to try it',
    })
  })

  test('a change that does not compile is not offered', () => {
    const rules = 'default: deny\ncategories: { Read: allow, Write: allow }\n'
    const full = `${rules}#${'-'.repeat(DOCUMENT_LENGTH_MAX - rules.length - 100)}\n`
    const { closings, rejected } = close(full, [READ, WRITE], 'code')
    expect(closings.map(({ what }) => what)).toEqual(['protect: balanced', 'protect: strict'])
    expect(rejected).toHaveLength(3)
    for (const { why } of rejected) expect(why).toMatch(/^it does not compile: /)
  })
})

describe('bounds', () => {
  test('time that is over ends the search, and nothing is closed then', () => {
    let now = 0
    const { isCutShort, words } = search('default: deny\n', [READ, WRITE], {
      nowMs: () => (now += 20_000),
    })
    expect([isCutShort, words.code]).toEqual([true, 'none found'])
  })

  test('a schema without an end, or without types, is filled as far as it goes', () => {
    const deep: Record<string, JsonValue> = {}
    deep.next = { type: 'object', properties: deep, required: ['next'] }
    const odd = tool('odd/send_message', { to: TEXT, body: TEXT, ...deep })
    expect(search(ALL, [FETCH, odd]).words.message).toBe('open')
    const bare = {
      definition: { server: 'b', name: 'delete_all' },
      category: 'Destructive',
      risk: 'high',
    } as const
    expect(search(ALL, [FETCH, bare]).words.data).toBe('open')
  })
})
