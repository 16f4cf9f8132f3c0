// A text of any length that a page takes away, piece by piece as the page reads: nothing of it gathers
// here. Ends like a stream of events does, with the sign-in; one that cannot be finished breaks off, so
// that nobody takes half of it for the whole.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

export interface DownloadOptions {
  readonly type: string
  /** What the file is called. */
  readonly name: string
  readonly pieces: AsyncIterable<string>
}

export class Download {
  readonly #options: DownloadOptions

  constructor(options: DownloadOptions) {
    this.#options = options
  }

  /** `holds`: whether the one who asked may still see it. Returns what ends it. */
  serve(response: ServerResponse, holds: () => boolean, ended: () => void): () => void {
    const { type, name } = this.#options
    response.once('close', ended)
    response.writeHead(200, {
      'content-type': type,
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    void this.#write(response, holds).catch(() => response.destroy())
    return () => void response.destroy()
  }

  async #write(response: ServerResponse, holds: () => boolean): Promise<void> {
    for await (const piece of this.#options.pieces) {
      if (response.destroyed) return
      if (!holds()) return void response.destroy()
      if (piece !== '' && !response.write(piece)) await drained(response)
    }
    response.end()
  }
}

/** Read, or gone. */
async function drained(response: ServerResponse): Promise<void> {
  const abort = new AbortController()
  const { signal } = abort
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })])
  } finally {
    abort.abort()
  }
}
