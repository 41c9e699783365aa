import * as z from 'zod';
import { desiredSchema } from '../../src/protocol/config.ts';
import type { DeviceConfig, DeviceHealth } from '../../src/protocol/console-device.ts';
import type { JsonSchema, Registry } from '../../src/protocol/console-jobs.ts';
import type { AuditLine, Conversations, Cost, Person } from '../../src/protocol/console-owner.ts';
import type { CommandDefinitions } from '../../src/protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
import { billLine } from '../backend/bill/bill-lines.ts';

const schemaOf = (schema: z.ZodType): JsonSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

export const REGISTRY: Registry = {
  commands: Object.entries(COMMANDS as CommandDefinitions).map(([name, { args, role, ...command }]) => ({
    name,
    role,
    says: args.description ?? name,
    args: schemaOf(args),
    isReadOnly: command.isReadOnly === true,
    example: command.example as Record<string, unknown>,
    note: command.mustBeSigned ? 'A device with owner keys carries it out only if it is signed.' : null,
  })),
  desired: schemaOf(desiredSchema),
  signs: true,
};

export const CONFIG: DeviceConfig = {
  desired: { version: 3, lanes: [{ id: 'main', source: 'en', targets: ['es', 'fr'], volume: 70 }] },
  groups: [{ group: 'lobby', desired: { version: 7, log: { level: 'info' } } }],
  reported: {
    at: '2026-11-27T08:00:00.000Z',
    versions: { device: 3, 'group:lobby': 7 },
    effective: { lanes: [{ id: 'main', source: 'en', targets: ['es'], volume: 70 }], log: { level: 'info' } },
    errors: [
      { from: 'device', key: 'lanes[0].targets[1]', message: 'the service does not translate into "fr"' },
    ],
  },
  differences: [{ key: 'lanes[0].targets', desired: ['es', 'fr'], effective: ['es'] }],
};

const wave = (base: number, swing: number): (number | null)[] =>
  Array.from({ length: 288 }, (_, at) => (at > 100 && at < 118 ? null : base + swing * Math.sin(at / 20)));

export const HEALTH: DeviceHealth = {
  from: '2026-11-26T08:20:00.000Z',
  stepS: 300,
  series: {
    rssMb: wave(92, 6),
    cpuPercent: wave(14, 5),
    temperatureC: wave(52, 4),
    loopLagMs: wave(5, 3),
    levelDbfs: wave(-52, 8),
    captureToWireMs: wave(45, 10),
    wireToSpeakerMs: wave(140, 25),
    speechLostS: wave(0, 0),
  },
};

export const PEOPLE: readonly Person[] = [
  {
    name: 'anna',
    role: 'administrator',
    since: '2026-10-01T08:00:00.000Z',
    lastSeenAt: '2026-11-27T08:00:00.000Z',
    lockedUntil: null,
  },
  {
    name: 'night-desk',
    role: 'operator',
    since: '2026-10-02T08:00:00.000Z',
    lastSeenAt: '2026-11-26T21:00:00.000Z',
    lockedUntil: '2026-11-27T10:15:00.000Z',
  },
  {
    name: 'board',
    role: 'viewer',
    since: '2026-11-02T08:00:00.000Z',
    lastSeenAt: null,
    lockedUntil: null,
  },
];

export const AUDIT: readonly AuditLine[] = [
  {
    id: '3',
    at: '2026-11-27T08:20:00.000Z',
    who: 'night-desk',
    from: '192.0.2.7',
    what: 'command.mute',
    on: 'museum/kiosk-00007',
    args: { lane: 'main' },
    result: null,
  },
  {
    id: '2',
    at: '2026-11-27T08:10:00.000Z',
    who: 'anna',
    from: '192.0.2.8',
    what: 'config.device',
    on: 'museum/kiosk-00007',
    args: { version: 3 },
    result: { at: '2026-11-27T08:10:01.000Z', ok: true, text: 'published as version 3' },
  },
  {
    id: '1',
    at: '2026-11-27T08:00:00.000Z',
    who: 'anna',
    from: '192.0.2.8',
    what: 'sign-in',
    on: null,
    args: {},
    result: { at: '2026-11-27T08:00:00.000Z', ok: false, text: 'wrong password' },
  },
];

const bill = (name: string, minutes: number): Cost['lines'][number] =>
  billLine(name, {
    minutes,
    sessions: Math.round(minutes / 12),
    forecast_minutes: minutes * 1.12,
    budget_minutes: minutes > 900 ? 1000 : null,
    warning: minutes > 900 ? 'near_budget' : 'none',
    unreported: 1,
    unreported_minutes_at_most: 30,
  });

export function costBy(by: Cost['by']): Cost {
  const names =
    by === 'device'
      ? ['museum/kiosk-00001', 'museum/kiosk-00002', 'museum/kiosk-00003']
      : ['lobby', 'counter'];
  const lines = names.map((name, at) => bill(name, 930 - at * 310));
  const { name: _, budget_minutes: __, warning: ___, ...total } = bill('', 1860);
  return { month: '2026-11', by, lines, total };
}

const talk = (name: string, conversations: number): Conversations['lines'][number] => ({
  name,
  conversations,
  minutes: conversations * 3.4,
  sentences: conversations * 22,
  billedMinutes: conversations * 4,
  delayMs: conversations > 30 ? 2300 : null,
});

export function conversationsBy(by: Conversations['by']): Conversations {
  const names = {
    day: ['2026-11-25', '2026-11-26', '2026-11-27'],
    device: ['museum/kiosk-00001', 'museum/kiosk-00002'],
    group: ['lobby', 'counter'],
    language: ['en', 'es', 'ar', 'zh'],
  }[by];
  const lines = names.map((name, at) => talk(name, 60 - at * 12));
  const { name: _, ...total } = talk('', 144);
  return { from: '2026-10-29', to: '2026-11-27', by, lines, total };
}
