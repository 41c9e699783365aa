/** JSON with comments (`//`, `/* *\/`) and trailing commas, as people write configuration. */

export interface Position {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

export type JsoncResult =
  | { ok: true; value: unknown /** By `pathKey`. */; positions: ReadonlyMap<string, Position> }
  | { ok: false; message: string; position: Position };

export type Path = readonly (string | number)[];

/** A path as a map's key: unlike the readable form, no two paths share one. */
export function pathKey(path: Path): string {
  return JSON.stringify(path);
}

const DEEPEST = 32;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\n\r]|\\.)*"/y;
const WORD = /[A-Za-z_$][\w$]*/y;
const BLANK = /(?:[ \t\r\n\uFEFF]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

class Fault extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Reads a text; a fault tells what was expected, and where. Never throws. */
export function parseJsonc(text: string): JsoncResult {
  const reader = new Reader(text);
  try {
    return { ok: true, value: reader.document(), positions: reader.positions };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return { ok: false, message: fault.message, position: positionOf(text, fault.at) };
  }
}

function positionOf(text: string, at: number): Position {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}

class Reader {
  readonly positions = new Map<string, Position>();
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): unknown {
    const value = this.value([]);
    this.skipBlank();
    if (this.at < this.text.length) throw this.unexpected('the end of the file');
    return value;
  }

  private value(path: Path): unknown {
    this.skipBlank();
    if (path.length > DEEPEST) throw new Fault('too many levels', this.at);
    if (!this.positions.has(pathKey(path))) this.mark(path);
    const first = this.text[this.at];
    if (first === '{') return this.object(path);
    if (first === '[') return this.array(path);
    if (first === '"') return this.string();
    return this.scalar();
  }

  private object(path: Path): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    this.at += 1;
    while (!this.closes('}')) {
      if (this.text[this.at] !== '"') throw this.unexpected('a key in double quotes or "}"');
      const keyAt = this.at;
      const key = this.string();
      if (entries.has(key)) throw new Fault(`the key "${key}" is there twice`, keyAt);
      this.mark([...path, key], keyAt);
      this.skipBlank();
      if (!this.take(':')) throw this.unexpected(`":" after the key "${key}"`);
      entries.set(key, this.value([...path, key]));
      this.separates('}');
    }
    // fromEntries defines own properties: a key "__proto__" stays a key.
    return Object.fromEntries(entries);
  }

  private array(path: Path): unknown[] {
    const items: unknown[] = [];
    this.at += 1;
    while (!this.closes(']')) {
      items.push(this.value([...path, items.length]));
      this.separates(']');
    }
    return items;
  }

  private string(): string {
    const start = this.at;
    const literal = this.match(STRING);
    if (literal === null) throw new Fault('a string that does not end on its line', start);
    try {
      return JSON.parse(literal) as string;
    } catch {
      throw new Fault('a string with an escape or character that JSON does not know', start);
    }
  }

  private scalar(): unknown {
    const start = this.at;
    const digits = this.match(NUMBER);
    if (digits !== null) return Number(digits);
    const word = this.match(WORD);
    if (word === 'true') return true;
    if (word === 'false') return false;
    if (word === 'null') return null;
    this.at = start;
    throw this.unexpected('a value');
  }

  private closes(bracket: '}' | ']'): boolean {
    this.skipBlank();
    return this.take(bracket);
  }

  private separates(bracket: '}' | ']'): void {
    this.skipBlank();
    if (!this.take(',') && this.text[this.at] !== bracket) throw this.unexpected(`"," or "${bracket}"`);
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private skipBlank(): void {
    this.match(BLANK);
    if (this.text.startsWith('/*', this.at)) throw new Fault('a comment that does not end', this.at);
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  private mark(path: Path, at = this.at): void {
    this.positions.set(pathKey(path), positionOf(this.text, at));
  }

  private unexpected(expected: string): Fault {
    const found = this.text[this.at];
    const what = found === undefined ? 'the file ends' : `found ${JSON.stringify(found)}`;
    return new Fault(`expected ${expected}, but ${what}`, this.at);
  }
}
