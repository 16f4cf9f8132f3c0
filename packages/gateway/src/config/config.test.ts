// sluice.yaml: what it becomes, and what is said of one that is wrong, with its place.

import { describe, expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { longestSessionWindowMs } from './sessions.ts'

const SERVERS = 'servers: { a: { command: [x] } }\n'

function variable(name: string): string {
  return `$\{${name}}`
}

describe('a configuration', () => {
  test('is read with paths from its own folder and variables filled in', () => {
    const text = `
version: 1
listen: "[::1]:8080"
data: ../data
servers:
  files: { command: [npx, -y, "\${PACKAGE}", ./w], env: { A: "1" }, cwd: sub }
  mail: { url: "https://example.com/mcp", headers: { Authorization: "Bearer \${TOKEN}" } }
policy: ./policy.yaml
policies: { house: /etc/house.yaml, reader: reader.yaml }
grants: { ann: { hash: "sha256:${'ab'.repeat(32)}", policy: reader, groups: [ops], explain: true } }
ledger: { sync: full, record: judged }
`
    const environment = { PACKAGE: 'some-server', TOKEN: 'a}b${c' }
    const { config, problems } = readConfig({ file: '/etc/sluice/sluice.yaml', text }, environment)
    expect(problems).toEqual([])
    expect(config).toEqual({
      alerts: expect.objectContaining({ channels: [] }),
      writtenServers: {
        files: {
          command: ['npx', '-y', `\${PACKAGE}`, './w'],
          cwd: 'sub',
          env: { A: '1' },
        },
        mail: { url: 'https://example.com/mcp', headers: { Authorization: `Bearer \${TOKEN}` } },
      },
      processes: { idleMs: 60_000, waitMs: 20_000 },
      toolMode: 'all',
      views: {},
      sessions: { max: 20, windowMs: 3_600_000, idleMs: 1_800_000 },
      canApiChangeServers: false,
      file: '/etc/sluice/sluice.yaml',
      host: '::1',
      port: 8080,
      data: '/etc/data',
      servers: {
        files: {
          kind: 'stdio',
          command: ['npx', '-y', 'some-server', './w'],
          env: { A: '1' },
          cwd: '/etc/sluice/sub',
        },
        mail: {
          kind: 'http',
          url: 'https://example.com/mcp',
          headers: { Authorization: 'Bearer a}b${c' },
        },
      },
      policy: '/etc/sluice/policy.yaml',
      policies: { reader: '/etc/sluice/reader.yaml' },
      basePolicy: '/etc/house.yaml',
      grants: [
        {
          name: 'ann',
          hash: Buffer.alloc(32, 0xab),
          policy: 'reader',
          slots: 20,
          windowMs: 3_600_000,
          groups: ['ops'],
          explain: true,
          canSayPrompt: false,
        },
      ],
      issuers: [],
      ledger: { sync: 'full', keepsTexts: true, every: 1_000, places: [] },
      channels: {},
      models: {},
      prices: {},
      resume: 'auto',
      history: {},
      pins: { ignore: [] },
      log: 'text',
      stopWithinMs: 25_000,
    })
  })

  test('reads what models cost and how much history agents keep', () => {
    const agents = `agents:
  prices: { "local:llama3": { input: 0.25, output: 1.5 } }
  history: { days: 30, megabytes: 8 }`
    const read = (text: string) =>
      readConfig({ file: '/a/sluice.yaml', text: `version: 1\n${text}\n${SERVERS}` }, {})
    expect(read(agents).config).toMatchObject({
      prices: { 'local:llama3': { input: 0.25, output: 1.5 } },
      history: { days: 30, megabytes: 8 },
    })
    expect(read(agents.replace('local:llama3', 'llama3')).config).toBeUndefined()
    expect(read(agents.replace('0.25', '-1')).config).toBeUndefined()
  })

  test('leaves `${` without an end as it is', () => {
    const text = `version: 1\nservers: { a: { command: [x, "a\${b", "\${B}\${"] } }`
    const { config } = readConfig({ file: '/a/sluice.yaml', text }, { B: 'c' })
    expect(config?.servers).toMatchObject({ a: { command: ['x', 'a${b', 'c${'] } })
  })

  test('says where to listen and where the data is by itself', () => {
    const { config } = readConfig({ file: '/a/sluice.yaml', text: `version: 1\n${SERVERS}` }, {})
    expect(config).toMatchObject({ host: '127.0.0.1', port: 7433, data: '/a/.sluice' })
    expect(config).not.toHaveProperty('policy')
  })
})

describe('beyond loopback', () => {
  const read = (keys: string) =>
    readConfig({ file: '/a/sluice.yaml', text: `version: 1\n${keys}\n${SERVERS}` }, {}).config

  test('with TLS of its own, or behind a proxy that has it', () => {
    expect(read('listen: 0.0.0.0:443\ntls: { cert: c.pem, key: k.pem }')).toMatchObject({
      host: '0.0.0.0',
      tls: { cert: '/a/c.pem', key: '/a/k.pem' },
    })
    expect(read('listen: "[::]:80"\npublic_url: https://Gate.example.com:443/')).toMatchObject({
      host: '::',
      publicUrl: 'https://gate.example.com',
    })
  })

  test('with tokens of an authorisation server', () => {
    const config = read(
      'policies: { p: p.yaml }\nauth: { issuers: { corp: { issuer: "https://id.example.com", policy: p, scopes: [mcp] } } }',
    )
    expect(config?.issuers).toMatchObject([
      { name: 'corp', issuer: 'https://id.example.com', policy: 'p', scopes: ['mcp'] },
    ])
    expect(config?.issuers[0]?.algorithms).not.toContain('HS256')
    expect(config?.issuers[0]).not.toHaveProperty('console')
  })
})

test('sessions: for all, for a grant, and `slots` as their number', () => {
  const hash = `sha256:${'0'.repeat(64)}`
  const read = (text: string) =>
    readConfig(
      { file: '/a/sluice.yaml', text: `version: 1\npolicies: { p: p.yaml }\n${SERVERS}\n${text}` },
      {},
    ).config
  const config = read(`sessions: { max: 7, window: 10m, idle: 1m }
grants:
  a: { hash: "${hash}", policy: p }
  b: { hash: "${hash}", policy: p, slots: 2 }
  c: { hash: "${hash}", policy: p, slots: 2, sessions: { max: 3, window: 2h } }
auth: { issuers: { corp: { issuer: "https://id.example.com", policy: p, sessions: { max: 4 } } } }`)
  expect(config?.sessions).toEqual({ max: 7, windowMs: 600_000, idleMs: 60_000 })
  expect(config?.grants.map(({ slots, windowMs }) => [slots, windowMs])).toEqual([
    [7, 600_000],
    [2, 600_000],
    [3, 7_200_000],
  ])
  expect(config?.issuers[0]?.sessions).toEqual({ max: 4, windowMs: 600_000 })
  expect(config && longestSessionWindowMs(config)).toBe(7_200_000)
})

describe('a wrong configuration', () => {
  const server = (fields: string): string => `version: 1\nservers: { a: { ${fields} } }`

  const grant = (fields: string, hash = `sha256:${'0'.repeat(64)}`): string =>
    `version: 1\npolicies: { p: ./p.yaml, house: ./h.yaml }\ngrants: { a: { hash: "${hash}",\n ${fields} } }\n${SERVERS}`

  const issuer = (fields: string, policy = 'p'): string =>
    `version: 1\npolicies: { p: ./p.yaml }\nauth: { issuers: { c: { ${fields},\n policy: ${policy} } } }\n${SERVERS}`

  test.each([
    ['', '1:1 the document is empty'],
    [`version: 2\n${SERVERS}`, '1:10 `version` is `2`'],
    [SERVERS, '1:1 a configuration needs `version`'],
    ['version: 1', '1:1 a configuration needs `servers`'],
    ['version: 1\nservers: []', '2:10 `servers` is a list'],
    ['version: 1\nservers: { A: { command: [x] } }', '2:12 `A` is not a valid name of a server'],
    [
      'version: 1\nservers: { a__b: { command: [x] } }',
      '2:12 `a__b` is not a valid name of a server',
    ],
    ['version: 1\nservers: { a: {}, a: {} }', '2:19 the key `a` appears twice'],
    [server(''), '2:15 a server has a `command` or a `url`, or is `builtin: agents`'],
    [
      server('command: [x], url: "http://x"'),
      '2:15 a server has a `command` or a `url`, or is `builtin: agents`',
    ],
    [server('command: x'), '2:26 `command` is the text `x`'],
    [server('command: []'), '2:26 `command` is an empty list'],
    [server('command: [""]'), '2:27 an entry of `command` is empty'],
    [server('command: [1]'), '2:27 an entry of `command` is `1`'],
    [server('comand: [x]'), '2:17 unknown key `comand` in a server'],
    [server('url: "ftp://x"'), '2:22 `ftp://x` is not an http or https address'],
    [server('url: "http://"'), '2:22 `http://` is not an http or https address'],
    [
      server(`url: "${variable('SECRET')}"`),
      `2:22 \`${variable('SECRET')}\` is not an http or https address`,
    ],
    [
      server('url: "https://x", env: { A: b }'),
      '2:35 `env` does nothing for a server with a `url`',
    ],
    [
      server('command: [x], headers: { A: b }'),
      '2:31 `headers` does nothing for a server with a `command`',
    ],
    [
      server('url: "http://x", headers: { A: "b\\nc" }'),
      '2:45 no header can be `A` with this value',
    ],
    [server('url: "http://x", headers: { "A:": b }'), '2:45 no header can be `A:` with this value'],
    [
      `${server('command: [x], sandbox: off')}\nisolation: required`,
      '2:40 `sandbox: off` under `isolation: required`',
    ],
    [server('command: [x], auth: login'), '2:31 `auth` does nothing for a server with a `command`'],
    [server('url: "http://x", auth: login'), '2:22 a token would go over the network unencrypted'],
    [server('url: "https://x", auth: basic'), '2:41 `auth` cannot be `basic`'],
    [
      server('url: "https://x", auth: login, headers: { authorization: b }'),
      '2:59 a login has an Authorization header of its own',
    ],
    [
      server('url: "https://x", auth: { login: gate, client_secret: s }'),
      '2:41 a `client_secret` is of no use without its `client_id`',
    ],
    [
      server('url: "https://x", auth: { login: gate, client_id: c, client_secret: s }'),
      '2:41 a `client_secret` needs the `issuer` it is for',
    ],
    [
      server('url: "https://x", auth: { login: client, client_id: c }'),
      '2:41 a `login: client` needs the `issuer` that gets its secret',
    ],
    [
      server('url: "https://x", auth: { login: exchange }'),
      '2:41 a `login: exchange` needs a `via`',
    ],
    [
      server('url: "https://x", auth: { login: exchange, via: corp }'),
      '2:65 `via: corp` has no `client`, so the gate cannot exchange tokens there',
    ],
    [
      server(
        'url: "https://x", auth: { login: gate, issuer: "https://i", client_id: c, client_secret: s, private_key: k }',
      ),
      '2:41 a client has a `client_secret` or a `private_key`',
    ],
    [
      server(`url: "https://x/${variable('file:./a')}"`),
      `2:22 \`${variable('file:./a')}\` cannot stand here`,
    ],
    [server('command: [x], env: { A: 1 }'), '2:41 `A` is `1`'],
    [server(`command: [x, "${variable('NOBODY')}"]`), '2:30 the environment has no `NOBODY`'],
    [
      `version: 1\nlisten: 0.0.0.0:80\n${SERVERS}`,
      '2:9 `0.0.0.0:80` is beyond loopback, and there is no TLS',
    ],
    [
      `version: 1\nlisten: 127.0.0.1:70000\n${SERVERS}`,
      '2:9 `127.0.0.1:70000` is not an address with a port up to 65535',
    ],
    [`version: 1\nlisten: 7433\n${SERVERS}`, '2:9 `listen` is `7433`'],
    [`version: 1\nledger: { sync: often }\n${SERVERS}`, '2:17 `sync` cannot be `often`'],
    [`version: 1\npolcy: ./p.yaml\n${SERVERS}`, '2:1 unknown key `polcy` in a configuration'],
    ['version: 1\n\tx', '2:1 a tab indents this line'],
    [
      `version: 1\npolicies: { policy: ./p.yaml }\n${SERVERS}`,
      '2:13 `policy` is the name of the document of `policy:`',
    ],
    [
      `version: 1\npolicies: { A: ./p.yaml }\n${SERVERS}`,
      '2:13 `A` is not a valid name of a policy',
    ],
    [
      `version: 1\npublic_url: http://gate.example.com\n${SERVERS}`,
      '2:13 `http://gate.example.com` is not an https address without a path',
    ],
    [
      `version: 1\npublic_url: https://gate.example.com/a\n${SERVERS}`,
      '2:13 `https://gate.example.com/a` is not an https address without a path',
    ],
    [`version: 1\ntls: { cert: a.pem }\n${SERVERS}`, '2:6 TLS settings needs `key`'],
    [
      issuer('issuer: "http://id.example.com"'),
      '3:33 `http://id.example.com` is not a valid https address',
    ],
    [
      `tls: { cert: c, key: k }\n${issuer('issuer: "https://id"')}`,
      '4:33 with `tls` there is no address to compare the audience of tokens with',
    ],
    [issuer('issuer: "https://u:p@id"'), '3:33 `https://u:p@id` is not a valid https address'],
    [
      issuer('issuer: "https://id", algorithms: [HS256]'),
      '3:60 an entry of `algorithms` cannot be `HS256`',
    ],
    [
      issuer('issuer: "https://id", algorithms: [none]'),
      '3:60 an entry of `algorithms` cannot be `none`',
    ],
    [
      issuer('issuer: "https://id", console: { client_id: c }'),
      '3:56 nobody could sign in: there are no `roles`',
    ],
    [
      issuer('issuer: "https://id", roles: { admin: [a] }, console: { scopes: [a] }'),
      '3:79 a client of the console needs `client_id`',
    ],
    [
      issuer('issuer: "https://id", audience: c, roles: { admin: [a] }, console: { client_id: c }'),
      '3:57 `audience` is the client of the console, too',
    ],
    [issuer('issuer: "https://id"', 'nobody'), '4:10 no policy is called `nobody`'],
    [grant('policy: house'), '4:10 no policy is called `house`'],
    [grant('policy: other'), '4:10 no policy is called `other`'],
    [grant('policy: p', 'sha256:AB'), '3:22 this is not a valid hash of a token'],
    [grant('policy: p, groups: [a b]'), '4:22 `a b` is not a valid group name'],
    [grant('policy: p, slots: 0'), '4:20 `slots` is `0`'],
    [`version: 1\ngrants: { local: {} }\n${SERVERS}`, '2:11 `local` is not a valid grant name'],
    [`version: 1\ngrants: { "a:b": {} }\n${SERVERS}`, '2:11 `a:b` is not a valid grant name'],
  ])('%j: %s', (text, expected) => {
    const { config, problems } = readConfig({ file: 'sluice.yaml', text }, { SECRET: 'hush' })
    expect(config).toBeUndefined()
    const messages = problems.map(({ line, column, message }) => `${line}:${column} ${message}`)
    expect(messages).toContain(expected)
    for (const { file, help } of problems) expect([file, help]).toEqual(['sluice.yaml', help])
    expect(JSON.stringify(problems)).not.toContain('hush')
  })

  test('what is written as clients write it is told how it is written here', () => {
    const text = server('type: stdio, command: npx, args: [-y, some-server]')
    const { problems } = readConfig({ file: 'sluice.yaml', text }, {})
    const helps = problems.map(({ help }) => help)
    expect(helps).toContainEqual(expect.stringContaining('`command: [npx, -y, some-server]`'))
    expect(helps).toContainEqual(expect.stringContaining('nothing else has to be said'))
  })
})

describe('the ledger', () => {
  const read = (keys: string, environment = {}) =>
    readConfig(
      { file: '/a/sluice.yaml', text: `version: 1\n${SERVERS}\nledger:\n${keys}` },
      environment,
    )

  test('is kept so long, signed so often, with second places', () => {
    const { config } = read(
      `  keep: 90d
  keep_size: 20GB
  checkpoints:
    every: 500
    file: ../audit/gate.jsonl
    webhook: { url: "https://audit.example.com/hook", secret: "\${HOOK}" }
    s3: { endpoint: "https://s3.example.com", bucket: audit, prefix: g1/, access_key: k, secret_key: "\${KEY}" }`,
      { HOOK: 'whsec_MDEyMzQ1Njc4OWFiY2RlZg==', KEY: 'secret' },
    )
    expect(config?.ledger).toMatchObject({
      keepMs: 90 * 86_400_000,
      keepBytes: 20e9,
      every: 500,
      places: [
        { kind: 'file', file: '/audit/gate.jsonl' },
        { kind: 'webhook', url: 'https://audit.example.com/hook' },
        { kind: 's3', region: 'us-east-1', prefix: 'g1/', secretKey: 'secret' },
      ],
    })
  })

  test.each([
    ['  keep: 2h', 'keep a day at least'],
    ['  keep_size: 3 apples', 'write `500MB`'],
    ['  checkpoints: { file: ./.sluice/copy.jsonl }', 'cannot write'],
    [
      '  checkpoints: { webhook: { url: "http://example.com", secret: 0123456789abcdef } }',
      'https',
    ],
    ['  checkpoints: { webhook: { url: "https://example.com", secret: short } }', 'openssl rand'],
    [
      '  checkpoints: { s3: { endpoint: "https://e.com", bucket: a/b, access_key: k, secret_key: s } }',
      'without `/`',
    ],
  ])('says at its line what is wrong: %s', (keys, help) => {
    const { problems } = read(keys)
    expect(problems).toMatchObject([{ code: 'CONFIG_LEDGER', help: expect.stringContaining(help) }])
    expect(problems[0]?.line).toBe(SERVERS.split('\n').length + 3)
  })
})

test('a reference to a file is read at use; one that came in with a variable is a text', () => {
  const text = `version: 1
servers: { a: { url: "https://x", headers: { X: "k ${variable('file:./no')}", Y: "${variable('V')}" } } }`
  const { config, problems } = readConfig(
    { file: '/a/sluice.yaml', text },
    { V: variable('file:/etc/passwd') },
  )
  const server = config?.servers.a
  const headers = server?.kind === 'http' ? server.headers : {}
  expect(headers.Y).toBe(variable('file:/etc/passwd'))
  expect(headers.X).toMatchObject({ parts: ['k ', { file: '/a/no' }, ''] })
  expect(problems.map(({ severity, code }) => [severity, code])).toEqual([
    ['warning', 'CONFIG_SECRET'],
  ])
})
