/** The daemon's log: fields first, then a sentence. A pino logger is one. */
export interface Log {
  trace(fields: object, sentence: string): void;
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
}
