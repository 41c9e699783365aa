import { describe, expect, it } from 'vitest';
import { parseJsonc } from '../../../src/adapters/config/jsonc.ts';
import { fc } from '../../properties.ts';

describe('JSON with comments', () => {
  it('reads all that JSON.parse reads, with the same result', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(parseJsonc(text)).toMatchObject({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it('never throws, for any text', () => {
    const snippets = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '/*',
      '*/',
      '//',
      '\n',
      '"a"',
      '1',
      '-',
      'null',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(snippets, fc.string())), (parts) => {
        const text = parts.join('');
        const result = parseJsonc(text);
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        // Valid JSON is always valid here, except for a doubled key.
        if (isJson && !result.ok) expect(result.message).toContain('appears twice');
      }),
    );
  });

  it('skips comments and trailing commas', () => {
    const text = '\uFEFF// first\n{ /* a\n * b */ "a": [1, 2,], // end\n "b": "// no /* comment */", }\n/**/';
    expect(parseJsonc(text)).toMatchObject({ ok: true, value: { a: [1, 2], b: '// no /* comment */' } });
  });

  it('knows the position of each key', () => {
    const result = parseJsonc('{\n  "a": {\n    "b": [10,\n 20]\n  }\n}');
    const at = (...path: (string | number)[]) => (result.ok ? result.locate(path) : null);
    expect(at('a', 'b')).toEqual({ line: 3, column: 5 });
    expect(at('a', 'b', 1)).toEqual({ line: 4, column: 2 });
    expect(at()).toEqual({ line: 1, column: 1 });
  });

  it('keeps a key named __proto__ a key', () => {
    const result = parseJsonc('{"__proto__": {"polluted": true}}');
    expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}", but found "\\""'],
    ['{"a" 1}', 1, 6, 'expected ":" after the key "a", but found "1"'],
    ['{a: 1}', 1, 2, 'expected a key in double quotes or "}", but found "a"'],
    ["{'a': 1}", 1, 2, 'expected a key in double quotes or "}", but found "\'"'],
    ['{"a": }', 1, 7, 'expected a value, but found "}"'],
    ['{"a": yes}', 1, 7, 'expected a value, but found "y"'],
    ['{"a": 1', 1, 8, 'expected "," or "}", but the file ends'],
    ['', 1, 1, 'expected a value, but the file ends'],
    ['{}\n{}', 2, 1, 'expected the end of the file, but found "{"'],
    ['{"a": 1,\n "a": 2}', 2, 2, 'the key "a" appears twice'],
    ['{"a": "b\n"}', 1, 7, 'a string that does not end on its line'],
    ['{"a": "\\x"}', 1, 7, 'a string with an escape or character that JSON does not know'],
    ['{} /* open', 1, 4, 'a comment that does not end'],
    ['[,]', 1, 2, 'expected a value, but found ","'],
    [`${'['.repeat(40)}`, 1, 34, 'too many levels'],
  ])('reports what is wrong in %j', (text, line, column, message) => {
    expect(parseJsonc(text)).toEqual({ ok: false, message, position: { line, column } });
  });
});
