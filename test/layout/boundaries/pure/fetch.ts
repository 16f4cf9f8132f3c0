// error: TS2304
export const answer: Promise<unknown> = fetch('https://example.com')
