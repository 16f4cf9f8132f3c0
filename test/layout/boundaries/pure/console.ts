// error: TS2584
export const say = (text: string): void => console.log(text)
