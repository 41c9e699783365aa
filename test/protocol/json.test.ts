import { expect, it } from 'vitest';
import { isObject, parseJson, textAt } from '../../src/protocol/json.ts';

it('a text that is no JSON is nothing, and null is something', () => {
  expect(parseJson('{')).toBeUndefined();
  expect(parseJson('null')).toBeNull();
  expect(parseJson('{"a":1}')).toEqual({ a: 1 });
});

it('an object has keys of its own', () => {
  expect(isObject({})).toBe(true);
  for (const value of [null, undefined, [], 'text', 7]) expect(isObject(value)).toBe(false);
});

it('a text under a key is found where the object itself holds one', () => {
  expect(textAt({ id: 'a' }, 'id')).toBe('a');
  for (const value of [{ id: 7 }, {}, ['id'], null, 'id']) expect(textAt(value, 'id')).toBeUndefined();
  expect(textAt(Object.create({ id: 'inherited' }), 'id')).toBeUndefined();
});
