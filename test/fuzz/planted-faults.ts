// Three faults for each target, planted one at a time: a fuzzer that does not find them would find none.
// `find` is exactly once in the file; where the code changes, change it here.

import type { PlantedFault } from './instrument.ts'

const JSON_READER = 'packages/protocol/src/json/read-json.ts'
const HTTP_READER = 'packages/gateway/src/front/fast-path/request-reader.ts'
const SSE_READER = 'packages/protocol/src/sse.ts'
const LINES = 'packages/protocol/src/lines.ts'
const URI = 'packages/policy/src/expression/functions/resource-uri.ts'
const NUMBERS = 'packages/policy/src/expression/evaluate/number-kinds.ts'
const SHELL = 'packages/policy/src/readers/shell-command.ts'
const RVF = 'packages/agents/src/transfer/rvf.ts'
const LEDGER = 'packages/ledger/src/records/decoding.ts'

export const PLANTED_FAULTS: Readonly<Record<string, readonly PlantedFault[]>> = {
  shell: [
    {
      file: SHELL,
      find: "if ((node.errors ?? []).length > 0) this.#doubt('a syntax error')",
      put: '',
    },
    {
      file: SHELL,
      find: 'if (UNCERTAIN_NAMES.has(program) && !isRedirection) return',
      put: 'if (false) return',
    },
    {
      file: SHELL,
      find: "if (name?.isExact !== true) return this.#doubt('a command name that is computed')",
      put: "if (name === undefined) return this.#doubt('')",
    },
  ],
  json: [
    { file: JSON_READER, find: 'if (at > first + 1 && text', put: 'if (at > first + 3 && text' },
    {
      file: JSON_READER,
      find: 'code === 0x0d || code === 0x09',
      put: 'code === 0x0d || code <= 0x0c',
    },
    {
      file: JSON_READER,
      find: "if (this.at < this.text.length) this.refuseSyntax('the end of the text')",
      put: '',
    },
  ],
  http: [
    { file: HTTP_READER, find: 'if (NOT_PLAIN.has(name) || ', put: 'if (' },
    { file: HTTP_READER, find: "if (length !== '' || !LENGTH.test(value)) return -1", put: '' },
    { file: HTTP_READER, find: ' || headers[name] !== undefined) return -1', put: ') return -1' },
  ],
  sse: [
    { file: LINES, find: 'if (chunk[from] === NEWLINE) from++', put: '' },
    { file: SSE_READER, find: "else if (!value.includes('\\0')) this", put: 'else this' },
    { file: LINES, find: 'if (chunk.length > 0) this.#endedInReturn = false', put: '' },
  ],
  uri: [
    { file: URI, find: "HOST.test(written.host ?? '') &&", put: '' },
    { file: URI, find: "written.user === '' &&", put: '' },
    { file: URI, find: 'spell(uri) === normal &&', put: 'spell(uri).length === normal.length &&' },
  ],
  policy: [
    {
      file: 'packages/policy/src/document/parse-yaml.ts',
      find: 'if (!(error instanceof FirstError)) throw error',
      put: 'if (text.includes("!")) throw error',
    },
    {
      file: 'packages/policy/src/compile/compile.ts',
      find: 'readDocument(text, problems)',
      put: 'readDocument(text.includes("allow:") ? "" : text, text.includes("[[") ? (undefined as never) : problems)',
    },
    {
      file: 'packages/policy/src/document/parse-yaml.ts',
      find: 'const parser = new Parser()',
      put: 'if (/^ +-/m.test(text) && text.includes("&")) throw new Error("planted")\n  const parser = new Parser()',
    },
  ],
  cel: [
    { file: NUMBERS, find: " || node.op === '!_'", put: '' },
    {
      file: 'packages/policy/src/expression/expression.ts',
      find: 'throw syntaxError(text, celFailure(error))',
      put: "if (text.includes('||')) throw error\n    throw syntaxError(text, celFailure(error))",
    },
    {
      file: 'packages/policy/src/expression/evaluate/evaluate.ts',
      find: 'return describeUndecided(describeFailure(error), program, situation)',
      put: 'throw error',
    },
  ],
  bundle: [
    {
      file: RVF,
      find: "throw wrong('it does not begin as one')",
      put: "throw new Error('planted')",
    },
    {
      file: RVF,
      find: "throw wrong('there is something after",
      put: "throw new Error('there is something after",
    },
    {
      file: RVF,
      find: "throw wrong('a segment is not JSON')",
      put: "throw new Error('a segment is not JSON')",
    },
  ],
  ledger: [
    {
      file: LEDGER,
      find: 'throw error instanceof LedgerError ? error : broken',
      put: 'throw error ?? broken',
    },
    { file: LEDGER, find: 'if (Array.isArray(value)) return value', put: 'return value as Fields' },
    {
      file: LEDGER,
      find: "return at + 1\n  }\n  throw broken('a record is not readable')",
      put: "return at + 1\n  }\n  throw new RangeError('planted')",
    },
  ],
}
