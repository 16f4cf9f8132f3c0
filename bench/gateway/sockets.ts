// The floor: a proxy that passes bytes from one socket to the other and reads none of them. What
// this machine and this Node take for any second hop. Arguments: the upstream's URL.

import { connect, createServer } from 'node:net'

const { hostname, port, pathname } = new URL(process.argv[2] as string)

const server = createServer((client) => {
  const upstream = connect(Number(port), hostname).setNoDelay(true)
  client.setNoDelay(true)
  client.on('data', (chunk) => void upstream.write(chunk))
  upstream.on('data', (chunk) => void client.write(chunk))
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.destroy())
  client.on('error', () => upstream.destroy())
  upstream.on('error', () => client.destroy())
})
server.listen(0, '127.0.0.1', () => {
  const { port: own } = server.address() as { port: number }
  console.log(`ready http://127.0.0.1:${own}${pathname}`)
})
