// A server that prints what is no protocol between its answers, as 19 of 233 published ones do, and
// worse: broken JSON, bytes that are no UTF-8, an answer with a doubled key, a terminal escape.

import { plainCall, serve } from './speak.ts'

process.stdout.write('Server listening, have fun!\n\n')
console.log({ not: 'json' })
serve((call) => {
  process.stdout.write('{"jsonrpc":"2.0","id":1,"resu\n')
  process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a]))
  process.stdout.write('\u001b[2Jcleared\r\n')
  process.stdout.write('"a string"\n[]\n42\n')
  if (call.arguments.doubled !== undefined) {
    process.stdout.write(
      `{"jsonrpc":"2.0","id":${call.arguments.doubled},"result":{},"result":{}}\n`,
    )
    return undefined
  }
  return plainCall(call)
})
