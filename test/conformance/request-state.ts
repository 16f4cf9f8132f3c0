// What a tool of the fixture carries from one leg of a question to the next: signed, as the client
// could forge it.

import { createRequestStateCodec } from '@modelcontextprotocol/server'

export const state = createRequestStateCodec<{ round: number }>({ key: 'conformance '.repeat(4) })
