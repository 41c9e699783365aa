/** A part of a row in one style. */
export interface Span {
  text: string;
  column: number;
  /** SGR numbers, such as "1;32". */
  style: string;
}

export class Terminal {
  constructor(columns: number);
  write(text: string): void;
  text(): string;
  rows(): Span[][];
}
