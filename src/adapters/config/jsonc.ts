/** JSON with comments (`//`, `/* *\/`) and trailing commas, as people write configuration. */

export interface Position {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

export type JsoncResult =
  /** `locate` returns the position of a path's key or list item; undefined for an unknown path. */
  | { ok: true; value: unknown; locate(path: Path): Position | undefined }
  | { ok: false; message: string; position: Position };

export type Path = readonly (string | number)[];

const DEEPEST = 32;
/** Longest number or word (characters): the search for its end stops there, so a longer one is an error. */
const LONGEST_SCALAR = 400;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const WORD = /^[A-Za-z_$][\w$]*/;
const LONGEST_NAME = 64;
const BLANKS = ' \t\r\n\uFEFF';

class Fault extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Parses a text; a fault names what was expected, and where. Never throws. */
export function parseJsonc(text: string): JsoncResult {
  const reader = new Reader(text);
  try {
    const value = reader.document();
    const positionOf = measureLines(text);
    const locate = (path: Path): Position | undefined => {
      const place = placeOf(reader.root, path);
      return place === undefined ? undefined : positionOf(place.at);
    };
    return { ok: true, value, locate };
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return { ok: false, message: fault.message, position: measureLines(text)(fault.at) };
  }
}

/** The position of a value and of the values within it. A tree, because full paths would repeat all their keys. */
interface Place {
  readonly at: number;
  parts: Map<string | number, Place> | null;
}

function placeOf(root: Place, path: Path): Place | undefined {
  let place: Place | undefined = root;
  for (const step of path) place = place?.parts?.get(step);
  return place;
}

/** Converts offsets to lines and columns, without counting all lines each time. */
function measureLines(text: string): (at: number) => Position {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return (at) => {
    let [line, above] = [0, starts.length];
    while (above - line > 1) {
      const middle = (line + above) >> 1;
      if ((starts[middle] ?? 0) <= at) line = middle;
      else above = middle;
    }
    return { line: line + 1, column: at - (starts[line] ?? 0) + 1 };
  };
}

/** Reads each character a limited number of times; stack use grows only with the depth of the values. */
class Reader {
  root: Place = { at: 0, parts: null };
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  document(): unknown {
    this.skipBlank();
    this.root = { at: this.at, parts: null };
    const value = this.value(this.root, 0);
    this.skipBlank();
    if (this.at < this.text.length) throw this.unexpected('the end of the file');
    return value;
  }

  private value(place: Place, depth: number): unknown {
    this.skipBlank();
    if (depth > DEEPEST) throw new Fault('too many levels', this.at);
    const first = this.text[this.at];
    if (first === '{') return this.object(place, depth);
    if (first === '[') return this.array(place, depth);
    if (first === '"') return this.string();
    return this.scalar();
  }

  private object(place: Place, depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    this.at += 1;
    while (!this.closes('}')) {
      if (this.text[this.at] !== '"') throw this.unexpected('a key in double quotes or "}"');
      const keyAt = this.at;
      const key = this.string();
      if (entries.has(key)) throw new Fault(`the key ${name(key)} appears twice`, keyAt);
      const part = this.place(place, key, keyAt);
      this.skipBlank();
      if (!this.take(':')) throw this.unexpected(`":" after the key ${name(key)}`);
      entries.set(key, this.value(part, depth + 1));
      this.separates('}');
    }
    // fromEntries defines own properties: a key "__proto__" stays a key.
    return Object.fromEntries(entries);
  }

  private array(place: Place, depth: number): unknown[] {
    const items: unknown[] = [];
    this.at += 1;
    while (!this.closes(']')) {
      items.push(this.value(this.place(place, items.length, this.at), depth + 1));
      this.separates(']');
    }
    return items;
  }

  private place(holder: Place, step: string | number, at: number): Place {
    const place: Place = { at, parts: null };
    holder.parts ??= new Map();
    holder.parts.set(step, place);
    return place;
  }

  private string(): string {
    const start = this.at;
    let end = start + 1;
    for (let character = this.text[end]; character !== '"'; character = this.text[end]) {
      if (character === undefined || character === '\n' || character === '\r') {
        throw new Fault('a string that does not end on its line', start);
      }
      end += character === '\\' ? 2 : 1;
    }
    this.at = end + 1;
    try {
      return JSON.parse(this.text.slice(start, this.at)) as string;
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
    for (;;) {
      const character = this.text[this.at];
      if (character !== undefined && BLANKS.includes(character)) this.at += 1;
      else if (character !== '/' || !this.skipComment()) return;
    }
  }

  private skipComment(): boolean {
    if (this.text.startsWith('//', this.at)) {
      const end = this.text.indexOf('\n', this.at);
      this.at = end === -1 ? this.text.length : end + 1;
      return true;
    }
    if (!this.text.startsWith('/*', this.at)) return false;
    const end = this.text.indexOf('*/', this.at + 2);
    if (end === -1) throw new Fault('a comment that does not end', this.at);
    this.at = end + 2;
    return true;
  }

  private match(pattern: RegExp): string | null {
    const scalar = pattern.exec(this.text.slice(this.at, this.at + LONGEST_SCALAR))?.[0] ?? null;
    if (scalar !== null) this.at += scalar.length;
    return scalar;
  }

  private unexpected(expected: string): Fault {
    const nextCharacter = this.text[this.at];
    const what = nextCharacter === undefined ? 'the file ends' : `found ${JSON.stringify(nextCharacter)}`;
    return new Fault(`expected ${expected}, but ${what}`, this.at);
  }
}

/** A key for use in a sentence. */
function name(key: string): string {
  return `"${key.length > LONGEST_NAME ? `${key.slice(0, LONGEST_NAME)}...` : key}"`;
}
