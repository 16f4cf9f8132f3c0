// Pieces of content that the fixture's tools, prompts and resources answer with.

/** A red pixel. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** A sound of no samples. */
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

export const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const

export function text(value: string): { type: 'text'; text: string } {
  return { type: 'text', text: value }
}

export function answer(value: string): { content: [ReturnType<typeof text>] } {
  return { content: [text(value)] }
}

export function embedded(uri: string, mimeType: string, value: string) {
  return { type: 'resource', resource: { uri, mimeType, text: value } } as const
}
