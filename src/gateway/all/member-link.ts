// A client of all servers as one of them sees it: the client's side of a relay, and the questions
// that the gate asks that server through it. What the relay lets through comes out here.

import { randomUUID } from 'node:crypto'
import type { Answer, Id, Members, Message } from '../../wire/message.ts'
import { readMessages } from '../../wire/read-message.ts'
import { OWN_QUESTION_MS_MAX } from '../limits.ts'
import type { ClientLink, Related } from '../link.ts'

export interface MemberLinkContext {
  /** The answer to a request of the client's, under the client's id. */
  readonly onAnswer: (request: Id, text: string) => void
  /** A request or notification of the server's. */
  readonly onTold: (text: string, related: Related) => void
  readonly onDrop: (request: Id) => void
  readonly onEnd: (why: string) => void
}

interface Question {
  readonly answered: (answer: Answer) => void
  readonly failed: (why: string) => void
}

export class MemberLink implements ClientLink {
  readonly era = 'session'
  revision = ''
  /** The session makes room as a whole. */
  readonly spare = undefined
  onMessage: ClientLink['onMessage'] = () => {}
  onClose: ClientLink['onClose'] = () => {}
  readonly #context: MemberLinkContext
  /** Nobody can guess it, so no id of the client's is one of ours. */
  readonly #mark = randomUUID()
  readonly #questions = new Map<Id, Question>()
  #lastId = 0
  #closed = false

  constructor(context: MemberLinkContext) {
    this.#context = context
  }

  send(text: string, { request, answers }: Related = {}): boolean {
    if (this.#closed) return false
    const question = this.#questions.get(request as Id)
    if (question !== undefined && answers) question.answered(readAnswer(text))
    else if (answers) this.#context.onAnswer(request as Id, text)
    // What belongs to a question of ours belongs to no request that the client knows.
    else
      this.#context.onTold(text, question === undefined && request !== undefined ? { request } : {})
    return true
  }

  drop(request: Id): void {
    if (!this.#questions.has(request)) this.#context.onDrop(request)
  }

  close(why: string): void {
    if (this.#closed) return
    // The relay may still answer what is open.
    this.onClose(why)
    this.#closed = true
    for (const { failed } of this.#questions.values()) failed(why)
    this.#context.onEnd(why)
  }

  /** Rejects where no answer comes in time. */
  async ask(method: string, params: Members, patienceMs = OWN_QUESTION_MS_MAX): Promise<Answer> {
    const id = `${this.#mark}-${++this.#lastId}`
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise((answered, reject) => {
        const failed = (why: string) => reject(new Error(why))
        const late = () => {
          failed(`no answer to \`${method}\` within ${patienceMs} ms`)
          this.tell('notifications/cancelled', { requestId: id })
        }
        timer = setTimeout(late, patienceMs)
        this.#questions.set(id, { answered, failed })
        if (this.#closed) failed('the connection is closed')
        else this.onMessage({ kind: 'request', id, method, params, source: '' })
      })
    } finally {
      clearTimeout(timer)
      this.#questions.delete(id)
    }
  }

  tell(method: string, value: Readonly<Record<string, string>>): void {
    this.pass({ kind: 'notification', method, params: membersFrom(value), source: '' })
  }

  /** A message of the client's; false where nobody takes it any more. */
  pass(message: Message): boolean {
    if (!this.#closed) this.onMessage(message)
    return !this.#closed
  }
}

export function membersFrom(value: Readonly<Record<string, string>>): Members {
  const texts = Object.entries(value).map(([key, part]) => [key, JSON.stringify(part)] as const)
  return { value, text: new Map(texts) }
}

function readAnswer(text: string): Answer {
  const read = readMessages(text, { batches: false })
  const [message] = read.ok ? read.messages : []
  if (message?.kind === 'answer') return message
  throw new Error('an answer of the gate is none')
}
