// Which URLs of authorisation servers may be requested at all: https, or this machine. Pure; used
// for URLs from a file or from another server.

/** https, or http that does not leave this machine. */
export function isSafeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackName(hostname))
}

/** Whether a name, as a URL writes it, is of this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
