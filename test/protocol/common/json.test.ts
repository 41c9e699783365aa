import { expect, it } from 'vitest';
import { DEEPEST_JSON, isObject, parseJson, readJson, textAt } from '../../../src/protocol/common/json.ts';

it('returns undefined for invalid JSON, and null for null', () => {
  expect(parseJson('{')).toBeUndefined();
  expect(parseJson('null')).toBeNull();
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
});

it('returns undefined for JSON that is nested too deeply', () => {
  const lists = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}7${'}'.repeat(depth)}`;
  for (const nest of [lists, objects]) {
    expect(parseJson(nest(DEEPEST_JSON))).toBeDefined();
    expect(readJson(nest(DEEPEST_JSON)).kind).toBe('json');
    for (const depth of [DEEPEST_JSON + 1, 100_000]) {
      expect(parseJson(nest(depth))).toBeUndefined();
      expect(readJson(nest(depth)).kind).toBe('nested');
    }
  }
  const beside = readJson(`{"id":"a","x":${lists(50_000)}}`);
  expect(textAt(beside.kind === 'nested' ? beside.value : null, 'id')).toBe('a');
  expect(readJson('{')).toEqual({ kind: 'none' });
});

it('recognises objects, but not lists and null', () => {
  expect(isObject({})).toBe(true);
  for (const value of [null, undefined, [], 'text', 7]) expect(isObject(value)).toBe(false);
});

it('finds a text only under an own key of the object', () => {
  expect(textAt({ id: 'a' }, 'id')).toBe('a');
  for (const value of [{ id: 7 }, {}, ['id'], null, 'id']) expect(textAt(value, 'id')).toBeUndefined();
  expect(textAt(Object.create({ id: 'inherited' }), 'id')).toBeUndefined();
});
