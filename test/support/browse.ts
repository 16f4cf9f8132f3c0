// A browser that follows redirects and keeps cookies, for tests of logins.

/** Follows redirects with its cookies, as a browser would, to where it ends, or to `end`. */
export async function browse(
  address: string,
  end?: string,
): Promise<{ url: string; status: number }> {
  const cookies = new Map<string, string>()
  let url = address
  for (let hop = 0; hop < 12; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const next = response.headers.get('location')
    if (next === null) return { url, status: response.status }
    url = new URL(next, url).href
    if (end !== undefined && url.startsWith(end)) return { url, status: response.status }
  }
  throw new Error(`no end at ${url}`)
}
