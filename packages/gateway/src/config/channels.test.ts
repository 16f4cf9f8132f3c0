// `channels:` of sluice.yaml, which say where approvals are announced.

import { describe, expect, test } from 'vitest'
import { readConfig } from './config.ts'

const SERVERS = 'servers: { a: { command: [x] } }\n'

describe('channels of approvals', () => {
  const read = (keys: string, environment = {}) =>
    readConfig(
      { file: '/a/sluice.yaml', text: `version: 1\n${SERVERS}\napprovals:\n${keys}` },
      environment,
    )

  test('are a webhook and e-mail', () => {
    const { config } = read(
      `  webhook: { url: "https://chat.example.com/\${KEY}", form: slack, approvers: [ann] }
  email:
    host: mail.example.com
    user: gate
    password: "\${KEY}"
    from: gate@example.com
    to: { ann: ann@example.com }`,
      { KEY: 'secret' },
    )
    expect(config?.channels).toEqual({
      webhook: {
        url: 'https://chat.example.com/secret',
        form: 'slack',
        approvers: ['ann'],
        args: false,
      },
      email: {
        host: 'mail.example.com',
        port: 587,
        tls: 'starttls',
        user: 'gate',
        password: 'secret',
        from: 'gate@example.com',
        to: { ann: 'ann@example.com' },
        args: false,
      },
    })
  })

  const email = (more: string) =>
    `  email: { host: h.example.com, from: g@example.com, to: { ann: a@example.com }${more} }`
  test.each([
    ['  webhook: { url: "https://e.com" }', 'openssl rand'],
    ['  webhook: { url: "http://e.com", form: slack }', 'write `https'],
    ['  webhook: { url: "https://e.com", secret: short }', 'openssl rand'],
    [email(', tls: none'), 'this machine only'],
    [email(', ca: ./nowhere.pem'), 'certificates'],
    [email('').replace('a@example.com', '"a@example.com, b@example.com"'), 'ann@example.com'],
    [email('').replace('a@example.com', '"a@example.com\\nBcc: b@example.com"'), 'ann@example.com'],
    [email('').replace('g@example.com', '"Gate <g@example.com>"'), 'ann@example.com'],
  ])('says at its line what is wrong: %s', (keys, help) => {
    const { problems } = read(keys)
    expect(problems).toMatchObject([
      { code: 'CONFIG_CHANNEL', help: expect.stringContaining(help) },
    ])
  })
})
