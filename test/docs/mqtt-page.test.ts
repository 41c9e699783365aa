import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { EVENT_EXAMPLES, MESSAGE_EXAMPLES } from '../../scripts/docs/examples.ts';
import { describes, fieldsOf } from '../../scripts/docs/schema-table.ts';
import { reportedSchema } from '../../src/protocol/config-reported.ts';
import { certificateRequestSchema } from '../../src/protocol/mqtt/certificate.ts';
import { commandRequestSchema, commandResponseSchema } from '../../src/protocol/mqtt/command.ts';
import { statusAnswerSchema } from '../../src/protocol/mqtt/commands/device-commands.ts';
import { COMMANDS, type CommandName } from '../../src/protocol/mqtt/commands/registry.ts';
import { stateSchema, statusSchema } from '../../src/protocol/mqtt/device.ts';
import { diagnosisSchema } from '../../src/protocol/mqtt/diagnose.ts';
import { EVENT_KINDS, EVENT_SCHEMAS, type EventKind } from '../../src/protocol/mqtt/event.ts';
import { healthSchema } from '../../src/protocol/mqtt/health.ts';
import {
  endsRecordedSchema,
  legacyTokenGrantSchema,
  tokenDenialSchema,
  tokenGrantSchema,
  tokenProbeAnswerSchema,
  tokenRequestSchema,
} from '../../src/protocol/mqtt/token.ts';

const ROOT = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/mqtt.md', ROOT), 'utf8');

const MESSAGES: Readonly<Record<keyof typeof MESSAGE_EXAMPLES, z.ZodType>> = {
  status: statusSchema,
  state: stateSchema,
  reported: reportedSchema,
  health: healthSchema,
  command: commandRequestSchema,
  accepted: commandResponseSchema,
  ok: commandResponseSchema,
  error: commandResponseSchema,
  request: tokenRequestSchema,
  grant: tokenGrantSchema,
  legacy: legacyTokenGrantSchema,
  denial: tokenDenialSchema,
  probed: tokenProbeAnswerSchema,
  recorded: endsRecordedSchema,
  statusAnswer: statusAnswerSchema,
  diagnosis: diagnosisSchema,
  certificateRequest: certificateRequestSchema,
};
const commands = Object.keys(COMMANDS) as CommandName[];

describe('docs/mqtt.md', () => {
  it.each(Object.keys(MESSAGES) as (keyof typeof MESSAGES)[])('has a valid example of %s', (name) => {
    expect(MESSAGES[name].safeParse(MESSAGE_EXAMPLES[name]).error).toBeUndefined();
  });

  it.each(EVENT_KINDS as EventKind[])('has a valid example of the event %s', (kind) => {
    expect(EVENT_SCHEMAS[kind].safeParse(EVENT_EXAMPLES[kind]).error).toBeUndefined();
    expect(page).toContain(`\n### ${kind}\n`);
  });

  it.each(commands)('has a valid example of the command %s', (name) => {
    expect(COMMANDS[name].args.safeParse(COMMANDS[name].example).error).toBeUndefined();
    expect(page).toContain(`\n### ${name}\n`);
  });

  it('describes every event, command and field', () => {
    const kinds = [...Object.values(EVENT_SCHEMAS), ...Object.values(COMMANDS).map(({ args }) => args)];
    for (const schema of kinds) expect(describes(schema)).toMatch(/^[A-Z].*\.$/);
    const silent = [
      ...kinds,
      ...Object.values(MESSAGES),
      ...Object.values(COMMANDS).map(({ data }) => data),
    ].flatMap((schema) => fieldsOf(schema).filter(({ name, says }) => says === '' && name !== 'ok'));
    expect(silent).toEqual([]);
  });

  it('lists every error code of commands', () => {
    const folder = new URL('src/device/', ROOT);
    const sources = readdirSync(folder, { encoding: 'utf8', recursive: true }).map((file) =>
      file.endsWith('.ts') ? readFileSync(new URL(file, folder), 'utf8') : '',
    );
    const raised = sources.flatMap((code) => [
      ...[...code.matchAll(/new CommandError\('(\w+)'/g)].map(([, error]) => error),
      ...[...code.matchAll(/\brefuse\(asker, '(\w+)'/g)].map(([, error]) => error),
      ...[...code.matchAll(/\bcode: '(interrupted|internal)'/g)].map(([, error]) => error),
    ]);
    expect(new Set(raised).size).toBeGreaterThan(10);
    for (const code of new Set(raised)) expect(page).toContain(`\n| \`${code}\` | `);
  });
});
