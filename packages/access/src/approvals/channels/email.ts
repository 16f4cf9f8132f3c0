// Notifies approvers of a pending approval by e-mail: one mail for each, with their own link. Plain
// text, every line either ours or quoted; names chosen by agents reach a header only as visible
// characters. Created by the gate from `approvals: { email }`.

import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport, type Transporter } from 'nodemailer'
import type { AlertChannel, SentAlert } from '../alert.ts'
import type { ApprovalRequest, Notifier } from '../approval.ts'
import { composeAlertMail } from './alert-message.ts'
import {
  type ApprovalMessage,
  type CreateApprovalLink,
  composeMessage,
  linksFor,
} from './approval-message.ts'
import { MAILS_AT_ONCE_MAX, SMTP_MS_MAX, TELLING_MS_MAX } from './limits.ts'

export interface EmailConfig {
  readonly host: string
  readonly port: number
  /** `none` only on this machine. */
  readonly tls: 'starttls' | 'implicit' | 'none'
  /** Additional trusted certificates, PEM. */
  readonly ca?: string
  readonly user?: string
  readonly password?: string
  readonly from: string
  /** The address of each approver, by name. */
  readonly to: Readonly<Record<string, string>>
  readonly args: boolean
}

export interface EmailOptions {
  readonly linkFor: CreateApprovalLink
  /** Called for a mail that was rejected while others were accepted. */
  readonly onFault?: (approver: string, why: string) => void
  readonly allMs?: number
}

const SUBJECT_LENGTH_MAX = 150

export class EmailNotifier implements Notifier, AlertChannel {
  readonly channel = 'email'
  readonly #config: EmailConfig
  readonly #options: EmailOptions
  /** The connections of mails in transit. */
  readonly #sockets = new Set<Socket>()

  constructor(config: EmailConfig, options: EmailOptions) {
    this.#config = config
    this.#options = options
  }

  /**
   * One per mail, over our own socket: the library gives up on a silent server, but not on one that
   * sends a byte a second for ever.
   */
  #transport(socket: Socket): Transporter {
    const { host, port, tls, ca, user, password } = this.#config
    return createTransport({
      host,
      port,
      secure: tls === 'implicit',
      requireTLS: tls === 'starttls',
      ignoreTLS: tls === 'none',
      tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) },
      ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
      connectionTimeout: SMTP_MS_MAX,
      greetingTimeout: SMTP_MS_MAX,
      socketTimeout: SMTP_MS_MAX,
      dnsTimeout: SMTP_MS_MAX,
      // A mail contains only the text composed here, never a file or a page that a text names.
      disableFileAccess: true,
      disableUrlAccess: true,
      socket,
    })
  }

  /** Rejects if no mail was accepted. */
  notify(request: ApprovalRequest): Promise<void> {
    return this.#sendEach((approver) => {
      const links = linksFor(request, [approver], this.#options.linkFor)
      const message = composeMessage(request, links, this.#config.args)
      return { subject: formatSubject(message), text: composeMailText(message) }
    })
  }

  /** Rejects if no mail was accepted. */
  alert(alert: SentAlert): Promise<void> {
    const mail = composeAlertMail(alert)
    return this.#sendEach(() => ({ ...mail, subject: cutSubject(mail.subject) }))
  }

  async #sendEach(compose: (approver: string) => Mail): Promise<void> {
    const waiting = Object.entries(this.#config.to)
    const faults: string[] = []
    let sent = 0
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [approver, address] = next
        try {
          await this.#send(compose(approver), address)
          sent += 1
        } catch (error) {
          const why = (error as Error).message
          faults.push(`${approver}: ${why}`)
          this.#options.onFault?.(approver, why)
        }
      }
    }
    const lanes = Promise.all(Array.from({ length: MAILS_AT_ONCE_MAX }, work))
    await Promise.race([
      lanes,
      sleep(this.#options.allMs ?? TELLING_MS_MAX, undefined, { ref: false }),
    ])
    // Mails still in transit either notify someone or report a fault later.
    const left = waiting.splice(0)
    if (sent === 0) throw new Error(faults[0] ?? `no mail was taken (${left.length} not tried)`)
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #send({ subject, text }: Mail, address: string): Promise<void> {
    const socket = new Socket()
    const timer = setTimeout(() => socket.destroy(), this.#options.allMs ?? TELLING_MS_MAX).unref()
    this.#sockets.add(socket)
    try {
      await this.#transport(socket).sendMail({
        from: this.#config.from,
        // An object: an address is never parsed out of a text with a list in it.
        to: { name: '', address },
        subject,
        text,
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
      })
    } finally {
      clearTimeout(timer)
      socket.destroy()
      this.#sockets.delete(socket)
    }
  }
}

interface Mail {
  readonly subject: string
  readonly text: string
}

function formatSubject({ title }: ApprovalMessage): string {
  return cutSubject(`[sluice] ${title}`)
}

function cutSubject(subject: string): string {
  return subject.length <= SUBJECT_LENGTH_MAX ? subject : `${subject.slice(0, SUBJECT_LENGTH_MAX)}…`
}

/** Names chosen by agents and servers are quoted, so that they cannot pass for a line of ours. */
function composeMailText({ facts, args, rest, links, otherwise }: ApprovalMessage): string {
  const [link] = links
  return [
    'An agent wants to do what a person has to approve:',
    '',
    ...facts.map(({ name, value }) => `> ${name}: ${withoutHosts(value)}`),
    ...(args === undefined ? [] : [`> Arguments: ${withoutHosts(args)}`]),
    ...(rest === undefined ? [] : [`> Sent besides the arguments: ${withoutHosts(rest)}`]),
    '',
    ...(link === undefined
      ? []
      : ['Look at it and decide (this link is yours alone):', link.url, '']),
    otherwise,
    '',
    'Opening the link decides nothing. If you did not expect this, deny it.',
    '',
  ].join('\n')
}

/** Mail programs make a link of a bare host name, too: `evil.example/approve` becomes `evil[.]example/approve`. */
function withoutHosts(text: string): string {
  return text.replace(/(?<=[\p{L}\p{N}_-])[.\u3002\uff0e\uff61](?=\p{L})/gu, '[.]')
}
