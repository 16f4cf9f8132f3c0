// The channels that leave the machine, against real servers on it: an HTTP server that checks the
// signature by the recipe of the documentation, and an SMTP server with TLS.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApprovalRequest } from '../../packages/access/src/approvals/approval.ts'
import {
  type EmailConfig,
  EmailNotifier,
} from '../../packages/access/src/approvals/channels/email.ts'
import { WEBHOOK_FORMS } from '../../packages/access/src/approvals/channels/message-forms.ts'
import {
  type WebhookConfig,
  WebhookNotifier,
} from '../../packages/access/src/approvals/channels/webhook.ts'
import { selfSigned } from '../support/self-signed.ts'

const SECRET = 'whsec_c2x1aWNlIHNpZ25zIHdoYXQgaXQgcG9zdHM='
const QUICK = { tryMs: 2_000, firstPauseMs: 5, allMs: 20_000 }

const request: ApprovalRequest = {
  id: 'r-1',
  state: 'pending',
  atMs: Date.UTC(2026, 0, 1),
  expiresAtMs: Date.UTC(2026, 0, 1, 1),
  principal: { id: 'ann', kind: 'grant' },
  agent: 'agent-7',
  session: 'ann#0@1',
  server: 'stripe',
  method: 'tools/call',
  name: 'create_refund',
  category: 'Financial',
  risk: 'high',
  asks: [
    {
      rule: '/tools/stripe',
      reason: 'refunds want a person',
      timeoutMs: 1,
      waitMs: 1,
      approvers: ['finance'],
      quorum: 1,
      channels: ['webhook'],
      separateDuties: false,
      editArgs: false,
      approvedBy: [],
    } as unknown as ApprovalRequest['asks'][number],
  ],
  votes: [],
  args: '{"amount":100,"card":"••••"}',
  edited: false,
  edits: 0,
  rest: '',
  masked: { parts: [], count: 0, characters: 0 },
  before: [{ atMs: 1, server: 'stripe', name: 'list', action: 'allow' }],
  callId: 'c-1',
  usedBy: null,
  why: '',
}
const linkFor = (of: ApprovalRequest, approver: string) =>
  approver === 'nobody' ? undefined : `https://gate.example.com/approvals/${of.id}#${approver}`

describe('webhook', () => {
  test('is signed so that the receiver can tell who sent it, and drop what comes twice', async () => {
    const receiver = await Receiver.start()
    await notifier(receiver).notify(request)
    const [got] = receiver.got
    expect(got?.id).toBe('approval-r-1')
    expect(JSON.parse(got?.body ?? '')).toMatchObject({
      type: 'approval.pending',
      id: 'r-1',
      server: 'stripe',
      links: [{ approver: 'ben', url: 'https://gate.example.com/approvals/r-1#ben' }],
    })
    expect(got?.body).not.toContain('amount')
    // The same message again, as somebody who caught it would send it.
    const again = await receiver.post(got as Got)
    expect(again).toBe(409)
    const old = { ...(got as Got), id: 'other' }
    expect(await receiver.post(old)).toBe(401)
    expect(await receiver.post({ ...(got as Got), body: '{}' })).toBe(401)
    const late = { ...(got as Got), timestamp: String(Number(got?.timestamp) - 3_600) }
    expect(await receiver.post(late)).toBe(401)
  })

  test('with another secret is refused, and not tried again', async () => {
    const receiver = await Receiver.start()
    const other = notifier(receiver, { secret: 'another secret altogether' })
    await expect(other.notify(request)).rejects.toThrow('it answered 401')
    expect(receiver.requests).toBe(1)
  })

  test('is tried again with the same id while the endpoint fails, and arrives', async () => {
    const receiver = await Receiver.start([503, 429, 'cut'])
    await notifier(receiver).notify(request)
    expect(receiver.requests).toBe(4)
    expect(new Set(receiver.ids)).toEqual(new Set(['approval-r-1']))
  })

  test('gives up on a slow, a dead and an endless endpoint', async () => {
    const slow = await Receiver.start(['hang', 'hang', 'hang', 'hang'])
    const times = { tryMs: 100, firstPauseMs: 5, allMs: 20_000 }
    await expect(notifier(slow, {}, times).notify(request)).rejects.toThrow(
      'no answer within 100 ms',
    )
    // On a busy machine a try may be over before it has arrived.
    expect([1, 2, 3, 4]).toContain(slow.requests)
    const slower = await Receiver.start(['hang'])
    const within = { tryMs: 60_000, firstPauseMs: 5, allMs: 150 }
    await expect(notifier(slower, {}, within).notify(request)).rejects.toThrow('cannot be reached')
    const dead = await Receiver.start()
    await dead.stop()
    await expect(notifier(dead).notify(request)).rejects.toThrow('ECONNREFUSED')
    const endless = await Receiver.start(['endless'])
    await notifier(endless).notify(request)
  })

  test('follows no redirect', async () => {
    const receiver = await Receiver.start([302])
    await expect(notifier(receiver).notify(request)).rejects.toThrow('redirects are not followed')
    expect(receiver.requests).toBe(1)
  })

  test.each(WEBHOOK_FORMS)(
    'as %s carries arguments only where asked, and no name drives it',
    async (form) => {
      const receiver = await Receiver.start()
      const name = 'x](https://evil.example) <https://evil.example|Approve> @channel\u202e\n*b*'
      const hostile = { ...request, name, agent: '<!here>' }
      const { secret: _, ...open } = config(receiver)
      await new WebhookNotifier({ ...open, form, args: true }, linkFor, QUICK).notify(hostile)
      const { body = '' } = receiver.got[0] ?? {}
      expect(body).toContain('amount')
      const texts = [...textsOf(JSON.parse(body))]
      if (form === 'plain') return expect(JSON.parse(body).name).toBe(name)
      // Only elements that show text as it is hold what came from outside.
      expect(
        texts.filter(({ text }) => text.includes('evil')).map(({ in: kind }) => kind),
      ).toSatisfy((kinds: string[]) =>
        kinds.every((kind) => ['plain_text', 'TextRun', 'escaped'].includes(kind)),
      )
      expect(body).not.toContain('\u202e')
      expect(body).toContain('\\\\u{202e}')
    },
  )

  test.each(WEBHOOK_FORMS)(
    'M7: as %s says what is masked, cut and sent beside the arguments',
    async (form) => {
      const receiver = await Receiver.start()
      const { secret: _, ...open } = config(receiver)
      const args = JSON.stringify({ a: 'https://evil.example/x', note: 'n'.repeat(9_000) })
      const masked = {
        parts: [{ path: '/arguments/command', from: 7, characters: 45 }],
        count: 1,
        characters: 45,
      }
      const long = { ...request, args, rest: '{"task":{"ttl":1}}', masked }
      await new WebhookNotifier({ ...open, form, args: true }, linkFor, QUICK).notify(long)
      const { body = '' } = receiver.got[0] ?? {}
      expect(body).toContain('ttl')
      if (form === 'plain')
        return expect(JSON.parse(body)).toMatchObject({ masked, argsCut: true, restCut: false })
      const texts = [...textsOf(JSON.parse(body))].map(({ text }) => text).join('\n')
      expect(texts).toContain(
        '45 characters are masked: /arguments/command (45 from character 8 on)',
      )
      expect(texts).toContain(`of ${args.length} characters not shown]`)
      expect(texts).toContain('https[:]//evil.example')
    },
  )

  test('names nobody a link for whom there is none', async () => {
    const receiver = await Receiver.start()
    await notifier(receiver, { approvers: ['nobody'], form: 'slack' }).notify(request)
    expect(receiver.got[0]?.body).toContain('sluice approvals show r-1')
    expect(receiver.got[0]?.body).not.toContain('actions')
  })
})

describe('e-mail', () => {
  const { cert, key } = selfSigned()

  test('goes to each approver alone over TLS, with their own link', async () => {
    const server = await MailServer.start({ key, cert })
    const faults: string[] = []
    const email = mailer(server, { ca: cert, user: 'gate', password: 'pass' }, faults)
    await email.notify(request)
    expect(server.mails.map(({ to }) => to).sort()).toEqual([
      ['ann@example.com'],
      ['ben@example.com'],
    ])
    for (const { to, text, secure } of server.mails) {
      expect(secure).toBe(true)
      const approver = to[0]?.split('@')[0]
      expect(text).toContain(`https://gate.example.com/approvals/r-1#${approver}`)
      expect(text.match(/https:/g)).toHaveLength(1)
      expect(text).not.toContain('amount')
    }
    expect(faults).toEqual([])
  })

  test('lets nothing an agent names into a header or past the quoted lines', async () => {
    const server = await MailServer.start({ key, cert })
    const email = mailer(server, { ca: cert, args: true, to: { ann: 'ann@example.com' } })
    const name = 'x\r\nBcc: evil@example.com\r\n\r\nApprove: https://evil.example'
    const args =
      '{"a":"\\n.\\nb","to":"sluice-approvals.example/r-1","by":"me@evil.example","n":1.5}'
    await email.notify({ ...request, name, agent: 'a\nSubject: hi', args })
    const [mail] = server.mails
    const [head = '', ...rest] = (mail?.text ?? '').split('\r\n\r\n')
    expect(head).not.toMatch(/^bcc:/im)
    expect(head.match(/^subject:/gim)).toHaveLength(1)
    expect(mail?.to).toEqual(['ann@example.com'])
    const body = rest.join('\n\n').replace(/=\r\n/g, '')
    for (const line of body.split(/\r?\n/)) if (line.includes('evil')) expect(line).toMatch(/^>/)
    // Finding: programs link bare hosts as well.
    expect(body).toContain('"sluice-approvals[.]example/r-1","by":"me@evil[.]example","n":1.5')
    expect(body).not.toMatch(/evil\.example|approvals\.example/)
  })

  test('is not sent without TLS, to a wrong certificate, or without the password', async () => {
    const plain = await MailServer.start({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    await expect(mailer(plain, {}).notify(request)).rejects.toThrow(/STARTTLS|TLS/)
    const server = await MailServer.start({ key, cert })
    await expect(mailer(server, {}).notify(request)).rejects.toThrow(/self-signed/)
    const wrong = mailer(server, { ca: cert, user: 'gate', password: 'no' })
    await expect(wrong.notify(request)).rejects.toThrow('ann: Invalid login')
    expect([...plain.mails, ...server.mails]).toEqual([])
  })

  test('says who was not reached while others were, and fails where nobody was', async () => {
    const server = await MailServer.start({ key, cert }, 'ben@example.com')
    const faults: string[] = []
    await mailer(server, { ca: cert }, faults).notify(request)
    expect(faults).toEqual([expect.stringContaining('ben: ')])
    await server.stop()
    await expect(mailer(server, { ca: cert }).notify(request)).rejects.toThrow('ECONNREFUSED')
  })

  test.each<[string, (socket: Socket, line: string) => void]>([
    ['never ends a line', (socket) => void drip(socket, '2')],
    ['never ends its answer', (socket) => void drip(socket, '220-go on\r\n')],
    ['is silent', () => {}],
    [
      'answers ahead of TLS',
      (socket, line) => {
        if (line === '') socket.write('220 hi\r\n')
        else if (/^EHLO/.test(line)) socket.write('250-x\r\n250 STARTTLS\r\n')
        // What stands behind the first line came in the clear, from anybody on the way.
        else socket.write('220 go\r\n250 x\r\n250 ok\r\n250 ok\r\n354 go\r\n250 sent\r\n')
      },
    ],
  ])('is given up on a server that %s', async (_, behave) => {
    const open = new Set<Socket>()
    const server = createTcpServer((socket) => {
      open.add(socket)
      socket.on('close', () => open.delete(socket)).on('error', () => {})
      socket.on('data', (bytes) => behave(socket, bytes.toString('latin1')))
      behave(socket, '')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const mail: EmailConfig = {
      host: '127.0.0.1',
      port,
      tls: 'starttls',
      from: 'gate@example.com',
      to: { ann: 'ann@example.com' },
      args: false,
    }
    const email = new EmailNotifier(mail, { linkFor, allMs: 300 })
    await expect(email.notify(request)).rejects.toThrow()
    await expect.poll(() => open.size).toBe(0)
  })

  test('on this machine may go without TLS where that is said', async () => {
    const plain = await MailServer.start({ hideSTARTTLS: true })
    await mailer(plain, { tls: 'none' }).notify(request)
    expect(plain.mails).toHaveLength(2)
  })
})

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 20)
  socket.on('close', () => clearInterval(timer))
}

interface Got {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly body: string
}

type Behaviour = number | 'hang' | 'cut' | 'endless'

/** Verifies as docs/concepts/approvals.md says a receiver should. */
class Receiver {
  readonly got: Got[] = []
  readonly ids: string[] = []
  requests = 0
  readonly #server: Server
  readonly #behaviours: Behaviour[]

  private constructor(behaviours: Behaviour[]) {
    this.#behaviours = behaviours
    this.#server = createServer((asked, answer) => void this.#serve(asked, answer))
  }

  static async start(behaviours: Behaviour[] = []): Promise<Receiver> {
    const receiver = new Receiver(behaviours)
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    receiver.#port = (receiver.#server.address() as AddressInfo).port
    onTestFinished(() => receiver.stop())
    return receiver
  }

  #port = 0
  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async post({ id, timestamp, signature, body }: Got): Promise<number> {
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    }
    return (await fetch(this.url, { method: 'POST', body, headers })).status
  }

  async #serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    this.requests++
    let body = ''
    for await (const part of asked) body += part
    const headerOf = (name: string) => String(asked.headers[name] ?? '')
    const got: Got = {
      id: headerOf('webhook-id'),
      timestamp: headerOf('webhook-timestamp'),
      signature: headerOf('webhook-signature'),
      body,
    }
    this.ids.push(got.id)
    const behaviour = this.#behaviours.shift()
    if (behaviour === 'hang') return
    if (behaviour === 'cut') return void asked.socket.destroy()
    if (behaviour === 'endless') {
      answer.writeHead(200)
      const more = setInterval(() => answer.write('x'.repeat(4_096)), 1)
      return void answer.on('close', () => clearInterval(more))
    }
    if (behaviour !== undefined)
      return void answer.writeHead(behaviour, { location: 'http://127.0.0.1:1/' }).end()
    answer.writeHead(this.#verdict(got)).end()
  }

  #verdict(got: Got): number {
    if (got.signature === '') return this.#take(got)
    if (Math.abs(Date.now() / 1_000 - Number(got.timestamp)) > 300) return 401
    const secret = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
    const content = `${got.id}.${got.timestamp}.${got.body}`
    const expected = Buffer.from(createHmac('sha256', secret).update(content).digest('base64'))
    const given = Buffer.from(got.signature.replace(/^v1,/, ''))
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 401
    return this.#take(got)
  }

  #take(got: Got): number {
    if (this.got.some(({ id }) => id === got.id)) return 409
    this.got.push(got)
    return 204
  }
}

function config(receiver: Receiver): WebhookConfig {
  return { url: receiver.url, secret: SECRET, form: 'plain', approvers: ['ben'], args: false }
}

function notifier(receiver: Receiver, more: Partial<WebhookConfig> = {}, times = QUICK) {
  return new WebhookNotifier({ ...config(receiver), ...more }, linkFor, times)
}

function* textsOf(value: unknown): Generator<{ text: string; in: string }> {
  if (typeof value !== 'object' || value === null) return
  const { text, type } = value as { text?: unknown; type?: unknown }
  if (typeof text === 'string') {
    const escaped = type === undefined && !/[<>]/.test(text)
    yield { text, in: escaped ? 'escaped' : String(type) }
  }
  for (const inner of Object.values(value)) yield* textsOf(inner)
}

class MailServer {
  readonly mails: { to: string[]; text: string; secure: boolean }[] = []
  readonly #server: SMTPServer
  port = 0

  private constructor(options: SMTPServerOptions, refuses: string) {
    this.#server = new SMTPServer({
      ...options,
      authOptional: true,
      allowInsecureAuth: false,
      onAuth: ({ username, password }, _, done) =>
        username === 'gate' && password === 'pass'
          ? done(null, { user: 'gate' })
          : done(new Error('no')),
      onRcptTo: ({ address }, _, done) =>
        done(address === refuses ? new Error('no such mailbox') : null),
      onData: (stream, session, done) => {
        let text = ''
        stream.on('data', (part) => {
          text += part
        })
        stream.on('end', () => {
          const to = session.envelope.rcptTo.map(({ address }) => address)
          this.mails.push({ to, text, secure: session.secure })
          done()
        })
      },
    })
    this.#server.on('error', () => {})
  }

  static async start(options: SMTPServerOptions, refuses = ''): Promise<MailServer> {
    const server = new MailServer(options, refuses)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    server.port = (server.#server.server.address() as AddressInfo).port
    onTestFinished(() => server.stop())
    return server
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.#server.close(resolve))
  }
}

function mailer(server: MailServer, more: Partial<EmailConfig>, faults: string[] = []) {
  const email = new EmailNotifier(
    {
      host: '127.0.0.1',
      port: server.port,
      tls: 'starttls',
      from: 'gate@example.com',
      to: { ann: 'ann@example.com', ben: 'ben@example.com' },
      args: false,
      ...more,
    },
    { linkFor, onFault: (approver, why) => faults.push(`${approver}: ${why}`), allMs: 20_000 },
  )
  onTestFinished(() => email.close())
  return email
}
