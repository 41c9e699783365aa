import { describe, expect, it } from 'vitest';
import {
  blankOf,
  differencesOf,
  itemsOf,
  keyOf,
  kindOf,
  propertiesOf,
  pruned,
  withoutNull,
} from '../../src/page/console/form/schema.ts';
import { moved, rangeOf, scrollTo } from '../../src/page/console/parts/virtual-range.ts';
import type { JsonSchema } from '../../src/protocol/console-jobs.ts';
import { REGISTRY } from './owner-fixtures.ts';

const schemaAt = (...path: readonly string[]): Readonly<Record<string, unknown>> =>
  path.reduce<Readonly<Record<string, unknown>>>(
    (schema, key) => schema[key] as Readonly<Record<string, unknown>>,
    REGISTRY.desired,
  );

describe('a form made from a schema', () => {
  it('knows how each kind of value is edited', () => {
    const lane = ['properties', 'lanes', 'items', 'properties'] as const;
    expect(kindOf(schemaAt('properties', 'lanes'))).toBe('objects');
    expect(kindOf(schemaAt(...lane, 'targets'))).toBe('texts');
    expect(kindOf(schemaAt(...lane, 'echo'))).toBe('choice');
    expect(kindOf(schemaAt(...lane, 'volume'))).toBe('number');
    const { inner, isNullable } = withoutNull(schemaAt('properties', 'schedule'));
    expect([kindOf(inner), isNullable]).toEqual(['object', true]);
    expect(blankOf(inner)).toEqual({
      timeZone: undefined,
      open: [{ days: [], from: undefined, to: undefined }],
    });
  });

  it('knows an editor for every part of every command', () => {
    const parts = (schema: JsonSchema, path: string): [string, JsonSchema][] => {
      const { inner } = withoutNull(schema);
      const own: [string, JsonSchema] = [path, inner];
      const list = kindOf(inner) === 'objects' ? parts(itemsOf(inner), `${path}[]`) : [];
      return [
        own,
        ...list,
        ...propertiesOf(inner).flatMap((part) => parts(part.schema, `${path}.${part.name}`)),
      ];
    };
    for (const { name, args } of REGISTRY.commands) {
      expect(kindOf(args), name).toBe('object');
      for (const [path, schema] of parts(args, name)) {
        // A text field would take what no schema describes.
        if (kindOf(schema) === 'text') expect(schema['type'], path).toBe('string');
      }
    }
  });

  it('sends no part that is not set, but keeps null and empty lists', () => {
    expect(
      pruned({
        lanes: [{ id: undefined }, { volume: 0 }],
        schedule: null,
        log: { level: undefined },
        closed: [],
      }),
    ).toEqual({ lanes: [{}, { volume: 0 }], schedule: null, closed: [] });
    expect(pruned({ log: { level: undefined } })).toBeUndefined();
  });

  it('shows every leaf that differs', () => {
    const before = { lanes: [{ id: 'main', targets: ['es'] }], budget: { minutesPerDay: 5 } };
    const after = { lanes: [{ id: 'main', targets: ['es', 'fr'] }, { id: 'clerk' }] };
    expect(differencesOf(before, after).map(({ pointer }) => keyOf(pointer))).toEqual([
      'lanes[0].targets',
      'budget.minutesPerDay',
      'lanes[1].id',
    ]);
    expect(differencesOf(before, structuredClone(before))).toEqual([]);
  });
});

describe('rows of one height', () => {
  it('exist only where they are visible, and a few around', () => {
    expect(rangeOf(0, 600, 40, 10_000)).toEqual({ from: 0, to: 24 });
    expect(rangeOf(40_000, 600, 40, 10_000)).toEqual({ from: 992, to: 1024 });
    expect(rangeOf(400_000, 600, 40, 10_000)).toEqual({ from: 9992, to: 10_000 });
    expect(rangeOf(400, 600, 40, 0)).toEqual({ from: 0, to: 0 });
  });

  it('stay the same for several rows of a scroll', () => {
    const ranges = Array.from({ length: 80 }, (_, step) =>
      JSON.stringify(rangeOf(step * 40, 600, 40, 10_000)),
    );
    expect(new Set(ranges).size).toBeLessThan(24);
  });

  it('move by keys, and never out of the list', () => {
    expect(moved('ArrowDown', 9, 10, 5)).toBe(9);
    expect(moved('PageUp', 3, 10, 5)).toBe(0);
    expect(moved('End', 0, 10, 5)).toBe(9);
    expect(moved('End', 0, 0, 5)).toBeNull();
    expect(moved('a', 0, 10, 5)).toBeNull();
    expect(scrollTo(20, 0, 400, 40)).toBe(440);
    expect(scrollTo(1, 200, 400, 40)).toBe(40);
    expect(scrollTo(6, 200, 400, 40)).toBe(200);
  });
});
