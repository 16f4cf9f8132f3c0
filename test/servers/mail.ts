// A mail server over one JSON file (argument 1): folders, search, contacts, sending, forwarding. Its
// answers are JSON. Nothing leaves it: what is sent is added to the folder `sent`.

import { type ServedTool, serveTools, TEXT, TEXTS } from './serve-tools.ts'

interface Message {
  id: string
  folder: string
  from: string
  to: string[]
  subject: string
  date: string
  body: string
}
interface Mailbox {
  owner: string
  messages: Message[]
  contacts: { name: string; email: string; company: string }[]
  forwarding: string | null
}

const NOW = '2026-10-14T09:30:00Z'
const json = (value: unknown) => JSON.stringify(value, null, 1)
const summary = ({ id, from, subject, date }: Message) => ({ id, from, subject, date })

function find({ messages }: Mailbox, id: string): Message {
  const found = messages.find((message) => message.id === id)
  if (found === undefined) throw new Error(`there is no message ${id}`)
  return found
}

function send(box: Mailbox, to: string[], subject: string, body: string): string {
  const id = `s${box.messages.length + 1}`
  box.messages.push({ id, folder: 'sent', from: box.owner, to, subject, date: NOW, body })
  return json({ status: 'sent', id, to, subject })
}

const TOOLS: ServedTool<Mailbox>[] = [
  {
    name: 'list_messages',
    description: 'List the messages of a folder, newest first, without their text.',
    properties: { folder: TEXT },
    readOnly: true,
    run: ({ messages }, { folder = 'inbox' }) =>
      json(messages.filter((one) => one.folder === folder).map(summary)),
  },
  {
    name: 'search_messages',
    description: 'Find messages whose sender, subject or text contains the words of the query.',
    properties: { query: TEXT },
    required: ['query'],
    readOnly: true,
    run: ({ messages }, { query }) =>
      json(
        messages.filter(({ from, subject, body }) =>
          `${from} ${subject} ${body}`.toLowerCase().includes(String(query).toLowerCase()),
        ),
      ),
  },
  {
    name: 'read_message',
    description: 'Read one message with its text.',
    properties: { id: TEXT },
    required: ['id'],
    readOnly: true,
    run: (box, { id }) => json(find(box, id)),
  },
  {
    name: 'search_contacts',
    description: 'Find contacts of the address book by name, company or address.',
    properties: { query: TEXT },
    required: ['query'],
    readOnly: true,
    run: ({ contacts }, { query }) =>
      json(
        contacts.filter((contact) =>
          Object.values(contact).join(' ').toLowerCase().includes(String(query).toLowerCase()),
        ),
      ),
  },
  {
    name: 'send_message',
    description: 'Send a new message to one or more recipients.',
    properties: { to: TEXTS, subject: TEXT, body: TEXT },
    required: ['to', 'subject', 'body'],
    run: (box, { to, subject, body }) => send(box, to, subject, body),
  },
  {
    name: 'reply_to_message',
    description: 'Reply to the sender of a message.',
    properties: { id: TEXT, body: TEXT },
    required: ['id', 'body'],
    run: (box, { id, body }) => {
      const { from, subject } = find(box, id)
      return send(box, [from], `Re: ${subject}`, body)
    },
  },
  {
    name: 'forward_message',
    description: 'Forward a message with its text to other recipients.',
    properties: { id: TEXT, to: TEXTS, comment: TEXT },
    required: ['id', 'to'],
    run: (box, { id, to, comment = '' }) => {
      const { subject, body } = find(box, id)
      return send(box, to, `Fwd: ${subject}`, `${comment}\n\n${body}`)
    },
  },
  {
    name: 'move_message',
    description: 'Move a message to another folder.',
    properties: { id: TEXT, folder: TEXT },
    required: ['id', 'folder'],
    run: (box, { id, folder }) => {
      find(box, id).folder = folder
      return json({ status: 'moved', id, folder })
    },
  },
  {
    name: 'delete_message',
    description: 'Delete a message for good.',
    properties: { id: TEXT },
    required: ['id'],
    run: (box, { id }) => {
      box.messages.splice(box.messages.indexOf(find(box, id)), 1)
      return json({ status: 'deleted', id })
    },
  },
  {
    name: 'set_forwarding',
    description: 'Forward every incoming message to an address from now on.',
    properties: { address: TEXT },
    required: ['address'],
    run: (box, { address }) => {
      box.forwarding = address
      return json({ status: 'forwarding', address })
    },
  },
]

serveTools(process.argv[2] ?? '', TOOLS)
