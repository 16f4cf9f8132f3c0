// Words of a text as a type: what is written in a table of words can be named elsewhere, checked by the compiler.

/** Each word of a line, or of several, with single spaces between them. */
export type WordsOf<Line extends string> = Line extends `${infer Word} ${infer Rest}`
  ? Word | WordsOf<Rest>
  : Line
